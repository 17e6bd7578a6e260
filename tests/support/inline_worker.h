// InlineWorker: a DiskWorker that does all work synchronously.
#pragma once

#include "journal/disk_worker.h"

#include <functional>

namespace revenant {

class InlineWorker final : public journal::DiskWorker {
  public:
    void run(std::function<void()> work, std::function<void()> done) override {
        work();
        done();
    }
};

}  // namespace revenant
