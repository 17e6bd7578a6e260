// Transaction: tx.select … tx.commit as one record.
#pragma once

#include "base/result.h"
#include "engine/rules/turn.h"

namespace revenant::engine {

// A commit is one record, so what it may write is bounded.
constexpr std::uint64_t transaction_bytes_max = 64 * 1024 * 1024;
// The transaction of the channel will write so much more.
Result<void, Refusal> count_in_transaction(Channel& channel, std::uint64_t bytes);

void select_transaction(Turn& turn, const SelectTransaction& command);
// Publishes, then settles what was held, in order (amqp091 10.5). All of it is one record.
Result<void, Refusal> commit(Turn& turn, const Commit& command);
// Forgets the publishes; what was settled is unsettled again on the same channel.
Result<void, Refusal> rollback(Turn& turn, const Rollback& command);

}  // namespace revenant::engine
