// At-least-once dead-lettering of quorum queues (dead-lettering 20): a message that dies goes to
// all its targets at once if they are there and take it. Otherwise it waits in the outbox of its
// queue, on the disk and in the limits, until the last of them has it. It never leaves by itself.
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

// Sends on what waits in outboxes and can now go: after every turn, a portion at a time. True if
// there is more to try at once.
bool forward_outboxes(Turn& turn);

}  // namespace revenant::engine
