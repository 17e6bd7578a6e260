#include "http/api/body.h"

#include "catalog/catalog.h"
#include "http/api/responses.h"

#include <utility>

namespace revenant::http {
namespace {

const json::value* find(const json::object& body, std::string_view name) {
    const json::value* const value = body.if_contains(name);
    return value == nullptr || value->is_null() ? nullptr : value;
}

// The reason is an array of the error and the value, as in RabbitMQ: ["not_boolean","x"].
Unexpected<Response> wrong_type(std::string_view word, const json::value& value) {
    Response response = bad_request("");
    response.body =
        to_text(json::object{{"error", "bad_request"}, {"reason", json::array{word, value}}});
    return Unexpected{std::move(response)};
}

}  // namespace

Result<json::object, Response> read_body(const Request& request) {
    if (request.body.empty()) return json::object{};
    auto value = parse_json(request.body);
    if (!value || !value->is_object()) return Unexpected{bad_request("not_json")};
    return std::move(value->get_object());
}

std::optional<Response> check_keys(const json::object& body,
                                   std::initializer_list<std::string_view> keys) {
    std::string missing;
    for (const std::string_view key : keys) {
        if (body.contains(key)) continue;
        missing += (missing.empty() ? "{key_missing," : ",{key_missing,") + std::string(key) + "}";
    }
    if (missing.empty()) return std::nullopt;
    return bad_request("[" + missing + "]");
}

Result<bool, Response> bool_field(const json::object& body, std::string_view name, bool otherwise) {
    const json::value* const value = find(body, name);
    if (value == nullptr) return otherwise;
    if (value->is_bool()) return value->get_bool();
    if (value->is_string() && value->get_string() == "true") return true;
    if (value->is_string() && value->get_string() == "false") return false;
    return wrong_type("not_boolean", *value);
}

Result<std::string, Response> string_field(const json::object& body, std::string_view name,
                                           std::string_view otherwise) {
    const json::value* const value = find(body, name);
    if (value == nullptr) return std::string(otherwise);
    if (value->is_string()) return std::string(value->get_string());
    // Shell scripts that build JSON often send names as numbers.
    if (value->is_int64()) return std::to_string(value->get_int64());
    return wrong_type("not_a_string", *value);
}

Result<Table, Response> table_field(const json::object& body, std::string_view name) {
    const json::value* const value = find(body, name);
    if (value == nullptr) return Table{};
    if (value->is_array() && value->get_array().empty()) return Table{};
    if (!value->is_object()) return wrong_type("not_an_object", *value);
    auto table = table_from_json(value->get_object());
    if (!table) return Unexpected{bad_request(table.error())};
    return std::move(table).value();
}

Result<std::optional<std::vector<std::string>>, Response> tags_field(const json::object& body,
                                                                     std::string_view name) {
    using Tags = std::optional<std::vector<std::string>>;
    const json::value* const value = find(body, name);
    if (value == nullptr) return Tags{};
    if (value->is_string()) return Tags(split_tags(value->get_string()));
    if (!value->is_array()) return wrong_type("invalid_tags", *value);
    std::vector<std::string> tags;
    for (const json::value& tag : value->get_array()) {
        if (!tag.is_string()) return wrong_type("invalid_tags", *value);
        tags.emplace_back(tag.get_string());
    }
    return Tags(std::move(tags));
}

}  // namespace revenant::http
