// Disk: the only door to the file system. The simulator brings its own.
//
// What was written is certain only after sync() of the file; a file that was created, renamed or
// removed is so for certain only after sync_directory() of its directory. Paths are joined with
// '/'.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::journal {

struct IoError {
    std::string text;        // what was tried on which file, and what the system said
    bool disk_full = false;  // trying again later makes sense
};

class File {
  public:
    virtual ~File() = default;
    // Reads into the whole span; fewer bytes only at the end of the file.
    virtual Result<std::size_t, IoError> read(std::uint64_t offset, std::span<char> into) const = 0;
    // All of it, or an error; after an error any part of it may have been written.
    virtual Result<void, IoError> write(std::uint64_t offset, std::string_view bytes) = 0;
    // Makes it so long, with room on the disk for all of it.
    virtual Result<void, IoError> allocate(std::uint64_t bytes) = 0;
    // Contents and size are certain.
    virtual Result<void, IoError> sync() = 0;
    virtual Result<std::uint64_t, IoError> size() const = 0;
    // These bytes will be read soon: a hint.
    virtual void will_need(std::uint64_t offset, std::uint64_t size) const = 0;
    // While what it returns is held, the file stays the same even if its name comes to mean
    // another. Files that are held open all the time need nothing.
    virtual Result<std::shared_ptr<const void>, IoError> keep_open() const {
        return std::shared_ptr<const void>{};
    }
};

// Held as long as the object lives.
class DirectoryLock {
  public:
    virtual ~DirectoryLock() = default;
};

class Disk {
  public:
    virtual ~Disk() = default;
    virtual Result<std::shared_ptr<File>, IoError> open(const std::string& path) = 0;
    // For reading. It is opened when it is read and may be closed again in between, so that any
    // number of files can be at hand with few descriptors. The name must not come to mean another
    // file, unless keep_open() is held meanwhile.
    virtual std::shared_ptr<const File> open_when_read(const std::string& path) = 0;
    // Empty, in the place of any file of that name.
    virtual Result<std::shared_ptr<File>, IoError> create(const std::string& path) = 0;
    // In the place of any file of the new name, at once.
    virtual Result<void, IoError> rename(const std::string& from, const std::string& to) = 0;
    virtual Result<void, IoError> remove(const std::string& path) = 0;
    // With those above it, and for certain; no error if it is there.
    virtual Result<void, IoError> make_directory(const std::string& path) = 0;
    // With everything in it, one after the other: whatever may happen meanwhile, the file of the
    // name `last` is there as long as anything else is.
    virtual Result<void, IoError> remove_directory(const std::string& path,
                                                   std::string_view last) = 0;
    // The names in it, sorted; none for a directory that is not there.
    virtual Result<std::vector<std::string>, IoError> list(const std::string& path) = 0;
    virtual Result<void, IoError> sync_directory(const std::string& path) = 0;
    // An error names the process that holds it already.
    virtual Result<std::unique_ptr<DirectoryLock>, IoError> lock(const std::string& path) = 0;
    virtual Result<std::uint64_t, IoError> free_bytes(const std::string& path) = 0;
    // A number that nobody outside can guess.
    virtual std::uint32_t draw_secret() = 0;
};

}  // namespace revenant::journal
