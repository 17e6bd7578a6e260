#include "amqp10/management/management_request.h"

#include "amqp10/codec/descriptors.h"
#include "amqp10/codec/erlang_term.h"
#include "amqp10/codec/performatives.gen.h"
#include "amqp10/codec/raw_fields.h"
#include "amqp10/codec/sections.h"
#include "amqp10/codec/type_writer.h"
#include "amqp10/codec/value_conversion.h"
#include "amqp10/message/address.h"

#include <algorithm>

namespace revenant::amqp10 {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

Result<void, std::string> read_parameters(std::string_view text, char separator,
                                          ManagementRequest& request) {
    for (const std::string_view part : split(text, separator)) {
        const std::size_t equals = part.find('=');
        if (equals == std::string_view::npos) return Unexpected{"bad URI: " + std::string(text)};
        REVENANT_TRY(std::string value, decode_name(part.substr(equals + 1)));
        request.query.emplace_back(std::string(part.substr(0, equals)), std::move(value));
    }
    return {};
}

Result<void, std::string> read_path(std::string_view to, ManagementRequest& request) {
    const std::size_t question = to.find('?');
    const std::string_view path = to.substr(0, question);
    if (!path.starts_with('/')) return Unexpected{"bad URI: " + std::string(to)};
    for (const std::string_view segment : split(path.substr(1), '/')) {
        // The location of a binding is one segment with several values.
        if (request.segments.size() == 1 && request.segments[0] == "bindings") {
            request.segments.emplace_back(segment);
            if (!read_parameters(segment, ';', request)) {
                return Unexpected{bad_binding_segment(segment)};
            }
            continue;
        }
        REVENANT_TRY(std::string decoded, decode_name(segment));
        request.segments.push_back(std::move(decoded));
    }
    if (question == std::string_view::npos) return {};
    return read_parameters(to.substr(question + 1), '&', request);
}

// A request may have its sections in any order, unlike a message: some clients write the body
// first. Only two sections are used.
struct RequestSections {
    std::string_view properties;
    std::string_view value;
};

// Sections before an error are found.
Result<void, std::string> find_sections(std::string_view message, RequestSections& found) {
    TypeReader in(message);
    while (!in.at_end()) {
        const std::string_view before = in.rest();
        const auto code = in.descriptor();
        in.raw();
        if (!code || in.failed()) {
            return Unexpected{std::string("cannot decode the request: malformed_section")};
        }
        const std::string_view section = before.substr(0, before.size() - in.rest().size());
        if (*code == Properties::descriptor_code) found.properties = section;
        if (*code == descriptor::value) found.value = section;
    }
    return {};
}

// Fills in as much of the request as possible. Returns the error, if any.
Result<void, std::string> read_into(std::string_view message, ManagementRequest& request) {
    RequestSections sections;
    const auto all_found = find_sections(message, sections);
    const auto properties = composite_in<Properties>(sections.properties);
    if (properties) request.message_id = std::string(properties->message_id);
    REVENANT_TRY_VOID(all_found);
    if (!properties) return Unexpected{std::string("the request has no properties")};
    request.verb = std::string(properties->subject.value_or(std::string_view{}));
    if (sections.value.empty()) {
        return Unexpected{std::string("the body of a request must be an amqp-value")};
    }
    TypeReader body(content_of(sections.value));
    request.body = body.datum();
    if (body.failed()) return Unexpected{std::string("cannot decode the body of the request")};
    if (!properties->to) return Unexpected{std::string("the request has no 'to'")};
    return read_path(*properties->to, request);
}

}  // namespace

std::string bad_binding_segment(std::string_view segment) {
    return "bad binding path segment '" + std::string(segment) + "'";
}

const std::string* ManagementRequest::parameter(std::string_view key) const {
    for (const auto& [name, value] : query) {
        if (name == key) return &value;
    }
    return nullptr;
}

ManagementRequest read_request(std::string_view message) {
    ManagementRequest request;
    if (auto read = read_into(message, request); !read) request.error = std::move(read).error();
    return request;
}

std::string encode_answer(const ManagementRequest& request, const ManagementAnswer& answer) {
    std::string bytes;
    TypeWriter out(bytes);
    const std::string status = std::to_string(answer.status);
    Properties properties;
    properties.subject = status;
    properties.correlation_id = request.message_id;
    properties.encode(out);
    out.descriptor(descriptor::application_properties);
    out.datum(Datum::map({{Datum::string("http:response"), Datum::string("1.1")}}));
    out.descriptor(descriptor::value);
    out.datum(answer.body);
    return bytes;
}

bool RequestFields::flag(std::string_view name, bool otherwise) const {
    for (const auto& [key, value] : flags) {
        if (key == name) return value;
    }
    return otherwise;
}

const std::string* RequestFields::text(std::string_view name) const {
    for (const auto& [key, value] : texts) {
        if (key == name) return &value;
    }
    return nullptr;
}

namespace {

bool is_among(const std::vector<std::string_view>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string term_of(const MapEntry& entry) {
    return "{" + erlang_term(entry.key) + "," + erlang_term(entry.value) + "}";
}

// A number above the range of int64 must not become negative.
std::optional<Value> to_argument(const Datum& datum) {
    const std::uint64_t* const number = datum.as_unsigned();
    if (number != nullptr && *number > INT64_MAX) return Value::int64(INT64_MAX);
    return to_value(datum);
}

Result<Table, std::string> arguments_of(const Datum& map) {
    Table table;
    for (const MapEntry& entry : *map.as_map()) {
        const std::string* key = entry.key.as_string();
        if (key == nullptr) key = entry.key.as_symbol();
        auto value = to_argument(entry.value);
        if (key == nullptr || key->size() > short_string_bytes_max || !value) {
            return Unexpected{"unsupported argument " + term_of(entry)};
        }
        table.push_back({*key, std::move(*value)});
    }
    return table;
}

}  // namespace

Result<RequestFields, std::string> read_fields(const Datum& body,
                                               const std::vector<std::string_view>& flags,
                                               const std::vector<std::string_view>& texts,
                                               std::string_view complaint) {
    RequestFields fields;
    if (body.is_null()) return fields;
    if (body.as_map() == nullptr) return Unexpected{std::string("the body is not a map")};
    for (const MapEntry& entry : *body.as_map()) {
        const std::string* const key = entry.key.as_string();
        const auto bad = [&] { return Unexpected{std::string(complaint) + " " + term_of(entry)}; };
        if (key == nullptr) return bad();
        if (*key == "arguments" && entry.value.as_map() != nullptr) {
            REVENANT_TRY(fields.arguments, arguments_of(entry.value));
            fields.has_arguments = true;
        } else if (is_among(flags, *key) && entry.value.as_boolean() != nullptr) {
            fields.flags.emplace_back(*key, *entry.value.as_boolean());
        } else if (is_among(texts, *key) && entry.value.as_string() != nullptr &&
                   entry.value.as_string()->size() <= short_string_bytes_max) {
            fields.texts.emplace_back(*key, *entry.value.as_string());
        } else {
            return bad();
        }
    }
    return fields;
}

}  // namespace revenant::amqp10
