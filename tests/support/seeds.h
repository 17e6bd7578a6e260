// SeedWatch: tells the seed under way when the process ends by a failed CHECK, a fault or a
// sanitizer, so that a random test that crashed can be repeated.
#pragma once

#include <cstdint>

namespace revenant {

class SeedWatch {
  public:
    explicit SeedWatch(const char* what);  // a name that stays valid
    ~SeedWatch();
    SeedWatch(const SeedWatch&) = delete;
    SeedWatch& operator=(const SeedWatch&) = delete;

    void begin(std::uint64_t seed);
};

// A number from the environment: how many seeds to run, or which.
std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise);

}  // namespace revenant
