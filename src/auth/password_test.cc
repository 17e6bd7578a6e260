#include "auth/password.h"

#include "base/base64.h"

#include <gtest/gtest.h>

#include <string>

namespace revenant {
namespace {

constexpr Salt salt{0x90, 0x8d, 0xc6, 0x0a};

// management 4.9
TEST(Password, IsHashedAsRabbitMqHashesIt) {
    // The example from RabbitMQ's page on passwords.
    EXPECT_EQ(make_hash("test12", salt).base64, "kI3GCqW5JLMJa4iX1lo7X4D6XbYqlLgxIs30+P6tENUV2POR");
    EXPECT_EQ(make_hash("test12", salt).algorithm, HashAlgorithm::sha256);
}

// management 4.9
TEST(Password, OfAnExportedUserIsRecognised) {
    // Hashes from a running RabbitMQ 3.10.8.
    EXPECT_TRUE(password_matches({"vyKQBXw26O1Capw6nGnh4xFMQ6TgKa9folL9A0oeiLQMOZOA"}, "s3cret-ü"));
    EXPECT_TRUE(password_matches({"9AfRp2/mBSpwjgRg+OgTVoFVq5MlHvOqv27nR3Z7OXkPEbHW"}, "guest"));
    EXPECT_FALSE(password_matches({"9AfRp2/mBSpwjgRg+OgTVoFVq5MlHvOqv27nR3Z7OXkPEbHW"}, "Guest"));
}

TEST(Password, MatchesInEveryAlgorithm) {
    EXPECT_EQ(
        make_hash("test12", salt, HashAlgorithm::sha512).base64,
        "kI3GChuNuIYf8lRbCCxZjgjKwsY19ns6+uFO0zcXRBGA/XGJPYD8OWMy7EB8TaOmAzjP2azv84GbINYwX2cDWb4D"
        "Hnc=");
    EXPECT_EQ(make_hash("test12", salt, HashAlgorithm::md5).base64, "kI3GChNpte2FApYFXScl+0dIluk=");
    for (const auto algorithm :
         {HashAlgorithm::sha256, HashAlgorithm::sha512, HashAlgorithm::md5}) {
        const auto hash = make_hash("open", salt, algorithm);
        EXPECT_TRUE(password_matches(hash, "open"));
        EXPECT_FALSE(password_matches(hash, "open "));
        EXPECT_FALSE(password_matches(hash, "ope"));
        EXPECT_FALSE(password_matches(hash, std::string_view("open\0", 5)));
    }
}

TEST(Password, EmptyOpensNothing) {
    EXPECT_FALSE(password_matches({}, ""));
    EXPECT_FALSE(password_matches({}, "guest"));
    EXPECT_FALSE(password_matches(make_hash("", salt), ""));
}

TEST(Password, DoesNotMatchADamagedHash) {
    const auto hash = make_hash("open", salt);
    const auto bytes = base64_decode(hash.base64).value();
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(password_matches({base64_encode(bytes.substr(0, size))}, "open")) << size;
    EXPECT_FALSE(password_matches({base64_encode(bytes + "x")}, "open"));
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        auto changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        EXPECT_FALSE(password_matches({base64_encode(changed)}, "open")) << at;
    }
    EXPECT_FALSE(password_matches({"not base64"}, "open"));
    EXPECT_FALSE(password_matches({hash.base64, HashAlgorithm::sha512}, "open"));
}

// management 4.9
TEST(Password, AlgorithmsGoByTheNamesOfDefinitions) {
    for (const auto algorithm : {HashAlgorithm::sha256, HashAlgorithm::sha512, HashAlgorithm::md5})
        EXPECT_EQ(algorithm_named(algorithm_name(algorithm)), algorithm);
    EXPECT_EQ(algorithm_named("rabbit_password_hashing_sha256"), HashAlgorithm::sha256);
    EXPECT_EQ(algorithm_named("rabbit_password_hashing_sha512"), HashAlgorithm::sha512);
    EXPECT_EQ(algorithm_named("rabbit_password_hashing_md5"), HashAlgorithm::md5);
    EXPECT_EQ(algorithm_named("sha256"), std::nullopt);
    EXPECT_EQ(algorithm_named(""), std::nullopt);
}

}  // namespace
}  // namespace revenant
