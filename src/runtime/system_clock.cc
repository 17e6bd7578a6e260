#include "runtime/system_clock.h"

#include <ctime>

namespace revenant::runtime {
namespace {

std::int64_t read_clock_us(clockid_t clock) {
    timespec at{};
    clock_gettime(clock, &at);
    return std::int64_t{at.tv_sec} * 1'000'000 + at.tv_nsec / 1000;
}

}  // namespace

Timestamp system_now() {
    // A step of the wall clock must not make every message expire at once.
    static const std::int64_t offset_us =
        read_clock_us(CLOCK_REALTIME) - read_clock_us(CLOCK_MONOTONIC);
    return {read_clock_us(CLOCK_MONOTONIC) + offset_us};
}

Duration thread_cpu_time() { return {read_clock_us(CLOCK_THREAD_CPUTIME_ID)}; }

}  // namespace revenant::runtime
