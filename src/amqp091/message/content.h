// Content: the header frame of a message and the basic properties in it (amqp091 1.4, 1.5).
//
// The properties of most messages are carried on as the bytes they came in. BasicProperties is
// their decoded form, all views into those bytes.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace revenant::amqp091 {

enum class ContentError : std::uint8_t {
    truncated,
    trailing_bytes,  // bytes behind the last property that the flags announce
    more_flags,      // a second word of flags: no property is defined there, so no length is known
};
// "truncated", for logs.
std::string_view describe(ContentError error);

struct ContentHeader {
    std::uint16_t class_id = 0;
    std::uint16_t weight = 0;
    std::uint64_t body_size = 0;
    // Flags and list as on the wire, not yet validated.
    std::string_view properties;

    // The payload of a header frame.
    static Result<ContentHeader, ContentError> decode(std::string_view payload);
};

// The value is the flag (amqp091 1.5).
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

// A field has a meaning only if its flag is set: an empty string and an absent one differ.
struct BasicProperties {
    std::uint16_t flags = 0;
    std::uint8_t delivery_mode = 0;
    std::uint8_t priority = 0;
    std::uint64_t timestamp = 0;
    std::string_view content_type;
    std::string_view content_encoding;
    std::string_view headers;  // the raw body of the table, not yet validated
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
    // Call after writing the field; encode_properties writes what the flags say.
    void mark(Property property) { flags |= static_cast<std::uint16_t>(property); }
    void clear(Property property) {
        flags &= static_cast<std::uint16_t>(~static_cast<unsigned>(property));
    }

    friend bool operator==(const BasicProperties&, const BasicProperties&) = default;
};

// Strings may hold any bytes, as in RabbitMQ, which checks UTF-8 in method arguments only. Flag bit
// 1 belongs to no property and is carried along.
Result<BasicProperties, ContentError> decode_properties(std::string_view properties);
// Appends flags and list; exactly the bytes that decode_properties read.
void encode_properties(const BasicProperties& properties, std::string& out);

}  // namespace revenant::amqp091
