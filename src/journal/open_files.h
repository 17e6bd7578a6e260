// OpenFiles: descriptors of files that are read now and then. A backlog may lie in thousands of
// files; those used last are open, a bounded number of them, and the others are opened again when
// they are read.
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

// Used by all threads; no thread waits for another one's disk.
class OpenFiles {
  public:
    explicit OpenFiles(std::size_t open_max) : open_max_(open_max) {}

    // A file that may be open or not; made by a ReadFile for itself.
    struct Slot {
        std::string path;
        // Which file it is, once it was opened: its name must not come to mean another.
        std::uint64_t device = 0;
        std::uint64_t inode = 0;
        std::weak_ptr<const Descriptor> last;  // somebody may still hold it
        std::shared_ptr<const Descriptor> open;
        std::list<Slot*>::iterator place;  // while it is open
    };

    Result<std::shared_ptr<const Descriptor>, IoError> get(Slot& slot);
    void forget(Slot& slot);
    // Closes all of them: there are too few descriptors for something else.
    void close_all();
    std::size_t open_count();
    // A new descriptor for whatever; -1 and errno if there is none. Where descriptors are used up,
    // files that are only read give theirs.
    int open_descriptor(const std::string& path, int flags);

  private:
    Result<std::shared_ptr<const Descriptor>, IoError> open_again(Slot& slot);
    std::shared_ptr<const Descriptor> admit(Slot& slot, std::shared_ptr<const Descriptor> opened,
                                            std::shared_ptr<const Descriptor>& closed);

    const std::size_t open_max_;
    std::mutex mutex_;       // never held while the disk is at work
    std::list<Slot*> used_;  // the one used last in front
};

}  // namespace revenant::journal
