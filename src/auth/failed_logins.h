// FailedLogins: how often passwords were wrong, by the address they came from, and how long such an
// address has to wait before its next password is looked at. A level per address rises by one with
// each failure and sinks by so many a minute as are allowed; beyond that number each further
// failure doubles the wait. An address without failures is never kept waiting. Not for several
// threads; runtime/login_throttle is.
#pragma once

#include "auth/sasl.h"
#include "base/time.h"

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

namespace revenant {

struct LoginLimits {
    unsigned failures_per_minute = 10;  // 0: nobody has to wait
    // Programs on the same machine are many behind one address.
    unsigned failures_per_minute_loopback = 1000;
    Duration wait_max = seconds(8);
};

class FailedLogins {
  public:
    // The address whose last failure is longest ago is forgotten for one more.
    static constexpr std::size_t sources_max = 10'000;
    static constexpr Duration first_wait = milliseconds(500);

    explicit FailedLogins(const LoginLimits& limits) : limits_(limits) {}
    FailedLogins(const FailedLogins&) = delete;
    FailedLogins& operator=(const FailedLogins&) = delete;

    // How long the next password from there is not looked at; nothing for most.
    Duration wait(std::string_view source, Timestamp now) const;
    // A password was wrong. True when the address has to wait from now on and did not before.
    bool failed(std::string_view source, PeerLocation place, Timestamp now);

    std::size_t source_count() const { return sources_.size(); }

  private:
    struct Source {
        std::string name;
        double level = 0;
        Timestamp failed_at;
        Duration wait;  // after each failure; none while the level was never beyond the limit
    };
    using Sources = std::list<Source>;

    unsigned limit(PeerLocation place) const;
    Source& touch(std::string_view name);

    LoginLimits limits_;
    Sources sources_;  // by the time of their last failure, the oldest first
    std::unordered_map<std::string_view, Sources::iterator> by_name_;
};

}  // namespace revenant
