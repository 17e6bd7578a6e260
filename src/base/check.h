// CHECK and UNREACHABLE: a broken invariant ends the process at once, in release builds too.
// Recovery from the journal is the answer to our own bugs; limping on with a wrong state is not.
#pragma once

namespace revenant {

[[noreturn]] void check_failed(const char* expression, const char* file, int line);

// Tells the last words of the process, from whatever thread they come. Without one they go to
// stderr, where somebody who does not read could keep the process from ending.
using LastWords = void (*)(const char* text);
void set_last_words(LastWords tell);

}  // namespace revenant

#define CHECK(condition)                                              \
    do {                                                              \
        if (__builtin_expect(!(condition), 0))                        \
            ::revenant::check_failed(#condition, __FILE__, __LINE__); \
    } while (false)

#define UNREACHABLE() ::revenant::check_failed("unreachable", __FILE__, __LINE__)
