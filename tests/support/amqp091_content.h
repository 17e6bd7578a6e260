// AMQP 0-9-1 messages for tests: publishing, and the view of a consumer.
#pragma once

#include "amqp091/codec/table.h"
#include "amqp091/message/content.h"
#include "amqp091/message/foreign_content.h"
#include "amqp091/message/properties.h"
#include "base/check.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace revenant::amqp091 {

// Decoded properties and body of an AMQP 0-9-1 message.
struct Content {
    std::string bytes;
    BasicProperties properties;
    Table headers;
    std::string body;
};

inline void set(BasicProperties& to, std::string_view BasicProperties::*field, Property flag,
                std::string_view value) {
    to.*field = value;
    to.mark(flag);
}

inline MessageRef publish_091(BasicProperties properties, const Table& headers,
                              std::string_view body) {
    std::string table;
    encode_table(headers, table);
    if (!headers.empty()) set(properties, &BasicProperties::headers, Property::headers, table);
    std::string bytes;
    encode_properties(properties, bytes);
    auto read = read_published(bytes, "");
    CHECK(read.has_value());
    return make_message("x", "k", read->rewritten ? *read->rewritten : bytes, body,
                        std::move(read->head));
}

inline std::unique_ptr<Content> content_of(std::string properties, std::string body) {
    auto content = std::make_unique<Content>();
    content->bytes = std::move(properties);
    content->properties = decode_properties(content->bytes).value();
    if (content->properties.has(Property::headers)) {
        content->headers = decode_table(content->properties.headers).value();
    }
    content->body = std::move(body);
    return content;
}

// An AMQP 1.0 message as an AMQP 0-9-1 consumer receives it.
inline std::unique_ptr<Content> seen_by_091(const Message& message,
                                            const EnvelopeRef& envelope = {},
                                            engine::ShownCounts counts = {}) {
    CHECK(is_foreign(message));
    auto shown = render_foreign(message, envelope, counts);
    return content_of(std::move(shown.properties), std::move(shown.body));
}

}  // namespace revenant::amqp091
