// Value: one typed AMQP value. It keeps the type that the client chose, so it is sent unchanged,
// and compares as RabbitMQ compares arguments: integers by value, independent of their width.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace revenant {

enum class ValueType : std::uint8_t {
    void_value,
    boolean,
    int8,
    uint8,
    int16,
    uint16,
    int32,
    uint32,
    int64,
    float32,
    float64,
    decimal,
    timestamp,
    long_string,
    binary,
    array,
    table,
};

struct Value;
struct Field;
using Array = std::vector<Value>;
// In wire order. Tables are small, so a linear search is faster than a map.
using Table = std::vector<Field>;

struct Decimal {
    std::uint8_t scale = 0;
    std::uint32_t digits = 0;
    friend bool operator==(const Decimal&, const Decimal&) = default;
};

struct Value {
    ValueType type = ValueType::void_value;
    // int64_t contains every integer width and the timestamp (as the bits of its unsigned seconds).
    std::variant<std::monostate, bool, std::int64_t, double, Decimal, std::string, Array, Table>
        data;

    static Value nothing();
    static Value boolean(bool value);
    static Value int32(std::int32_t value);
    static Value int64(std::int64_t value);
    static Value timestamp(std::uint64_t seconds);
    static Value string(std::string_view text);
    static Value array(Array elements);
    static Value table(Table fields);

    bool is_integer() const;  // any integer width; not a timestamp
    // The content, or nullptr if the value has another type.
    const std::int64_t* as_integer() const;
    const std::string* as_string() const;  // long_string only
    const bool* as_boolean() const;
    const Array* as_array() const;
    const Table* as_table() const;

    // True if type and content are identical, bit by bit.
    friend bool operator==(const Value&, const Value&);
};

struct Field {
    std::string name;
    Value value;
    friend bool operator==(const Field&, const Field&) = default;
};

// The name RabbitMQ prints for a type: longstr, signedint, unsignedint, long, short, …
std::string_view type_name(ValueType type);
// The value as RabbitMQ prints it between quotes in an error text: 1000, true, abc.
std::string display(const Value& value);
// Like operator==, but compares integers by value regardless of their width, and floats likewise.
bool equivalent(const Value& a, const Value& b);
// The first field with that name, or nullptr.
const Value* find(const Table& table, std::string_view name);

}  // namespace revenant
