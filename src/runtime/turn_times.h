// TurnTimes: a reactor's long turns by CPU time, and the slowest command in them. Everything else
// on the reactor waits during a turn.
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
        std::array<std::uint64_t, limits_us.size()> longer_than{};  // number of turns, by limit
        std::map<std::string_view, std::int64_t> longest_us;        // by command
        Summary& operator+=(const Summary& other);
    };

    // Reading the CPU clock takes a system call, so it is not read in every turn. The time of a
    // long turn may be up to half a millisecond too high.
    void begin(Timestamp now) {
        if (now - read_at_ < read_interval && now >= read_at_) return;
        read_at_ = now;
        cpu_time_ = thread_cpu_time();
    }
    // Whether the turn took long enough to be counted.
    bool was_long(Timestamp began, Timestamp now) const {
        return (now - began).us >= limits_us.front();
    }
    void note_long(std::string_view command);  // `command` must have static lifetime
    const Summary& summary() const { return summary_; }

  private:
    static constexpr Duration read_interval{500};

    Timestamp read_at_;
    Duration cpu_time_;
    Summary summary_;
};

}  // namespace revenant::runtime
