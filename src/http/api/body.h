// Body: the JSON object in a request, and typed access to its fields, with RabbitMQ's error texts.
// management 1.5
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

// The error names every missing key, in the order given.
std::optional<Response> check_keys(const json::object& body,
                                   std::initializer_list<std::string_view> keys);

// An absent or null field has the value `otherwise`. The strings "true" and "false" are accepted.
Result<bool, Response> bool_field(const json::object& body, std::string_view name, bool otherwise);
Result<std::string, Response> string_field(const json::object& body, std::string_view name,
                                           std::string_view otherwise);
// An object, or an empty array, because PHP encodes an empty object as one.
Result<Table, Response> table_field(const json::object& body, std::string_view name);
// "a, b" or ["a", "b"]; absent if the field is absent.
Result<std::optional<std::vector<std::string>>, Response> tags_field(const json::object& body,
                                                                     std::string_view name);

}  // namespace revenant::http
