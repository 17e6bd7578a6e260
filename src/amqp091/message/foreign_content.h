// ForeignContent: converts messages of other protocols for 0-9-1 consumers, and 0-9-1 messages to
// PortableMessage.
#pragma once

#include "amqp091/message/properties.h"
#include "engine/words/effect.h"
#include "message/death.h"
#include "message/message.h"
#include "message/portable.h"

#include <string>

namespace revenant::amqp091 {

PortableMessage portable_message(const Message& message);

inline bool is_foreign(const Message& message) {
    return message.format().number != message_format_number;
}

struct ForeignContent {
    std::string properties;  // flags and list
    std::string body;
};
// For a message that is_foreign(): the content it would have if it were published over 0-9-1
// (amqp10 6.4 to 6.9), without the additions of its envelope. Splicing them in also sorts the
// headers.
ForeignContent convert_foreign(const Message& message);
// Includes the additions of its envelope (DL-98 to DL-105).
ForeignContent render_foreign(const Message& message, const EnvelopeRef& envelope,
                              engine::ShownCounts counts);

}  // namespace revenant::amqp091
