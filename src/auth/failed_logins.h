// FailedLogins: counts failed logins per address and decides which addresses are throttled. Each
// failure raises the level of an address by one; the level falls at the rate of failures allowed
// per minute. Above the limit, each further failure doubles the delay before the next password is
// checked. An address without failures is never throttled. Not thread-safe; see
// runtime/login_throttle.
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
    unsigned failures_per_minute = 10;  // 0: no throttling
    // Many programs on the same machine share one address.
    unsigned failures_per_minute_loopback = 1000;
    Duration wait_max = seconds(8);
};

class FailedLogins {
  public:
    // Beyond this number, the address with the oldest last failure is dropped.
    static constexpr std::size_t sources_max = 10'000;
    static constexpr Duration first_wait = milliseconds(500);

    explicit FailedLogins(const LoginLimits& limits) : limits_(limits) {}
    FailedLogins(const FailedLogins&) = delete;
    FailedLogins& operator=(const FailedLogins&) = delete;

    // The time during which passwords from this address are not checked; usually zero.
    Duration wait(std::string_view source, Timestamp now) const;
    // Records a failed login. Returns true if the address is throttled from now on and was not
    // before.
    bool failed(std::string_view source, PeerLocation place, Timestamp now);

    std::size_t source_count() const { return sources_.size(); }

  private:
    struct Source {
        std::string name;
        double level = 0;
        Timestamp failed_at;
        Duration wait;  // delay after each failure; zero unless the level exceeded the limit
    };
    using Sources = std::list<Source>;

    unsigned limit(PeerLocation place) const;
    Source& touch(std::string_view name);

    LoginLimits limits_;
    Sources sources_;  // by time of the last failure, oldest first
    std::unordered_map<std::string_view, Sources::iterator> by_name_;
};

}  // namespace revenant
