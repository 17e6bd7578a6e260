// ClientLogins: login attempts by protocol. Sockets count them, HTTP shows them.
#pragma once

#include "engine/words/client_protocol.h"

#include <array>
#include <atomic>
#include <cstdint>

namespace revenant::runtime {

struct LoginAttempts {
    std::atomic<std::uint64_t> succeeded{0};
    std::atomic<std::uint64_t> failed{0};

    void count(bool success) {
        (success ? succeeded : failed).fetch_add(1, std::memory_order_relaxed);
    }
    void reset() {
        succeeded.store(0);
        failed.store(0);
    }
};

struct ClientLogins {
    std::array<LoginAttempts, engine::client_protocol_count> attempts;

    LoginAttempts& of(engine::ClientProtocol protocol) {
        return attempts[static_cast<std::size_t>(protocol)];
    }
};

}  // namespace revenant::runtime
