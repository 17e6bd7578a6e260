#include "node/log/last_words.h"

#include "base/check.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <csignal>
#include <ctime>
#include <string>

namespace revenant::node {
namespace {

std::atomic<Log*> last_log{nullptr};

void tell_in_log(const char* text) {
    if (Log* const log = last_log.load()) {
        log->write(LogLevel::critical, "node", text);
        log->drain(log_patience);
    }
    // Written to stderr as well, because the log may be disabled or go elsewhere.
    write_patiently(STDERR_FILENO, "revenant: " + std::string(text) + "\n");
}

// Async-signal-safe. Afterwards the signal has its default effect.
void wait_for_log(int signal) {
    constexpr timespec pause{0, 5'000'000};
    constexpr int pauses_max = log_patience.us / (pause.tv_nsec / 1000);
    const Log* const log = last_log.load();
    for (int i = 0; i < pauses_max && log != nullptr && !log->is_drained(); ++i) {
        ::nanosleep(&pause, nullptr);
    }
    ::raise(signal);
}

}  // namespace

LastWordsInLog::LastWordsInLog(Log& log) {
    last_log.store(&log);
    set_last_words(tell_in_log);
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
        struct sigaction action {};
        // Keeps the handler of a sanitizer.
        if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
        action.sa_handler = wait_for_log;
        action.sa_flags = static_cast<int>(SA_RESETHAND);
        sigaction(signal, &action, nullptr);
    }
}

LastWordsInLog::~LastWordsInLog() {
    set_last_words(nullptr);
    last_log.store(nullptr);
}

void write_patiently(int descriptor, std::string_view text) {
    constexpr int patience_ms = static_cast<int>(log_patience.us / 1000);
    while (!text.empty()) {
        pollfd ready{descriptor, POLLOUT, 0};
        if (::poll(&ready, 1, patience_ms) <= 0) return;
        // A writable pipe accepts at least this much.
        const ssize_t count =
            ::write(descriptor, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
        if (count <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
}

}  // namespace revenant::node
