// Publish: a message comes in.
#pragma once

#include "base/result.h"
#include "engine/rules/turn.h"

namespace revenant::engine {

// Checks, then routes (or holds, in a transaction).
Result<void, Refusal> publish(Turn& turn, Publish&& command);
// Routes a message whose checks have passed, answers with return and confirm. False: a queue
// refused it.
bool route_publish(Turn& turn, const Publish& command);

}  // namespace revenant::engine
