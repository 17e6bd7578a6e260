#include "runtime/removals.h"

#include <utility>

namespace revenant::runtime {

Removals::Removals() : thread_([this] { loop(); }) {}

Removals::~Removals() { stop(); }

void Removals::run(std::function<void()> removal) {
    {
        const std::lock_guard lock(mutex_);
        if (!stopping_) removals_.push_back(std::exchange(removal, nullptr));
    }
    if (removal) return removal();
    wanted_.notify_one();
}

void Removals::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wanted_.notify_one();
    if (thread_.joinable()) thread_.join();
}

void Removals::loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
        wanted_.wait(lock, [this] { return stopping_ || !removals_.empty(); });
        if (removals_.empty()) return;
        std::function<void()> removal = std::move(removals_.front());
        removals_.pop_front();
        lock.unlock();
        removal();
        removal = nullptr;  // frees captured objects without holding the lock
        lock.lock();
    }
}

}  // namespace revenant::runtime
