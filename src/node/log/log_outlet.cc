#include "node/log/log_outlet.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace revenant::node {
namespace {

// A buffer that grew larger is not kept.
constexpr std::size_t kept_bytes_max = 64 * 1024;

std::uint64_t lines_in(std::string_view text) {
    return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

struct LogOutlet::State {
    Write write;
    Loss loss;
    std::mutex mutex;  // guards the members below; not held during a write
    std::condition_variable pushed;
    std::condition_variable written;
    std::string waiting;
    std::uint64_t lost = 0;  // since the last successful push
    // After the first line that does not fit, all lines are dropped, so that there is one gap.
    bool full = false;
    bool ending = false;
    // Line counts. The first two do not include dropped lines.
    std::atomic<std::uint64_t> lines_pushed{0};
    std::atomic<std::uint64_t> lines_done{0};
    std::atomic<std::uint64_t> lines_dropped{0};
};

LogOutlet::LogOutlet(Write write, Loss loss) : state_(std::make_shared<State>()) {
    state_->write = std::move(write);
    state_->loss = std::move(loss);
    std::thread([state = state_] { run(*state); }).detach();
}

LogOutlet::~LogOutlet() {
    drain(log_patience);
    {
        const std::lock_guard lock(state_->mutex);
        state_->ending = true;
    }
    state_->pushed.notify_one();
}

void LogOutlet::push(std::string_view line) {
    {
        const std::lock_guard lock(state_->mutex);
        if (state_->waiting.size() + line.size() > waiting_bytes_max) state_->full = true;
        if (state_->full) {
            state_->lost += 1;
            state_->lines_dropped.fetch_add(1, std::memory_order_relaxed);
        } else {
            state_->waiting += line;
            state_->lines_pushed.fetch_add(1);
        }
    }
    state_->pushed.notify_one();
}

void LogOutlet::run(State& state) {
    std::string lines;
    std::uint64_t refused = 0;  // since the last successful write
    std::unique_lock lock(state.mutex);
    for (;;) {
        state.pushed.wait(lock,
                          [&] { return state.ending || state.full || !state.waiting.empty(); });
        if (state.waiting.empty() && !state.full) return;
        std::swap(lines, state.waiting);
        state.full = false;
        const std::uint64_t lost = std::exchange(state.lost, 0);
        lock.unlock();
        const std::uint64_t count = lines_in(lines);
        if (refused > 0) lines.insert(0, state.loss(refused));
        if (lost > 0) lines += state.loss(lost);
        const bool written = state.write(lines);
        refused = written ? 0 : refused + count + lost;
        lines.clear();
        if (lines.capacity() > kept_bytes_max) lines = {};
        lock.lock();
        if (!written) state.lines_dropped.fetch_add(count, std::memory_order_relaxed);
        state.lines_done.fetch_add(count);
        state.written.notify_all();
    }
}

bool LogOutlet::drain(Duration patience) {
    std::unique_lock lock(state_->mutex);
    const std::uint64_t last = state_->lines_pushed.load();
    return state_->written.wait_for(lock, std::chrono::microseconds(patience.us),
                                    [&] { return state_->lines_done.load() >= last; });
}

bool LogOutlet::is_drained() const {
    return state_->lines_done.load() >= state_->lines_pushed.load();
}

std::uint64_t LogOutlet::lines_dropped() const {
    return state_->lines_dropped.load(std::memory_order_relaxed);
}

}  // namespace revenant::node
