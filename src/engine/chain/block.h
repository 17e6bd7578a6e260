// Block: adjacent entries of a chain, in memory or, as a ColdBlock, on disk.
#pragma once

#include "base/time.h"
#include "engine/chain/cold_store.h"
#include "engine/words/delivery_counts.h"
#include "message/death.h"
#include "message/message.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace revenant::engine {

constexpr std::uint64_t block_entries = 256;
// A block of large messages is complete before it has this many entries.
constexpr std::uint64_t block_bytes_max = 512 * 1024;

// Parked: the bytes on disk cannot be read. Ephemeral: a restart tries again.
enum class EntryState : std::uint8_t { gone, ready, unacked, parked };

struct Entry {
    MessageRef message;
    EnvelopeRef envelope;              // empty until the broker adds something to the message
    std::uint32_t delivery_count = 0;  // failed attempts (DL-147)
    std::uint16_t acquired_count = 0;  // deliveries that were requeued for any reason
    EntryState state = EntryState::gone;
    bool returned : 1 = false;  // was delivered before
    bool durable : 1 = false;   // the journal has a record of this entry

    void set_counts(DeliveryCounts counts) {
        delivery_count = counts.delivery;
        acquired_count = static_cast<std::uint16_t>(std::min(counts.acquired, 0xffffU));
    }
    DeliveryCounts counts() const { return {delivery_count, acquired_count}; }
    // Approximate memory use in addition to the entry itself.
    std::size_t memory_bytes() const {
        return message->memory_bytes() + (envelope ? envelope->counted_bytes : 0);
    }
    // The flag that consumers see: the message may have been delivered before (DL-154, DL-155).
    bool is_redelivered() const { return returned || delivery_count > 0; }
};

struct Block {
    std::vector<Entry> entries;
    std::vector<Timestamp> deadlines;  // empty until an entry of this block has one
    std::array<std::uint64_t, block_entries / 64> ready_bits{};
    std::uint32_t ready = 0;
    std::uint32_t live = 0;
    std::uint64_t pushed_bytes = 0;  // of all messages that were ever added
    Timestamp earliest = never;
    Timestamp scheduled = never;
    bool may_shed = true;  // bodies of unacked messages may be in memory and in the journal

    Timestamp deadline(std::size_t index) const {
        return index < deadlines.size() ? deadlines[index] : never;
    }
    void push(std::size_t index, Entry entry, Timestamp deadline);
    void set_ready(std::size_t index);
    void clear_ready(std::size_t index);
};

// Number and size of the messages of one kind in a block.
struct BlockTotals {
    std::uint32_t live = 0;
    std::uint64_t body_bytes = 0;
    std::uint64_t properties_bytes = 0;
    void add(const Message& message) {
        live += 1;
        body_bytes += message.body_size();
        properties_bytes += message.properties_size();
    }
    friend bool operator==(const BlockTotals&, const BlockTotals&) = default;
};

// Like BlockTotals, for many blocks.
struct ChainTotals {
    std::uint64_t live = 0;
    std::uint64_t body_bytes = 0;
    std::uint64_t properties_bytes = 0;
    void add(const BlockTotals& sum) {
        live += sum.live;
        body_bytes += sum.body_bytes;
        properties_bytes += sum.properties_bytes;
    }
    void subtract(const BlockTotals& sum) {
        live -= sum.live;
        body_bytes -= sum.body_bytes;
        properties_bytes -= sum.properties_bytes;
    }
};

// A range of the journal that contains messages of a cold block.
struct JournalRange {
    Lsn first;
    Lsn last;  // start of the last message
    std::uint64_t bytes = 0;
    friend bool operator==(const JournalRange&, const JournalRange&) = default;
};

// A paged-out block whose entries are all ready. It is immutable: to change it, page it in.
struct ColdBlock {
    ColdPage durable_page;
    ColdPage transient_page;
    BlockTotals all;
    BlockTotals durable;
    std::uint16_t first = 0;  // the index of the first entry
    std::uint16_t durable_first = 0;
    Timestamp earliest = never;
    Timestamp durable_earliest = never;
    Timestamp scheduled = never;
    std::vector<JournalRange> journal_ranges;

    BlockTotals transient() const {
        return {all.live - durable.live, all.body_bytes - durable.body_bytes,
                all.properties_bytes - durable.properties_bytes};
    }
};

}  // namespace revenant::engine
