// The MessageFormat of AMQP 1.0 messages, for the engine and the other protocols.
#pragma once

#include "amqp10/message/incoming_message.h"
#include "message/message.h"

namespace revenant::amqp10 {

const MessageFormat& message_format();

}  // namespace revenant::amqp10
