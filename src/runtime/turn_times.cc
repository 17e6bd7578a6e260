#include "runtime/turn_times.h"

#include <algorithm>

namespace revenant::runtime {

TurnTimes::Summary& TurnTimes::Summary::operator+=(const Summary& other) {
    for (std::size_t i = 0; i < longer_than.size(); ++i) longer_than[i] += other.longer_than[i];
    for (const auto& [command, us] : other.longest_us) {
        std::int64_t& longest = longest_us[command];
        longest = std::max(longest, us);
    }
    return *this;
}

void TurnTimes::note_long(std::string_view command) {
    const std::int64_t took_us = thread_cpu_time().us - cpu_time_.us;
    for (std::size_t i = 0; i < limits_us.size(); ++i) {
        if (took_us >= limits_us[i]) summary_.longer_than[i] += 1;
    }
    if (took_us < limits_us.front()) return;  // the thread waited for a core
    std::int64_t& longest = summary_.longest_us[command];
    longest = std::max(longest, took_us);
}

}  // namespace revenant::runtime
