// DiskWorker: where the slow work is done. In order, off the thread that asks for it.
#pragma once

#include <functional>

namespace revenant::journal {

class DiskWorker {
  public:
    virtual ~DiskWorker() = default;
    // Runs `work` after everything asked for earlier, then `done` at home, where this was called.
    virtual void run(std::function<void()> work, std::function<void()> done) = 0;
};

}  // namespace revenant::journal
