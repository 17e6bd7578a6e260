// Settle: accepted, rejected, released. And recover, what a closing channel leaves behind, and what
// a consumer kept too long.
#pragma once

#include "base/result.h"
#include "engine/rules/turn.h"

#include <span>

namespace revenant::engine {

Result<void, Refusal> settle(Turn& turn, const Settle& command);
// Settles what is left of it in portions: the first now.
void begin_settling(Turn& turn, Channel& channel, SettlementUnderWay settlement);
// The next portion of what is under way; true if that was the last.
bool go_on_settling(Turn& turn, Channel& channel);
// Requeues everything unsettled on the channel that no transaction holds; a closing channel counts
// it as failed (DL-150), and gives back what a transaction held.
void requeue_all(Turn& turn, Channel& channel, Outcome outcome);

// Returns these deliveries to their queues, which is no failure of theirs (DL-150). Those of a
// consumer that is to be suspended stay on the books, as timed out, until it settles them.
void requeue_overdue(Turn& turn, Channel& channel, std::span<const DeliveryId> deliveries);

struct Settlement {
    Outcome outcome;
    const OutcomeDetails* details = nullptr;  // few have any
};
// Settles these deliveries of the channel now; they must be there (transaction.cc).
void settle_deliveries(Turn& turn, Channel& channel, std::span<const DeliveryId> deliveries,
                       const Settlement& settlement);

}  // namespace revenant::engine
