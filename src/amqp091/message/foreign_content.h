// ForeignContent: a message of another protocol as a consumer of 0-9-1 sees it, and one of 0-9-1
// on its way to another protocol.
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
// Of a message that is_foreign(), as if it had been published so (amqp10 6.4 to 6.9): what its
// envelope adds is yet to be spliced in, which also brings the headers in order.
ForeignContent convert_foreign(const Message& message);
// With what its envelope adds (DL-98 to DL-105).
ForeignContent render_foreign(const Message& message, const EnvelopeRef& envelope,
                              engine::ShownCounts counts);

}  // namespace revenant::amqp091
