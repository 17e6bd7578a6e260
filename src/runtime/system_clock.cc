#include "runtime/system_clock.h"

#include <ctime>

namespace revenant::runtime {
namespace {

std::int64_t read_clock_us(clockid_t clock) {
    timespec at{};
    clock_gettime(clock, &at);
    return std::int64_t{at.tv_sec} * 1'000'000 + at.tv_nsec / 1000;
}

SteadyTime::Readings read_clocks() {
    return {read_clock_us(CLOCK_REALTIME), read_clock_us(CLOCK_MONOTONIC)};
}

// A jump of the wall clock must not make all messages expire.
const SteadyTime& steady_time() {
    static const SteadyTime time(read_clocks());
    return time;
}

}  // namespace

Timestamp system_now() { return steady_time().at(read_clock_us(CLOCK_MONOTONIC)); }

Timestamp wall_now() { return {read_clock_us(CLOCK_REALTIME)}; }

Duration wall_ahead() { return steady_time().wall_ahead(read_clocks()); }

Duration thread_cpu_time() { return {read_clock_us(CLOCK_THREAD_CPUTIME_ID)}; }

}  // namespace revenant::runtime
