#include "catalog/catalog_codec.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <variant>

namespace revenant {
namespace {

// One event of each type; every field differs from its default.
CatalogRecord every_event() {
    const PasswordHash hash{"QUJD", HashAlgorithm::sha512};
    const Vhost vhost{.name = "v",
                      .description = "d",
                      .tags = {"t", ""},
                      .default_queue_type = "quorum",
                      .tracing = true,
                      .protected_from_deletion = true,
                      .limits = {-1, std::numeric_limits<std::int64_t>::max()}};
    Vhost changed = vhost;
    changed.tracing = false;
    changed.limits = {};
    return {
        UserAdded{{"ann", hash, {"a", "b"}, {1, std::numeric_limits<std::int64_t>::min()}}},
        PasswordChanged{"ann", {"", HashAlgorithm::md5}},
        TagsSet{"ann", {"c"}},
        UserLimitsSet{"ann", {{}, 7}},
        UserDeleted{"ann"},
        VhostAdded{vhost},
        VhostChanged{changed},
        VhostDeleted{"v"},
        PermissionsSet{{"ann", "v"}, {"c", "w", "r"}},
        PermissionsCleared{{"ann", "v"}},
        TopicPermissionsSet{{"ann", "v", "t"}, {"w", "r"}},
        TopicPermissionsCleared{{"ann", "v", std::string("\0\xff", 2)}},
        GlobalParameterSet{"g", "\"x\""},
        GlobalParameterCleared{"g"},
        VhostNumbered{"v", 0x0102030405060708, true},
        VhostIdsUsed{0x8000000000000001},
    };
}

std::string hex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const char byte : bytes) {
        text.push_back(digits[static_cast<std::uint8_t>(byte) >> 4]);
        text.push_back(digits[static_cast<std::uint8_t>(byte) & 15]);
    }
    return text;
}

CatalogDecodeError decode_error_of(std::string_view bytes) {
    const auto record = decode_catalog_record(bytes);
    EXPECT_FALSE(record);
    return record ? CatalogDecodeError{255} : record.error();
}

TEST(CatalogCodec, GivesBackEveryFact) {
    const auto record = every_event();
    ASSERT_EQ(record.size(), std::variant_size_v<CatalogEvent>);
    for (std::size_t kind = 0; kind < record.size(); ++kind) EXPECT_EQ(record[kind].index(), kind);
    const auto decoded = decode_catalog_record(encode_catalog_record(record));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(*decoded, record);
}

TEST(CatalogCodec, GivesBackAnEmptyRecord) {
    const auto decoded = decode_catalog_record(encode_catalog_record({}));
    ASSERT_TRUE(decoded);
    EXPECT_TRUE(decoded->empty());
}

// These bytes are in journals and must never change. A new version gets a separate test.
TEST(CatalogCodec, KeepsTheBytesOfVersionOne) {
    EXPECT_EQ(hex(encode_catalog_record(every_event())),
              "0100000010"
              "0100000003616e6e0000000451554a440200000002000000016100000001620100000000000000010180"
              "00000000000000"
              "0200000003616e6e0000000003"
              "0300000003616e6e000000010000000163"
              "0400000003616e6e00010000000000000007"
              "0500000003616e6e"
              "0600000001760000000164000000020000000174000000000000000671756f72756d00000000010101ff"
              "ffffffffffffff017fffffffffffffff"
              "0700000001760000000164000000020000000174000000000000000671756f72756d0000000000010000"
              "080000000176"
              "0900000003616e6e0000000176000000016300000001770000000172"
              "0a00000003616e6e0000000176"
              "0b00000003616e6e0000000176000000017400000001770000000172"
              "0c00000003616e6e00000001760000000200ff"
              "0d000000016700000003227822"
              "0e0000000167"
              "0f0000000176010203040506070801"
              "108000000000000001");
}

TEST(CatalogCodec, RefusesEveryPrefix) {
    const auto bytes = encode_catalog_record(every_event());
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_EQ(decode_error_of(std::string_view(bytes).substr(0, size)),
                  CatalogDecodeError::malformed)
            << size;
}

TEST(CatalogCodec, RefusesTrailingBytes) {
    EXPECT_EQ(decode_error_of(encode_catalog_record(every_event()) + '\0'),
              CatalogDecodeError::malformed);
}

TEST(CatalogCodec, RefusesOtherVersionsAndUnknownFacts) {
    auto bytes = encode_catalog_record({UserDeleted{"ann"}});
    bytes[0] = 0;
    EXPECT_EQ(decode_error_of(bytes), CatalogDecodeError::unknown_version);
    bytes[0] = catalog_record_version + 1;
    EXPECT_EQ(decode_error_of(bytes), CatalogDecodeError::unknown_version);
    bytes[0] = catalog_record_version;
    for (const int tag : {0, 17, 255}) {
        bytes[5] = static_cast<char>(tag);
        EXPECT_EQ(decode_error_of(bytes), CatalogDecodeError::unknown_event);
    }
}

TEST(CatalogCodec, BelievesNoCount) {
    EXPECT_EQ(decode_error_of(std::string("\x01\xff\xff\xff\xff", 5)),
              CatalogDecodeError::malformed);
    // An event that declares four billion tags, none of which follows.
    EXPECT_EQ(decode_error_of(std::string("\x01\0\0\0\x01\x03\0\0\0\0\xff\xff\xff\xff", 14)),
              CatalogDecodeError::malformed);
}

// Damaged bytes are either an error or decode to a different record with its own encoding.
TEST(CatalogCodec, HasOneEncodingPerRecord) {
    const auto bytes = encode_catalog_record(every_event());
    int refused = 0;
    for (std::size_t at = 0; at < bytes.size(); ++at)
        for (int value = 0; value < 256; ++value) {
            auto damaged = bytes;
            damaged[at] = static_cast<char>(value);
            const auto decoded = decode_catalog_record(damaged);
            if (decoded) {
                EXPECT_EQ(encode_catalog_record(*decoded), damaged);
            } else {
                ++refused;
            }
        }
    EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace revenant
