#include "base/byte_reader.h"

#include "tests/support/hex.h"

#include <gtest/gtest.h>

#include <string>

namespace revenant {
namespace {

TEST(ByteReader, ReadsBigEndianNumbersInTurn) {
    const std::string bytes = from_hex("01 0203 04050607 08090a0b0c0d0e0f");
    ByteReader in(bytes);
    EXPECT_EQ(in.u8(), 0x01);
    EXPECT_EQ(in.u16(), 0x0203);
    EXPECT_EQ(in.u32(), 0x04050607U);
    EXPECT_EQ(in.u64(), 0x08090a0b0c0d0e0fU);
    EXPECT_TRUE(in.at_end());
    EXPECT_FALSE(in.failed());
}

TEST(ByteReader, StringsAreViewsBehindTheirLength) {
    const std::string bytes = from_hex("03") + "abc" + from_hex("00000002") + "de" + "rest";
    ByteReader in(bytes);
    const std::string_view first = in.short_string();
    EXPECT_EQ(first, "abc");
    EXPECT_EQ(first.data(), bytes.data() + 1);
    EXPECT_EQ(in.long_string(), "de");
    EXPECT_EQ(in.remaining(), 4U);
    EXPECT_EQ(in.rest(), "rest");
    EXPECT_EQ(in.bytes(4), "rest");
    EXPECT_TRUE(in.at_end());
}

TEST(ByteReader, TheEndIsNoFailure) {
    ByteReader in("");
    EXPECT_TRUE(in.at_end());
    EXPECT_EQ(in.bytes(0), "");
    EXPECT_FALSE(in.failed());
}

TEST(ByteReader, ReadingPastTheEndGivesZeroAndFails) {
    const std::string bytes = from_hex("ffffff");
    ByteReader in(bytes);
    EXPECT_EQ(in.u32(), 0U);
    EXPECT_TRUE(in.failed());
}

TEST(ByteReader, NothingMovesAfterAFailure) {
    const std::string bytes = from_hex("05 6162 ff");
    ByteReader in(bytes);
    EXPECT_EQ(in.short_string(), "");
    EXPECT_TRUE(in.failed());
    EXPECT_TRUE(in.at_end());
    EXPECT_EQ(in.remaining(), 0U);
    EXPECT_EQ(in.u8(), 0);
    EXPECT_EQ(in.u64(), 0U);
    EXPECT_EQ(in.bytes(1), "");
    EXPECT_TRUE(in.failed());
}

TEST(ByteReader, TheLargestLengthDoesNotWrapAround) {
    const std::string bytes = from_hex("ffffffff") + "abc";
    ByteReader in(bytes);
    EXPECT_EQ(in.long_string(), "");
    EXPECT_TRUE(in.failed());
    ByteReader again(bytes);
    EXPECT_EQ(again.bytes(SIZE_MAX), "");
    EXPECT_TRUE(again.failed());
}

TEST(ByteReader, ADecoderMayDeclareFailureItself) {
    ByteReader in("abc");
    in.fail();
    EXPECT_TRUE(in.failed());
    EXPECT_EQ(in.rest(), "");
}

}  // namespace
}  // namespace revenant
