// CHECK and UNREACHABLE: a broken invariant ends the process immediately, in release builds too.
// After a bug, recovery from the journal is better than continuing with invalid state.
#pragma once

namespace revenant {

[[noreturn]] void check_failed(const char* expression, const char* file, int line);

// Reports the final message of the process. Any thread may call it. Without a function the message
// goes to stderr, where a reader that does not read could keep the process from ending.
using LastWords = void (*)(const char* text);
void set_last_words(LastWords tell);

}  // namespace revenant

#define CHECK(condition)                                              \
    do {                                                              \
        if (__builtin_expect(!(condition), 0))                        \
            ::revenant::check_failed(#condition, __FILE__, __LINE__); \
    } while (false)

#define UNREACHABLE() ::revenant::check_failed("unreachable", __FILE__, __LINE__)
