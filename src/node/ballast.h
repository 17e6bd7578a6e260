// Ballast: disk space reserved for a full disk. Settlements and snapshots need a little space to
// free a lot; without it, a full disk could never be emptied.
#pragma once

#include "journal/disk.h"

#include <cstdint>
#include <mutex>
#include <string>

namespace revenant::node {

class Ballast {
  public:
    static constexpr std::uint64_t bytes = 2 * 1024 * 1024;

    Ballast(journal::Disk& disk, std::string directory)
        : disk_(disk), path_(std::move(directory) + "/ballast") {}

    // Reserves the space if `free_bytes` is large enough. Returns false if it is not; publishers
    // must then stay blocked.
    bool hold(std::uint64_t free_bytes);
    // May be called from any thread.
    void release();

  private:
    bool is_there() const;

    journal::Disk& disk_;
    const std::string path_;
    std::mutex mutex_;  // guards held_
    bool held_ = false;
};

}  // namespace revenant::node
