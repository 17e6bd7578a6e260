// CHECK and UNREACHABLE: a broken invariant ends the process at once, in release builds too.
// Recovery from the journal is the answer to our own bugs; limping on with a wrong state is not.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace revenant {

[[noreturn]] inline void check_failed(const char* expression, const char* file, int line) {
    std::fprintf(stderr, "revenant: CHECK failed: %s at %s:%d\n", expression, file, line);
    std::abort();
}

}  // namespace revenant

#define CHECK(condition)                                              \
    do {                                                              \
        if (__builtin_expect(!(condition), 0))                        \
            ::revenant::check_failed(#condition, __FILE__, __LINE__); \
    } while (false)

#define UNREACHABLE() ::revenant::check_failed("unreachable", __FILE__, __LINE__)
