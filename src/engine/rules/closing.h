// Closing of channels and connections, a portion at a time. The client is notified only after all
// unsettled messages have been requeued.
#pragma once

#include "engine/rules/turn.h"

namespace revenant::engine {

struct ChannelClosing {
    bool detached = false;         // a link of AMQP 1.0 was detached
    std::optional<Effect> answer;  // sent when the channel is closed
};
void close_channel(Turn& turn, Channel& channel, ChannelClosing closing);
// Processes the next portion; true if it was the last and the channel no longer exists.
bool go_on_closing(Turn& turn, Channel& channel);

void close_connection(Turn& turn, Connection& connection);
bool go_on_closing(Turn& turn, Connection& connection);

}  // namespace revenant::engine
