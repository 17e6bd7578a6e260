#include "http/api/json.h"

#include <gtest/gtest.h>

#include <limits>

namespace revenant::http {
namespace {

TEST(Json, ReadsWhatIsJson) {
    EXPECT_EQ(to_text(*parse_json(R"( {"a":[1,-2.5,true,null,"x"]} )")),
              R"({"a":[1,-2.5E0,true,null,"x"]})");
    for (const char* text : {"", "{", "x", "[1,]", "{\"a\":}", "1 2", "\"\xFF\"", "\"\\uD800\"",
                             "{\"\xC3\x28\":1}", "[\x01]"}) {
        EXPECT_FALSE(parse_json(text)) << text;
    }
}

TEST(Json, DepthIsBounded) {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    EXPECT_TRUE(parse_json(nested(json_depth_max)));
    EXPECT_FALSE(parse_json(nested(json_depth_max + 1)));
    EXPECT_FALSE(parse_json(std::string(1'000'000, '[')));
    EXPECT_FALSE(parse_json(std::string(1'000'000, '{')));
}

TEST(Json, ArgumentsOfEveryTypeBecomeJson) {  // management 1.9
    const Table table = {{"void", Value::nothing()},
                         {"flag", Value::boolean(true)},
                         {"small", Value::int32(-5)},
                         {"large", Value::int64(std::numeric_limits<std::int64_t>::max())},
                         {"time", Value::timestamp(1700000000)},
                         {"real", Value{ValueType::float64, 0.5}},
                         {"decimal", Value{ValueType::decimal, Decimal{2, 314}}},
                         {"text", Value::string("é")},
                         {"list", Value::array({Value::int32(1), Value::string("x")})},
                         {"table", Value::table({{"inner", Value::int32(1)}})}};
    EXPECT_EQ(to_text(to_json(table)),
              R"({"void":null,"flag":true,"small":-5,"large":9223372036854775807,)"
              R"("time":1700000000,"real":5E-1,"decimal":3.14E0,"text":"é",)"
              R"("list":[1,"x"],"table":{"inner":1}})");
}

TEST(Json, NumbersThatJsonCannotSayAreNull) {
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(to_json(Value{ValueType::float64, infinity}).is_null());
    EXPECT_TRUE(to_json(Value{ValueType::float32, -infinity}).is_null());
}

TEST(Json, BytesThatAreNoTextAreReplaced) {
    EXPECT_EQ(to_json_string("a\xFFz"), "a\xEF\xBF\xBDz");
    EXPECT_EQ(to_json_string("\xC3"), "\xEF\xBF\xBD");
    EXPECT_EQ(to_json_string("\xC3\xA9\xE2\x82"), "\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD");
    EXPECT_TRUE(parse_json(to_text(json::value(to_json_string("\xF0\x28\x8C\x28\0x")))));
}

TEST(Json, IntegersBecomeSixtyFourBitsWide) {
    const auto table = table_from_json(
        parse_json(R"({"i":5,"f":2.0,"s":"x","b":false,"n":null,"l":[1],"o":{"k":-1}})")
            ->get_object());
    ASSERT_TRUE(table);
    EXPECT_EQ(find(*table, "i")->type, ValueType::int64);
    EXPECT_EQ(find(*table, "f")->type, ValueType::float64);
    EXPECT_EQ(find(*table, "s")->type, ValueType::long_string);
    EXPECT_EQ(find(*table, "b")->type, ValueType::boolean);
    EXPECT_EQ(find(*table, "n")->type, ValueType::void_value);
    EXPECT_EQ(find(*table, "l")->type, ValueType::array);
    EXPECT_EQ(*find(*find(*table, "o")->as_table(), "k")->as_integer(), -1);
}

TEST(Json, ATableDeclaredOverHttpEqualsOneDeclaredByAClient) {
    const auto table = table_from_json(parse_json(R"({"x-message-ttl":60000})")->get_object());
    EXPECT_TRUE(equivalent(*find(*table, "x-message-ttl"), Value::int32(60000)));
}

TEST(Json, WhatNoTableCanHoldIsRefused) {
    EXPECT_FALSE(table_from_json(parse_json(R"({"big":18446744073709551615})")->get_object()));
    json::object long_name;
    long_name[std::string(256, 'x')] = 1;
    EXPECT_FALSE(table_from_json(long_name));
}

TEST(Json, WrongValuesArePrintedAsTerms) {
    const auto term = [](const char* text) { return as_erlang_term(parse_json(text).value()); };
    EXPECT_EQ(term(R"("x")"), R"(<<"x">>)");
    EXPECT_EQ(term("-5"), "-5");
    EXPECT_EQ(term("[true,null,[]]"), "[true,null,[]]");
    EXPECT_EQ(term(R"({"a":1,"b":{}})"), R"(#{<<"a">> => 1,<<"b">> => #{}})");
}

}  // namespace
}  // namespace revenant::http
