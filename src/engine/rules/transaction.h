// Transaction: tx.select … tx.commit as one record.
#pragma once

#include "base/result.h"
#include "engine/rules/turn.h"

namespace revenant::engine {

// The limit for the size of a commit, because it is one record.
constexpr std::uint64_t transaction_bytes_max = 64 * 1024 * 1024;
// Adds to the expected size of the channel's commit.
Result<void, Refusal> count_in_transaction(Channel& channel, std::uint64_t bytes);

void select_transaction(Turn& turn, const SelectTransaction& command);
// Publishes, then settles, in the order of the commands (amqp091 10.5). The commit is one record.
Result<void, Refusal> commit(Turn& turn, const Commit& command);
// Drops the publishes; held settlements become unsettled again on the same channel.
Result<void, Refusal> rollback(Turn& turn, const Rollback& command);

}  // namespace revenant::engine
