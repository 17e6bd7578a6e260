// DiskCounters: what the process has read, written and synced since it started, and how long that
// took.
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

// From any thread.
DiskCounters disk_counters();

}  // namespace revenant::journal
