// Removals: a thread for slow work that nothing waits for. It frees the state of a deleted virtual
// host and removes its directory, so that neither a reactor nor the committer has to.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace revenant::runtime {

class Removals {
  public:
    Removals();
    ~Removals();
    Removals(const Removals&) = delete;
    Removals& operator=(const Removals&) = delete;

    // May be called from any thread. Runs removals in order; after stop() it runs them
    // synchronously.
    void run(std::function<void()> removal);
    // Finishes all queued removals, then ends the thread.
    void stop();

  private:
    void loop();

    std::mutex mutex_;
    std::condition_variable wanted_;
    std::deque<std::function<void()>> removals_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace revenant::runtime
