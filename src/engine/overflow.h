// Overflow: length limits — drop head, reject publish, dead-letter.
#pragma once

#include "engine/turn.h"

namespace revenant::engine {

// Would one more message of this size break a limit of a queue that refuses publishes (DL-138)?
// Consumers that wait for what came earlier in this turn are served first: that is not in the way.
bool refuses_publish(Turn& turn, Queue& queue, std::uint64_t body_size);

// A drop-head queue over its limit loses messages from the head, each dying `maxlen` (DL-137).
void keep_limits(Turn& turn, Queue& queue);

}  // namespace revenant::engine
