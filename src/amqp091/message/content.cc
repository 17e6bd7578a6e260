#include "amqp091/message/content.h"

#include "base/byte_reader.h"
#include "base/byte_writer.h"

namespace revenant::amqp091 {
namespace {

// Flag bit 0: another word of flags follows (amqp091 1.4).
constexpr std::uint16_t more_flags_bit = 1;

}  // namespace

std::string_view describe(ContentError error) {
    switch (error) {
        case ContentError::truncated:
            return "truncated";
        case ContentError::trailing_bytes:
            return "trailing bytes";
        case ContentError::more_flags:
            return "more flags than defined";
    }
    return {};
}

Result<ContentHeader, ContentError> ContentHeader::decode(std::string_view payload) {
    ByteReader in(payload);
    ContentHeader header;
    header.class_id = in.u16();
    header.weight = in.u16();
    header.body_size = in.u64();
    header.properties = in.rest();
    if (in.failed()) return Unexpected{ContentError::truncated};
    return header;
}

Result<BasicProperties, ContentError> decode_properties(std::string_view properties) {
    ByteReader in(properties);
    BasicProperties out;
    out.flags = in.u16();
    if ((out.flags & more_flags_bit) != 0) return Unexpected{ContentError::more_flags};
    if (out.has(Property::content_type)) out.content_type = in.short_string();
    if (out.has(Property::content_encoding)) out.content_encoding = in.short_string();
    if (out.has(Property::headers)) out.headers = in.long_string();
    if (out.has(Property::delivery_mode)) out.delivery_mode = in.u8();
    if (out.has(Property::priority)) out.priority = in.u8();
    if (out.has(Property::correlation_id)) out.correlation_id = in.short_string();
    if (out.has(Property::reply_to)) out.reply_to = in.short_string();
    if (out.has(Property::expiration)) out.expiration = in.short_string();
    if (out.has(Property::message_id)) out.message_id = in.short_string();
    if (out.has(Property::timestamp)) out.timestamp = in.u64();
    if (out.has(Property::type)) out.type = in.short_string();
    if (out.has(Property::user_id)) out.user_id = in.short_string();
    if (out.has(Property::app_id)) out.app_id = in.short_string();
    if (out.has(Property::cluster_id)) out.cluster_id = in.short_string();
    if (in.failed()) return Unexpected{ContentError::truncated};
    if (!in.at_end()) return Unexpected{ContentError::trailing_bytes};
    return out;
}

void encode_properties(const BasicProperties& properties, std::string& out) {
    const auto has = [&properties](Property property) { return properties.has(property); };
    ByteWriter writer(out);
    writer.u16(properties.flags);
    if (has(Property::content_type)) writer.short_string(properties.content_type);
    if (has(Property::content_encoding)) writer.short_string(properties.content_encoding);
    if (has(Property::headers)) writer.long_string(properties.headers);
    if (has(Property::delivery_mode)) writer.u8(properties.delivery_mode);
    if (has(Property::priority)) writer.u8(properties.priority);
    if (has(Property::correlation_id)) writer.short_string(properties.correlation_id);
    if (has(Property::reply_to)) writer.short_string(properties.reply_to);
    if (has(Property::expiration)) writer.short_string(properties.expiration);
    if (has(Property::message_id)) writer.short_string(properties.message_id);
    if (has(Property::timestamp)) writer.u64(properties.timestamp);
    if (has(Property::type)) writer.short_string(properties.type);
    if (has(Property::user_id)) writer.short_string(properties.user_id);
    if (has(Property::app_id)) writer.short_string(properties.app_id);
    if (has(Property::cluster_id)) writer.short_string(properties.cluster_id);
}

}  // namespace revenant::amqp091
