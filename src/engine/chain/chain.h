// Chain: a first-in-first-out sequence of entries, addressed by sequence number.
//
// Entries are stored in blocks. Push, pop, removal in the middle and requeue to the original
// position are O(1): a bitmap per block says which entries are ready, and a count per block lets a
// search skip whole blocks. A block without live entries is freed. Each block stores the earliest
// deadline of its ready entries, so exact expiry costs a timer per block, not per message.
//
// Depth costs no memory: a complete block may be paged out, and is paged in when an entry of it is
// accessed. This is invisible to users of a chain, unless a page is unreadable: then its entries
// are parked, and the chain continues with the next block.
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

// The owner of a chain, which counts its entries. Called for entries whose page is found to be
// unreadable, which may happen at any access to a block.
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
    // A chain with paging, for a level of a queue.
    Chain(Paging& paging, QueueId queue, std::uint32_t level, ParkingLot* lot = nullptr)
        : paging_(&paging), lot_(lot), queue_(queue), level_(level) {}
    Chain(Chain&&) = default;
    Chain& operator=(Chain&&) = delete;
    ~Chain() { clear(); }

    // Appends a ready entry; `deadline` is `never` for a message that does not expire.
    std::uint64_t push(Entry entry, Timestamp deadline);
    // Adds an entry with the number that it had before (replay). Numbers must increase.
    void push_at(std::uint64_t sequence, Entry entry, Timestamp deadline);

    std::optional<std::uint64_t> first_ready();
    // Like first_ready(), but pages the entry in. Unreadable pages are parked; after many of them
    // the search ends without a result, even if entries are ready.
    std::optional<std::uint64_t> first_readable();
    // The entry must exist (ready or unacked).
    Entry& at(std::uint64_t sequence);
    const Entry& at(std::uint64_t sequence) const;
    bool contains(std::uint64_t sequence) const;
    Timestamp deadline(std::uint64_t sequence) const;

    void mark_unacked(std::uint64_t sequence);
    void mark_ready(std::uint64_t sequence);
    void set_envelope(std::uint64_t sequence, EnvelopeRef envelope);
    // Removes and returns the entry, regardless of its state.
    Entry take(std::uint64_t sequence);
    // Loads properties and body of the message, and of adjacent ones. The error says why it cannot
    // be read.
    Result<void, std::string> load_message(std::uint64_t sequence);
    // The entry must be ready. It is skipped from now on; only take() and clear() remove it.
    void park(std::uint64_t sequence);
    void clear();

    // The number that push() uses next. A block of large messages ends early, so numbers may be
    // skipped.
    std::uint64_t next_sequence() const {
        return tail_is_full_ ? (block_of(next_) + 1) * block_entries : next_;
    }
    // The lowest number that push_at() accepts. The version that wrote the entries determined when
    // a block was full, so a replay may continue in a block that push() would end.
    std::uint64_t lowest_free() const { return next_; }
    std::uint64_t ready_count() const { return ready_; }
    std::uint64_t live_count() const { return live_; }

    // --- deadlines, per block ---
    static std::uint64_t block_of(std::uint64_t sequence) { return sequence / block_entries; }
    // The earliest deadline for which this block needs a timer; `never` if none.
    Timestamp earliest_deadline(std::uint64_t block) const;
    // The deadline for which the owner has set a timer; `never` if none.
    Timestamp scheduled(std::uint64_t block) const;
    void set_scheduled(std::uint64_t block, Timestamp at);
    // Appends the due ready entries of the block, oldest first, at most count_max, and updates the
    // block's earliest deadline.
    void due_entries(std::uint64_t block, Timestamp now, std::size_t count_max,
                     std::vector<std::uint64_t>& sequences);
    // Appends the due ready entries from the head up to the first that is not due, at most
    // count_max.
    void due_at_head(Timestamp now, std::size_t count_max, std::vector<std::uint64_t>& sequences);
    // Sets the time of the block's next timer, if any of its entries has a deadline.
    void look_again(std::uint64_t block, Timestamp at);
    // The number of due ready entries; for a cold block, all of its entries if any is due.
    std::uint64_t count_due(Timestamp now) const;

    template <typename Visit>  // visit(sequence, entry), in order, for every live entry
    void for_each(Visit visit) const {
        for (std::uint64_t number = first_block_; number < end_block(); ++number) {
            visit_block(number, block(number), visit);
        }
    }
    template <typename Visit>  // like for_each(), without cold blocks
    void for_each_in_memory(Visit visit) const {
        for (std::uint64_t number = first_block_; number < end_block(); ++number) {
            visit_block(number, view(number).hot, visit);
        }
    }

    // --- paging ---
    // Returns whether the block was paged out. It must be complete and all its entries ready; with
    // `keep_head` it must not be the head block or the one after it.
    bool page_out(std::uint64_t block, bool keep_head);
    // Pages out every block possible; this completes the last block.
    void page_out_all();
    // Replaces unacked messages that are in the journal by stubs, if that frees much memory. They
    // are read again if they are requeued.
    void shed_unacked();
    // Whether a replay may still add entries to the block.
    bool is_tail(std::uint64_t block) const { return block == block_of(next_); }
    std::size_t cold_blocks() const { return cold_; }
    // The totals of the cold blocks.
    const ChainTotals& paged_out() const { return paged_out_; }
    // Approximate memory use of the other blocks.
    std::uint64_t resident_bytes() const { return resident_bytes_; }
    // Removes a cold block and returns its totals. Returns nothing if the block is in memory.
    std::optional<BlockTotals> drop_cold(std::uint64_t block);
    // Removes the unreadable, parked part of a block.
    std::optional<ColdBlock> drop_parked(std::uint64_t block);
    std::uint64_t first_block() const { return first_block_; }
    std::uint64_t end_block() const { return first_block_ + (blocks_.size() - front_); }
    // The block without paging it in: at most one of the first two is set.
    struct View {
        const Block* hot = nullptr;
        const ColdBlock* cold = nullptr;
        const ColdBlock* parked = nullptr;  // its unreadable pages
    };
    View view(std::uint64_t block) const;
    // After a restart: adds a block from a snapshot at the end.
    void restore(std::uint64_t number, std::unique_ptr<Block> block);
    void restore(std::uint64_t number, ColdBlock block);
    void restore_next(std::uint64_t next) { next_ = std::max(next_, next); }
    // After a crash it is unknown which of the existing entries were delivered.
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
    // The block in memory, paged in if necessary; nullptr if it does not exist or is parked.
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
    // Which blocks are in memory is not part of the chain's value: const access may page in.
    mutable std::vector<Slot> blocks_;  // from front_ on; earlier slots are unused
    mutable std::size_t cold_ = 0;
    mutable ChainTotals paged_out_;
    mutable std::uint64_t resident_bytes_ = 0;
    std::size_t front_ = 0;
    std::uint64_t first_block_ = 0;        // number of the block at front_
    std::uint64_t first_ready_block_ = 0;  // no block before it has a ready entry
    std::uint64_t next_ = 0;
    bool tail_is_full_ = false;        // the block with the number next_
    mutable std::uint64_t ready_ = 0;  // mutable: an access may find a block unreadable
    std::uint64_t live_ = 0;
    std::uint64_t redelivered_below_ = 0;  // entries below may have been delivered before
};

}  // namespace revenant::engine
