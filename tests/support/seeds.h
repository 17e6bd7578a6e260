// SeedWatch: prints the current seed when the process ends by a failed CHECK, a signal or a
// sanitizer, so that a crashed random test can be reproduced.
#pragma once

#include <cstdint>

namespace revenant {

class SeedWatch {
  public:
    explicit SeedWatch(const char* what);  // must outlive the SeedWatch
    ~SeedWatch();
    SeedWatch(const SeedWatch&) = delete;
    SeedWatch& operator=(const SeedWatch&) = delete;

    void begin(std::uint64_t seed);
};

// A number from the environment: how many seeds to run, or which one.
std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise);

}  // namespace revenant
