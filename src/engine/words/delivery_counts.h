// DeliveryCounts: how often a message of a queue was tried.
#pragma once

#include <cstdint>

namespace revenant::engine {

// A count that stops at its largest.
constexpr std::uint32_t one_more(std::uint32_t count) {
    return count + (count < UINT32_MAX ? 1 : 0);
}

// How often a message was tried in vain (DL-147).
struct DeliveryCounts {
    std::uint32_t delivery = 0;
    std::uint32_t acquired = 0;
    friend bool operator==(const DeliveryCounts&, const DeliveryCounts&) = default;
};

}  // namespace revenant::engine
