// Chain: one first-in-first-out sequence of entries, addressed by sequence number.
//
// Entries live in blocks. Push, pop, removal in the middle and requeue to the original position are
// O(1): a bitmap per block says which entries are ready, a count per block lets a search skip whole
// blocks. A block whose entries are all gone is freed. Each block knows the earliest deadline of
// its ready entries, so exact expiry costs a timer per block, not per message.
//
// Depth costs no memory: a complete block may be paged out, and comes back when somebody looks at
// an entry of it. Whoever uses a chain notices nothing of it, unless a page cannot be read any
// more: then the entries in it are parked, and the chain goes on with the next block.
#pragma once

#include "base/ids.h"
#include "base/time.h"
#include "engine/chain/block.h"
#include "engine/chain/paging.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace revenant::engine {

// Whoever counts the entries of a chain. Told of those whose page turned out to be unreadable,
// which may happen whenever a block is looked at.
class ParkingLot {
  public:
    virtual void page_parked(std::size_t level, std::uint64_t block, const ColdBlock& parked,
                             std::string why) = 0;

  protected:
    ~ParkingLot() = default;
};

class Chain {
  public:
    Chain() = default;
    // A chain that pages: that of a queue's level.
    Chain(Paging& paging, QueueId queue, std::uint32_t level, ParkingLot* lot = nullptr)
        : paging_(&paging), lot_(lot), queue_(queue), level_(level) {}
    Chain(Chain&&) = default;
    Chain& operator=(Chain&&) = delete;
    ~Chain() { clear(); }

    // Appends a ready entry; `deadline` is `never` for a message that does not expire.
    std::uint64_t push(Entry entry, Timestamp deadline);
    // Puts an entry back under a number it had before (replay); numbers only grow.
    void push_at(std::uint64_t sequence, Entry entry, Timestamp deadline);

    std::optional<std::uint64_t> first_ready();
    // The same, brought back into memory. Pages that cannot be read are parked on the way; after
    // many of them it gives up, though entries may be ready.
    std::optional<std::uint64_t> first_readable();
    // The entry must be there (ready or unacked).
    Entry& at(std::uint64_t sequence);
    const Entry& at(std::uint64_t sequence) const;
    bool contains(std::uint64_t sequence) const;
    Timestamp deadline(std::uint64_t sequence) const;

    void mark_unacked(std::uint64_t sequence);
    void mark_ready(std::uint64_t sequence);
    void set_envelope(std::uint64_t sequence, EnvelopeRef envelope);
    // Removes the entry in whatever state and hands it out.
    Entry take(std::uint64_t sequence);
    // Its message is there, properties and body and all; those of its neighbours as well. Or why
    // it cannot be read.
    Result<void, std::string> load_message(std::uint64_t sequence);
    // A ready entry is no longer handed out; only take() and clear() remove it.
    void park(std::uint64_t sequence);
    void clear();

    // Where push() puts the next entry. A block of large messages ends early: numbers may be left
    // out.
    std::uint64_t next_sequence() const {
        return tail_is_full_ ? (block_of(next_) + 1) * block_entries : next_;
    }
    // The lowest number that push_at() takes. When a block is full is a rule of the build that
    // wrote the entries, so a replay may go on in one that push() would leave.
    std::uint64_t lowest_free() const { return next_; }
    std::uint64_t ready_count() const { return ready_; }
    std::uint64_t live_count() const { return live_; }

    // --- deadlines, per block ---
    static std::uint64_t block_of(std::uint64_t sequence) { return sequence / block_entries; }
    // The earliest deadline for which a timer of this block should run; `never` if none.
    Timestamp earliest_deadline(std::uint64_t block) const;
    // The deadline for which the owner has set a timer; `never` if none.
    Timestamp scheduled(std::uint64_t block) const;
    void set_scheduled(std::uint64_t block, Timestamp at);
    // Appends the ready entries of the block that are due, oldest first and until there are so
    // many, and brings the block's earliest deadline up to date.
    void due_entries(std::uint64_t block, Timestamp now, std::size_t count_max,
                     std::vector<std::uint64_t>& sequences);
    // Appends the ready entries from the head on that are due, up to the first that is not or until
    // there are so many.
    void due_at_head(Timestamp now, std::size_t count_max, std::vector<std::uint64_t>& sequences);
    // The timer of the block should run at this time, if any of its entries has a deadline.
    void look_again(std::uint64_t block, Timestamp at);
    // How many ready entries are due; of a block that is out of memory all, if any is.
    std::uint64_t count_due(Timestamp now) const;

    template <typename Visit>  // visit(sequence, entry), in order, of every entry still here
    void for_each(Visit visit) const {
        for (std::uint64_t number = first_block_; number < end_block(); ++number) {
            visit_block(number, block(number), visit);
        }
    }
    template <typename Visit>  // the same, without those that are out of memory
    void for_each_in_memory(Visit visit) const {
        for (std::uint64_t number = first_block_; number < end_block(); ++number) {
            visit_block(number, view(number).hot, visit);
        }
    }

    // --- paging ---
    // Whether the block left memory. Only complete ones of ready entries do, and not the one at the
    // head while `keep_head`.
    bool page_out(std::uint64_t block, bool keep_head);
    // The same for every block that can; the one that is being filled is completed by it.
    void page_out_all();
    // Replaces unacked messages that the journal has by stubs, if that frees much. If they come
    // back they are read again.
    void shed_unacked();
    // Whether a replay may still put entries into it.
    bool is_tail(std::uint64_t block) const { return block == block_of(next_); }
    std::size_t cold_blocks() const { return cold_; }
    // What is in them.
    const ChainTotals& paged_out() const { return paged_out_; }
    // About what the others take.
    std::uint64_t resident_bytes() const { return resident_bytes_; }
    // Forgets a cold block as if each of its entries had been taken; what was in it. Nothing if the
    // block is in memory.
    std::optional<BlockTotals> drop_cold(std::uint64_t block);
    // The same for what is parked of a block because its pages cannot be read.
    std::optional<ColdBlock> drop_parked(std::uint64_t block);
    std::uint64_t first_block() const { return first_block_; }
    std::uint64_t end_block() const { return first_block_ + (blocks_.size() - front_); }
    // As it lies, without bringing it back: at most one of the first two is set.
    struct View {
        const Block* hot = nullptr;
        const ColdBlock* cold = nullptr;
        const ColdBlock* parked = nullptr;  // its unreadable pages
    };
    View view(std::uint64_t block) const;
    // After a restart: a block as a snapshot knew it, behind all others.
    void restore(std::uint64_t number, std::unique_ptr<Block> block);
    void restore(std::uint64_t number, ColdBlock block);
    void restore_next(std::uint64_t next) { next_ = std::max(next_, next); }
    // After a crash nobody knows which of the entries so far a consumer has seen.
    void mark_all_redelivered();
    std::uint64_t suspect_below() const { return redelivered_below_; }
    void restore_suspect_below(std::uint64_t sequence) { redelivered_below_ = sequence; }

  private:
    struct Slot {
        std::unique_ptr<Block> hot;
        std::unique_ptr<ColdBlock> cold;
        std::unique_ptr<ColdBlock> parked;
        bool is_empty() const { return !hot && !cold && !parked; }
    };

    template <typename Visit>
    static void visit_block(std::uint64_t number, const Block* block, Visit& visit) {
        if (block == nullptr) return;
        for (std::size_t i = 0; i < block->entries.size(); ++i) {
            if (block->entries[i].state != EntryState::gone) {
                visit(number * block_entries + i, block->entries[i]);
            }
        }
    }
    Slot* slot(std::uint64_t number) const;
    // In memory, brought back if need be; nullptr if there is no such block, or it is parked.
    Block* block(std::uint64_t number) const;
    Block& block_holding(std::uint64_t sequence) const;
    Block* page_in(Slot& slot, std::uint64_t number) const;
    std::unique_ptr<Block> read_pages(const ColdBlock& cold, ColdBlock& unreadable,
                                      std::string& why) const;
    void park_pages(Slot& slot, std::uint64_t number, ColdBlock unreadable, std::string why) const;
    template <typename BringBack>
    std::optional<std::uint64_t> find_ready(BringBack bring_back);
    void read_ahead(std::uint64_t number) const;
    Slot& make_slot(std::uint64_t number);
    void set_ready(Block& block, std::uint64_t number, std::size_t index);
    void clear_ready(Block& block, std::size_t index);
    void free_slot(std::uint64_t number);
    void drop_empty_front();
    bool is_complete(std::uint64_t number) const { return !is_tail(number) || tail_is_full_; }
    void add_candidate(std::uint64_t number) const;
    void end_tail();
    void count_resident(std::int64_t bytes) const;
    void add_cold(const ColdBlock& block) const;
    void subtract_cold(const ColdBlock& block) const;

    Paging* paging_ = nullptr;
    ParkingLot* lot_ = nullptr;
    QueueId queue_;
    std::uint32_t level_ = 0;
    // Which blocks are in memory is no part of the chain's value: looking brings them back.
    mutable std::vector<Slot> blocks_;  // from front_ on; earlier slots are spent
    mutable std::size_t cold_ = 0;
    mutable ChainTotals paged_out_;
    mutable std::uint64_t resident_bytes_ = 0;
    std::size_t front_ = 0;
    std::uint64_t first_block_ = 0;        // number of the block at front_
    std::uint64_t first_ready_block_ = 0;  // no block before it has a ready entry
    std::uint64_t next_ = 0;
    bool tail_is_full_ = false;        // the block with the number next_
    mutable std::uint64_t ready_ = 0;  // looking may find that a block cannot be read
    std::uint64_t live_ = 0;
    std::uint64_t redelivered_below_ = 0;  // entries below may have been delivered before
};

}  // namespace revenant::engine
