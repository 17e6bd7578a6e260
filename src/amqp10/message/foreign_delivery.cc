#include "amqp10/message/foreign_delivery.h"

#include "amqp10/codec/descriptors.h"
#include "amqp10/codec/performatives.gen.h"
#include "amqp10/codec/type_writer.h"
#include "amqp10/codec/value_conversion.h"
#include "amqp10/message/address.h"
#include "amqp10/message/incoming_message.h"
#include "message/portable.h"

#include <optional>
#include <unordered_set>
#include <utility>

namespace revenant::amqp10 {
namespace {

bool is_annotation(std::string_view header) { return header.starts_with("x-"); }

std::uint32_t write_entry(TypeWriter& out, std::string_view name, const Value& value) {
    const auto datum = to_datum(value);
    if (!datum) return 0;
    out.symbol(name);
    out.datum(*datum);
    return 1;
}

// Of fields with the same name the first is used.
void write_annotations(DeliveryHead& head, const PortableMessage& message,
                       const AddedAnnotations& added) {
    TypeWriter out(head.bytes);
    out.descriptor(descriptor::message_annotations);
    TypeWriter::Open map = out.begin_map();
    std::uint32_t entries = 0;
    std::unordered_set<std::string_view> known;
    const Value* const keys = find(message.headers, "CC");
    if (keys != nullptr && keys->as_array() != nullptr) {
        known.insert("x-cc");
        if (!added.replaces("x-cc")) entries += write_entry(out, "x-cc", *keys);
    }
    if (message.type && is_string(*message.type)) {
        known.insert("x-basic-type");
        out.symbol("x-basic-type");
        out.string(*message.type);
        entries += 1;
    }
    for (const Field& field : message.headers) {
        if (!is_annotation(field.name) || !is_symbol(field.name)) continue;
        if (added.replaces(field.name) || !known.insert(field.name).second) continue;
        entries += write_entry(out, field.name, field.value);
    }
    entries += added.write(head);
    map.count = entries * 2;
    out.end(map, head.common.size());
}

std::string encoded_id(const std::optional<std::string>& id) {
    std::string encoded;
    if (!id) return encoded;
    TypeWriter out(encoded);
    if (auto uuid = urn_to_uuid(*id)) {
        out.datum({Type::uuid, std::move(*uuid)});
    } else {
        is_string(*id) ? out.string(*id) : out.binary(*id);
    }
    return encoded;
}

std::optional<std::string_view> if_string(const std::optional<std::string>& text) {
    return text && is_string(*text) ? std::optional<std::string_view>(*text) : std::nullopt;
}

std::optional<std::string_view> if_symbol(const std::optional<std::string>& text) {
    return text && is_symbol(*text) ? std::optional<std::string_view>(*text) : std::nullopt;
}

void write_properties(TypeWriter& out, const PortableMessage& message) {
    constexpr std::uint64_t seconds_max = INT64_MAX / 1000;
    const std::string message_id = encoded_id(message.message_id);
    const std::string correlation_id = encoded_id(message.correlation_id);
    std::string reply_to;
    Properties properties;
    properties.message_id = message_id;
    properties.correlation_id = correlation_id;
    if (message.user_id) properties.user_id = *message.user_id;
    if (message.reply_to && !message.reply_to->empty()) {
        reply_to = queue_address(*message.reply_to);
        properties.reply_to = reply_to;
    }
    properties.content_type = if_symbol(message.content_type);
    properties.content_encoding = if_symbol(message.content_encoding);
    if (message.timestamp && *message.timestamp <= seconds_max) {
        properties.creation_time = static_cast<std::int64_t>(*message.timestamp * 1000);
    }
    properties.group_id = if_string(message.app_id);
    const bool any = !message_id.empty() || !correlation_id.empty() || properties.user_id ||
                     properties.reply_to || properties.content_type ||
                     properties.content_encoding || properties.creation_time || properties.group_id;
    if (any) properties.encode(out);
}

void write_application_properties(TypeWriter& out, const Table& headers) {
    std::unordered_set<std::string_view> known;
    std::optional<TypeWriter::Open> map;
    for (const Field& field : headers) {
        const bool scalar = !field.value.as_array() && !field.value.as_table();
        if (!scalar || is_annotation(field.name) || !is_string(field.name)) continue;
        if (!known.insert(field.name).second) continue;
        const auto datum = to_datum(field.value);
        if (!datum) continue;
        if (!map) {
            out.descriptor(descriptor::application_properties);
            map = out.begin_map();
        }
        out.string(field.name);
        out.datum(*datum);
        map->count += 2;
    }
    if (map) out.end(*map);
}

// Whether the body consists only of body sections, as in an AMQP 1.0 message.
bool is_sections(std::string_view body) {
    const auto published = read_published(body);
    return published && published->body.size() == body.size();
}

}  // namespace

std::string_view write_foreign(DeliveryHead& head, const Message& message,
                               const AddedAnnotations& added, std::string& converted) {
    PortableMessage portable = message.format().portable(message);
    write_annotations(head, portable, added);
    TypeWriter out(head.bytes);
    write_properties(out, portable);
    write_application_properties(out, portable.headers);
    std::string_view body = message.body();
    if (portable.body) {
        converted = std::move(*portable.body);
        body = converted;
    }
    if (portable.type == encoded_sections_type && is_sections(body)) return body;
    out.descriptor(descriptor::data);
    out.begin_binary(body.size());
    return body;
}

}  // namespace revenant::amqp10
