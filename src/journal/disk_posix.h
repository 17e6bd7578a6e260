// PosixDisk: the real disk.
#pragma once

#include "journal/disk.h"

namespace revenant::journal {

class PosixDisk final : public Disk {
  public:
    Result<std::shared_ptr<File>, IoError> open(const std::string& path) override;
    Result<std::shared_ptr<File>, IoError> create(const std::string& path) override;
    Result<void, IoError> rename(const std::string& from, const std::string& to) override;
    Result<void, IoError> remove(const std::string& path) override;
    Result<void, IoError> make_directory(const std::string& path) override;
    Result<void, IoError> remove_directory(const std::string& path) override;
    Result<std::vector<std::string>, IoError> list(const std::string& path) override;
    Result<void, IoError> sync_directory(const std::string& path) override;
    Result<std::unique_ptr<DirectoryLock>, IoError> lock(const std::string& path) override;
    Result<std::uint64_t, IoError> free_bytes(const std::string& path) override;
};

}  // namespace revenant::journal
