// Chain: one first-in-first-out sequence of entries, addressed by sequence number.
//
// Entries live in blocks of block_entries. Push, pop, removal in the middle and requeue to the
// original position are O(1): a bitmap per block says which entries are ready, a count per block
// lets a search skip whole blocks. A block whose entries are all gone is freed. Each block knows
// the earliest deadline of its ready entries, so exact expiry costs a timer per block, not per
// message.
#pragma once

#include "base/time.h"
#include "message/death.h"
#include "message/message.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace revenant::engine {

enum class EntryState : std::uint8_t { gone, ready, unacked };

// How often a message was tried in vain (DL-147).
struct Counts {
    std::uint32_t delivery = 0;
    std::uint32_t acquired = 0;
    friend bool operator==(const Counts&, const Counts&) = default;
};

struct Entry {
    MessageRef message;
    EnvelopeRef envelope;              // empty until the broker adds something to the message
    std::uint32_t delivery_count = 0;  // failed attempts (DL-147)
    std::uint16_t acquired_count = 0;  // deliveries that came back for whatever reason
    EntryState state = EntryState::gone;
    bool returned = false;  // was delivered before

    void count(Counts counts) {
        delivery_count = counts.delivery;
        acquired_count = static_cast<std::uint16_t>(std::min(counts.acquired, 0xffffU));
    }
    Counts counts() const { return {delivery_count, acquired_count}; }
    // What a consumer is told: somebody may have seen it already (DL-154, DL-155).
    bool is_redelivered() const { return returned || delivery_count > 0; }
};

class Chain {
  public:
    static constexpr std::uint64_t block_entries = 256;

    // Appends a ready entry; `deadline` is `never` for a message that does not expire.
    std::uint64_t push(Entry entry, Timestamp deadline);
    // Puts an entry back under a number it had before (replay); numbers only grow.
    void push_at(std::uint64_t sequence, Entry entry, Timestamp deadline);

    std::optional<std::uint64_t> first_ready();
    // The entry must be there (ready or unacked).
    Entry& at(std::uint64_t sequence);
    const Entry& at(std::uint64_t sequence) const;
    bool contains(std::uint64_t sequence) const;
    Timestamp deadline(std::uint64_t sequence) const;

    void mark_unacked(std::uint64_t sequence);
    void mark_ready(std::uint64_t sequence);
    // Removes the entry in whatever state and hands it out.
    Entry take(std::uint64_t sequence);

    std::uint64_t next_sequence() const { return next_; }
    std::uint64_t ready_count() const { return ready_; }
    std::uint64_t live_count() const { return live_; }

    // --- deadlines, per block ---
    static std::uint64_t block_of(std::uint64_t sequence) { return sequence / block_entries; }
    // The earliest deadline for which a timer of this block should run; `never` if none.
    Timestamp earliest_deadline(std::uint64_t block) const;
    // The deadline for which the owner has set a timer; `never` if none.
    Timestamp scheduled(std::uint64_t block) const;
    void set_scheduled(std::uint64_t block, Timestamp at);
    // Appends the ready entries of the block that are due, oldest first, and brings the block's
    // earliest deadline up to date.
    void due_entries(std::uint64_t block, Timestamp now, std::vector<std::uint64_t>& sequences);
    // Appends the ready entries from the head on that are due, up to the first that is not.
    void due_at_head(Timestamp now, std::vector<std::uint64_t>& sequences);

    template <typename Visit>  // visit(sequence, entry), in order, of every entry still here
    void for_each(Visit visit) const {
        for (std::size_t i = front_; i < blocks_.size(); ++i) {
            if (!blocks_[i]) continue;
            const std::uint64_t base = (first_block_ + i - front_) * block_entries;
            for (std::size_t j = 0; j < blocks_[i]->entries.size(); ++j) {
                if (blocks_[i]->entries[j].state != EntryState::gone) {
                    visit(base + j, blocks_[i]->entries[j]);
                }
            }
        }
    }

  private:
    struct Block {
        std::vector<Entry> entries;
        std::vector<Timestamp> deadlines;  // empty until an entry of this block has one
        std::array<std::uint64_t, block_entries / 64> ready_bits{};
        std::uint32_t ready = 0;
        std::uint32_t live = 0;
        Timestamp earliest = never;
        Timestamp scheduled = never;
    };

    Block* block(std::uint64_t number) const;
    Block& block_holding(std::uint64_t sequence) const;
    void set_ready_bit(Block& block, std::uint64_t number, std::size_t index);
    void clear_ready_bit(Block& block, std::size_t index);
    void drop_empty_front();

    std::vector<std::unique_ptr<Block>> blocks_;  // from front_ on; earlier slots are spent
    std::size_t front_ = 0;
    std::uint64_t first_block_ = 0;        // number of the block at front_
    std::uint64_t first_ready_block_ = 0;  // no block before it has a ready entry
    std::uint64_t next_ = 0;
    std::uint64_t ready_ = 0;
    std::uint64_t live_ = 0;
};

}  // namespace revenant::engine
