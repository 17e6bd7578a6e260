// Disk: the only interface to the file system. The simulator has its own implementation.
//
// Written data is durable only after sync() of the file. Creating, renaming or removing a file is
// durable only after sync_directory() of its directory. Paths are joined with '/'.
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
    std::string text;        // operation, file and system error
    bool disk_full = false;  // a retry may succeed
};

class File {
  public:
    virtual ~File() = default;
    // Fills the whole span, except at the end of the file.
    virtual Result<std::size_t, IoError> read(std::uint64_t offset, std::span<char> into) const = 0;
    // Writes everything or fails. After an error, any part may have been written.
    virtual Result<void, IoError> write(std::uint64_t offset, std::string_view bytes) = 0;
    // Sets the size and reserves disk space for all of it.
    virtual Result<void, IoError> allocate(std::uint64_t bytes) = 0;
    // Makes contents and size durable.
    virtual Result<void, IoError> sync() = 0;
    virtual Result<std::uint64_t, IoError> size() const = 0;
    // Hints that these bytes will be read soon.
    virtual void will_need(std::uint64_t offset, std::uint64_t size) const = 0;
    // While the returned object exists, this stays the same file even if its name is reused. Files
    // that are always open need nothing.
    virtual Result<std::shared_ptr<const void>, IoError> keep_open() const {
        return std::shared_ptr<const void>{};
    }
};

// Held for the lifetime of the object.
class DirectoryLock {
  public:
    virtual ~DirectoryLock() = default;
};

class Disk {
  public:
    virtual ~Disk() = default;
    virtual Result<std::shared_ptr<File>, IoError> open(const std::string& path) = 0;
    // Opens the file lazily for reading and may close it between reads, so that many files need few
    // descriptors. The name must not be reused for another file unless keep_open() is held.
    virtual std::shared_ptr<const File> open_when_read(const std::string& path) = 0;
    // Creates an empty file and replaces an existing one.
    virtual Result<std::shared_ptr<File>, IoError> create(const std::string& path) = 0;
    // Replaces an existing file atomically.
    virtual Result<void, IoError> rename(const std::string& from, const std::string& to) = 0;
    virtual Result<void, IoError> remove(const std::string& path) = 0;
    // Creates missing parents as well and makes them durable. Not an error if the directory exists.
    virtual Result<void, IoError> make_directory(const std::string& path) = 0;
    // Removes the directory and its files. If interrupted, the file named `last` exists as long as
    // any other.
    virtual Result<void, IoError> remove_directory(const std::string& path,
                                                   std::string_view last) = 0;
    // Returns the sorted names; none if the directory does not exist.
    virtual Result<std::vector<std::string>, IoError> list(const std::string& path) = 0;
    virtual Result<void, IoError> sync_directory(const std::string& path) = 0;
    // The error names the process that holds the lock.
    virtual Result<std::unique_ptr<DirectoryLock>, IoError> lock(const std::string& path) = 0;
    virtual Result<std::uint64_t, IoError> free_bytes(const std::string& path) = 0;
    // Returns a random number that clients cannot guess.
    virtual std::uint32_t draw_secret() = 0;
};

}  // namespace revenant::journal
