// DiskCounters: reads, writes and syncs of the process since startup, with their durations.
#pragma once

#include <cstdint>

namespace revenant::journal {

struct DiskCounters {
    struct Operations {
        std::uint64_t count = 0;
        std::uint64_t bytes = 0;
        std::uint64_t nanoseconds = 0;
    };
    Operations reads;
    Operations writes;
    Operations syncs;
};

// May be called from any thread.
DiskCounters disk_counters();

}  // namespace revenant::journal
