// Content: the header frame of a message and its basic properties (amqp091 1.4, 1.5).
//
// The properties of most messages are passed on as received. BasicProperties is the decoded form,
// consisting of views of those bytes.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace revenant::amqp091 {

enum class ContentError : std::uint8_t {
    truncated,
    trailing_bytes,  // bytes after the last property
    more_flags,      // a second word of flags: it defines no properties, so the length is unknown
};
// "truncated", for logs.
std::string_view describe(ContentError error);

struct ContentHeader {
    std::uint16_t class_id = 0;
    std::uint16_t weight = 0;
    std::uint64_t body_size = 0;
    // Flags and list as on the wire, not validated.
    std::string_view properties;

    // Takes the payload of a header frame.
    static Result<ContentHeader, ContentError> decode(std::string_view payload);
};

// The values are the flags (amqp091 1.5).
enum class Property : std::uint16_t {
    content_type = 1 << 15,
    content_encoding = 1 << 14,
    headers = 1 << 13,
    delivery_mode = 1 << 12,
    priority = 1 << 11,
    correlation_id = 1 << 10,
    reply_to = 1 << 9,
    expiration = 1 << 8,
    message_id = 1 << 7,
    timestamp = 1 << 6,
    type = 1 << 5,
    user_id = 1 << 4,
    app_id = 1 << 3,
    cluster_id = 1 << 2,
};

// A field is valid only if its flag is set: an empty string differs from an absent one.
struct BasicProperties {
    std::uint16_t flags = 0;
    std::uint8_t delivery_mode = 0;
    std::uint8_t priority = 0;
    std::uint64_t timestamp = 0;
    std::string_view content_type;
    std::string_view content_encoding;
    std::string_view headers;  // the raw body of the table, not validated
    std::string_view correlation_id;
    std::string_view reply_to;
    std::string_view expiration;
    std::string_view message_id;
    std::string_view type;
    std::string_view user_id;
    std::string_view app_id;
    std::string_view cluster_id;

    bool has(Property property) const {
        return (flags & static_cast<std::uint16_t>(property)) != 0;
    }
    // Call after setting the field; encode_properties writes the fields whose flags are set.
    void mark(Property property) { flags |= static_cast<std::uint16_t>(property); }
    void clear(Property property) {
        flags &= static_cast<std::uint16_t>(~static_cast<unsigned>(property));
    }

    friend bool operator==(const BasicProperties&, const BasicProperties&) = default;
};

// Strings may contain any bytes, as in RabbitMQ, which checks UTF-8 in method arguments only. Flag
// bit 1 has no property and is preserved.
Result<BasicProperties, ContentError> decode_properties(std::string_view properties);
// Appends flags and list: exactly the bytes that decode_properties read.
void encode_properties(const BasicProperties& properties, std::string& out);

}  // namespace revenant::amqp091
