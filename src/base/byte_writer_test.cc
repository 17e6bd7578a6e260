#include "base/byte_writer.h"

#include "base/byte_reader.h"
#include "tests/support/hex.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace revenant {
namespace {

TEST(ByteWriter, AppendsBigEndianNumbersAndStrings) {
    std::string out = "before";
    ByteWriter writer(out);
    writer.u8(0x01);
    writer.u16(0x0203);
    writer.u32(0x04050607);
    writer.u64(0x08090a0b0c0d0e0f);
    writer.short_string("abc");
    writer.long_string("de");
    writer.bytes("f");
    EXPECT_EQ(out, "before" + from_hex("01 0203 04050607 08090a0b0c0d0e0f 03") + "abc" +
                       from_hex("00000002") + "de" + "f");
    EXPECT_EQ(writer.size(), out.size());
}

TEST(ByteWriter, ALengthCanBeWrittenAfterwards) {
    std::string out = "x";
    ByteWriter writer(out);
    const std::size_t at = writer.size();
    writer.u32(0);
    writer.bytes("body");
    writer.patch_u32(at, 4);
    EXPECT_EQ(out, "x" + from_hex("00000004") + "body");
}

TEST(ByteWriterDeathTest, AShortStringOfMoreThan255BytesIsABug) {
    std::string out;
    ByteWriter writer(out);
    writer.short_string(std::string(255, 'a'));
    EXPECT_EQ(out.size(), 256U);
    EXPECT_DEATH(writer.short_string(std::string(256, 'a')), "CHECK failed");
}

TEST(ByteWriterDeathTest, APatchBeyondTheEndIsABug) {
    std::string out = "abcdef";
    ByteWriter writer(out);
    writer.patch_u32(2, 0);
    EXPECT_DEATH(writer.patch_u32(3, 0), "CHECK failed");
}

TEST(ByteWriter, WhatItWritesTheReaderReads) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 1000; ++round) {
        const std::uint64_t number = random();
        std::string text(random() % 256, '\0');
        for (char& octet : text) octet = static_cast<char>(random());
        std::string out;
        ByteWriter writer(out);
        writer.u64(number);
        writer.short_string(text);
        writer.u16(static_cast<std::uint16_t>(number));
        writer.long_string(text);
        writer.u32(static_cast<std::uint32_t>(number));
        ByteReader in(out);
        ASSERT_EQ(in.u64(), number);
        ASSERT_EQ(in.short_string(), text);
        ASSERT_EQ(in.u16(), static_cast<std::uint16_t>(number));
        ASSERT_EQ(in.long_string(), text);
        ASSERT_EQ(in.u32(), static_cast<std::uint32_t>(number));
        ASSERT_TRUE(in.at_end() && !in.failed());
    }
}

}  // namespace
}  // namespace revenant
