// Setting and clearing policies, and the consequences for existing queues (DL-29 to DL-31).
#pragma once

#include "base/result.h"
#include "engine/rules/turn.h"

namespace revenant::engine {

Result<void, Refusal> set_policy(Turn& turn, const SetPolicy& command);
Result<void, Refusal> clear_policy(Turn& turn, const ClearPolicy& command);
// Updates the settings of queues, a portion at a time; true after the last.
bool apply_policies(Turn& turn);
void set_compatibility(Turn& turn, const SetCompatibility& command);

}  // namespace revenant::engine
