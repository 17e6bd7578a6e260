// DeathPlan: where a dying message goes, and with what envelope (dead-lettering 5 to 8 and 13).
#pragma once

#include "engine/accounts.h"
#include "engine/turn.h"
#include "message/death.h"

#include <cstdint>
#include <vector>

namespace revenant::engine {

// A message at the moment of its death.
struct Dying {
    const MessageRef& message;
    const EnvelopeRef& envelope;
    std::uint32_t delivery_count = 0;
};

struct DeathPlan {
    EnvelopeRef envelope;
    std::vector<Queue*> targets;  // without those that would close a circle
    Ending ending_without_target = Ending::no_dlx;
    DeathStrategy strategy = DeathStrategy::disabled;
    bool by_key_only = true;  // another message with the same keys would go the same way
};

DeathPlan plan_death(Turn& turn, Queue& source, const Dying& dying, DeathReason reason,
                     Timestamp died_at);

// The places in those targets that take it; the others refuse, as they refuse a publish (DL-168).
std::vector<Placement> place_in_targets(Turn& turn, const DeathPlan& plan, const Message& message,
                                        std::vector<Queue*>& refusing);

// They have it now; where it has no time to live it is offered at once.
void offer_in_targets(Turn& turn, const std::vector<Queue*>& targets);

}  // namespace revenant::engine
