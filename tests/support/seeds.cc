#include "tests/support/seeds.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

// Sanitizers end the process themselves and call this first, where there is one.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace revenant {
namespace {

const char* test_under_way = "";
std::uint64_t seed_under_way = 0;

void tell_seed() {
    std::fprintf(stderr, "%s: the seed was %llu\n", test_under_way,
                 static_cast<unsigned long long>(seed_under_way));
}

void tell_seed_on_signal(int signal) {
    tell_seed();
    std::signal(signal, SIG_DFL);
}

void on_death(void (*callback)(), void (*handler)(int)) {
    if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(callback);
    for (const int signal : {SIGABRT, SIGSEGV}) std::signal(signal, handler);
}

}  // namespace

SeedWatch::SeedWatch(const char* what) {
    test_under_way = what;
    on_death(tell_seed, tell_seed_on_signal);
}

SeedWatch::~SeedWatch() { on_death(nullptr, SIG_DFL); }

void SeedWatch::begin(std::uint64_t seed) { seed_under_way = seed; }

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
    const char* const value = std::getenv(name);
    return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

}  // namespace revenant
