// Consumers: they come, they go, and their credit comes back.
#pragma once

#include "base/result.h"
#include "engine/rules/turn.h"

namespace revenant::engine {

Result<void, Refusal> consume(Turn& turn, const Consume& command);
void cancel(Turn& turn, const Cancel& command);
void set_qos(Turn& turn, const SetQos& command);
// The queue goes: its consumers end and their channels are told, a portion at a time. The worklist
// has the queue while some are left.
void cancel_consumers_of(Turn& turn, Queue& queue);
void go_on_cancelling(Turn& turn);
// The channel goes: its consumers end silently, a portion at a time; true if that was the last.
// Auto-delete queues may go with them.
bool cancel_some(Turn& turn, Channel& channel);

// It has kept messages too long, and they are back in the queue: it ends and its channel is told,
// or it waits, and gives its turn to another, until it has settled them.
void cancel_for_timeout(Turn& turn, Consumer& consumer);
void suspend(Turn& turn, Consumer& consumer);
void resume(Turn& turn, Consumer& consumer);

// May this consumer be handed a message now?
bool can_take(const Consumer& consumer);
// Credit came back or the connection can take more again: the consumer stands in line anew.
void reactivate(Turn& turn, Consumer& consumer);
void reactivate_all(Turn& turn, Channel& channel);
// A cancelled consumer whose last delivery was settled is forgotten.
void release_if_done(Consumer& consumer);

}  // namespace revenant::engine
