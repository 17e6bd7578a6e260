// Histogram: the number of observed values per bucket and their sum. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace revenant {

// The limits are ascending upper bounds, inclusive. The last bucket has no bound.
template <const auto& limits>
struct Histogram {
    std::array<std::uint64_t, limits.size() + 1> counts{};
    std::uint64_t sum = 0;

    void observe(std::uint64_t value) {
        std::size_t bucket = 0;
        while (bucket < limits.size() && value > limits[bucket]) ++bucket;
        counts[bucket] += 1;
        sum += value;
    }
    std::uint64_t count() const {
        std::uint64_t total = 0;
        for (const std::uint64_t one : counts) total += one;
        return total;
    }
    Histogram& operator+=(const Histogram& other) {
        for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
        sum += other.sum;
        return *this;
    }
    friend bool operator==(const Histogram&, const Histogram&) = default;
};

}  // namespace revenant
