#include "base/check.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace revenant {
namespace {

std::atomic<LastWords> last_words{nullptr};

}  // namespace

void set_last_words(LastWords tell) { last_words.store(tell); }

void check_failed(const char* expression, const char* file, int line) {
    char text[1024];
    std::snprintf(text, sizeof text, "CHECK failed: %s at %s:%d", expression, file, line);
    // A second failure, even one while the first is being reported, is written to stderr.
    if (const LastWords tell = last_words.exchange(nullptr)) {
        tell(text);
    } else {
        std::fprintf(stderr, "revenant: %s\n", text);
    }
    std::abort();
}

}  // namespace revenant
