// IncomingMessage: the data of a published AMQP 1.0 message, and the bytes to store.
//
// Message annotations, properties and application properties are stored unchanged, one after the
// other, in Message::properties(); body and footer are in Message::body(). Header and delivery
// annotations are for this broker and are not passed on.
#pragma once

#include "base/result.h"
#include "message/message.h"

#include <optional>
#include <string>
#include <string_view>

namespace revenant::amqp10 {

// All views refer to the message that was read.
struct IncomingMessage {
    MessageHead head;
    std::string_view properties;
    std::string_view body;
    std::optional<std::string_view> to;
    std::optional<std::string_view> user_id;
};

struct PublishError {
    std::string_view condition;  // amqp:decode-error or amqp:invalid-field
    std::string text;
};

// amqp10 5.17, 5.19
Result<IncomingMessage, PublishError> read_published(std::string_view message);

}  // namespace revenant::amqp10
