// At-least-once dead-lettering of quorum queues (dead-lettering 20): a dying message goes to all
// its targets in one step if they exist and accept it. Otherwise it stays in the outbox of its
// queue, on disk and counted by the limits, until the last target has it. It is never dropped from
// the outbox.
#pragma once

#include "engine/rules/death_plan.h"
#include "engine/rules/turn.h"

#include <vector>

namespace revenant::engine {

struct OutboxDeath {
    DeathReason reason = DeathReason::rejected;
    const DeathPlan& plan;
};

void dead_letter_at_least_once(Turn& turn, Queue& source, Position position,
                               const OutboxDeath& death, std::vector<Placement> placements,
                               const std::vector<Queue*>& refusing);

// Forwards dead letters from outboxes where possible: called after every turn, a portion at a time.
// True if more can be tried immediately.
bool forward_outboxes(Turn& turn);

}  // namespace revenant::engine
