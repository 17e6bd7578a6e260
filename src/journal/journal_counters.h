// JournalCounters: counters of one journal since it was opened, for metrics. Updated on its home
// thread.
#pragma once

#include "base/histogram.h"

#include <array>
#include <cstdint>

namespace revenant::journal {

// Histogram bounds for the duration of a sync, in microseconds.
inline constexpr std::array<std::uint64_t, 11> sync_limits_us{
    100, 500, 1000, 2500, 5000, 10'000, 25'000, 50'000, 100'000, 500'000, 1'000'000};
using SyncTimes = Histogram<sync_limits_us>;

struct JournalCounters {
    std::uint64_t batches = 0;
    std::uint64_t written_bytes = 0;  // batches only
    SyncTimes syncs;
    std::uint64_t snapshots = 0;
    std::uint64_t snapshot_bytes = 0;
    std::uint64_t compactions = 0;
    std::uint64_t compacted_bytes = 0;  // copied because they were in use

    JournalCounters& operator+=(const JournalCounters& other) {
        batches += other.batches;
        written_bytes += other.written_bytes;
        syncs += other.syncs;
        snapshots += other.snapshots;
        snapshot_bytes += other.snapshot_bytes;
        compactions += other.compactions;
        compacted_bytes += other.compacted_bytes;
        return *this;
    }
};

}  // namespace revenant::journal
