// DeathPlan: targets and envelope of a dying message (dead-lettering 5 to 8 and 13).
#pragma once

#include "engine/rules/turn.h"
#include "engine/state/death_plan_cache.h"

#include <vector>

namespace revenant::engine {

// Death times have a resolution of one millisecond.
inline Timestamp death_time(Timestamp now) { return {now.whole_ms() * 1000}; }

DeathPlan plan_death(Turn& turn, Queue& source, const DyingMessage& dying, DeathReason reason,
                     Timestamp died_at);

// Approximate bytes that a death writes to the journal in addition to the event itself.
std::size_t bytes_of_death(const Message& message, const EnvelopeRef& envelope);

// Positions in the targets that accept the message; the others refuse it like a publish (DL-168).
std::vector<Placement> plan_placements(Turn& turn, const DeathPlan& plan, const Message& message,
                                       std::vector<Queue*>& refusing);

// Called after the message was added to the targets; dispatches it immediately where its TTL is 0.
void dispatch_in_targets(Turn& turn, const std::vector<Queue*>& targets);

}  // namespace revenant::engine
