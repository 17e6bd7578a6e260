#include "http/api/messages/message_json.h"

#include "amqp091/codec/table.h"
#include "amqp091/message/content.h"
#include "amqp091/message/foreign_content.h"
#include "amqp091/message/properties.h"
#include "base/base64.h"
#include "base/utf8.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace revenant::http {
namespace {

using amqp091::BasicProperties;
using amqp091::Property;

constexpr std::size_t short_string_bytes_max = 255;

struct TextProperty {
    const char* name;
    Property flag;
    std::string_view BasicProperties::*field;
};
constexpr std::array<TextProperty, 10> text_properties = {{
    {"content_type", Property::content_type, &BasicProperties::content_type},
    {"content_encoding", Property::content_encoding, &BasicProperties::content_encoding},
    {"correlation_id", Property::correlation_id, &BasicProperties::correlation_id},
    {"reply_to", Property::reply_to, &BasicProperties::reply_to},
    {"expiration", Property::expiration, &BasicProperties::expiration},
    {"message_id", Property::message_id, &BasicProperties::message_id},
    {"type", Property::type, &BasicProperties::type},
    {"user_id", Property::user_id, &BasicProperties::user_id},
    {"app_id", Property::app_id, &BasicProperties::app_id},
    {"cluster_id", Property::cluster_id, &BasicProperties::cluster_id},
}};

Unexpected<PropertyError> fault(const char* word, const char* property) {
    return Unexpected{PropertyError(json::array{word, property})};
}

Result<void, PropertyError> read_texts(const json::object& from, BasicProperties& to) {
    for (const auto& [name, flag, field] : text_properties) {
        const json::value* const value = from.if_contains(name);
        if (value == nullptr) continue;
        if (!value->is_string()) return fault("not_string", name);
        const std::string_view text = value->get_string();
        if (text.size() > short_string_bytes_max) return fault("longer_than_255_bytes", name);
        to.*field = text;
        to.mark(flag);
    }
    return {};
}

template <typename Number>
Result<void, PropertyError> read_number(const json::object& from, const char* name, Property flag,
                                        Number& field, BasicProperties& to) {
    const json::value* const value = from.if_contains(name);
    if (value == nullptr) return {};
    std::uint64_t number = 0;
    if (value->is_uint64()) {
        number = value->get_uint64();
    } else if (value->is_int64() && value->get_int64() >= 0) {
        number = static_cast<std::uint64_t>(value->get_int64());
    } else {
        return fault("not_int", name);
    }
    if (number > std::numeric_limits<Number>::max()) return fault("not_int", name);
    field = static_cast<Number>(number);
    to.mark(flag);
    return {};
}

// Returns the encoded table. The properties refer to it.
Result<std::string, PropertyError> read_headers(const json::object& from, BasicProperties& to) {
    const json::value* const value = from.if_contains("headers");
    if (value == nullptr) return std::string();
    const bool empty_array = value->is_array() && value->get_array().empty();
    if (!value->is_object() && !empty_array) return fault("not_a_table", "headers");
    std::string encoded;
    if (value->is_object()) {
        auto table = table_from_json(value->get_object());
        if (!table) return Unexpected{PropertyError("headers: " + table.error())};
        amqp091::encode_table(*table, encoded);
    }
    to.mark(Property::headers);
    return encoded;
}

// The encoded AMQP 0-9-1 properties as a consumer would receive them.
std::string own_properties(const engine::GetAnswer& got) {
    return got.envelope || got.counts.any()
               ? amqp091::render_properties(*got.message, got.envelope, got.counts)
               : std::string(got.message->properties());
}

json::object view_properties(std::string_view bytes) {
    json::object view;
    const auto properties = amqp091::decode_properties(bytes);
    if (!properties) return view;  // cannot happen: publishing validates the properties
    for (const auto& [name, flag, field] : text_properties) {
        if (properties->has(flag)) view[name] = to_json_string((*properties).*field);
    }
    if (properties->has(Property::delivery_mode)) view["delivery_mode"] = properties->delivery_mode;
    if (properties->has(Property::priority)) view["priority"] = properties->priority;
    if (properties->has(Property::timestamp)) view["timestamp"] = properties->timestamp;
    if (properties->has(Property::headers)) {
        const auto headers = amqp091::decode_table(properties->headers);
        view["headers"] = headers ? to_json(*headers) : json::object{};
    }
    return view;
}

}  // namespace

Result<std::string, PropertyError> properties_from_json(const json::object& from) {
    BasicProperties properties;
    REVENANT_TRY_VOID(read_texts(from, properties));
    REVENANT_TRY_VOID(read_number(from, "delivery_mode", Property::delivery_mode,
                                  properties.delivery_mode, properties));
    REVENANT_TRY_VOID(
        read_number(from, "priority", Property::priority, properties.priority, properties));
    REVENANT_TRY_VOID(
        read_number(from, "timestamp", Property::timestamp, properties.timestamp, properties));
    REVENANT_TRY(const std::string headers, read_headers(from, properties));
    properties.headers = headers;
    std::string bytes;
    amqp091::encode_properties(properties, bytes);
    return bytes;
}

Result<std::string, PropertyError> payload_from_json(const json::value& payload,
                                                     const json::value& encoding) {
    if (!payload.is_string()) return Unexpected{PropertyError("payload_not_string")};
    const std::string_view text = payload.get_string();
    if (encoding == json::value("string")) return std::string(text);
    if (encoding != json::value("base64")) {
        return Unexpected{PropertyError(json::array{"unsupported_encoding", encoding})};
    }
    auto decoded = base64_decode(text);
    if (!decoded) return Unexpected{PropertyError(json::array{"not_base64", payload})};
    return std::move(*decoded);
}

json::object message_to_json(const engine::GetAnswer& got, const PayloadForm& form) {
    const Message& message = *got.message;
    const std::string_view exchange =
        got.envelope ? std::string_view(got.envelope->exchange) : message.exchange();
    const std::string_view routing_key =
        got.envelope ? std::string_view(got.envelope->routing_keys.front()) : message.routing_key();
    amqp091::ForeignContent content;
    const bool foreign = amqp091::is_foreign(message);
    if (foreign) {
        content = amqp091::render_foreign(message, got.envelope, got.counts);
    } else {
        content.properties = own_properties(got);
    }
    const std::string_view whole = foreign ? std::string_view(content.body) : message.body();
    const std::string_view body = whole.substr(0, form.truncate.value_or(whole.size()));
    const bool as_text = form.encoding == PayloadEncoding::automatic && is_utf8(body);
    return {{"payload_bytes", whole.size()},
            {"redelivered", got.redelivered},
            {"exchange", to_json_string(exchange)},
            {"routing_key", to_json_string(routing_key)},
            {"message_count", got.messages_left},
            {"properties", view_properties(content.properties)},
            {"payload", as_text ? json::string(body) : json::string(base64_encode(body))},
            {"payload_encoding", as_text ? "string" : "base64"}};
}

}  // namespace revenant::http
