#include "amqp091/codec/table.h"

#include "base/byte_writer.h"
#include "tests/support/hex.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace revenant::amqp091 {
namespace {

Table table_of(Value value) { return {{"n", std::move(value)}}; }

std::string encoded_table(const Table& table) {
    std::string out;
    encode_table(table, out);
    return out;
}

// One field named n; the argument is everything after the name.
std::string field(std::string_view bytes) { return from_hex("01") + "n" + std::string(bytes); }

// The value decodes from the bytes (type and content) and encodes to them.
void expect_wire(const std::string& bytes, const Value& value) {
    const auto table = decode_table(field(bytes));
    ASSERT_TRUE(table.has_value()) << describe(table.error());
    EXPECT_EQ(*table, table_of(value));
    EXPECT_EQ(encoded_table(table_of(value)), field(bytes));
}

Value number(ValueType type, std::int64_t value) { return {type, value}; }

TEST(Tables, EveryTypeLetterIsReadAndWritten) {
    // amqp091 1.9
    expect_wire("S" + from_hex("00000002 ff00"), Value::string(std::string("\xff\0", 2)));
    expect_wire("I" + from_hex("ffffffff"), Value::int32(-1));
    expect_wire("i" + from_hex("ffffffff"), number(ValueType::uint32, 4294967295));
    expect_wire("D" + from_hex("02 0000000f"), {ValueType::decimal, Decimal{2, 15}});
    expect_wire("T" + from_hex("ffffffffffffffff"), Value::timestamp(UINT64_MAX));
    expect_wire("F" + from_hex("00000004 01 61 74 01"),
                Value::table({{"a", Value::boolean(true)}}));
    expect_wire("A" + from_hex("00000003 56 74 00"),
                Value::array({Value::nothing(), Value::boolean(false)}));
    expect_wire("b" + from_hex("80"), number(ValueType::int8, -128));
    expect_wire("B" + from_hex("80"), number(ValueType::uint8, 128));
    expect_wire("d" + from_hex("3ff8000000000000"), {ValueType::float64, 1.5});
    expect_wire("f" + from_hex("3fc00000"), {ValueType::float32, 1.5});
    expect_wire("l" + from_hex("8000000000000000"),
                Value::int64(std::numeric_limits<std::int64_t>::min()));
    expect_wire("s" + from_hex("8000"), number(ValueType::int16, -32768));
    expect_wire("u" + from_hex("8000"), number(ValueType::uint16, 32768));
    expect_wire("t" + from_hex("01"), Value::boolean(true));
    expect_wire("x" + from_hex("00000003 00ff00"),
                {ValueType::binary, std::string("\x00\xff\x00", 3)});
    expect_wire("V", Value::nothing());
}

TEST(Tables, TheLetterUpperCaseLIsReadAsInt64AndWrittenLowerCase) {
    // amqp091 1.9
    const auto table = decode_table(field("L" + from_hex("ffffffffffffffff")));
    ASSERT_TRUE(table.has_value());
    EXPECT_EQ(*table, table_of(Value::int64(-1)));
    EXPECT_EQ(encoded_table(*table), field("l" + from_hex("ffffffffffffffff")));
}

TEST(Tables, EveryNonZeroBooleanIsTrue) {
    // amqp091 1.9
    const auto table = decode_table(field("t" + from_hex("80")));
    ASSERT_TRUE(table.has_value());
    EXPECT_EQ(*table, table_of(Value::boolean(true)));
}

TEST(Tables, AllOtherLettersAreUnknown) {
    // amqp091 1.10
    const std::string known = "SIiDTFAbBdflLsutxV";
    for (int type_tag = 0; type_tag < 256; ++type_tag) {
        if (known.find(static_cast<char>(type_tag)) != std::string::npos) continue;
        const auto table = decode_table(
            field(std::string(1, static_cast<char>(type_tag)) + std::string(16, '\0')));
        ASSERT_FALSE(table.has_value()) << type_tag;
        EXPECT_EQ(table.error(),
                  (TableError{TableErrorKind::unknown_type, 0, static_cast<char>(type_tag)}));
    }
}

TEST(Tables, FieldsKeepTheirOrderAndDuplicates) {
    const Table table{{"z", Value::int32(1)}, {"a", Value::int32(2)}, {"z", Value::int32(3)}};
    const auto decoded = decode_table(encoded_table(table));
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(*decoded, table);
}

TEST(Tables, NamesMayBeEmptyOrAnyBytes) {
    const Table table{{"", Value::nothing()}, {std::string(255, '\xff'), Value::nothing()}};
    EXPECT_EQ(*decode_table(encoded_table(table)), table);
}

TEST(Tables, AnEmptyBodyIsAnEmptyTable) {
    EXPECT_EQ(*decode_table(""), Table{});
    EXPECT_EQ(encoded_table({}), "");
}

TEST(Tables, FloatsKeepEveryBitAlsoOfNotANumber) {
    for (const char* bits : {"7fc00000", "ffc00000", "7f800001", "ff800001", "7fbfffff", "7f800000",
                             "ff800000", "80000000", "00000001", "7f7fffff"}) {
        const std::string bytes = field("f" + from_hex(bits));
        const auto table = decode_table(bytes);
        ASSERT_TRUE(table.has_value());
        EXPECT_EQ(encoded_table(*table), bytes) << bits;
        EXPECT_EQ(*decode_table(encoded_table(*table)), *table) << bits;
    }
    for (const char* bits : {"7ff0000000000001", "fff8000000000000", "8000000000000000"}) {
        const std::string bytes = field("d" + from_hex(bits));
        EXPECT_EQ(encoded_table(*decode_table(bytes)), bytes) << bits;
    }
}

TEST(Tables, ADoubleWrittenAsFloatStaysNotANumber) {
    // No decoder produces such a value: it is a double with the type float32.
    const auto lowest_bit = std::bit_cast<double>(0x7ff0000000000001U);
    const auto table = decode_table(encoded_table(table_of({ValueType::float32, lowest_bit})));
    ASSERT_TRUE(table.has_value());
    const double read = std::get<double>(table->front().value.data);
    EXPECT_NE(read, read);
}

TEST(TableErrors, SayWhatIsWrongAndWhere) {
    const std::string good = encoded_table({{"good", Value::int32(1)}});
    const auto unknown = decode_table(good + field("Z"));
    ASSERT_FALSE(unknown.has_value());
    EXPECT_EQ(unknown.error(), (TableError{TableErrorKind::unknown_type, good.size(), 'Z'}));
    EXPECT_EQ(describe(unknown.error()), "unknown field type 0x5a 'Z' at offset 10");

    const auto control = decode_table(field(from_hex("07")));
    ASSERT_FALSE(control.has_value());
    EXPECT_EQ(describe(control.error()), "unknown field type 0x07 at offset 0");

    const auto truncated = decode_table(good + field("S" + from_hex("00000005") + "abcd"));
    ASSERT_FALSE(truncated.has_value());
    EXPECT_EQ(truncated.error(), (TableError{TableErrorKind::truncated, good.size(), 'S'}));
    EXPECT_EQ(describe(truncated.error()), "truncated value at offset 10");

    const auto name = decode_table(good + from_hex("05") + "abc");
    ASSERT_FALSE(name.has_value());
    EXPECT_EQ(name.error(), (TableError{TableErrorKind::truncated, good.size(), 0}));
}

TEST(TableErrors, OffsetsOfNestedValuesCountFromTheOutermostTable) {
    // n: F { a: A [ V, Z ] }
    const std::string array = "A" + from_hex("00000002") + "VZ";
    const std::string inner = from_hex("01") + "a" + array;
    const std::string bytes =
        field("F" + from_hex("000000") + static_cast<char>(inner.size()) + inner);
    const auto table = decode_table(bytes);
    ASSERT_FALSE(table.has_value());
    EXPECT_EQ(table.error(), (TableError{TableErrorKind::unknown_type, bytes.size() - 1, 'Z'}));
}

TEST(TableErrors, ANestedTableMayNotEndBeyondTheOneThatHoldsIt) {
    // The array has two bytes; its int32 would extend into the next field.
    const std::string bytes = field("A" + from_hex("00000002") + "I" + from_hex("00")) +
                              field("I" + from_hex("00000000"));
    const auto table = decode_table(bytes);
    ASSERT_FALSE(table.has_value());
    EXPECT_EQ(table.error().fault, TableErrorKind::truncated);
}

// Nested arrays in a table. `levels` includes the table.
std::string nested(int levels) {
    std::string body;
    for (int level = 2; level <= levels; ++level) {
        std::string outer = "A";
        ByteWriter writer(outer);
        writer.long_string(body);
        body = outer;
    }
    return field(body);
}

TEST(TableErrors, NestingIsLimited) {
    const auto deepest = decode_table(nested(table_depth_max));
    ASSERT_TRUE(deepest.has_value());
    EXPECT_EQ(encoded_table(*deepest), nested(table_depth_max));
    const auto too_deep = decode_table(nested(table_depth_max + 1));
    ASSERT_FALSE(too_deep.has_value());
    EXPECT_EQ(too_deep.error().fault, TableErrorKind::too_deep);
    EXPECT_EQ(describe(too_deep.error()).substr(0, 55),
              "tables and arrays nested more than 64 levels deep at of");
    const auto walked = walk_table(nested(table_depth_max + 1), [](auto, char, auto) {});
    ASSERT_FALSE(walked.has_value());
    EXPECT_EQ(walked.error(), too_deep.error());
}

TEST(TableErrors, AHundredThousandLevelsDoNotExhaustTheStack) {
    std::string body;
    for (int level = 0; level < 100000; ++level) body += "A" + from_hex("7fffffff");
    EXPECT_FALSE(decode_table(field(body)).has_value());
    const auto deep = decode_table(nested(2000));
    ASSERT_FALSE(deep.has_value());
    EXPECT_EQ(deep.error().fault, TableErrorKind::too_deep);
}

using Visited = std::vector<std::tuple<std::string, char, std::string>>;

TEST(WalkTable, ShowsTheFieldsOfTheTopLevelWithTheirRawContent) {
    const Table table{
        {"CC", Value::array({Value::string("a"), Value::string("b")})},
        {"x-match", Value::string("all")},
        {"nested", Value::table({{"hidden", Value::int32(1)}})},
        {"number", Value::int32(258)},
        {"nothing", Value::nothing()},
    };
    Visited visited;
    const std::string bytes = encoded_table(table);
    const auto walked =
        walk_table(bytes, [&visited](std::string_view name, char type_tag, std::string_view raw) {
            visited.emplace_back(name, type_tag, raw);
        });
    ASSERT_TRUE(walked.has_value());
    EXPECT_EQ(visited, (Visited{{"CC", 'A', from_hex("53 00000001 61 53 00000001 62")},
                                {"x-match", 'S', "all"},
                                {"nested", 'F', from_hex("06") + "hiddenI" + from_hex("00000001")},
                                {"number", 'I', from_hex("00000102")},
                                {"nothing", 'V', ""}}));
}

TEST(WalkTable, RawContentDecodesToTheValue) {
    const Table table{{"CC", Value::array({Value::string("a"), Value::int32(2)})},
                      {"deaths", Value::table({{"count", Value::int64(3)}})},
                      {"text", Value::string("abc")}};
    const std::string bytes = encoded_table(table);
    std::size_t index = 0;
    const auto walked =
        walk_table(bytes, [&](std::string_view name, char type_tag, std::string_view raw) {
            ASSERT_LT(index, table.size());
            EXPECT_EQ(name, table[index].name);
            EXPECT_EQ(*decode_value(type_tag, raw), table[index].value);
            if (type_tag == 'A') {
                EXPECT_EQ(*decode_array(raw), *table[index].value.as_array());
            }
            if (type_tag == 'F') {
                EXPECT_EQ(*decode_table(raw), *table[index].value.as_table());
            }
            ++index;
        });
    EXPECT_TRUE(walked.has_value());
    EXPECT_EQ(index, table.size());
}

TEST(WalkTable, FindsErrorsInsideNestedValues) {
    const std::string bytes = encoded_table({{"good", Value::int32(1)}}) +
                              field("F" + from_hex("00000003 01") + "aZ") +
                              encoded_table({{"after", Value::int32(1)}});
    Visited visited;
    const auto walked = walk_table(bytes, [&](auto name, char type_tag, auto raw) {
        visited.emplace_back(name, type_tag, raw);
    });
    ASSERT_FALSE(walked.has_value());
    EXPECT_EQ(walked.error(), (TableError{TableErrorKind::unknown_type, 17, 'Z'}));
    EXPECT_EQ(visited.size(), 1U);
}

TEST(DecodeValue, RefusesWhatNoWalkShows) {
    const auto unknown = decode_value('Z', "");
    ASSERT_FALSE(unknown.has_value());
    EXPECT_EQ(unknown.error().fault, TableErrorKind::unknown_type);
    const auto small = decode_value('I', "abc");
    ASSERT_FALSE(small.has_value());
    EXPECT_EQ(small.error().fault, TableErrorKind::truncated);
    EXPECT_FALSE(decode_value('A', "Z").has_value());
    EXPECT_FALSE(decode_array("I").has_value());
}

// --- random tables -------------------------------------------------------------------------------

using Random = std::mt19937_64;

std::string random_bytes(Random& random, std::size_t size_max) {
    std::string bytes(random() % (size_max + 1), '\0');
    for (char& octet : bytes) octet = static_cast<char>(random());
    return bytes;
}

Value random_value(Random& random, int depth);

Table random_table(Random& random, int depth) {
    Table table(random() % 6);
    for (Field& entry : table) entry = {random_bytes(random, 12), random_value(random, depth)};
    return table;
}

Value random_value(Random& random, int depth) {
    const auto type = static_cast<ValueType>(random() % (depth < 5 ? 17 : 15));
    switch (type) {
        case ValueType::void_value:
            return Value::nothing();
        case ValueType::boolean:
            return Value::boolean(random() % 2 == 1);
        case ValueType::int8:
            return number(type, static_cast<std::int8_t>(random()));
        case ValueType::uint8:
            return number(type, static_cast<std::uint8_t>(random()));
        case ValueType::int16:
            return number(type, static_cast<std::int16_t>(random()));
        case ValueType::uint16:
            return number(type, static_cast<std::uint16_t>(random()));
        case ValueType::int32:
            return number(type, static_cast<std::int32_t>(random()));
        case ValueType::uint32:
            return number(type, static_cast<std::uint32_t>(random()));
        case ValueType::int64:
        case ValueType::timestamp:
            return number(type, static_cast<std::int64_t>(random()));
        case ValueType::float32:
            return {type, static_cast<double>(static_cast<float>(random()) / 3.0F)};
        case ValueType::float64:
            return {type, std::bit_cast<double>(random())};
        case ValueType::decimal:
            return {type, Decimal{static_cast<std::uint8_t>(random()),
                                  static_cast<std::uint32_t>(random())}};
        case ValueType::long_string:
        case ValueType::binary:
            return {type, random_bytes(random, 40)};
        case ValueType::array: {
            Array array(random() % 6);
            for (Value& element : array) element = random_value(random, depth + 1);
            return Value::array(std::move(array));
        }
        case ValueType::table:
            return Value::table(random_table(random, depth + 1));
    }
    return {};
}

TEST(RandomTables, SurviveEncodingAndDecoding) {
    Random random(1009);
    for (int round = 0; round < 2000; ++round) {
        const Table table = random_table(random, 1);
        const std::string bytes = encoded_table(table);
        const auto decoded = decode_table(bytes);
        ASSERT_TRUE(decoded.has_value()) << round << ": " << describe(decoded.error());
        ASSERT_EQ(*decoded, table) << round;
        ASSERT_EQ(encoded_table(*decoded), bytes) << round;
    }
}

// The walk and the decoder must give the same result for these bytes.
void expect_agreement(const std::string& bytes) {
    std::vector<std::string> names;
    const auto walked = walk_table(
        bytes, [&names](std::string_view name, char, auto) { names.emplace_back(name); });
    const auto decoded = decode_table(bytes);
    ASSERT_EQ(walked.has_value(), decoded.has_value());
    if (!walked.has_value()) {
        EXPECT_EQ(walked.error(), decoded.error());
        return;
    }
    ASSERT_EQ(names.size(), decoded->size());
    for (std::size_t index = 0; index < names.size(); ++index) {
        EXPECT_EQ(names[index], (*decoded)[index].name);
    }
}

TEST(RandomTables, APrefixIsTruncatedOrEndsBetweenTwoFields) {
    Random random(1010);
    for (int round = 0; round < 40; ++round) {
        const Table table = random_table(random, 1);
        const std::string bytes = encoded_table(table);
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            const std::string prefix = bytes.substr(0, size);
            const auto decoded = decode_table(prefix);
            if (decoded.has_value()) {
                ASSERT_LE(decoded->size(), table.size());
                Table front = table;
                front.resize(decoded->size());
                ASSERT_EQ(*decoded, front);
            } else {
                ASSERT_EQ(decoded.error().fault, TableErrorKind::truncated);
                ASSERT_LT(decoded.error().offset, size);
            }
            expect_agreement(prefix);
        }
    }
}

TEST(RandomTables, TheWalkAndTheDecoderAgreeOnDamagedTables) {
    Random random(1011);
    for (int round = 0; round < 5000; ++round) {
        std::string bytes = encoded_table(random_table(random, 1));
        if (bytes.empty()) continue;
        bytes[random() % bytes.size()] = static_cast<char>(random());
        expect_agreement(bytes);
    }
}

}  // namespace
}  // namespace revenant::amqp091
