// SimWorker: a DiskWorker without a thread; its work waits until the test does it. What is done and
// what is told at home are two steps, as they are with a thread.
#pragma once

#include "journal/disk_worker.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <utility>

namespace revenant::sim {

class SimWorker final : public journal::DiskWorker {
  public:
    void run(std::function<void()> work, std::function<void()> done) override;

    // Does the oldest work; false if there is none.
    bool work_one();
    // Tells at home what was done first; false if there is nothing to tell.
    bool tell_one();
    // Both.
    bool run_one();
    void run_all();
    // The process has ended.
    void forget_all();

    std::size_t waiting() const { return waiting_.size(); }
    std::size_t untold() const { return untold_.size(); }

  private:
    struct Job {
        std::function<void()> work;
        std::function<void()> done;
    };
    std::deque<Job> waiting_;
    std::deque<std::function<void()>> untold_;
};

// Passes the work to a SimWorker that outlives it, for owners that destroy their worker.
class BorrowedWorker final : public journal::DiskWorker {
  public:
    explicit BorrowedWorker(SimWorker& worker) : worker_(worker) {}
    void run(std::function<void()> work, std::function<void()> done) override {
        worker_.run(std::move(work), std::move(done));
    }

  private:
    SimWorker& worker_;
};

}  // namespace revenant::sim
