// A compacted file: the parts of adjacent segments that are still in use. Positions do not change;
// an index maps each extent to its offset in the file.
//
//   magic u32 "RVC1", zero u32, start u64, end u64, count u64, checksum u64 (XXH3 of the index,
//   seeded with the XXH3 of the header before it), index { lsn u64, size u64 }, then the extents
//   in the same order
//
// Like a snapshot, it is written under a temporary name, synced and renamed. It is named after its
// first position and replaces every segment that begins before its end.
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

// A range of the stream.
struct Extent {
    Lsn at;
    std::uint64_t size = 0;
    Lsn end() const { return {at.value + size}; }
    friend bool operator==(const Extent&, const Extent&) = default;
};

// Sorts the extents and merges those that touch or overlap.
std::vector<Extent> joined(std::vector<Extent> extents);

class ExtentIndex {
  public:
    ExtentIndex(std::vector<Extent> extents, std::uint64_t first_offset);

    // The offset of a position in the file, and the number of bytes readable from there.
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

// Reads the bytes of an extent.
using ReadExtent = std::function<Result<void, IoError>(const Extent&, std::span<char>)>;
Result<CompactedFile, IoError> write_compacted_file(Disk& disk, const std::string& directory,
                                                    Lsn start, Lsn end, std::vector<Extent> extents,
                                                    const ReadExtent& read);
Result<CompactedFile, IoError> open_compacted_file(Disk& disk, const std::string& directory,
                                                   Lsn start);

}  // namespace revenant::journal
