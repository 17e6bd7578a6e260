// DeliveryCounts: how often delivery of a message was attempted.
#pragma once

#include <cstdint>

namespace revenant::engine {

// Increments a count; it saturates at its maximum.
constexpr std::uint32_t one_more(std::uint32_t count) {
    return count + (count < UINT32_MAX ? 1 : 0);
}

// Failed deliveries and acquisitions of a message in a quorum queue (DL-147).
struct DeliveryCounts {
    std::uint32_t delivery = 0;
    std::uint32_t acquired = 0;
    friend bool operator==(const DeliveryCounts&, const DeliveryCounts&) = default;
};

}  // namespace revenant::engine
