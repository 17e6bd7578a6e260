// Body: the JSON object a client sends, and its fields by their types, with RabbitMQ's words for
// what is wrong with them. management 1.5
#pragma once

#include "base/result.h"
#include "http/api/json.h"
#include "http/server/request.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::http {

// An empty body is an empty object.
Result<json::object, Response> read_body(const Request& request);

// Names every key that is missing, in the order given.
std::optional<Response> check_keys(const json::object& body,
                                   std::initializer_list<std::string_view> keys);

// An absent field or null is the value given. "true" and "false" in quotes are taken as well.
Result<bool, Response> bool_field(const json::object& body, std::string_view name, bool otherwise);
Result<std::string, Response> string_field(const json::object& body, std::string_view name,
                                           std::string_view otherwise);
// An object, or an empty array, which is how PHP writes an empty object.
Result<Table, Response> table_field(const json::object& body, std::string_view name);
// "a, b" or ["a", "b"]; absent if the field is.
Result<std::optional<std::vector<std::string>>, Response> tags_field(const json::object& body,
                                                                     std::string_view name);

}  // namespace revenant::http
