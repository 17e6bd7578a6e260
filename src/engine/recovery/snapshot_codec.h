// Snapshots: encoding and decoding of the durable state of a virtual host. A snapshot contains the
// definitions and the blocks of the queues: blocks in memory as pages, blocks on disk as
// references. Its size depends on the number of blocks, not on the number of messages.
#pragma once

#include "base/ids.h"
#include "engine/recovery/event_check.h"
#include "engine/state/state.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::engine {

// The first byte of a snapshot.
constexpr std::uint8_t snapshot_version = 1;

// whether a clean shutdown follows
enum class Shutdown : std::uint8_t { clean, none };

std::string encode_snapshot(State& state, Shutdown stop);

// A snapshot with the result of journal_ranges_in_use(), collected in the same walk over the
// queues.
struct EncodedSnapshot {
    std::string bytes;
    std::vector<JournalRange> journal_ranges;
};
EncodedSnapshot encode_snapshot_with_uses(State& state, Shutdown stop);

struct DecodedSnapshot {
    Shutdown stop = Shutdown::none;
};
// Decodes into a new state, which must not be used after a failure. Absent: the bytes are not a
// snapshot of a known version. For gap_max see event_check.h.
std::optional<DecodedSnapshot> decode_snapshot(std::string_view bytes, State& state,
                                               std::uint64_t gap_max = gap_blocks_max);

// All ranges of the journal to which this state refers, durable or not.
std::vector<JournalRange> journal_ranges_in_use(State& state);
// Exact to the byte, for the part of the journal from `start` to `end`: first equals last.
struct ExactUse {
    std::vector<JournalRange> exact;
    std::vector<JournalRange> somewhere;  // of unreadable pages: exact positions are unknown
};
ExactUse journal_ranges_in_use(State& state, Lsn start, Lsn end);

}  // namespace revenant::engine
