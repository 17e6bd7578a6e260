// Time in the engine: microseconds since the epoch, passed in by the caller, never read from a
// clock.
#pragma once

#include <compare>
#include <cstdint>

namespace revenant {

// The longest duration that a client, a policy or the configuration may set: ten years (DL-40).
constexpr std::int64_t duration_ms_max = 315'360'000'000;

// Sums and products of times saturate. A result beyond the range is `never`, so a deadline that was
// set before there was a maximum is never reached.
constexpr std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
}
constexpr std::int64_t saturated_difference(std::int64_t a, std::int64_t b) {
    std::int64_t difference = 0;
    if (!__builtin_sub_overflow(a, b, &difference)) return difference;
    return a < 0 ? INT64_MIN : INT64_MAX;
}
constexpr std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(a, b, &product)) return product;
    return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

struct Duration {
    std::int64_t us = 0;
    friend constexpr auto operator<=>(Duration, Duration) = default;
};

constexpr Duration microseconds(std::int64_t count) { return {count}; }
constexpr Duration milliseconds(std::int64_t count) { return {saturated_product(count, 1000)}; }
constexpr Duration seconds(std::int64_t count) { return {saturated_product(count, 1'000'000)}; }

struct Timestamp {
    std::int64_t us = 0;
    friend constexpr auto operator<=>(Timestamp, Timestamp) = default;
    constexpr std::int64_t whole_ms() const { return us / 1000; }
    constexpr std::int64_t whole_seconds() const { return us / 1'000'000; }
};

constexpr Timestamp operator+(Timestamp at, Duration by) { return {saturated_sum(at.us, by.us)}; }
constexpr Timestamp operator-(Timestamp at, Duration by) {
    return {saturated_difference(at.us, by.us)};
}
constexpr Duration operator-(Timestamp a, Timestamp b) {
    return {saturated_difference(a.us, b.us)};
}

// Later than every other timestamp: no deadline.
constexpr Timestamp never{INT64_MAX};

}  // namespace revenant
