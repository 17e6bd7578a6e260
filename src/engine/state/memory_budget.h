// The memory budget: when the queues of a virtual host exceed it, their coldest blocks are paged
// out.
#pragma once

#include "engine/state/state.h"

namespace revenant::engine {

// Called after every turn. Costs one comparison while the budget is not exceeded.
void enforce_memory_budget(State& state);
// For the replay of events: pages out complete blocks only, because events name the sequence
// numbers.
void enforce_memory_budget_in_replay(State& state);

}  // namespace revenant::engine
