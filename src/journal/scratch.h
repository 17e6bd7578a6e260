// Scratch: pages that are not needed after a restart. Written immediately, never synced.
#pragma once

#include "base/result.h"
#include "journal/disk.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace revenant::journal {

class Scratch {
  public:
    // Removes files that an earlier process left in the directory.
    static Result<std::unique_ptr<Scratch>, IoError> open(Disk& disk, std::string directory,
                                                          std::uint64_t file_bytes = 16 << 20);

    // Returns a handle for fetch() and drop().
    Result<std::uint64_t, IoError> keep(std::string_view bytes);
    Result<std::string, IoError> fetch(std::uint64_t at, std::uint32_t size) const;
    // Hints that the page will be fetched soon.
    void expect(std::uint64_t at, std::uint32_t size) const;
    void drop(std::uint64_t at);
    std::size_t file_count() const { return files_.size(); }

  private:
    struct PageFile {
        std::shared_ptr<const File> file;
        std::uint64_t used = 0;
        std::uint64_t pages = 0;  // not yet dropped
    };
    Scratch(Disk& disk, std::string directory, std::uint64_t file_bytes)
        : disk_(disk), directory_(std::move(directory)), file_bytes_(file_bytes) {}
    std::string path_of(std::uint32_t number) const;

    Disk& disk_;
    const std::string directory_;
    const std::uint64_t file_bytes_;
    std::map<std::uint32_t, PageFile> files_;
    std::uint32_t current_ = 0;
    std::shared_ptr<File> writing_;  // the current file
};

}  // namespace revenant::journal
