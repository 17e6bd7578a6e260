#include "journal/open_files.h"

#include "base/probe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <utility>

namespace revenant::journal {
namespace {

Unexpected<IoError> cannot_open(const std::string& path, const std::string& why) {
    return Unexpected{IoError{"open " + path + ": " + why}};
}

}  // namespace

Descriptor::~Descriptor() {
    if (number_ >= 0) ::close(number_);
}

int OpenFiles::open_descriptor(const std::string& path, int flags) {
    constexpr int mode = 0640;
    const int number = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    if (number >= 0 || (errno != EMFILE && errno != ENFILE)) return number;
    PROBE("open_files.used_up");
    close_all();
    return ::open(path.c_str(), flags | O_CLOEXEC, mode);
}

Result<std::shared_ptr<const Descriptor>, IoError> OpenFiles::get(Slot& slot) {
    std::shared_ptr<const Descriptor> closed;  // destroyed after the lock is released
    {
        const std::lock_guard lock(mutex_);
        if (slot.open) {
            used_.splice(used_.begin(), used_, slot.place);
            return slot.open;
        }
        if (auto kept = slot.last.lock()) return admit(slot, std::move(kept), closed);
    }
    return open_again(slot);
}

Result<std::shared_ptr<const Descriptor>, IoError> OpenFiles::open_again(Slot& slot) {
    const int number = open_descriptor(slot.path, O_RDONLY);
    if (number < 0) return cannot_open(slot.path, std::strerror(errno));
    auto opened = std::make_shared<const Descriptor>(number);
    struct stat status {};
    if (::fstat(number, &status) != 0) return cannot_open(slot.path, std::strerror(errno));
    std::shared_ptr<const Descriptor> closed;
    const std::lock_guard lock(mutex_);
    const bool known = slot.inode != 0;
    if (known && (slot.inode != status.st_ino || slot.device != status.st_dev)) {
        return cannot_open(slot.path, "replaced by another file");
    }
    slot.inode = status.st_ino;
    slot.device = status.st_dev;
    if (slot.open) return slot.open;  // another thread was faster
    return admit(slot, std::move(opened), closed);
}

// Called with the lock held. The caller closes the evicted descriptor after releasing the lock.
std::shared_ptr<const Descriptor> OpenFiles::admit(Slot& slot,
                                                   std::shared_ptr<const Descriptor> opened,
                                                   std::shared_ptr<const Descriptor>& closed) {
    slot.open = std::move(opened);
    slot.last = slot.open;
    used_.push_front(&slot);
    slot.place = used_.begin();
    if (used_.size() > open_max_) {
        PROBE("open_files.closed_one");
        closed = std::exchange(used_.back()->open, nullptr);
        used_.pop_back();
    }
    return slot.last.lock();
}

void OpenFiles::forget(Slot& slot) {
    std::shared_ptr<const Descriptor> closed;
    const std::lock_guard lock(mutex_);
    if (!slot.open) return;
    closed = std::exchange(slot.open, nullptr);
    used_.erase(slot.place);
}

void OpenFiles::close_all() {
    std::list<std::shared_ptr<const Descriptor>> closed;
    const std::lock_guard lock(mutex_);
    for (Slot* const slot : used_) closed.push_back(std::exchange(slot->open, nullptr));
    used_.clear();
}

std::size_t OpenFiles::open_count() {
    const std::lock_guard lock(mutex_);
    return used_.size();
}

}  // namespace revenant::journal
