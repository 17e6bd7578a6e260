// Password hashes in RabbitMQ's format: base64(salt + hash(salt + password)) with a salt of four
// bytes. Definitions can be exchanged between the two brokers without knowing any password.
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
    std::string base64;  // empty: password login is disabled
    HashAlgorithm algorithm = HashAlgorithm::sha256;
    friend bool operator==(const PasswordHash&, const PasswordHash&) = default;
};

// The caller provides a random salt; this module has no random source.
PasswordHash make_hash(std::string_view password, Salt salt,
                       HashAlgorithm algorithm = HashAlgorithm::sha256);

// Compares in constant time. Always false for an empty hash, an empty password or a hash whose
// length does not fit its algorithm.
bool password_matches(const PasswordHash& hash, std::string_view password);

}  // namespace revenant
