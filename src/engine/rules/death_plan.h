// DeathPlan: where a dying message goes, and with what envelope (dead-lettering 5 to 8 and 13).
#pragma once

#include "engine/rules/turn.h"
#include "engine/state/death_plan_cache.h"

#include <vector>

namespace revenant::engine {

// Deaths are told apart by the millisecond.
inline Timestamp death_time(Timestamp now) { return {now.whole_ms() * 1000}; }

DeathPlan plan_death(Turn& turn, Queue& source, const DyingMessage& dying, DeathReason reason,
                     Timestamp died_at);

// About what the death of a message will write beside the fact itself.
std::size_t bytes_of_death(const Message& message, const EnvelopeRef& envelope);

// The places in those targets that take it; the others refuse, as they refuse a publish (DL-168).
std::vector<Placement> plan_placements(Turn& turn, const DeathPlan& plan, const Message& message,
                                       std::vector<Queue*>& refusing);

// They have it now; where it has no time to live it is offered at once.
void dispatch_in_targets(Turn& turn, const std::vector<Queue*>& targets);

}  // namespace revenant::engine
