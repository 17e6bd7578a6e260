#include "engine/rules/closing.h"

#include "base/probe.h"
#include "engine/rules/consumers.h"
#include "engine/rules/settle.h"
#include "engine/rules/topology.h"

#include <utility>
#include <vector>

namespace revenant::engine {
namespace {

// The deliveries are requeued first: they cannot be dispatched to others while a consumer of this
// channel can still take them, and an auto-delete queue must not be deleted before they are
// requeued.
void begin_closing(Turn& turn, Channel& channel, bool detached) {
    channel.closing = true;
    channel.transaction.reset();
    requeue_all(turn, channel,
                {.kind = OutcomeKind::released,
                 .delivery_failed = true,
                 .exempt_from_delivery_limit = detached});
}

}  // namespace

void close_channel(Turn& turn, Channel& channel, ChannelClosing closing) {
    if (closing.answer) channel.when_closed.push_back(std::move(*closing.answer));
    if (channel.closing) return;
    begin_closing(turn, channel, closing.detached);
    // Otherwise the channel is on the worklist already.
    if (channel.settling.empty() && !go_on_closing(turn, channel)) {
        turn.worklist().settling.push_back(channel.id);
    }
}

bool go_on_closing(Turn& turn, Channel& channel) {
    if (!go_on_settling(turn, channel) || !cancel_some(turn, channel)) {
        PROBE("closing.in_portions");
        return false;
    }
    std::vector<Effect> told = std::move(channel.when_closed);
    turn.attached().close_channel(channel.id);
    turn.state().traffic().channels_closed += 1;
    for (Effect& effect : told) turn.effects().request(std::move(effect));
    return true;
}

void close_connection(Turn& turn, Connection& connection) {
    connection.closing = true;
    connection.paused = true;  // none of its channels receives deliveries any more
    const ConnectionId id = connection.id;
    if (!go_on_closing(turn, connection)) turn.worklist().closing.push_back(id);
}

bool go_on_closing(Turn& turn, Connection& connection) {
    while (!connection.channels.empty()) {
        if (turn.portion().is_used_up()) return false;
        Channel& channel = *turn.attached().find_channel(connection.channels.back());
        if (!channel.closing) begin_closing(turn, channel, /*detached=*/false);
        if (!go_on_closing(turn, channel)) return false;
        turn.portion().spend(1);
    }
    while (!connection.exclusive_queues.empty()) {
        if (turn.portion().is_used_up()) return false;
        turn.portion().spend(4);
        remove_queue(turn, *turn.state().find_queue(connection.exclusive_queues.back()));
    }
    const ConnectionId id = connection.id;
    turn.attached().close_connection(id);
    turn.state().traffic().connections_closed += 1;
    turn.effects().request(ConnectionClosed{id});
    return true;
}

}  // namespace revenant::engine
