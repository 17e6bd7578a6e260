// Closing: a channel or a connection goes, a portion at a time. Whoever reads that it has gone
// finds its messages back in place.
#pragma once

#include "engine/rules/turn.h"

namespace revenant::engine {

struct ChannelClosing {
    bool detached = false;         // a link of AMQP 1.0 that its client gave up
    std::optional<Effect> answer;  // what is told when it is closed
};
void close_channel(Turn& turn, Channel& channel, ChannelClosing closing);
// The next portion; true if that was the last, and the channel is gone.
bool go_on_closing(Turn& turn, Channel& channel);

void close_connection(Turn& turn, Connection& connection);
bool go_on_closing(Turn& turn, Connection& connection);

}  // namespace revenant::engine
