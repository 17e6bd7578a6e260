// The clock of the load programs: monotonic nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>

namespace bench {

using Clock = std::chrono::steady_clock;

inline uint64_t now_ns() {
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
            .count());
}

inline double seconds_since(uint64_t start_ns) {
    return static_cast<double>(now_ns() - start_ns) * 1e-9;
}

}  // namespace bench
