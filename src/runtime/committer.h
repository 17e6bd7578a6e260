// Committer: the disk thread. It writes and syncs for all virtual hosts in the order of their
// requests, so that no reactor waits for the disk.
#pragma once

#include "journal/disk_worker.h"
#include "runtime/reactor.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace revenant::runtime {

class Committer {
  public:
    Committer();
    ~Committer();
    Committer(const Committer&) = delete;
    Committer& operator=(const Committer&) = delete;

    // May be called from any thread. `done` runs on the reactor.
    void run(Reactor& home, std::function<void()> work, std::function<void()> done);
    // Finishes all queued work, then ends the thread.
    void stop();

  private:
    struct Job {
        Reactor* home = nullptr;
        std::function<void()> work;
        std::function<void()> done;
    };
    void loop();

    std::mutex mutex_;
    std::condition_variable wanted_;
    std::deque<Job> jobs_;
    bool stopping_ = false;
    std::thread thread_;
};

// The DiskWorker for the journals of one reactor; it runs their work on the committer.
class ReactorWorker final : public journal::DiskWorker {
  public:
    ReactorWorker(Committer& committer, Reactor& home) : committer_(committer), home_(home) {}
    void run(std::function<void()> work, std::function<void()> done) override {
        committer_.run(home_, std::move(work), std::move(done));
    }

  private:
    Committer& committer_;
    Reactor& home_;
};

}  // namespace revenant::runtime
