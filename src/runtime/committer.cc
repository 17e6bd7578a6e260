#include "runtime/committer.h"

#include <utility>

namespace revenant::runtime {

Committer::Committer() : thread_([this] { loop(); }) {}

Committer::~Committer() { stop(); }

void Committer::run(Reactor& home, std::function<void()> work, std::function<void()> done) {
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back({&home, std::move(work), std::move(done)});
    }
    wanted_.notify_one();
}

void Committer::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wanted_.notify_one();
    if (thread_.joinable()) thread_.join();
}

void Committer::loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
        wanted_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        Job job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job.work();
        job.home->post([done = std::move(job.done)](Reactor&) { done(); });
        lock.lock();
    }
}

}  // namespace revenant::runtime
