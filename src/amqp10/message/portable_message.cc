#include "amqp10/message/portable_message.h"

#include "amqp10/codec/descriptors.h"
#include "amqp10/codec/sections.h"
#include "amqp10/codec/value_conversion.h"
#include "amqp10/message/address.h"
#include "amqp10/message/death_annotations.h"
#include "amqp10/message/stored_sections.h"

#include <utility>

namespace revenant::amqp10 {
namespace {

std::optional<std::string> short_text(std::optional<std::string_view> text) {
    if (!text || text->size() > short_string_bytes_max) return std::nullopt;
    return std::string(*text);
}

// A text that is too long for 0-9-1, or a binary id, is stored in a header (amqp10 6.5).
std::optional<std::string> read_id(Raw id, std::string_view header, Table& headers) {
    auto text = id_text(id);
    if (!text) return std::nullopt;
    const bool binary = id.front() == '\xa0' || id.front() == '\xb0';
    if (!binary && text->size() <= short_string_bytes_max) return text;
    headers.push_back({std::string(header),
                       {binary ? ValueType::binary : ValueType::long_string, std::move(*text)}});
    return std::nullopt;
}

std::optional<std::string> read_reply_to(std::optional<std::string_view> text) {
    if (!text) return std::nullopt;
    const auto address = parse_address(*text);
    if (address && address->kind == Address::Kind::queue) return address->name;
    return short_text(text);
}

void read_properties(std::string_view section, PortableMessage& out) {
    const Properties properties = properties_in(section);
    out.message_id = read_id(properties.message_id, "x-message-id", out.headers);
    out.correlation_id = read_id(properties.correlation_id, "x-correlation-id", out.headers);
    if (properties.user_id && is_string(*properties.user_id)) {
        out.user_id = short_text(properties.user_id);
    }
    out.content_type = short_text(properties.content_type);
    out.content_encoding = short_text(properties.content_encoding);
    out.reply_to = read_reply_to(properties.reply_to);
    out.app_id = short_text(properties.group_id);
    if (properties.creation_time && *properties.creation_time >= 0) {
        out.timestamp = static_cast<std::uint64_t>(*properties.creation_time / 1000);
    }
}

// Whether the broker sets this annotation itself or conveys it elsewhere (amqp10 6.8).
bool is_internal(std::string_view name) {
    return name == "x-exchange" || name == "x-routing-key" || name == "x-death" ||
           name.starts_with("x-basic-");
}

void read_annotation(std::string_view name, const Datum& datum, PortableMessage& out) {
    if (name == "x-basic-type") {
        if (const std::string* type = datum.as_string()) out.type = short_text(*type);
    }
    if (is_internal(name) || name.size() > short_string_bytes_max) return;
    if (name == "x-opt-rabbitmq-received-time" && datum.type == Type::timestamp) {
        out.headers.push_back({"timestamp_in_ms", Value::int64(*datum.as_signed())});
        return;
    }
    auto value = to_value(datum);
    if (!value) return;
    const std::string_view header = name == "x-cc" ? std::string_view("CC") : name;
    out.headers.push_back({std::string(header), std::move(*value)});
}

void read_annotations(std::string_view section, PortableMessage& out) {
    MapWalk walk(section);
    while (const auto entry = walk.next()) {
        if (symbol_in(entry->key) == "x-opt-deaths") out.claimed_deaths = read_deaths(entry->value);
    }
    for_each_value(section, [&](Raw key, const Datum& datum) {
        const auto name = symbol_in(key);
        if (name && *name != "x-opt-deaths") read_annotation(*name, datum, out);
    });
}

void read_application_properties(std::string_view section, PortableMessage& out) {
    for_each_value(section, [&](Raw key, const Datum& datum) {
        const auto name = string_in(key);
        if (!name || name->size() > short_string_bytes_max) return;
        if (auto value = to_value(datum)) {
            out.headers.push_back({std::string(*name), std::move(*value)});
        }
    });
}

void read_body(const Message& message, PortableMessage& out) {
    TypeReader in(message.body());
    if (in.descriptor() == descriptor::data) {
        out.body = joined_data(message.body());
        return;
    }
    out.type = encoded_sections_type;
}

}  // namespace

PortableMessage portable_message(const Message& message) {
    const StoredSections kept = stored_sections(message);
    PortableMessage out;
    out.delivery_mode = message.persistent() ? 2 : 1;
    out.priority = message.priority();
    if (message.ttl_ms()) out.expiration = std::to_string(*message.ttl_ms());
    read_annotations(kept.message_annotations, out);
    read_application_properties(kept.application_properties, out);
    read_properties(kept.properties, out);
    read_body(message, out);
    return out;
}

}  // namespace revenant::amqp10
