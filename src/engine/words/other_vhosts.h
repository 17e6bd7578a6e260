// OtherVhosts: what the other virtual hosts of the node have, for limits that are shared by all of
// them. A number to compare with, as old as the last turn of the others.
#pragma once

#include <cstdint>
#include <optional>

namespace revenant::engine {

struct ObjectCounts {
    std::uint64_t queues = 0;
    std::uint64_t exchanges = 0;
};

// Of all virtual hosts together; absent: none.
struct NodeLimits {
    std::optional<std::uint64_t> queues_max;
    std::optional<std::uint64_t> exchanges_max;
};

class OtherVhosts {
  public:
    virtual ~OtherVhosts() = default;
    // Without this virtual host itself.
    virtual ObjectCounts object_counts() const = 0;
};

}  // namespace revenant::engine
