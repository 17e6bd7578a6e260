// The memory budget: when the queues of a virtual host take more, their coldest blocks leave.
#pragma once

#include "engine/state/state.h"

namespace revenant::engine {

// After every turn. Costs a comparison while the budget is kept.
void enforce_memory_budget(State& state);
// While facts are replayed: blocks leave only when they are complete, for their numbers are given.
void enforce_memory_budget_in_replay(State& state);

}  // namespace revenant::engine
