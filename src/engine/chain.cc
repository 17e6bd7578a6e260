#include "engine/chain.h"

#include "base/check.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace revenant::engine {

Chain::Block* Chain::block(std::uint64_t number) const {
    if (number < first_block_ || number - first_block_ >= blocks_.size() - front_) return nullptr;
    return blocks_[front_ + (number - first_block_)].get();
}

Chain::Block& Chain::block_holding(std::uint64_t sequence) const {
    Block* const found = block(block_of(sequence));
    CHECK(found != nullptr && sequence % block_entries < found->entries.size());
    return *found;
}

void Chain::set_ready_bit(Block& block, std::uint64_t number, std::size_t index) {
    block.ready_bits[index / 64] |= std::uint64_t{1} << (index % 64);
    block.ready += 1;
    ready_ += 1;
    if (number < first_ready_block_) first_ready_block_ = number;
    if (!block.deadlines.empty() && block.deadlines[index] < block.earliest) {
        block.earliest = block.deadlines[index];
    }
}

void Chain::clear_ready_bit(Block& block, std::size_t index) {
    block.ready_bits[index / 64] &= ~(std::uint64_t{1} << (index % 64));
    block.ready -= 1;
    ready_ -= 1;
}

std::uint64_t Chain::push(Entry entry, Timestamp deadline) {
    const std::uint64_t sequence = next_;
    push_at(sequence, std::move(entry), deadline);
    return sequence;
}

void Chain::push_at(std::uint64_t sequence, Entry entry, Timestamp deadline) {
    CHECK(sequence >= next_);
    const std::uint64_t number = block_of(sequence);
    // A replay may leave numbers out; the block it leaves behind may be empty already.
    if (next_ > 0 && block_of(next_) != number && block(block_of(next_)) != nullptr &&
        block(block_of(next_))->live == 0) {
        blocks_[front_ + (block_of(next_) - first_block_)].reset();
        drop_empty_front();
    }
    if (front_ == blocks_.size()) {
        blocks_.clear();
        front_ = 0;
        first_block_ = number;
    }
    while (number - first_block_ >= blocks_.size() - front_) blocks_.push_back(nullptr);
    auto& slot = blocks_[front_ + (number - first_block_)];
    if (!slot) slot = std::make_unique<Block>();
    Block& tail = *slot;
    const std::size_t index = sequence % block_entries;
    if (tail.entries.size() < index) tail.entries.resize(index);  // numbers left out by a replay
    entry.state = EntryState::ready;
    tail.entries.push_back(std::move(entry));
    if (deadline != never && tail.deadlines.empty()) tail.deadlines.assign(index, never);
    if (deadline != never || !tail.deadlines.empty()) {
        tail.deadlines.resize(index, never);
        tail.deadlines.push_back(deadline);
    }
    tail.live += 1;
    live_ += 1;
    next_ = sequence + 1;
    set_ready_bit(tail, number, index);
}

std::optional<std::uint64_t> Chain::first_ready() {
    if (ready_ == 0) return std::nullopt;
    if (first_ready_block_ < first_block_) first_ready_block_ = first_block_;
    for (;; ++first_ready_block_) {
        const Block* const candidate = block(first_ready_block_);
        if (candidate == nullptr || candidate->ready == 0) continue;  // ready_ > 0: one must come
        for (std::size_t word = 0; word < candidate->ready_bits.size(); ++word) {
            if (candidate->ready_bits[word] == 0) continue;
            const auto bit =
                static_cast<std::size_t>(std::countr_zero(candidate->ready_bits[word]));
            return first_ready_block_ * block_entries + word * 64 + bit;
        }
        UNREACHABLE();
    }
}

Entry& Chain::at(std::uint64_t sequence) {
    Entry& entry = block_holding(sequence).entries[sequence % block_entries];
    CHECK(entry.state != EntryState::gone);
    return entry;
}

const Entry& Chain::at(std::uint64_t sequence) const {
    const Entry& entry = block_holding(sequence).entries[sequence % block_entries];
    CHECK(entry.state != EntryState::gone);
    return entry;
}

bool Chain::contains(std::uint64_t sequence) const {
    const Block* const holder = block(block_of(sequence));
    const std::size_t index = sequence % block_entries;
    return holder != nullptr && index < holder->entries.size() &&
           holder->entries[index].state != EntryState::gone;
}

Timestamp Chain::deadline(std::uint64_t sequence) const {
    const Block& holder = block_holding(sequence);
    return holder.deadlines.empty() ? never : holder.deadlines[sequence % block_entries];
}

void Chain::mark_unacked(std::uint64_t sequence) {
    Block& holder = block_holding(sequence);
    Entry& entry = holder.entries[sequence % block_entries];
    CHECK(entry.state == EntryState::ready);
    entry.state = EntryState::unacked;
    clear_ready_bit(holder, sequence % block_entries);
}

void Chain::mark_ready(std::uint64_t sequence) {
    Block& holder = block_holding(sequence);
    Entry& entry = holder.entries[sequence % block_entries];
    CHECK(entry.state == EntryState::unacked);
    entry.state = EntryState::ready;
    set_ready_bit(holder, block_of(sequence), sequence % block_entries);
}

Entry Chain::take(std::uint64_t sequence) {
    Block& holder = block_holding(sequence);
    const std::size_t index = sequence % block_entries;
    Entry& slot = holder.entries[index];
    CHECK(slot.state != EntryState::gone);
    if (slot.state == EntryState::ready) clear_ready_bit(holder, index);
    Entry taken = std::move(slot);
    slot.state = EntryState::gone;
    holder.live -= 1;
    live_ -= 1;
    if (holder.live == 0 && block_of(sequence) != block_of(next_)) {
        blocks_[front_ + (block_of(sequence) - first_block_)].reset();
        drop_empty_front();
    }
    return taken;
}

void Chain::drop_empty_front() {
    while (front_ < blocks_.size() && !blocks_[front_]) {
        ++front_;
        ++first_block_;
    }
    // Spent slots are given back when they are the larger half, so the cost per block is constant.
    if (front_ > 32 && front_ > blocks_.size() / 2) {
        blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(front_));
        front_ = 0;
    }
}

Timestamp Chain::earliest_deadline(std::uint64_t number) const {
    const Block* const found = block(number);
    return found == nullptr ? never : found->earliest;
}

Timestamp Chain::scheduled(std::uint64_t number) const {
    const Block* const found = block(number);
    return found == nullptr ? never : found->scheduled;
}

void Chain::set_scheduled(std::uint64_t number, Timestamp at) {
    if (Block* const found = block(number)) found->scheduled = at;
}

void Chain::due_entries(std::uint64_t number, Timestamp now,
                        std::vector<std::uint64_t>& sequences) {
    Block* const found = block(number);
    if (found == nullptr || found->deadlines.empty()) return;
    Timestamp earliest = never;
    for (std::size_t word = 0; word < found->ready_bits.size(); ++word) {
        for (std::uint64_t bits = found->ready_bits[word]; bits != 0; bits &= bits - 1) {
            const std::size_t index = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
            const Timestamp deadline = found->deadlines[index];
            if (deadline <= now) {
                sequences.push_back(number * block_entries + index);
            } else {
                earliest = std::min(earliest, deadline);
            }
        }
    }
    found->earliest = earliest;
}

void Chain::due_at_head(Timestamp now, std::vector<std::uint64_t>& sequences) {
    if (ready_ == 0) return;
    const std::uint64_t first = *first_ready();
    for (std::uint64_t number = block_of(first); number <= block_of(next_); ++number) {
        const Block* const candidate = block(number);
        if (candidate == nullptr || candidate->ready == 0) continue;
        for (std::size_t word = 0; word < candidate->ready_bits.size(); ++word) {
            for (std::uint64_t bits = candidate->ready_bits[word]; bits != 0; bits &= bits - 1) {
                const std::size_t index =
                    word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
                if (candidate->deadlines.empty() || candidate->deadlines[index] > now) return;
                sequences.push_back(number * block_entries + index);
            }
        }
    }
}

}  // namespace revenant::engine
