#include "message/value.h"

#include "base/check.h"

#include <bit>
#include <charconv>

namespace revenant {

Value Value::nothing() { return {}; }
Value Value::boolean(bool value) { return {ValueType::boolean, value}; }
Value Value::int32(std::int32_t value) { return {ValueType::int32, std::int64_t{value}}; }
Value Value::int64(std::int64_t value) { return {ValueType::int64, value}; }
Value Value::timestamp(std::uint64_t seconds) {
    return {ValueType::timestamp, static_cast<std::int64_t>(seconds)};
}
Value Value::string(std::string_view text) { return {ValueType::long_string, std::string(text)}; }
Value Value::array(Array elements) { return {ValueType::array, std::move(elements)}; }
Value Value::table(Table fields) { return {ValueType::table, std::move(fields)}; }

bool Value::is_integer() const {
    switch (type) {
        case ValueType::int8:
        case ValueType::uint8:
        case ValueType::int16:
        case ValueType::uint16:
        case ValueType::int32:
        case ValueType::uint32:
        case ValueType::int64:
            return true;
        default:
            return false;
    }
}

const std::int64_t* Value::as_integer() const {
    return is_integer() ? std::get_if<std::int64_t>(&data) : nullptr;
}
const std::string* Value::as_string() const {
    return type == ValueType::long_string ? std::get_if<std::string>(&data) : nullptr;
}
const bool* Value::as_boolean() const { return std::get_if<bool>(&data); }
const Array* Value::as_array() const { return std::get_if<Array>(&data); }
const Table* Value::as_table() const { return std::get_if<Table>(&data); }

bool operator==(const Value& a, const Value& b) {
    if (a.type != b.type) return false;
    const auto* real_a = std::get_if<double>(&a.data);
    const auto* real_b = std::get_if<double>(&b.data);
    if (real_a != nullptr && real_b != nullptr) {
        // A NaN equals itself, and 0.0 does not equal -0.0.
        return std::bit_cast<std::uint64_t>(*real_a) == std::bit_cast<std::uint64_t>(*real_b);
    }
    return a.data == b.data;
}

std::string_view type_name(ValueType type) {
    switch (type) {
        case ValueType::void_value:
            return "void";
        case ValueType::boolean:
            return "bool";
        case ValueType::int8:
            return "byte";
        case ValueType::uint8:
            return "unsignedbyte";
        case ValueType::int16:
            return "short";
        case ValueType::uint16:
            return "unsignedshort";
        case ValueType::int32:
            return "signedint";
        case ValueType::uint32:
            return "unsignedint";
        case ValueType::int64:
            return "long";
        case ValueType::float32:
            return "float";
        case ValueType::float64:
            return "double";
        case ValueType::decimal:
            return "decimal";
        case ValueType::timestamp:
            return "timestamp";
        case ValueType::long_string:
            return "longstr";
        case ValueType::binary:
            return "binary";
        case ValueType::array:
            return "array";
        case ValueType::table:
            return "table";
    }
    UNREACHABLE();
}

namespace {

std::string display_double(double value) {
    char text[64];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    std::string shown(text, end);
    if (shown.find_first_of(".en") == std::string::npos) shown += ".0";
    return shown;
}

template <typename Elements, typename Show>
std::string display_list(const Elements& elements, Show show) {
    std::string shown = "[";
    for (const auto& element : elements) {
        if (shown.size() > 1) shown += ',';
        shown += show(element);
    }
    return shown + ']';
}

}  // namespace

std::string display(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
    if (const auto* flag = std::get_if<bool>(&value.data)) return *flag ? "true" : "false";
    if (const auto* number = std::get_if<std::int64_t>(&value.data)) return std::to_string(*number);
    if (const auto* real = std::get_if<double>(&value.data)) return display_double(*real);
    if (const auto* decimal = std::get_if<Decimal>(&value.data)) {
        return "{" + std::to_string(decimal->scale) + "," + std::to_string(decimal->digits) + "}";
    }
    if (const auto* array = value.as_array()) return display_list(*array, display);
    if (const auto* table = value.as_table()) {
        return display_list(*table, [](const Field& field) {
            return "{" + field.name + "," + display(field.value) + "}";
        });
    }
    return "undefined";
}

bool equivalent(const Value& a, const Value& b) {
    if (a.is_integer() && b.is_integer()) return *a.as_integer() == *b.as_integer();
    const auto* real_a = std::get_if<double>(&a.data);
    const auto* real_b = std::get_if<double>(&b.data);
    if (real_a != nullptr && real_b != nullptr) return *real_a == *real_b;
    return a == b;
}

const Value* find(const Table& table, std::string_view name) {
    for (const Field& field : table) {
        if (field.name == name) return &field.value;
    }
    return nullptr;
}

}  // namespace revenant
