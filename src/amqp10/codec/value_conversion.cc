#include "amqp10/codec/value_conversion.h"

#include "base/utf8.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>
#include <utility>

namespace revenant::amqp10 {
namespace {

constexpr std::string_view urn_prefix = "urn:uuid:";
constexpr std::size_t uuid_bytes = 16;
constexpr std::int64_t ms_per_second = 1000;

bool follows_hyphen(std::size_t byte) { return byte == 4 || byte == 6 || byte == 8 || byte == 10; }

std::optional<ValueType> integer_type_of(Type type) {
    switch (type) {
        case Type::byte:
            return ValueType::int8;
        case Type::ubyte:
            return ValueType::uint8;
        case Type::short_int:
            return ValueType::int16;
        case Type::ushort:
            return ValueType::uint16;
        case Type::int32:
            return ValueType::int32;
        case Type::uint:
            return ValueType::uint32;
        case Type::long_int:
        case Type::ulong:
            return ValueType::int64;
        default:
            return std::nullopt;
    }
}

std::optional<Type> type_of_integer(ValueType type) {
    switch (type) {
        case ValueType::int8:
            return Type::byte;
        case ValueType::uint8:
            return Type::ubyte;
        case ValueType::int16:
            return Type::short_int;
        case ValueType::uint16:
            return Type::ushort;
        case ValueType::int32:
            return Type::int32;
        case ValueType::uint32:
            return Type::uint;
        case ValueType::int64:
            return Type::long_int;
        default:
            return std::nullopt;
    }
}

Value to_integer(ValueType type, const Datum& datum) {
    if (const std::uint64_t* number = datum.as_unsigned()) {
        return {type, static_cast<std::int64_t>(*number)};
    }
    return {type, *datum.as_signed()};
}

Datum integer_to_datum(Type type, std::int64_t number) {
    switch (type) {
        case Type::ubyte:
        case Type::ushort:
        case Type::uint:
            return {type, static_cast<std::uint64_t>(number)};
        default:
            return {type, number};
    }
}

Value to_array(const Data& elements) {
    Array array;
    for (const Datum& element : elements) {
        if (auto value = to_value(element)) array.push_back(std::move(*value));
    }
    return Value::array(std::move(array));
}

std::optional<std::string> to_name(const Datum& key) {
    const std::string* text = key.as_symbol();
    if (text == nullptr) text = key.as_string();
    if (text == nullptr || text->size() > short_string_bytes_max) return std::nullopt;
    return *text;
}

Value to_table(const DataMap& map) {
    Table table;
    for (const MapEntry& entry : map) {
        const auto name = to_name(entry.key);
        if (!name) continue;
        if (auto value = to_value(entry.value)) table.push_back({*name, std::move(*value)});
    }
    return Value::table(std::move(table));
}

Datum to_list(const Array& array) {
    Data elements;
    for (const Value& value : array) {
        if (auto datum = to_datum(value)) elements.push_back(std::move(*datum));
    }
    return Datum::list(std::move(elements));
}

// A map contains each key once. The first one is used, as by a reader of the table.
Datum to_map(const Table& table) {
    DataMap map;
    std::unordered_set<std::string_view> known;
    for (const Field& field : table) {
        if (!is_symbol(field.name) || !known.insert(field.name).second) continue;
        if (auto datum = to_datum(field.value)) {
            map.push_back({Datum::symbol(field.name), std::move(*datum)});
        }
    }
    return Datum::map(std::move(map));
}

std::optional<Datum> to_timestamp(std::int64_t seconds) {
    if (seconds < 0 || seconds > INT64_MAX / ms_per_second) return std::nullopt;
    return Datum::timestamp(seconds * ms_per_second);
}

}  // namespace

std::optional<Value> to_value(const Datum& datum) {
    if (const auto type = integer_type_of(datum.type)) return to_integer(*type, datum);
    switch (datum.type) {
        case Type::null:
            return Value::nothing();
        case Type::boolean:
            return Value::boolean(*datum.as_boolean());
        case Type::float32:
            return Value{ValueType::float32, std::get<double>(datum.content)};
        case Type::float64:
            return Value{ValueType::float64, std::get<double>(datum.content)};
        case Type::timestamp:
            if (*datum.as_signed() < 0) return std::nullopt;
            return Value::timestamp(static_cast<std::uint64_t>(*datum.as_signed() / ms_per_second));
        case Type::uuid:
            return Value::string(uuid_to_urn(std::get<std::string>(datum.content)));
        case Type::binary:
        case Type::string:
        case Type::symbol:
            return Value::string(std::get<std::string>(datum.content));
        case Type::list:
        case Type::array:
            return to_array(*datum.as_elements());
        case Type::map:
            return to_table(*datum.as_map());
        default:
            return std::nullopt;
    }
}

bool is_simple(const Value& value) {
    return value.type != ValueType::array && value.type != ValueType::table &&
           value.type != ValueType::void_value && value.type != ValueType::decimal;
}

std::optional<Datum> to_datum(const Value& value) {
    if (const auto type = type_of_integer(value.type)) {
        return integer_to_datum(*type, *value.as_integer());
    }
    switch (value.type) {
        case ValueType::void_value:
            return Datum::null();
        case ValueType::boolean:
            return Datum::boolean(*value.as_boolean());
        case ValueType::float32:
            return Datum{Type::float32, std::get<double>(value.data)};
        case ValueType::float64:
            return Datum{Type::float64, std::get<double>(value.data)};
        case ValueType::timestamp:
            return to_timestamp(std::get<std::int64_t>(value.data));
        case ValueType::long_string: {
            const std::string& text = *value.as_string();
            return is_string(text) ? Datum::string(text) : Datum::binary(text);
        }
        case ValueType::binary:
            return Datum::binary(std::get<std::string>(value.data));
        case ValueType::array:
            return to_list(*value.as_array());
        case ValueType::table:
            return to_map(*value.as_table());
        default:
            return std::nullopt;
    }
}

std::string uuid_to_urn(std::string_view bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text(urn_prefix);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (follows_hyphen(i)) text += '-';
        const auto octet = static_cast<unsigned char>(bytes[i]);
        text += digits[octet >> 4];
        text += digits[octet & 0xf];
    }
    return text;
}

std::optional<std::string> urn_to_uuid(std::string_view text) {
    if (!text.starts_with(urn_prefix)) return std::nullopt;
    text.remove_prefix(urn_prefix.size());
    std::string bytes;
    while (bytes.size() < uuid_bytes) {
        if (follows_hyphen(bytes.size())) {
            if (!text.starts_with('-')) return std::nullopt;
            text.remove_prefix(1);
        }
        if (text.size() < 2) return std::nullopt;
        unsigned octet = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + 2, octet, 16);
        if (error != std::errc{} || end != text.data() + 2) return std::nullopt;
        bytes += static_cast<char>(octet);
        text.remove_prefix(2);
    }
    if (!text.empty()) return std::nullopt;
    return bytes;
}

bool is_string(std::string_view bytes) {
    return bytes.find('\0') == std::string_view::npos && is_utf8(bytes);
}

bool is_symbol(std::string_view bytes) {
    return std::all_of(bytes.begin(), bytes.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace revenant::amqp10
