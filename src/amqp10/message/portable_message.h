// Converts an AMQP 1.0 message for a consumer of another protocol (amqp10 6.4 to 6.9).
#pragma once

#include "message/message.h"
#include "message/portable.h"

namespace revenant::amqp10 {

PortableMessage portable_message(const Message& message);

}  // namespace revenant::amqp10
