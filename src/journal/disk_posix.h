// PosixDisk: the file system of the machine.
#pragma once

#include "journal/disk.h"
#include "journal/open_files.h"

#include <cstddef>
#include <memory>

namespace revenant::journal {

class PosixDisk : public Disk {
  public:
    // `read_files_max` limits the number of open files that are only read.
    explicit PosixDisk(std::size_t read_files_max = 32)
        : read_files_(std::make_shared<OpenFiles>(read_files_max)) {}

    Result<std::shared_ptr<File>, IoError> open(const std::string& path) override;
    std::shared_ptr<const File> open_when_read(const std::string& path) override;
    Result<std::shared_ptr<File>, IoError> create(const std::string& path) override;
    Result<void, IoError> rename(const std::string& from, const std::string& to) override;
    Result<void, IoError> remove(const std::string& path) override;
    Result<void, IoError> make_directory(const std::string& path) override;
    Result<void, IoError> remove_directory(const std::string& path, std::string_view last) override;
    Result<std::vector<std::string>, IoError> list(const std::string& path) override;
    Result<void, IoError> sync_directory(const std::string& path) override;
    Result<std::unique_ptr<DirectoryLock>, IoError> lock(const std::string& path) override;
    Result<std::uint64_t, IoError> free_bytes(const std::string& path) override;
    std::uint32_t draw_secret() override;

  private:
    Result<std::shared_ptr<File>, IoError> open_file(const std::string& path, int flags,
                                                     std::string_view what);

    const std::shared_ptr<OpenFiles> read_files_;
};

}  // namespace revenant::journal
