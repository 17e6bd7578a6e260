// Segments: the files of one journal. Two views of them: SegmentReader, at home with the engine,
// reads what was written; SegmentWriter, on the disk's thread, appends batches.
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
    // A small batch costs half when its place in the file was filled before: that much is filled
    // with zeros ahead of it. Larger ones just extend the file.
    std::uint64_t fill_bytes = 1024 * 1024;
    std::uint64_t small_batch_bytes = 64 * 1024;
    // Files of dead segments that are kept to be written again.
    std::size_t spares_max = 2;
};

struct Segment {
    Lsn start;
    std::string path;
    std::shared_ptr<const File> file;
    std::shared_ptr<const ExtentIndex> index;  // of a compacted one: what is left of it
};

std::string segment_name(Lsn start);
std::optional<Lsn> parse_segment_name(std::string_view name);

class SegmentReader {
  public:
    void add(Segment segment) { segments_.insert_or_assign(segment.start, std::move(segment)); }
    void forget(Lsn start) { segments_.erase(start); }
    // Must have been written.
    Result<void, IoError> read(Lsn at, std::span<char> into) const;
    void will_need(Lsn at, std::uint64_t size) const;
    // Whether one of the files has this position in it.
    bool has_position(Lsn at) const;
    // How far one read goes from here, if the segment is not the last.
    std::optional<Lsn> contiguous_end(Lsn at) const;
    // The one that holds this position; nullptr if there is none.
    const Segment* find(Lsn at) const;
    const std::map<Lsn, Segment>& all() const { return segments_; }

  private:
    std::map<Lsn, Segment> segments_;
};

struct ScannedBatch {
    Lsn at;
    std::string_view bytes;  // with its header
    std::uint32_t epoch = 0;
    Lsn synced;
    Secret secret = 0;
};
using BatchVisitor = std::function<Result<void, IoError>(const ScannedBatch&)>;

// Reads the batches of a segment from its start, or from a position within it, up to `end`: all of
// them must be there.
Result<void, IoError> scan_segment(const Segment& segment, Lsn from, Lsn end,
                                   const BatchVisitor& visit);

// Reads the batches of the last segment from its start and finds where they end.
struct StreamEnd {
    Lsn end;                  // behind the last whole batch
    std::uint32_t epoch = 0;  // the highest, also of what was cut off
    Secret secret = 0;        // of the last batch
};
struct KnownOfStream {
    Secret secret = 0;  // of the journal
    Lsn reached;        // the stream goes so far at least: a snapshot says so
};
Result<StreamEnd, IoError> find_stream_end(const Segment& segment, const KnownOfStream& known,
                                           const BatchVisitor& visit);

class SegmentWriter {
  public:
    SegmentWriter(Disk& disk, std::string directory, SegmentSettings settings)
        : disk_(disk), directory_(std::move(directory)), settings_(settings) {}

    // Goes on in a segment that was there.
    void resume(Segment segment, std::shared_ptr<File> file, Lsn end);
    void add_spare(std::string path) { spares_.push_back(std::move(path)); }

    // Writes the batch at its position; sets `opened` when it begins a new segment for it. After a
    // full disk the same batch may be written again.
    Result<void, IoError> write(Lsn at, std::string_view batch, std::optional<Segment>& opened);
    // A sync that found no room is no full disk: trying it again would not write what it left out.
    Result<void, IoError> sync();
    // The file of a dead segment: kept as a spare or removed.
    Result<void, IoError> retire(const std::string& path);
    // Where room has become short, spares are given back.
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
    std::shared_ptr<File> file_;  // of the current one, for writing
    std::uint64_t filled_ = 0;    // the current file has data or zeros up to here
    // What the file held before it was given to this segment, or what a crash left in it, may
    // stand from the one to the other.
    std::uint64_t stale_from_ = 0;
    std::uint64_t stale_to_ = 0;
    bool unsynced_ = false;
    std::vector<std::string> spares_;
};

}  // namespace revenant::journal
