// Consumers: adding, cancelling, suspending and reactivating.
#pragma once

#include "base/result.h"
#include "engine/rules/turn.h"

namespace revenant::engine {

Result<void, Refusal> consume(Turn& turn, const Consume& command);
void cancel(Turn& turn, const Cancel& command);
void set_qos(Turn& turn, const SetQos& command);
// Called when the queue is deleted: cancels its consumers and notifies their channels, a portion at
// a time. The queue is on the worklist while consumers remain.
void cancel_consumers_of(Turn& turn, Queue& queue);
void go_on_cancelling(Turn& turn);
// Called when the channel is closed: removes its consumers without notification, a portion at a
// time. Returns true after the last. Auto-delete queues may be deleted with them.
bool cancel_some(Turn& turn, Channel& channel);

// Deliveries of the consumer timed out and were requeued. Either the consumer is cancelled and its
// channel notified, or it is suspended, and another consumer may become active, until it has
// settled them.
void cancel_for_timeout(Turn& turn, Consumer& consumer);
void suspend(Turn& turn, Consumer& consumer);
void resume(Turn& turn, Consumer& consumer);

// Whether this consumer can receive a message now.
bool can_take(const Consumer& consumer);
// The consumer got credit or its connection can take deliveries again: makes it eligible.
void reactivate(Turn& turn, Consumer& consumer);
void reactivate_all(Turn& turn, Channel& channel);
// Erases a cancelled consumer after its last delivery was settled.
void release_if_done(Consumer& consumer);

}  // namespace revenant::engine
