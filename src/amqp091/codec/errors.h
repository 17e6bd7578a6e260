// Errors: refusals by the engine and protocol violations, as AMQP 0-9-1 reports them. Reply codes
// for refusals and reply texts are chosen only here.
#pragma once

#include "amqp091/codec/spec.gen.h"
#include "engine/words/refusal.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace revenant::amqp091 {

// A reason to close a channel or, for a hard error, the connection. Class and method of the failed
// method, or 0/0.
struct ProtocolError {
    ReplyCode code = ReplyCode::internal_error;
    std::string text;  // without the name of the code
    std::uint16_t class_id = 0;
    std::uint16_t method_id = 0;
};

ReplyCode reply_code(engine::RefusalKind kind);
// "NOT_FOUND - no queue 'q' in vhost '/'", truncated to the size of a short string (amqp091 4.3).
std::string reply_text(ReplyCode code, std::string_view explanation);

}  // namespace revenant::amqp091
