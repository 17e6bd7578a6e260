// Time as the engine sees it: microseconds since the epoch, handed in, never read from a clock.
#pragma once

#include <compare>
#include <cstdint>

namespace revenant {

// The longest time that a client, a policy or the configuration may ask for: ten years (DL-40).
constexpr std::int64_t duration_ms_max = 315'360'000'000;

// Sums and products of times stop at the ends of the number range. A moment beyond it is `never`,
// so whoever waits for one that was asked for before there was a maximum waits forever.
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

// Later than every moment: "no deadline".
constexpr Timestamp never{INT64_MAX};

}  // namespace revenant
