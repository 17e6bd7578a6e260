// JSON as the API speaks it: bytes to values with bounded depth, AMQP values to JSON and back.
#pragma once

#include "base/result.h"
#include "message/value.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <string>
#include <string_view>

namespace revenant::http {

namespace json = boost::json;

constexpr std::size_t json_depth_max = 32;

// The error is a sentence for people. Well-formed UTF-8 only, at most json_depth_max deep.
Result<json::value, std::string> parse_json(std::string_view text);
std::string to_text(const json::value& value);

// Bytes that are no UTF-8 become replacement characters: JSON has no way to carry them.
json::string to_json_string(std::string_view bytes);
// management 1.9
json::value to_json(const Value& value);
json::object to_json(const Table& table);
// Name, type and value of each field, as rabbitmqctl shows arguments to programs.
json::array to_typed_json(const Table& table);
// Integers become 64 bits wide, fractions doubles. The error is a sentence for people.
Result<Value, std::string> value_from_json(const json::value& value);
Result<Table, std::string> table_from_json(const json::object& object);

// As RabbitMQ prints a wrong value in its complaints: <<"text">>, 5, [true].
std::string as_erlang_term(const json::value& value);

}  // namespace revenant::http
