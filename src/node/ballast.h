// Ballast: room on the disk that is held for the moment when there is none. Settlements and
// snapshots need a little to give back a lot: without it a full disk could never be emptied.
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

    // Takes the room if `free_bytes` are plenty and it is not held yet. False: there is too little,
    // and what there is must not go to publishers.
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
