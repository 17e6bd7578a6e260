// A compacted file: what is still in use of neighbouring segments. Positions stay what they were,
// so nothing that refers to them needs to know: an index says where each stretch went.
//
//   magic u32 "RVC1", zero u32, start u64, end u64, count u64, checksum u64 (XXH3 of the index,
//   seeded with XXH3 of what stands before), index { lsn u64, size u64 }, then the stretches in the
//   same order
//
// Like a snapshot it is written aside, synced and renamed. It is named after the position it begins
// with and takes the place of every segment that begins before its end.
#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "journal/disk.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::journal {

// A stretch of the stream.
struct Extent {
    Lsn at;
    std::uint64_t size = 0;
    Lsn end() const { return {at.value + size}; }
    friend bool operator==(const Extent&, const Extent&) = default;
};

// Sorted; those that touch or overlap are one.
std::vector<Extent> joined(std::vector<Extent> extents);

class ExtentIndex {
  public:
    ExtentIndex(std::vector<Extent> extents, std::uint64_t first_offset);

    // Where this position lies in the file, and how far one can read from there.
    struct FileRange {
        std::uint64_t offset = 0;
        Lsn contiguous_end;
    };
    std::optional<FileRange> find(Lsn at) const;
    std::span<const Extent> extents() const { return extents_; }

  private:
    std::vector<Extent> extents_;
    std::vector<std::uint64_t> offsets_;
};

struct CompactedFile {
    Lsn start;
    Lsn end;
    std::string path;
    std::shared_ptr<const File> file;
    std::shared_ptr<const ExtentIndex> index;
};

std::string compacted_name(Lsn start);
std::optional<Lsn> parse_compacted_name(std::string_view name);

// Gives the bytes of a stretch that is to be kept.
using ReadExtent = std::function<Result<void, IoError>(const Extent&, std::span<char>)>;
Result<CompactedFile, IoError> write_compacted_file(Disk& disk, const std::string& directory,
                                                    Lsn start, Lsn end, std::vector<Extent> extents,
                                                    const ReadExtent& read);
Result<CompactedFile, IoError> open_compacted_file(Disk& disk, const std::string& directory,
                                                   Lsn start);

}  // namespace revenant::journal
