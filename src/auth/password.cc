#include "auth/password.h"

#include "base/base64.h"
#include "base/check.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace revenant {
namespace {

const EVP_MD* digest_of(HashAlgorithm algorithm) {
    switch (algorithm) {
        case HashAlgorithm::sha256:
            return EVP_sha256();
        case HashAlgorithm::sha512:
            return EVP_sha512();
        case HashAlgorithm::md5:
            return EVP_md5();
    }
    UNREACHABLE();
}

// Absent if OpenSSL refuses the algorithm, such as MD5 in FIPS mode.
std::optional<std::string> salted_digest(std::string_view salt, std::string_view password,
                                         HashAlgorithm algorithm) {
    std::string salted;
    salted.reserve(salt.size() + password.size());
    salted.append(salt).append(password);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    const int done = EVP_Digest(salted.data(), salted.size(), digest.data(), &size,
                                digest_of(algorithm), nullptr);
    OPENSSL_cleanse(salted.data(), salted.size());
    if (done != 1) return std::nullopt;
    return std::string(reinterpret_cast<const char*>(digest.data()), size);
}

}  // namespace

std::string_view algorithm_name(HashAlgorithm algorithm) {
    switch (algorithm) {
        case HashAlgorithm::sha256:
            return "rabbit_password_hashing_sha256";
        case HashAlgorithm::sha512:
            return "rabbit_password_hashing_sha512";
        case HashAlgorithm::md5:
            return "rabbit_password_hashing_md5";
    }
    UNREACHABLE();
}

std::optional<HashAlgorithm> algorithm_named(std::string_view name) {
    for (const auto algorithm : {HashAlgorithm::sha256, HashAlgorithm::sha512, HashAlgorithm::md5})
        if (algorithm_name(algorithm) == name) return algorithm;
    return std::nullopt;
}

PasswordHash make_hash(std::string_view password, Salt salt, HashAlgorithm algorithm) {
    const std::string salt_text(salt.begin(), salt.end());
    const auto digest = salted_digest(salt_text, password, algorithm);
    CHECK(digest);
    return {base64_encode(salt_text + *digest), algorithm};
}

bool password_matches(const PasswordHash& hash, std::string_view password) {
    if (password.empty()) return false;
    const auto stored = base64_decode(hash.base64);
    if (!stored || stored->size() < salt_bytes) return false;
    const auto digest =
        salted_digest(std::string_view(*stored).substr(0, salt_bytes), password, hash.algorithm);
    if (!digest || stored->size() != salt_bytes + digest->size()) return false;
    return CRYPTO_memcmp(stored->data() + salt_bytes, digest->data(), digest->size()) == 0;
}

}  // namespace revenant
