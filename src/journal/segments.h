// Segments: the files of one journal. SegmentReader is used on the engine's thread and reads
// written data; SegmentWriter is used on the disk thread and appends batches.
#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "journal/batch_format.h"
#include "journal/compacted_file.h"
#include "journal/disk.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::journal {

struct SegmentSettings {
    std::uint64_t segment_bytes = 16 * 1024 * 1024;
    // Writing a small batch costs half as much if the file was extended before, so this many zeros
    // are written ahead of it. Larger batches extend the file directly.
    std::uint64_t fill_bytes = 1024 * 1024;
    std::uint64_t small_batch_bytes = 64 * 1024;
    // Number of files of removed segments that are kept for reuse.
    std::size_t spares_max = 2;
};

struct Segment {
    Lsn start;
    std::string path;
    std::shared_ptr<const File> file;
    std::shared_ptr<const ExtentIndex> index;  // for a compacted segment: its extents
};

std::string segment_name(Lsn start);
std::optional<Lsn> parse_segment_name(std::string_view name);

class SegmentReader {
  public:
    void add(Segment segment) { segments_.insert_or_assign(segment.start, std::move(segment)); }
    void forget(Lsn start) { segments_.erase(start); }
    // The position must have been written.
    Result<void, IoError> read(Lsn at, std::span<char> into) const;
    void will_need(Lsn at, std::uint64_t size) const;
    // Whether a file contains this position.
    bool has_position(Lsn at) const;
    // The end of a read from here; nothing if the segment is the last one.
    std::optional<Lsn> contiguous_end(Lsn at) const;
    // The segment that contains this position, or nullptr.
    const Segment* find(Lsn at) const;
    const std::map<Lsn, Segment>& all() const { return segments_; }

  private:
    std::map<Lsn, Segment> segments_;
};

struct ScannedBatch {
    Lsn at;
    std::string_view bytes;  // with the header
    std::uint32_t epoch = 0;
    Lsn synced;
    Secret secret = 0;
};
using BatchVisitor = std::function<Result<void, IoError>(const ScannedBatch&)>;

// Reads the batches of a segment from `from` to `end`. All of them must be intact.
Result<void, IoError> scan_segment(const Segment& segment, Lsn from, Lsn end,
                                   const BatchVisitor& visit);

// Result of reading the last segment from its start to the end of its batches.
struct StreamEnd {
    Lsn end;                  // after the last intact batch
    std::uint32_t epoch = 0;  // the highest, including batches that were cut off
    Secret secret = 0;        // of the last batch
};
struct KnownOfStream {
    Secret secret = 0;  // of the journal
    Lsn reached;        // the stream extends at least to here, according to a snapshot
};
Result<StreamEnd, IoError> find_stream_end(const Segment& segment, const KnownOfStream& known,
                                           const BatchVisitor& visit);

class SegmentWriter {
  public:
    SegmentWriter(Disk& disk, std::string directory, SegmentSettings settings)
        : disk_(disk), directory_(std::move(directory)), settings_(settings) {}

    // Continues in an existing segment.
    void resume(Segment segment, std::shared_ptr<File> file, Lsn end);
    void add_spare(std::string path) { spares_.push_back(std::move(path)); }

    // Writes the batch at its position; sets `opened` if it begins a new segment. If the disk was
    // full, the same batch may be written again.
    Result<void, IoError> write(Lsn at, std::string_view batch, std::optional<Segment>& opened);
    // A sync that fails for lack of space is not reported as a full disk, because a retry would not
    // write the missing data.
    Result<void, IoError> sync();
    // Keeps the file of a removed segment as a spare, or removes it.
    Result<void, IoError> retire(const std::string& path);
    // Removes spares if disk space is low.
    void trim_spares();

  private:
    Result<void, IoError> write_once(Lsn at, std::string_view batch,
                                     std::optional<Segment>& opened);
    bool drop_spare();
    bool is_roomy() const;
    Result<void, IoError> open_next(Lsn start);
    Result<void, IoError> zero_ahead(std::uint64_t end);
    Result<void, IoError> end_with_zeros(std::uint64_t end);

    Disk& disk_;
    const std::string directory_;
    const SegmentSettings settings_;
    std::optional<Segment> current_;
    std::shared_ptr<File> file_;  // current segment, for writing
    std::uint64_t filled_ = 0;    // the current file has data or zeros up to here
    // Range that may contain old bytes, from the previous use of the file or from a crash.
    std::uint64_t stale_from_ = 0;
    std::uint64_t stale_to_ = 0;
    bool unsynced_ = false;
    std::vector<std::string> spares_;
};

}  // namespace revenant::journal
