// Publish: routing of published messages.
#pragma once

#include "base/result.h"
#include "engine/rules/turn.h"

namespace revenant::engine {

// Checks the message, then routes it or, in a transaction, holds it.
Result<void, Refusal> publish(Turn& turn, Publish&& command);
// Routes a message that passed the checks and issues its return and confirm. False: a queue refused
// it.
bool route_publish(Turn& turn, const Publish& command);

}  // namespace revenant::engine
