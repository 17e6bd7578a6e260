// Snapshots: the durable part of a virtual host's state as bytes, and back. Definitions, and of the
// queues their blocks: those in memory as pages, those on the disk by where they lie. So a snapshot
// grows with the number of blocks, not with the number of messages.
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

// whether the broker stops in good order after it
enum class Shutdown : std::uint8_t { clean, none };

std::string encode_snapshot(State& state, Shutdown stop);

// A snapshot with what journal_ranges_in_use() returns, gathered in the same walk over the queues.
struct EncodedSnapshot {
    std::string bytes;
    std::vector<JournalRange> journal_ranges;
};
EncodedSnapshot encode_snapshot_with_uses(State& state, Shutdown stop);

struct DecodedSnapshot {
    Shutdown stop = Shutdown::none;
};
// Into a fresh state, which is of no use if it fails. Empty: these bytes are no snapshot of a known
// version. The last argument as in event_check.h.
std::optional<DecodedSnapshot> decode_snapshot(std::string_view bytes, State& state,
                                               std::uint64_t gap_max = gap_blocks_max);

// Every stretch of the journal that something in this state refers to, whether it survives or not.
std::vector<JournalRange> journal_ranges_in_use(State& state);
// The same to the byte, for the part of the journal from `start` to `end`: first equals last.
struct ExactUse {
    std::vector<JournalRange> exact;
    std::vector<JournalRange> somewhere;  // whose pages cannot be read: nobody knows where in it
};
ExactUse journal_ranges_in_use(State& state, Lsn start, Lsn end);

}  // namespace revenant::engine
