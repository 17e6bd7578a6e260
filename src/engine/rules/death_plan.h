// DeathPlan: where a dying message goes, and with what envelope (dead-lettering 5 to 8 and 13).
#pragma once

#include "engine/rules/turn.h"
#include "engine/state/shared_death.h"

#include <vector>

namespace revenant::engine {

// Deaths are told apart by the millisecond.
inline Timestamp moment_of_death(Timestamp now) { return {now.whole_ms() * 1000}; }

DeathPlan plan_death(Turn& turn, Queue& source, const Dying& dying, DeathReason reason,
                     Timestamp died_at);

// About what the death of a message will write beside the fact itself.
std::size_t bytes_of_death(const Message& message, const EnvelopeRef& envelope);

// The places in those targets that take it; the others refuse, as they refuse a publish (DL-168).
std::vector<Placement> place_in_targets(Turn& turn, const DeathPlan& plan, const Message& message,
                                        std::vector<Queue*>& refusing);

// They have it now; where it has no time to live it is offered at once.
void offer_in_targets(Turn& turn, const std::vector<Queue*>& targets);

}  // namespace revenant::engine
