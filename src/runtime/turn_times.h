// TurnTimes: how much of its CPU the turns of a reactor took, and which command took the longest of
// them. A turn is what everybody else on the reactor waits for.
#pragma once

#include "base/time.h"
#include "runtime/system_clock.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace revenant::runtime {

class TurnTimes {
  public:
    static constexpr std::array<std::int64_t, 5> limits_us{1'000, 5'000, 20'000, 100'000,
                                                           1'000'000};
    struct Summary {
        std::array<std::uint64_t, limits_us.size()> longer_than{};  // turns, by the limit
        std::map<std::string_view, std::int64_t> longest_us;        // by the command
        Summary& operator+=(const Summary& other);
    };

    // Reading the clock of the CPU takes a call of the kernel, so it is read now and then only: a
    // long turn may be told half a millisecond longer than it was.
    void begin(Timestamp now) {
        if (now - read_at_ < read_interval && now >= read_at_) return;
        read_at_ = now;
        cpu_time_ = thread_cpu_time();
    }
    // Whether the turn was long: then it is told what it did.
    bool was_long(Timestamp began, Timestamp now) const {
        return (now - began).us >= limits_us.front();
    }
    void note_long(std::string_view command);  // lives forever
    const Summary& summary() const { return summary_; }

  private:
    static constexpr Duration read_interval{500};

    Timestamp read_at_;
    Duration cpu_time_;
    Summary summary_;
};

}  // namespace revenant::runtime
