// Time as the engine sees it: microseconds since the epoch, handed in, never read from a clock.
#pragma once

#include <compare>
#include <cstdint>

namespace revenant {

struct Duration {
    std::int64_t us = 0;
    friend constexpr auto operator<=>(Duration, Duration) = default;
};

constexpr Duration microseconds(std::int64_t count) { return {count}; }
constexpr Duration milliseconds(std::int64_t count) { return {count * 1000}; }
constexpr Duration seconds(std::int64_t count) { return {count * 1'000'000}; }

struct Timestamp {
    std::int64_t us = 0;
    friend constexpr auto operator<=>(Timestamp, Timestamp) = default;
    constexpr std::int64_t whole_ms() const { return us / 1000; }
    constexpr std::int64_t whole_seconds() const { return us / 1'000'000; }
};

constexpr Timestamp operator+(Timestamp at, Duration by) { return {at.us + by.us}; }
constexpr Timestamp operator-(Timestamp at, Duration by) { return {at.us - by.us}; }
constexpr Duration operator-(Timestamp a, Timestamp b) { return {a.us - b.us}; }

// Later than every moment: "no deadline".
constexpr Timestamp never{INT64_MAX};

}  // namespace revenant
