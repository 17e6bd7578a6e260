#include "message/erlang_hash.h"

#include <gtest/gtest.h>

namespace revenant {
namespace {

Value typed(ValueType type, std::int64_t number) { return {type, number}; }

struct Example {
    const char* hash;
    Table table;
};

// The expected values are those of erlang:phash2(Table, 1 bsl 32). tests/http has values of a
// running RabbitMQ 4.3.6.
TEST(ErlangHash, IsThatOfErlang) {
    const std::string long_text = "a value that is longer than twelve bytes, twice and more";
    const Example examples[] = {
        {"zsLELg", {}},
        {"3ujGfg", {{"x-match", Value::string("all")}}},
        {"-56y_w", {{"x-match", Value::string("any")}, {"a", Value::int64(1)}}},
        {"KhdYfw",
         {{"a", Value::int32(-5)},
          {"b", Value::int64(std::int64_t{1} << 40)},
          {"c", Value::int64(-(std::int64_t{1} << 40))},
          {"d", Value::int64(INT64_MAX)},
          {"e", Value::int64(INT64_MIN)},
          {"f", Value::int32(134'217'727)},
          {"g", Value::int32(134'217'728)},
          {"h", Value::int32(-134'217'728)},
          {"i", Value::int32(-134'217'729)}}},
        {"GUyZcg",
         {{"f", Value::boolean(false)}, {"t", Value::boolean(true)}, {"v", Value::nothing()}}},
        {"CVRMlA",
         {{"d", {ValueType::float64, 1.5}},
          {"f", {ValueType::float32, 0.25}},
          {"z", {ValueType::float64, -0.0}}}},
        {"61Kqdw",
         {{"d", {ValueType::decimal, Decimal{2, 12345}}},
          {"t", typed(ValueType::timestamp, 1'700'000'000)},
          {"u", typed(ValueType::timestamp, -1)}}},
        // A binding created over the HTTP API of RabbitMQ 4.3.6.
        {"lbAiJg",
         {{"b", Value::boolean(true)},
          {"f", {ValueType::float64, 1.5}},
          {"l", Value::array({Value::int64(1), Value::string("two")})},
          {"n", Value::int64(5)},
          {"t", Value::table({{"a", Value::string("b")}, {"z", Value::int64(1)}})},
          {"x-match", Value::string("all")}}},
        {"yd2Mww",
         {{"a", Value::array({Value::string("x"), Value::int64(1)})},
          {"t", Value::table({{"k", Value::string("v")}})},
          {"u", Value::array({})},
          {"w", Value::table({})}}},
        {"_ybQsA",
         {{"a-name-of-twenty-five-bytes", Value::string(long_text)},
          {"b", {ValueType::binary, std::string()}},
          {"c", Value::string("123456789012")},
          {"d", Value::string("12345678901")}}},
    };
    for (const Example& example : examples) {
        EXPECT_EQ(arguments_hash(example.table), example.hash);
    }
}

}  // namespace
}  // namespace revenant
