// Removals: a thread for what may take long and nobody waits for: the state of a deleted virtual
// host is freed here and its directory removed, so that neither a reactor nor the committer does
// it.
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

    // From any thread; in the order they are asked for. After stop() it is done at once.
    void run(std::function<void()> removal);
    // Does what was asked for, then ends.
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
