// Transaction: tx.select … tx.commit as one record.
#pragma once

#include "base/result.h"
#include "engine/turn.h"

namespace revenant::engine {

void select_transaction(Turn& turn, const SelectTransaction& command);
// Publishes, then settles what was held, in order (amqp091 10.5). All of it is one record.
Result<void, Refusal> commit(Turn& turn, const Commit& command);
// Forgets the publishes; what was settled is unsettled again on the same channel.
Result<void, Refusal> rollback(Turn& turn, const Rollback& command);

}  // namespace revenant::engine
