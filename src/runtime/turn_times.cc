#include "runtime/turn_times.h"

#include <algorithm>
#include <ctime>

namespace revenant::runtime {

std::int64_t TurnTimes::thread_cpu_us() {
    timespec time{};
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return 0;
    return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1'000;
}

TurnTimes::Summary& TurnTimes::Summary::operator+=(const Summary& other) {
    for (std::size_t i = 0; i < longer_than.size(); ++i) longer_than[i] += other.longer_than[i];
    for (const auto& [command, us] : other.longest_us) {
        std::int64_t& longest = longest_us[command];
        longest = std::max(longest, us);
    }
    return *this;
}

void TurnTimes::note_long(std::string_view command) {
    const std::int64_t took_us = thread_cpu_us() - cpu_us_;
    for (std::size_t i = 0; i < limits_us.size(); ++i) {
        if (took_us >= limits_us[i]) summary_.longer_than[i] += 1;
    }
    if (took_us < limits_us.front()) return;  // it waited for the machine, not for us
    std::int64_t& longest = summary_.longest_us[command];
    longest = std::max(longest, took_us);
}

}  // namespace revenant::runtime
