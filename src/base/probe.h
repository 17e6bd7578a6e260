// PROBE("dead_letter.cycle") marks a rare branch so that a test can prove that it was reached.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

namespace revenant {

class Probe {
  public:
    explicit Probe(const char* name);
    void hit() { count_.fetch_add(1, std::memory_order_relaxed); }
    std::string_view name() const { return name_; }
    std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

    // The number of times that the named branch was taken in this process.
    static std::uint64_t hits(std::string_view name);
    // The names of all branches taken at least once, sorted.
    static std::vector<std::string_view> reached();

  private:
    const char* name_;
    std::atomic<std::uint64_t> count_{0};
    Probe* next_ = nullptr;
};

}  // namespace revenant

#define PROBE(name)                           \
    do {                                      \
        static ::revenant::Probe probe{name}; \
        probe.hit();                          \
    } while (false)
