#include "message/value.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace revenant {
namespace {

Value integer(ValueType type, std::int64_t value) { return {type, value}; }

const std::vector<ValueType>& integer_types() {
    static const std::vector<ValueType> types{
        ValueType::int8,  ValueType::uint8,  ValueType::int16, ValueType::uint16,
        ValueType::int32, ValueType::uint32, ValueType::int64};
    return types;
}

TEST(Value, KeepsTheTypeItWasMadeWith) {
    EXPECT_EQ(Value::nothing().type, ValueType::void_value);
    EXPECT_EQ(Value::boolean(true).type, ValueType::boolean);
    EXPECT_EQ(Value::int32(-5).type, ValueType::int32);
    EXPECT_EQ(Value::int64(-5).type, ValueType::int64);
    EXPECT_EQ(Value::timestamp(5).type, ValueType::timestamp);
    EXPECT_EQ(Value::string("a").type, ValueType::long_string);
    EXPECT_EQ(Value::array({}).type, ValueType::array);
    EXPECT_EQ(Value::table({}).type, ValueType::table);
}

TEST(Value, GivesItsContentOnlyAsWhatItIs) {
    EXPECT_EQ(*Value::int32(-5).as_integer(), -5);
    EXPECT_EQ(*Value::string("a").as_string(), "a");
    EXPECT_EQ(*Value::boolean(true).as_boolean(), true);
    EXPECT_EQ(Value::array({Value::int32(1)}).as_array()->size(), 1U);
    EXPECT_EQ(Value::table({{"a", Value::int32(1)}}).as_table()->front().name, "a");
    EXPECT_EQ(Value::int32(1).as_string(), nullptr);
    EXPECT_EQ(Value::string("1").as_integer(), nullptr);
    EXPECT_EQ(Value::nothing().as_boolean(), nullptr);
    EXPECT_EQ(Value::array({}).as_table(), nullptr);
    EXPECT_EQ(Value::table({}).as_array(), nullptr);
}

TEST(Value, ATimestampIsNoIntegerAndABinaryNoString) {
    EXPECT_FALSE(Value::timestamp(1).is_integer());
    EXPECT_EQ(Value::timestamp(1).as_integer(), nullptr);
    const Value binary{ValueType::binary, std::string("a")};
    EXPECT_EQ(binary.as_string(), nullptr);
    for (const ValueType type : integer_types()) {
        EXPECT_TRUE(integer(type, 1).is_integer());
        EXPECT_NE(integer(type, 1).as_integer(), nullptr);
    }
}

TEST(Value, EqualityIsOfTypeAndContent) {
    EXPECT_EQ(Value::int32(1), Value::int32(1));
    EXPECT_NE(Value::int32(1), Value::int64(1));
    EXPECT_NE(Value::int32(1), Value::int32(2));
    EXPECT_NE(Value::string("a"), (Value{ValueType::binary, std::string("a")}));
    const Value nested = Value::table({{"a", Value::array({Value::int32(1)})}});
    EXPECT_EQ(nested, Value::table({{"a", Value::array({Value::int32(1)})}}));
    EXPECT_NE(nested, Value::table({{"a", Value::array({Value::int64(1)})}}));
    EXPECT_NE(nested, Value::table({{"b", Value::array({Value::int32(1)})}}));
}

TEST(Value, FloatsAreEqualToTheBit) {
    const Value nan{ValueType::float64, std::numeric_limits<double>::quiet_NaN()};
    EXPECT_EQ(nan, nan);
    EXPECT_NE(nan, (Value{ValueType::float64, -std::numeric_limits<double>::quiet_NaN()}));
    EXPECT_NE((Value{ValueType::float64, 0.0}), (Value{ValueType::float64, -0.0}));
    EXPECT_NE((Value{ValueType::float32, 1.0}), (Value{ValueType::float64, 1.0}));
}

TEST(Equivalent, ComparesIntegersByValueWhateverTheirWidth) {
    // amqp091 1.11
    for (const ValueType a : integer_types()) {
        for (const ValueType b : integer_types()) {
            EXPECT_TRUE(equivalent(integer(a, 100), integer(b, 100)));
            EXPECT_FALSE(equivalent(integer(a, 100), integer(b, 101)));
        }
    }
    EXPECT_FALSE(equivalent(Value::int64(1), Value::timestamp(1)));
    EXPECT_FALSE(equivalent(Value::int64(1), Value::string("1")));
    EXPECT_FALSE(equivalent(Value::int64(1), Value::boolean(true)));
}

TEST(Equivalent, ComparesFloatsOfBothWidthsByValue) {
    // amqp091 1.11
    EXPECT_TRUE(equivalent({ValueType::float32, 1.5}, {ValueType::float64, 1.5}));
    EXPECT_FALSE(equivalent({ValueType::float32, 1.5}, {ValueType::float64, 2.5}));
    EXPECT_FALSE(equivalent({ValueType::float64, 1.0}, Value::int64(1)));
}

TEST(Equivalent, ComparesAllElseByTypeAndContent) {
    EXPECT_TRUE(equivalent(Value::nothing(), Value::nothing()));
    EXPECT_TRUE(equivalent(Value::string("a"), Value::string("a")));
    EXPECT_FALSE(equivalent(Value::string("a"), Value::string("b")));
    EXPECT_FALSE(equivalent(Value::string("a"), {ValueType::binary, std::string("a")}));
}

TEST(Display, ShowsValuesAsRabbitMqPrintsThem) {
    EXPECT_EQ(display(Value::int32(1000)), "1000");
    EXPECT_EQ(display(Value::boolean(true)), "true");
    EXPECT_EQ(display(Value::boolean(false)), "false");
    EXPECT_EQ(display(Value::string("abc")), "abc");
    EXPECT_EQ(display({ValueType::float64, 1.5}), "1.5");
    EXPECT_EQ(display({ValueType::float64, 2.0}), "2.0");
    EXPECT_EQ(display({ValueType::decimal, Decimal{2, 15}}), "{2,15}");
    EXPECT_EQ(display(Value::nothing()), "undefined");
    EXPECT_EQ(display(Value::array({Value::int32(1), Value::string("a")})), "[1,a]");
    EXPECT_EQ(display(Value::table({{"a", Value::int32(1)}})), "[{a,1}]");
}

TEST(TypeNames, AreThoseRabbitMqPrints) {
    EXPECT_EQ(type_name(ValueType::long_string), "longstr");
    EXPECT_EQ(type_name(ValueType::int32), "signedint");
    EXPECT_EQ(type_name(ValueType::uint32), "unsignedint");
    EXPECT_EQ(type_name(ValueType::int64), "long");
    EXPECT_EQ(type_name(ValueType::int16), "short");
    EXPECT_EQ(type_name(ValueType::uint16), "unsignedshort");
    EXPECT_EQ(type_name(ValueType::int8), "byte");
    EXPECT_EQ(type_name(ValueType::uint8), "unsignedbyte");
    EXPECT_EQ(type_name(ValueType::boolean), "bool");
    EXPECT_EQ(type_name(ValueType::float64), "double");
    EXPECT_EQ(type_name(ValueType::table), "table");
    EXPECT_EQ(type_name(ValueType::void_value), "void");
}

TEST(Find, GivesTheFirstFieldOfTheName) {
    const Table table{{"a", Value::int32(1)}, {"b", Value::int32(2)}, {"a", Value::int32(3)}};
    ASSERT_NE(find(table, "a"), nullptr);
    EXPECT_EQ(*find(table, "a"), Value::int32(1));
    EXPECT_EQ(find(table, "c"), nullptr);
    EXPECT_EQ(find({}, "a"), nullptr);
}

}  // namespace
}  // namespace revenant
