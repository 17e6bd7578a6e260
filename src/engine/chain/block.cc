#include "engine/chain/block.h"

#include "base/check.h"

namespace revenant::engine {

void Block::push(std::size_t index, Entry entry, Timestamp deadline) {
    CHECK(index < block_entries);
    if (entries.size() <= index) entries.resize(index + 1);
    pushed_bytes += entry.memory_bytes();
    entry.state = EntryState::ready;
    entries[index] = std::move(entry);
    if (deadline != never) {
        if (deadlines.size() <= index) deadlines.resize(index + 1, never);
        deadlines[index] = deadline;
    }
    live += 1;
    set_ready(index);
}

void Block::set_ready(std::size_t index) {
    ready_bits[index / 64] |= std::uint64_t{1} << (index % 64);
    ready += 1;
    earliest = std::min(earliest, deadline(index));
}

void Block::clear_ready(std::size_t index) {
    ready_bits[index / 64] &= ~(std::uint64_t{1} << (index % 64));
    ready -= 1;
}

}  // namespace revenant::engine
