// The only now(). Two times that differ once somebody sets the clock of the machine:
// system_now(), by which deadlines and intervals are measured, is the wall clock at start plus
// monotonic time and never jumps; wall_now() is what people are shown.
#pragma once

#include "base/time.h"

#include <cstdint>

namespace revenant::runtime {

// Time that never jumps, made of what two clocks say.
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
// What is to be added to system_now() for the wall clock of this moment.
Duration wall_ahead();
// What this thread has used of the processor. A call of the kernel.
Duration thread_cpu_time();

}  // namespace revenant::runtime
