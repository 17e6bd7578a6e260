// Password hashes in RabbitMQ's form: base64(salt + hash(salt + password)), the salt four bytes
// long. Definitions exported from one broker can be imported by the other without anybody's
// password.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace revenant {

enum class HashAlgorithm : std::uint8_t { sha256, sha512, md5 };

// As in definitions: rabbit_password_hashing_sha256, …_sha512, …_md5.
std::string_view algorithm_name(HashAlgorithm algorithm);
std::optional<HashAlgorithm> algorithm_named(std::string_view name);

inline constexpr std::size_t salt_bytes = 4;
using Salt = std::array<std::uint8_t, salt_bytes>;

struct PasswordHash {
    std::string base64;  // Empty: no password opens this account.
    HashAlgorithm algorithm = HashAlgorithm::sha256;
    friend bool operator==(const PasswordHash&, const PasswordHash&) = default;
};

// The caller brings the salt, from a random source; this room has none.
PasswordHash make_hash(std::string_view password, Salt salt,
                       HashAlgorithm algorithm = HashAlgorithm::sha256);

// Compares in constant time. Never true for an empty hash, an empty password or a hash that is not
// of its algorithm's length.
bool password_matches(const PasswordHash& hash, std::string_view password);

}  // namespace revenant
