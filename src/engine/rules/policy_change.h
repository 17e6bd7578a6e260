// Setting and clearing policies, and what follows for queues that are running (DL-29 to DL-31).
#pragma once

#include "base/result.h"
#include "engine/rules/turn.h"

namespace revenant::engine {

Result<void, Refusal> set_policy(Turn& turn, const SetPolicy& command);
Result<void, Refusal> clear_policy(Turn& turn, const ClearPolicy& command);
// Brings the settings of queues up to date with the policies, a portion at a time; true if that was
// the last.
bool apply_policies(Turn& turn);
void set_compatibility(Turn& turn, const SetCompatibility& command);

}  // namespace revenant::engine
