// SimWorker: a DiskWorker without a thread; tasks wait until the test runs them. Running a task and
// reporting its completion are two steps, as with a thread.
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

    // Runs the oldest task; false if there is none.
    bool work_one();
    // Reports the oldest completed task; false if there is none.
    bool tell_one();
    // Runs and reports one task.
    bool run_one();
    void run_all();
    // The process has ended: drops all tasks.
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

// Forwards tasks to a SimWorker that outlives it, for owners that destroy their worker.
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
