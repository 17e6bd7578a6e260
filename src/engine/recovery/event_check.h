// Whether a fact from the disk fits the state it would be applied to. State::apply decides nothing
// and trusts what it is given; whoever reads facts that he has not written himself asks here first.
// So bytes that pass every checksum and make no sense are an error, not the end of the process.
//
// The check is structural: what a fact refers to must be there, and the place it takes must be
// free. The rules that commands are held to (check_binding, check_policy, queue_arguments) are not
// asked: they get stricter, and what was accepted once must open forever. State has to cope with
// it.
#pragma once

#include "engine/state/state.h"
#include "engine/words/event.h"

#include <cstdint>

namespace revenant::engine {

// A chain keeps a slot for every block between its first and its last entry. A number further away
// than this is taken for nonsense: its slots would take gigabytes.
constexpr std::uint64_t gap_blocks_max = std::uint64_t{1} << 28;

bool can_apply(State& state, const Event& fact, std::uint64_t gap_max = gap_blocks_max);
// The same for the definitions a snapshot holds.
bool can_apply(State& state, const QueueDeclaration& declaration);
// Whether an entry can have this number.
bool is_sequence(std::uint64_t number);
// Whether a block of this number may follow the others of the chain.
bool can_follow(const Chain& chain, std::uint64_t block, std::uint64_t gap_max);

}  // namespace revenant::engine
