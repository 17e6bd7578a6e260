// Checks whether an event from disk fits the state to which it would be applied. State::apply
// decides nothing and trusts its input, so events that were read must be checked here first. Bytes
// with valid checksums but invalid content are then an error instead of a crash.
//
// The check is structural: the objects to which an event refers must exist, and the positions that
// it takes must be free. The rules for commands (check_binding, check_policy, queue_arguments) are
// not applied: they become stricter over time, but events that were accepted once must always be
// readable. State has to cope with them.
#pragma once

#include "engine/state/state.h"
#include "engine/words/event.h"

#include <cstdint>

namespace revenant::engine {

// A chain has a slot for every block between its first and its last entry. A larger gap is treated
// as invalid, because its slots would take gigabytes.
constexpr std::uint64_t gap_blocks_max = std::uint64_t{1} << 28;

bool can_apply(State& state, const Event& fact, std::uint64_t gap_max = gap_blocks_max);
// Checks a queue declaration in a snapshot.
bool can_apply(State& state, const QueueDeclaration& declaration);
// Whether an entry can have this sequence number.
bool is_sequence(std::uint64_t number);
// Whether a block with this number can follow the other blocks of the chain.
bool can_follow(const Chain& chain, std::uint64_t block, std::uint64_t gap_max);

}  // namespace revenant::engine
