// The only source of time. system_now() is for deadlines and intervals: it is the wall clock at
// startup plus monotonic time, and never jumps. wall_now() is for display. The two differ after the
// machine's clock is set.
#pragma once

#include "base/time.h"

#include <cstdint>

namespace revenant::runtime {

// Time that never jumps, derived from the wall clock and the monotonic clock.
class SteadyTime {
  public:
    struct Readings {
        std::int64_t wall_us = 0;
        std::int64_t monotonic_us = 0;
    };
    explicit SteadyTime(Readings first) : offset_us_(first.wall_us - first.monotonic_us) {}

    Timestamp at(std::int64_t monotonic_us) const { return {monotonic_us + offset_us_}; }
    // How far the wall clock was moved since the first reading.
    Duration wall_ahead(Readings now) const {
        return Timestamp{now.wall_us} - at(now.monotonic_us);
    }

  private:
    std::int64_t offset_us_;
};

Timestamp system_now();
Timestamp wall_now();
// The difference between the wall clock and system_now().
Duration wall_ahead();
// CPU time used by this thread. Makes a system call.
Duration thread_cpu_time();

}  // namespace revenant::runtime
