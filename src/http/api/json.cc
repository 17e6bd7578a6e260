#include "http/api/json.h"

#include "base/utf8.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace revenant::http {
namespace {

constexpr std::size_t field_name_bytes_max = 255;  // an AMQP short string
constexpr std::string_view replacement = "\xEF\xBF\xBD";

// The length of the UTF-8 character at the beginning; 0 if it is malformed.
std::size_t character_length(std::string_view bytes) {
    for (std::size_t length = 1; length <= 4 && length <= bytes.size(); ++length) {
        if (is_utf8(bytes.substr(0, length))) return length;
    }
    return 0;
}

json::value from_double(double number) {
    // JSON cannot represent infinity and NaN.
    if (!std::isfinite(number)) return nullptr;
    return number;
}

}  // namespace

Result<json::value, std::string> parse_json(std::string_view text) {
    json::parse_options options;
    options.max_depth = json_depth_max;
    boost::system::error_code error;
    json::value value = json::parse(text, error, {}, options);
    if (error) return Unexpected{error.message()};
    return value;
}

std::string to_text(const json::value& value) { return json::serialize(value); }

json::string to_json_string(std::string_view bytes) {
    if (is_utf8(bytes)) return json::string(bytes);
    json::string clean;
    while (!bytes.empty()) {
        const std::size_t length = character_length(bytes);
        clean.append(length == 0 ? replacement : bytes.substr(0, length));
        bytes.remove_prefix(length == 0 ? 1 : length);
    }
    return clean;
}

json::value to_json(const Value& value) {
    switch (value.type) {
        case ValueType::void_value:
            return nullptr;
        case ValueType::boolean:
            return std::get<bool>(value.data);
        case ValueType::int8:
        case ValueType::uint8:
        case ValueType::int16:
        case ValueType::uint16:
        case ValueType::int32:
        case ValueType::uint32:
        case ValueType::int64:
            return std::get<std::int64_t>(value.data);
        case ValueType::timestamp:
            return static_cast<std::uint64_t>(std::get<std::int64_t>(value.data));
        case ValueType::float32:
        case ValueType::float64:
            return from_double(std::get<double>(value.data));
        case ValueType::decimal: {
            const auto& decimal = std::get<Decimal>(value.data);
            return from_double(decimal.digits / std::pow(10.0, decimal.scale));
        }
        case ValueType::long_string:
        case ValueType::binary:
            return to_json_string(std::get<std::string>(value.data));
        case ValueType::array: {
            json::array array;
            for (const Value& element : std::get<Array>(value.data)) {
                array.push_back(to_json(element));
            }
            return array;
        }
        case ValueType::table:
            return to_json(std::get<Table>(value.data));
    }
    return nullptr;
}

json::object to_json(const Table& table) {
    json::object object;
    for (const Field& field : table) {
        object.insert_or_assign(to_json_string(field.name), to_json(field.value));
    }
    return object;
}

namespace {

// rabbitmqctl prints an array as an object with the types as keys.
json::value typed_value(const Value& value) {
    if (const Table* const table = value.as_table()) return to_typed_json(*table);
    const Array* const array = value.as_array();
    if (array == nullptr) return to_json(value);
    if (array->empty()) return json::array{};
    json::object fields;
    for (const Value& element : *array) {
        fields.insert_or_assign(type_name(element.type), typed_value(element));
    }
    return fields;
}

}  // namespace

json::array to_typed_json(const Table& table) {
    std::vector<const Field*> fields;
    for (const Field& field : table) fields.push_back(&field);
    std::stable_sort(fields.begin(), fields.end(),
                     [](const Field* a, const Field* b) { return a->name < b->name; });
    json::array views;
    for (const Field* field : fields) {
        views.push_back(json::array{to_json_string(field->name), type_name(field->value.type),
                                    typed_value(field->value)});
    }
    return views;
}

Result<Value, std::string> value_from_json(const json::value& value) {
    switch (value.kind()) {
        case json::kind::null:
            return Value::nothing();
        case json::kind::bool_:
            return Value::boolean(value.get_bool());
        case json::kind::int64:
            return Value::int64(value.get_int64());
        case json::kind::uint64:
            return Unexpected{std::string("number is larger than 9223372036854775807")};
        case json::kind::double_:
            return Value{ValueType::float64, value.get_double()};
        case json::kind::string:
            return Value::string(std::string_view(value.get_string()));
        case json::kind::array: {
            Array array;
            for (const json::value& element : value.get_array()) {
                REVENANT_TRY(Value one, value_from_json(element));
                array.push_back(std::move(one));
            }
            return Value::array(std::move(array));
        }
        case json::kind::object: {
            REVENANT_TRY(Table table, table_from_json(value.get_object()));
            return Value::table(std::move(table));
        }
    }
    return Value::nothing();
}

Result<Table, std::string> table_from_json(const json::object& object) {
    Table table;
    for (const auto& [name, value] : object) {
        if (name.size() > field_name_bytes_max) {
            return Unexpected{std::string("name is longer than 255 bytes")};
        }
        REVENANT_TRY(Value one, value_from_json(value));
        table.push_back({std::string(name), std::move(one)});
    }
    // RabbitMQ sorts the fields, and the properties_key of a binding depends on their order.
    std::stable_sort(table.begin(), table.end(),
                     [](const Field& a, const Field& b) { return a.name < b.name; });
    return table;
}

std::string as_erlang_term(const json::value& value) {
    std::string terms;
    const char* separator = "";
    switch (value.kind()) {
        case json::kind::string:
            return "<<\"" + std::string(value.get_string()) + "\">>";
        case json::kind::array:
            for (const json::value& element : value.get_array()) {
                terms += separator + as_erlang_term(element);
                separator = ",";
            }
            return "[" + terms + "]";
        case json::kind::object:
            for (const auto& [name, inner] : value.get_object()) {
                terms +=
                    separator + ("<<\"" + std::string(name)) + "\">> => " + as_erlang_term(inner);
                separator = ",";
            }
            return "#{" + terms + "}";
        default:
            return to_text(value);
    }
}

}  // namespace revenant::http
