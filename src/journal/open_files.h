// OpenFiles: descriptors of files that are read occasionally. A backlog may be spread over
// thousands of files. A bounded number of recently used files is open; the others are opened again
// when they are read.
#pragma once

#include "base/result.h"
#include "journal/disk.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>

namespace revenant::journal {

class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor();
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }

  private:
    int number_;
};

// Shared by all threads. No thread waits for the disk access of another.
class OpenFiles {
  public:
    explicit OpenFiles(std::size_t open_max) : open_max_(open_max) {}

    // A file that may be open. Each ReadFile creates one.
    struct Slot {
        std::string path;
        // Identifies the file after its first opening, because the name must not be reused for
        // another.
        std::uint64_t device = 0;
        std::uint64_t inode = 0;
        std::weak_ptr<const Descriptor> last;  // a reader may still hold it
        std::shared_ptr<const Descriptor> open;
        std::list<Slot*>::iterator place;  // valid while open
    };

    Result<std::shared_ptr<const Descriptor>, IoError> get(Slot& slot);
    void forget(Slot& slot);
    // Closes all files, because descriptors are needed elsewhere.
    void close_all();
    std::size_t open_count();
    // Opens a file; returns -1 and sets errno on failure. If no descriptors are left, closes files
    // that are only read.
    int open_descriptor(const std::string& path, int flags);

  private:
    Result<std::shared_ptr<const Descriptor>, IoError> open_again(Slot& slot);
    std::shared_ptr<const Descriptor> admit(Slot& slot, std::shared_ptr<const Descriptor> opened,
                                            std::shared_ptr<const Descriptor>& closed);

    const std::size_t open_max_;
    std::mutex mutex_;       // not held during disk access
    std::list<Slot*> used_;  // most recently used first
};

}  // namespace revenant::journal
