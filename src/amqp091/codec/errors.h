// Errors: refusals of the engine and breaches of the protocol, as AMQP 0-9-1 tells them. The only
// place where reply codes are chosen for refusals and reply texts are put together.
#pragma once

#include "amqp091/codec/spec.gen.h"
#include "engine/words/refusal.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace revenant::amqp091 {

// A reason to close a channel or, for a hard code, the connection. The method that failed is named,
// or 0/0.
struct ProtocolError {
    ReplyCode code = ReplyCode::internal_error;
    std::string text;  // without the name of the code
    std::uint16_t class_id = 0;
    std::uint16_t method_id = 0;
};

ReplyCode reply_code(engine::RefusalKind kind);
// "NOT_FOUND - no queue 'q' in vhost '/'", cut to what a short string can hold (amqp091 4.3).
std::string reply_text(ReplyCode code, std::string_view explanation);

}  // namespace revenant::amqp091
