#include "amqp10/codec/type_reader.h"
#include "amqp10/codec/type_writer.h"
#include "base/byte_writer.h"
#include "tests/support/hex.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;

Datum read(const std::string& bytes) {
    TypeReader in(bytes);
    Datum datum = in.datum();
    EXPECT_FALSE(in.failed()) << to_hex(bytes);
    EXPECT_TRUE(in.at_end()) << to_hex(bytes);
    return datum;
}

bool refused(const std::string& bytes) {
    TypeReader in(bytes);
    in.datum();
    return in.failed() || !in.at_end();
}

std::string written(const Datum& datum) {
    std::string bytes;
    TypeWriter(bytes).datum(datum);
    return bytes;
}

std::vector<Datum> one_of_each() {
    return {
        Datum::null(),
        Datum::boolean(true),
        Datum::boolean(false),
        Datum::ubyte(7),
        {Type::ushort, std::uint64_t{60000}},
        Datum::uint(0),
        Datum::uint(255),
        Datum::uint(70000),
        Datum::ulong(0),
        Datum::ulong(200),
        Datum::ulong(UINT64_MAX),
        {Type::byte, std::int64_t{-3}},
        {Type::short_int, std::int64_t{-30000}},
        Datum::int32(-5),
        Datum::long_int(INT64_MIN),
        {Type::float32, 1.5},
        {Type::float64, -2.25},
        {Type::decimal32, "abcd"s},
        {Type::decimal64, "abcdefgh"s},
        {Type::decimal128, "abcdefghijklmnop"s},
        {Type::character, std::uint64_t{0x1f600}},
        Datum::timestamp(-1),
        {Type::uuid, "0123456789abcdef"s},
        Datum::binary("\0\1"s),
        Datum::string(std::string(300, 'x')),
        Datum::symbol("x-opt-deaths"),
        Datum::list({}),
        Datum::list({Datum::uint(1), Datum::list({Datum::null()})}),
        Datum::map({{Datum::symbol("a"), Datum::int32(1)}, {Datum::ulong(9), Datum::null()}}),
        Datum::array({}),
        Datum::array({Datum::symbol("a"), Datum::symbol("b")}),
        Datum::array({Datum::boolean(true), Datum::boolean(false)}),
        Datum::array({Datum::array({Datum::uint(1)}), Datum::array({Datum::string("x")})}),
        Datum::array({Datum::map({{Datum::symbol("k"), Datum::ulong(1)}}), Datum::map({})}),
        {Type::described, Data{Datum::ulong(0x24), Datum::list({})}},
        Datum::array({{Type::described, Data{Datum::symbol("d"), Datum::uint(1)}},
                      {Type::described, Data{Datum::symbol("d"), Datum::uint(2)}}}),
    };
}

TEST(Types, WhatIsWrittenIsReadAgain) {
    for (const Datum& datum : one_of_each()) EXPECT_EQ(read(written(datum)), datum);
    EXPECT_EQ(read(written(Datum::list(one_of_each()))), Datum::list(one_of_each()));
}

TEST(Types, EveryFormOfAValueIsRead) {
    EXPECT_EQ(read("\x56\x01"s), Datum::boolean(true));
    EXPECT_EQ(read("\x70\x00\x00\x00\x05"s), Datum::uint(5));
    EXPECT_EQ(read("\x52\x05"s), Datum::uint(5));
    EXPECT_EQ(read("\x80\x00\x00\x00\x00\x00\x00\x00\x05"s), Datum::ulong(5));
    EXPECT_EQ(read("\x54\xff"s), Datum::int32(-1));
    EXPECT_EQ(read("\x55\xff"s), Datum::long_int(-1));
    EXPECT_EQ(read("\xb1\x00\x00\x00\x01x"s), Datum::string("x"));
    EXPECT_EQ(read("\xc0\x02\x01\x43"s), Datum::list({Datum::uint(0)}));
    EXPECT_EQ(read("\xc1\x03\x02\x43\x40"s), Datum::map({{Datum::uint(0), Datum::null()}}));
    EXPECT_EQ(read("\xe0\x04\x02\x50\x01\x02"s), Datum::array({Datum::ubyte(1), Datum::ubyte(2)}));
}

TEST(Types, TheShortestFormIsWritten) {
    EXPECT_EQ(to_hex(written(Datum::uint(0))), "43");
    EXPECT_EQ(to_hex(written(Datum::ulong(0x10))), "5310");
    EXPECT_EQ(to_hex(written(Datum::boolean(true))), "5601") << "as RabbitMQ writes it";
    EXPECT_EQ(to_hex(written(Datum::list({}))), "45");
    EXPECT_EQ(to_hex(written(Datum::string("hi"))), "a1026869");
}

TEST(Types, WhatIsWrongIsRefused) {
    for (const std::string& bytes :
         {""s, "\x01"s, "\xff"s, "\x70\x00"s, "\xa1\x05hi"s, "\xc0\x05\x01\x43"s,
          "\xc0\x02\x02\x43"s, "\xc0\x03\x01\x43\x43"s, "\xc1\x02\x01\x43"s, "\x56\x02"s,
          "\x00\x43"s, "\xe0\x02\x05\x50"s, "\xf0\x00\x00\x00\x05\xff\xff\xff\xff\x40"s}) {
        EXPECT_TRUE(refused(bytes)) << to_hex(bytes);
    }
}

TEST(Types, EveryPrefixIsRefused) {
    const std::string bytes = written(Datum::list(one_of_each()));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_TRUE(refused(bytes.substr(0, size))) << size;
    }
}

TEST(Types, DepthIsBounded) {  // amqp10 B.2
    std::string lists;
    for (int i = 0; i < 100; ++i) {
        std::string around = "\xd0"s;
        const auto size = static_cast<std::uint32_t>(lists.size() + 4);
        for (int shift = 24; shift >= 0; shift -= 8) around += static_cast<char>(size >> shift);
        around += lists.empty() ? "\0\0\0\0"s : "\0\0\0\x01"s;
        lists = around + lists;
    }
    EXPECT_TRUE(refused(lists));
    EXPECT_TRUE(refused(std::string(100'000, '\0')));
    TypeReader in(lists);
    EXPECT_EQ(in.raw(), lists) << "undecoded values have no depth limit";
}

// Each byte, and each array element without bytes, would become a value in memory.
TEST(Types, TheNumberOfValuesIsBounded) {
    const std::string nulls = "\xf0\x00\x00\x00\x05\x00\x00\xff\xfe\x40"s;
    EXPECT_EQ(read(nulls).as_elements()->size(), 0xfffeU);
    EXPECT_TRUE(refused("\xf0\x00\x00\x00\x05\x00\x01\x00\x00\x40"s));
    EXPECT_TRUE(refused("\xf0\x00\x00\x00\x05\xff\xff\xff\xff\x45"s));
    EXPECT_TRUE(refused("\xc0\x15\x02"s + nulls + nulls)) << "the limit applies to the total";
    EXPECT_TRUE(refused("\xd0\x00\x02\x00\x04\x00\x02\x00\x00"s + std::string(0x20000, '\x40')));
    const std::string twice = nulls + nulls;
    TypeReader in(twice);
    in.datum();
    EXPECT_FALSE(in.failed());
    in.datum();
    EXPECT_TRUE(in.failed()) << "the limit applies to consecutive values";
}

// In memory each element has its own descriptor.
TEST(Types, ADescriptorOfAnArrayIsCountedWithEachElement) {
    // An array of `count` nulls with that descriptor.
    const auto described = [](std::uint32_t count, const Datum& descriptor) {
        const std::string of_elements = '\0' + written(descriptor) + '\x40';
        std::string bytes = "\xf0";
        ByteWriter out(bytes);
        out.u32(static_cast<std::uint32_t>(sizeof count + of_elements.size()));
        out.u32(count);
        return bytes + of_elements;
    };
    EXPECT_EQ(read(described(200, Datum::symbol("example:point"))).as_elements()->size(), 200U);
    const Datum of_many_values = Datum::list(Data(1000, Datum::uint(1)));
    EXPECT_EQ(read(described(60, of_many_values)).as_elements()->size(), 60U);
    EXPECT_TRUE(refused(described(70, of_many_values)));
    const Datum of_many_bytes = Datum::binary(std::string(65536, 'x'));
    EXPECT_EQ(read(described(10, of_many_bytes)).as_elements()->size(), 10U);
    EXPECT_TRUE(refused(described(60, of_many_bytes)));
}

TEST(Types, WhatIsUnreadCanBeChecked) {
    for (const Datum& datum : one_of_each()) EXPECT_TRUE(is_well_formed(written(datum)));
    const std::string all = written(Datum::list(one_of_each()));
    EXPECT_TRUE(is_well_formed(all));
    for (std::size_t size = 0; size < all.size(); ++size) {
        EXPECT_FALSE(is_well_formed(std::string_view(all).substr(0, size)));
    }
    for (const std::string& bytes :
         {""s, "\x40\x40"s, "\x46"s, "\x57\x01"s, "\xa2\x01x"s, "\x56\x02"s, "\xc0\x02\x01\x46"s,
          "\xc1\x02\x01\x43"s, "\xe0\x03\x01\x40\x40"s, "\xe0\x02\x01\x46"s,
          "\xf0\x00\x00\x00\x05\xff\xff\xff\xff\x40"s, "\xe0\x03\x01\x56\x02"s,
          std::string(100'000, '\0')}) {
        EXPECT_FALSE(is_well_formed(bytes)) << to_hex(bytes.substr(0, 20));
    }
}

TEST(Types, AValueCanBeLeftUnread) {
    for (const Datum& datum : one_of_each()) {
        const std::string bytes = written(datum);
        const std::string followed = bytes + "tail";
        TypeReader in(followed);
        EXPECT_EQ(to_hex(std::string(in.raw())), to_hex(bytes));
        EXPECT_EQ(in.rest(), "tail");
    }
}

}  // namespace
}  // namespace revenant::amqp10
