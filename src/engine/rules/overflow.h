// Overflow: length limits — drop head, reject publish, dead-letter.
#pragma once

#include "engine/rules/turn.h"

namespace revenant::engine {

// Does a queue that refuses publishes refuse this one? A classic queue does if it would break a
// limit (DL-138), a quorum queue from the moment it is over one until it has come down (DL-140).
// Consumers that wait for what came earlier in this turn are served first: that is not in the way.
bool refuses_publish(Turn& turn, Queue& queue, const Message& message);

// The same for a dead letter: a quorum queue takes it even then, unless the sender can wait
// (DL-168, DL-179).
bool refuses_dead_letter(Turn& turn, Queue& queue, const Message& message, DeathStrategy strategy);

// Would a queue that refuses publishes take at least a small one?
bool has_room(Queue& queue);

// The queue has lost a message: a quorum queue that told its publishers to stop may have come down
// far enough (DL-140).
void update_refusing(Queue& queue);

// A drop-head queue over its limit loses messages from the head, each dying `maxlen` (DL-137).
void enforce_limits(Turn& turn, Queue& queue);

}  // namespace revenant::engine
