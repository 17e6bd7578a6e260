// Settle: accepted, rejected, released. And recover, and what a closing channel leaves behind.
#pragma once

#include "base/result.h"
#include "engine/turn.h"

#include <span>

namespace revenant::engine {

Result<void, Refusal> settle(Turn& turn, const Settle& command);
// Requeues everything unsettled on the channel that no transaction holds; a closing channel counts
// it as failed (DL-150).
void return_all(Turn& turn, Channel& channel, Outcome outcome);

struct Settlement {
    Outcome outcome;
    const OutcomeDetails* details = nullptr;  // few have any
};
// Settles these deliveries of the channel now; they must be there (transaction.cc).
void settle_deliveries(Turn& turn, Channel& channel, std::span<const DeliveryId> deliveries,
                       const Settlement& settlement);

}  // namespace revenant::engine
