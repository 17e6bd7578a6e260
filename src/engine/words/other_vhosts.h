// OtherVhosts: object counts of the node's other virtual hosts, for node-wide limits. The counts
// are as old as the last turn of each virtual host.
#pragma once

#include <cstdint>
#include <optional>

namespace revenant::engine {

struct ObjectCounts {
    std::uint64_t queues = 0;
    std::uint64_t exchanges = 0;
};

// Node-wide limits; absent: unlimited.
struct NodeLimits {
    std::optional<std::uint64_t> queues_max;
    std::optional<std::uint64_t> exchanges_max;
};

class OtherVhosts {
  public:
    virtual ~OtherVhosts() = default;
    // Excludes this virtual host.
    virtual ObjectCounts object_counts() const = 0;
};

}  // namespace revenant::engine
