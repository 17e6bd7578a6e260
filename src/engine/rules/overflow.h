// Overflow: length limits — drop head, reject publish, dead-letter.
#pragma once

#include "engine/rules/turn.h"

namespace revenant::engine {

// Whether a queue with reject-publish refuses this message. A classic queue does if the message
// would exceed a limit (DL-138), a quorum queue from exceeding a limit until it is below the resume
// limit (DL-140). Consumers are first served with messages of this turn, so that these do not
// count.
bool refuses_publish(Turn& turn, Queue& queue, const Message& message);

// Like refuses_publish(), for a dead letter: a quorum queue accepts it even then, unless the sender
// can wait (DL-168, DL-179).
bool refuses_dead_letter(Turn& turn, Queue& queue, const Message& message, DeathStrategy strategy);

// Whether a queue with reject-publish would accept at least a small message.
bool has_room(Queue& queue);

// Called when the queue lost a message: a refusing quorum queue may be below its resume limit
// (DL-140).
void update_refusing(Queue& queue);

// A drop-head queue over its limit drops messages from the head, each with reason `maxlen`
// (DL-137).
void enforce_limits(Turn& turn, Queue& queue);

}  // namespace revenant::engine
