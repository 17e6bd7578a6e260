// IncomingMessage: what a message of AMQP 1.0 says to the broker when it comes in, and the bytes to
// keep.
//
// Kept as they came are, one behind the other, the message annotations, the properties and the
// application properties (Message::properties()), and then the body and the footer
// (Message::body()). Header and delivery annotations are for this broker and go no further.
#pragma once

#include "base/result.h"
#include "message/message.h"

#include <optional>
#include <string>
#include <string_view>

namespace revenant::amqp10 {

// All views are into the message that was read.
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
