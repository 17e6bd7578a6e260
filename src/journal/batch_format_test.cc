#include "journal/batch_format.h"

#include "base/byte_writer.h"

#include <gtest/gtest.h>

#include <string>

namespace revenant::journal {
namespace {

std::string batch_of(std::string_view record, Lsn lsn, Lsn synced = {}, std::uint32_t epoch = 1,
                     Secret secret = 7) {
    std::string batch(batch_header_bytes, '\0');
    ByteWriter(batch).long_string(record);
    finish_batch(batch, lsn, synced, epoch, secret);
    return batch;
}

bool is_whole(std::string_view bytes, Lsn lsn) {
    const auto header = read_batch_header(bytes, lsn);
    return header && header->size <= bytes.size() &&
           is_batch_intact(bytes.substr(0, header->size), *header);
}

TEST(BatchFormat, AHeaderComesBackAsItWasWritten) {
    const std::string batch = batch_of("record", {4096}, {1024}, 7);
    const auto header = read_batch_header(batch, {4096});
    ASSERT_TRUE(header);
    EXPECT_EQ(header->size, batch.size());
    EXPECT_EQ(header->lsn, Lsn{4096});
    EXPECT_EQ(header->synced, Lsn{1024});
    EXPECT_EQ(header->epoch, 7U);
    EXPECT_EQ(header->secret, 7U);
    EXPECT_TRUE(is_batch_intact(batch, *header));
}

TEST(BatchFormat, EveryBatchEndsWhereTheNextMayBegin) {
    for (std::size_t size = 1; size <= 17; ++size) {
        const std::string batch = batch_of(std::string(size, 'r'), {8});
        EXPECT_EQ(batch.size() % batch_alignment, 0U);
        EXPECT_LT(batch.size(), batch_header_bytes + record_header_bytes + size + batch_alignment);
        EXPECT_TRUE(is_whole(batch, {8}));
    }
}

// Existing files must stay readable.
TEST(BatchFormat, TheFirstVersionIsReadForEver) {
    const std::string batch = batch_of("r", {0x10}, {0x08}, 3, 0);
    std::string expected;
    ByteWriter out(expected);
    out.u32(batch_magic);
    out.u32(48);
    out.u64(0x10);
    out.u64(0x08);
    out.u32(3);
    out.u32(0);
    out.u32(1);
    out.bytes(std::string_view("r\0\0\0", 4));
    EXPECT_EQ(batch.substr(8), expected);
    std::string checksum;
    ByteWriter(checksum).u64(0x0d1dc3712ed39e13ULL);
    EXPECT_EQ(batch.substr(0, 8), checksum);
}

TEST(BatchFormat, EveryFlippedBitIsNoticed) {
    const std::string batch = batch_of("a record of some length", {4096}, {8}, 2);
    for (std::size_t bit = 0; bit < batch.size() * 8; ++bit) {
        std::string flipped = batch;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
        EXPECT_FALSE(is_whole(flipped, {4096})) << "bit " << bit;
    }
}

TEST(BatchFormat, EveryPrefixIsNoticed) {
    const std::string batch = batch_of("a record of some length", {4096});
    for (std::size_t size = 0; size < batch.size(); ++size) {
        const std::string_view prefix = std::string_view(batch).substr(0, size);
        EXPECT_FALSE(is_whole(prefix, {4096})) << size << " bytes";
        const auto header = read_batch_header(batch, {4096});
        EXPECT_FALSE(is_batch_intact(prefix, *header)) << size << " bytes";
    }
}

TEST(BatchFormat, ABatchOfAnotherPositionIsNone) {
    const std::string batch = batch_of("record", {4096});
    EXPECT_FALSE(read_batch_header(batch, {4104}));
    EXPECT_FALSE(read_batch_header(batch, {0}));
}

TEST(BatchFormat, AnImpossibleSizeIsNoHeader) {
    for (const std::uint32_t size : {0U, 32U, 44U, 1U << 31, 0xffffffffU}) {
        std::string batch = batch_of("record", {4096});
        ByteWriter(batch).patch_u32(12, size);
        EXPECT_FALSE(read_batch_header(batch, {4096})) << size;
    }
}

TEST(BatchFormat, AWrongSizeIsToldFromAWrongBody) {
    const std::string batch = batch_of("a record of some length", {4096});
    std::string longer = batch;
    ByteWriter(longer).patch_u32(12, static_cast<std::uint32_t>(batch.size() + 4096));
    EXPECT_TRUE(would_be_whole(longer, *read_batch_header(longer, {4096})));
    EXPECT_FALSE(
        would_be_whole(std::string_view(longer).substr(0, 56), *read_batch_header(longer, {4096})));
    longer[50] = 'x';
    EXPECT_FALSE(would_be_whole(longer, *read_batch_header(longer, {4096})));
}

TEST(BatchFormat, MagicPositionAndSecretKeepTheirPlaces) {
    std::string batch = batch_of("record", {4096}, {}, 1, 99);
    batch[11] = '5';
    const auto version = batch_version(batch, {4096});
    ASSERT_TRUE(version);
    EXPECT_EQ(version->number, 5U);
    EXPECT_EQ(version->secret, 99U);
    EXPECT_FALSE(batch_version(batch, {4104}));
}

TEST(BatchFormat, ZerosAreNoBatch) {
    EXPECT_FALSE(read_batch_header(std::string(200, '\0'), {0}));
    EXPECT_FALSE(read_batch_header("", {0}));
}

TEST(BatchFormatDeathTest, ABatchWithoutItsHeaderIsOurBug) {
    std::string batch(batch_header_bytes - 1, '\0');
    EXPECT_DEATH(finish_batch(batch, {0}, {0}, 1, 7), "CHECK failed");
}

}  // namespace
}  // namespace revenant::journal
