// Position: the position of an entry in its queue, and the levels of a queue.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace revenant::engine {

// Level and sequence number of an entry in its queue.
struct Position {
    std::uint64_t packed = 0;
    static Position of(std::size_t level, std::uint64_t sequence) {
        return {(std::uint64_t{level} << 48) | sequence};
    }
    std::size_t level() const { return static_cast<std::size_t>(packed >> 48); }
    std::uint64_t sequence() const { return packed & ((std::uint64_t{1} << 48) - 1); }
    friend auto operator<=>(Position, Position) = default;
};

// The levels of a quorum queue above its priorities.
constexpr std::size_t quorum_priorities = 32;
constexpr std::size_t requeued_level = quorum_priorities;
constexpr std::size_t delayed_level = requeued_level + 1;
constexpr std::size_t outbox_level = delayed_level + 1;

}  // namespace revenant::engine
