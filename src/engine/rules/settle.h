// Settle: accepted, rejected, released. Also recover, the unsettled deliveries of a closing
// channel, and deliveries that timed out.
#pragma once

#include "base/result.h"
#include "engine/rules/turn.h"

#include <span>

namespace revenant::engine {

Result<void, Refusal> settle(Turn& turn, const Settle& command);
// Settles the deliveries in portions, the first one now.
void begin_settling(Turn& turn, Channel& channel, SettlementUnderWay settlement);
// Processes the next portion of the settlements in progress; true after the last.
bool go_on_settling(Turn& turn, Channel& channel);
// Requeues all unsettled deliveries of the channel that are not held in a transaction. A closing
// channel counts them as failed (DL-150), and also requeues those held in a transaction.
void requeue_all(Turn& turn, Channel& channel, Outcome outcome);

// Requeues these deliveries without counting a failure (DL-150). Those of a consumer that will be
// suspended stay on the channel as timed out until it settles them.
void requeue_overdue(Turn& turn, Channel& channel, std::span<const DeliveryId> deliveries);

struct Settlement {
    Outcome outcome;
    const OutcomeDetails* details = nullptr;  // usually nullptr
};
// Settles these deliveries of the channel now; they must exist (transaction.cc).
void settle_deliveries(Turn& turn, Channel& channel, std::span<const DeliveryId> deliveries,
                       const Settlement& settlement);

}  // namespace revenant::engine
