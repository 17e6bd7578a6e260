// Refusal: why the engine refuses a command. Each protocol maps it to its own error codes.
#pragma once

#include <cstdint>
#include <string>

namespace revenant::engine {

enum class RefusalKind : std::uint8_t {
    not_found,
    precondition_failed,
    access_refused,  // forbidden for every user
    not_permitted,   // this user lacks the permission; AMQP 0-9-1 reports both alike
    resource_locked,
    not_allowed,
    not_implemented,
    limit_reached,          // PRECONDITION_FAILED in AMQP 0-9-1
    unknown_exchange_type,  // PRECONDITION_FAILED in AMQP 0-9-1
    feature_denied,         // a deprecated feature that the configuration disables
};

struct Refusal {
    RefusalKind kind = RefusalKind::precondition_failed;
    std::string text;
    friend bool operator==(const Refusal&, const Refusal&) = default;
};

}  // namespace revenant::engine
