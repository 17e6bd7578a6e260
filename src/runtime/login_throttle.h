// LoginThrottle: the failed logins of the whole node, over AMQP and HTTP together, for all threads.
// Logging in is rare, so one lock does.
#pragma once

#include "auth/failed_logins.h"

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace revenant::runtime {

// Whoever has one IPv6 address has 2^64 of them, so those of one network count as one.
std::string login_source(std::string_view address);

class LoginThrottle {
  public:
    // `told` hears of an address when it has to wait for the first time.
    LoginThrottle(const LoginLimits& limits, std::function<void(std::string_view source)> told)
        : failed_(limits), told_(std::move(told)) {}

    // How long the next password from that address is not looked at.
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
