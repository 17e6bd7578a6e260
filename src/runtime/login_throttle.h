// LoginThrottle: failed logins of the whole node, over AMQP and HTTP. All threads share it; logins
// are rare, so one lock is enough.
#pragma once

#include "auth/failed_logins.h"

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace revenant::runtime {

// Groups IPv6 addresses by network, because one client usually has 2^64 of them.
std::string login_source(std::string_view address);

class LoginThrottle {
  public:
    // Calls `told` when an address is throttled for the first time.
    LoginThrottle(const LoginLimits& limits, std::function<void(std::string_view source)> told)
        : failed_(limits), told_(std::move(told)) {}

    // The time until the next login from this address is accepted.
    Duration wait(std::string_view address, Timestamp now) {
        const std::string source = login_source(address);
        const std::lock_guard lock(mutex_);
        return failed_.wait(source, now);
    }
    void failed(std::string_view address, PeerLocation place, Timestamp now) {
        const std::string source = login_source(address);
        if (count(source, place, now)) told_(source);
    }

  private:
    bool count(std::string_view source, PeerLocation place, Timestamp now) {
        const std::lock_guard lock(mutex_);
        return failed_.failed(source, place, now);
    }

    std::mutex mutex_;  // guards failed_
    FailedLogins failed_;
    std::function<void(std::string_view)> told_;
};

}  // namespace revenant::runtime
