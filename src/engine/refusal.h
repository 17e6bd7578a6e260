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
    limit_reached,          // how many there may be; 0-9-1 tells it as a failed precondition
    unknown_exchange_type,  // so does it this
    feature_denied,         // a deprecated feature that the configuration forbids
};

struct Refusal {
    RefusalKind kind = RefusalKind::precondition_failed;
    std::string text;
    friend bool operator==(const Refusal&, const Refusal&) = default;
};

}  // namespace revenant::engine
