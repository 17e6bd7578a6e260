// Refusal: why the engine does not grant a wish. The protocols turn it into their own error codes.
#pragma once

#include <cstdint>
#include <string>

namespace revenant::engine {

enum class RefusalKind : std::uint8_t {
    not_found,
    precondition_failed,
    access_refused,  // nobody may
    not_permitted,   // this user may not; 0-9-1 tells both alike
    resource_locked,
    not_allowed,
    not_implemented,
    limit_reached,          // PRECONDITION_FAILED in AMQP 0-9-1
    unknown_exchange_type,  // PRECONDITION_FAILED in AMQP 0-9-1
    feature_denied,         // a deprecated feature that the configuration forbids
};

struct Refusal {
    RefusalKind kind = RefusalKind::precondition_failed;
    std::string text;
    friend bool operator==(const Refusal&, const Refusal&) = default;
};

}  // namespace revenant::engine
