// JSON in the API: parsing with bounded depth, and conversion of AMQP values to JSON and back.
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

// Fails on invalid UTF-8 and on values nested more than json_depth_max deep. The error is
// human-readable.
Result<json::value, std::string> parse_json(std::string_view text);
std::string to_text(const json::value& value);

// Bytes that are not UTF-8 become replacement characters, because JSON cannot represent them.
json::string to_json_string(std::string_view bytes);
// management 1.9
json::value to_json(const Value& value);
json::object to_json(const Table& table);
// Name, type and value of each field, as in rabbitmqctl's JSON output.
json::array to_typed_json(const Table& table);
// Integers become int64, fractions double. The error is human-readable.
Result<Value, std::string> value_from_json(const json::value& value);
Result<Table, std::string> table_from_json(const json::object& object);

// The form of invalid values in RabbitMQ's error texts: <<"text">>, 5, [true].
std::string as_erlang_term(const json::value& value);

}  // namespace revenant::http
