#include "amqp091/message/foreign_content.h"

#include "amqp091/codec/table.h"
#include "amqp091/message/added_headers.h"
#include "amqp091/message/content.h"
#include "amqp091/message/death_headers.h"
#include "amqp091/message/spliced_properties.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace revenant::amqp091 {
namespace {

struct TextProperty {
    Property flag;
    std::string_view BasicProperties::*field;
    std::optional<std::string> PortableMessage::*portable;
};
constexpr std::array<TextProperty, 10> text_properties = {{
    {Property::content_type, &BasicProperties::content_type, &PortableMessage::content_type},
    {Property::content_encoding, &BasicProperties::content_encoding,
     &PortableMessage::content_encoding},
    {Property::correlation_id, &BasicProperties::correlation_id, &PortableMessage::correlation_id},
    {Property::reply_to, &BasicProperties::reply_to, &PortableMessage::reply_to},
    {Property::expiration, &BasicProperties::expiration, &PortableMessage::expiration},
    {Property::message_id, &BasicProperties::message_id, &PortableMessage::message_id},
    {Property::type, &BasicProperties::type, &PortableMessage::type},
    {Property::user_id, &BasicProperties::user_id, &PortableMessage::user_id},
    {Property::app_id, &BasicProperties::app_id, &PortableMessage::app_id},
    {Property::cluster_id, &BasicProperties::cluster_id, &PortableMessage::cluster_id},
}};

// Views of the message's properties, without its headers.
BasicProperties view_of(const PortableMessage& message) {
    BasicProperties properties;
    for (const auto& [flag, field, portable] : text_properties) {
        if (!(message.*portable)) continue;
        properties.*field = *(message.*portable);
        properties.mark(flag);
    }
    if (message.delivery_mode) {
        properties.delivery_mode = *message.delivery_mode;
        properties.mark(Property::delivery_mode);
    }
    if (message.priority) {
        properties.priority = *message.priority;
        properties.mark(Property::priority);
    }
    if (message.timestamp) {
        properties.timestamp = *message.timestamp;
        properties.mark(Property::timestamp);
    }
    return properties;
}

}  // namespace

PortableMessage portable_message(const Message& message) {
    PortableMessage out;
    const auto properties = decode_properties(message.properties());
    if (!properties) return out;  // unreachable: they were validated at publish
    for (const auto& [flag, field, portable] : text_properties) {
        if (properties->has(flag)) out.*portable = std::string((*properties).*field);
    }
    if (properties->has(Property::delivery_mode)) out.delivery_mode = properties->delivery_mode;
    if (properties->has(Property::priority)) out.priority = properties->priority;
    if (properties->has(Property::timestamp)) out.timestamp = properties->timestamp;
    out.headers = message.headers();
    return out;
}

ForeignContent convert_foreign(const Message& message) {
    PortableMessage portable = message.format().portable(message);
    BasicProperties properties = view_of(portable);
    std::string headers;
    if (!portable.claimed_deaths.empty()) {
        std::erase_if(portable.headers, [](const Field& field) { return field.name == "x-death"; });
        append_deaths(portable.claimed_deaths, headers);
    }
    encode_table(portable.headers, headers);
    if (!headers.empty()) {
        properties.headers = headers;
        properties.mark(Property::headers);
    }
    ForeignContent content;
    encode_properties(properties, content.properties);
    content.body = portable.body ? std::move(*portable.body) : std::string(message.body());
    return content;
}

ForeignContent render_foreign(const Message& message, const EnvelopeRef& envelope,
                              engine::ShownCounts counts) {
    ForeignContent content = convert_foreign(message);
    AddedHeadersRef scratch;
    const AddedHeaders& added = *added_headers(envelope, scratch);
    content.properties = SplicedProperties(content.properties, added, counts).text();
    return content;
}

}  // namespace revenant::amqp091
