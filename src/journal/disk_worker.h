// DiskWorker: runs slow disk work in order, on another thread.
#pragma once

#include <functional>

namespace revenant::journal {

class DiskWorker {
  public:
    virtual ~DiskWorker() = default;
    // Runs `work` after all earlier work, then `done` on the calling thread.
    virtual void run(std::function<void()> work, std::function<void()> done) = 0;
};

}  // namespace revenant::journal
