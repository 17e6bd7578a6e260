// Journal: a durable, ordered stream of records, and snapshots that shorten it. It does not
// interpret records. START READING HERE; the format is in batch_format.h.
//
// A journal belongs to one thread, its home thread, and never blocks it. Appended records are
// gathered and passed to the disk thread as one batch; while that is written and synced, the next
// batch is gathered. Bytes can be read as soon as they are appended.
#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "journal/compacted_file.h"
#include "journal/disk.h"
#include "journal/disk_worker.h"
#include "journal/journal_counters.h"
#include "journal/segments.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace revenant::journal {

struct JournalSettings {
    SegmentSettings segments;
    Timestamp (*now)() = nullptr;  // measures syncs on the disk thread; optional
};

class Journal {
  public:
    // Called on the home thread. A failed write or sync is never retried: the node must stop. A
    // full disk is not fatal: the batch is kept, and retry() tries again.
    struct Listener {
        std::function<void(Lsn)> durable;
        std::function<void(const std::string&)> failed;
        std::function<void(bool)> disk_full;  // true: became full; false: has space again
    };

    // A record after the newest snapshot; `batch` is the position of its batch.
    struct Record {
        std::string_view bytes;
        Lsn at;
        Lsn batch;
    };
    using Visitor = std::function<Result<void, IoError>(const Record&)>;

    static Result<std::unique_ptr<Journal>, IoError> open(Disk& disk, DiskWorker& worker,
                                                          std::string directory,
                                                          JournalSettings settings);
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    // --- recovery: the newest snapshot, then everything after it ---

    // Empty if there is no snapshot.
    const std::string& snapshot() const { return snapshot_; }
    std::string snapshot_path() const;
    // Changes nothing on disk until it succeeds. If the visitor fails, the files stay as they are
    // for the broker version that wrote them.
    Result<void, IoError> replay(const Visitor& visit);
    void listen(Listener listener) { listener_ = std::move(listener); }
    // Stops all writes and notifications. Existing data stays readable. When the worker has
    // finished its current work, the directory may be removed.
    void close();

    // --- appending ---

    // The bytes appended to this string until end_record() form a record.
    std::string& begin_record();
    // Position of the next byte to be appended.
    Lsn position() const { return {gathering_at_.value + gathering_.size()}; }
    // Position of the batch being gathered.
    Lsn batch_position() const { return gathering_at_; }
    // Returns the position that must be durable for this record to be durable.
    Lsn end_record();

    enum class SyncMode : std::uint8_t { deferred, immediate };
    // Passes the gathered records to the disk thread, or does so when its current work is done.
    // `deferred` writes without a sync.
    void flush(SyncMode mode);
    // Tries again to write to a full disk.
    void retry();
    std::size_t waiting_bytes() const;
    std::size_t gathered_bytes() const { return gathering_.size(); }
    Lsn durable() const { return durable_; }
    bool is_disk_full() const { return disk_full_; }
    const JournalCounters& counters() const { return counters_; }
    std::size_t segment_count() const { return reader_.all().size(); }

    // --- reading ---

    Result<void, IoError> read(Lsn at, std::span<char> into) const;
    // Whether a file contains this position.
    bool has_position(Lsn at) const;
    // The end of the bytes stored contiguously with this position, which one read can return.
    Lsn contiguous_end(Lsn at) const;
    // Hints that these bytes will be read soon.
    void will_need(Lsn at, std::uint64_t size) const { reader_.will_need(at, size); }
    // Returns "file F, offset N" for error texts.
    std::string describe_position(Lsn at) const;
    // The first position of the segment with this position. Segments are removed as a whole. Until
    // the position is written, this is the segment written last.
    Lsn segment_of(Lsn at) const;
    // The segments from the one that contains `first` to the one that contains `last`.
    std::vector<Lsn> segments_between(Lsn first, Lsn last) const;

    // --- snapshots ---

    Lsn snapshot_position() const { return snapshot_at_; }
    // The snapshot covers everything before position(), except for data in `segments_in_use`, which
    // is still referred to. Other earlier segments are removed when the snapshot is synced.
    // Segments that begin after this call stay until the next snapshot.
    void write_snapshot(std::string bytes, std::set<Lsn> segments_in_use);
    bool is_writing_snapshot() const { return next_snapshot_ != nullptr; }

    // --- compaction ---

    struct ClosedSegment {
        Lsn start;
        Lsn end;
        std::uint64_t bytes = 0;  // contents
        bool compacted = false;
        bool unreadable = false;  // a compaction could not read all of it
    };
    // All segments in order, except the one being written.
    std::vector<ClosedSegment> closed_segments() const;
    // Replaces the segments from `start` to `end`, all before the newest snapshot, by one file with
    // the extents in use. `in_use` must contain everything the snapshot refers to, because a
    // restart begins there. No snapshot or other compaction may be in progress.
    void compact(Lsn start, Lsn end, std::vector<Extent> in_use);
    bool is_compacting() const { return compacting_; }
    // Removes spare files if disk space is low.
    void trim_spares();
    // Whether a snapshot or compaction has failed for lack of space since the last call.
    bool take_found_no_room() { return std::exchange(found_no_room_, false); }

  private:
    Journal(Disk& disk, DiskWorker& worker, std::string directory, JournalSettings settings);
    Result<void, IoError> find_files();
    Result<void, IoError> read_snapshot(Lsn at);
    Result<void, IoError> find_end();
    void start_gathering(Lsn at);
    void seal();
    void submit();
    struct Written;
    void on_written(const Written& written);
    struct Snapshot;
    void submit_snapshot();
    void on_snapshot_written(const Snapshot& snapshot);
    void adopt(std::vector<CompactedFile> files);
    struct Compaction;
    void on_compacted(const Compaction& compaction);
    void retire(const Segment& segment);
    void fail(const IoError& error);
    void drop_segments(const Snapshot& snapshot);

    Disk& disk_;
    DiskWorker& worker_;
    const std::string directory_;
    const JournalSettings settings_;
    Listener listener_;
    // Callbacks of pending work check here whether the journal still exists.
    std::shared_ptr<Journal*> self_;
    std::shared_ptr<SegmentWriter> writer_;  // used by the disk thread only, once open
    SegmentReader reader_;

    std::string gathering_;
    Lsn gathering_at_;
    std::size_t record_at_ = 0;
    // Complete batches. The first is being written while the disk is busy. Usually one.
    struct Sealed {
        Lsn at;
        std::shared_ptr<const std::string> bytes;
    };
    std::deque<Sealed> sealed_;
    bool disk_busy_ = false;
    bool flush_wanted_ = false;
    bool sync_wanted_ = false;
    bool syncing_ = false;
    bool disk_full_ = false;
    bool failed_ = false;
    bool closed_ = false;
    Lsn written_;
    Lsn durable_;
    std::uint32_t epoch_ = 0;
    Secret secret_ = 0;
    bool secret_is_kept_ = false;  // the secret is in its file

    JournalCounters counters_;
    std::vector<std::string> leftovers_;  // files to remove after successful recovery
    std::string snapshot_;
    Lsn snapshot_at_;
    bool compacting_ = false;
    std::set<Lsn> unreadable_;  // segments that a compaction could not read
    bool found_no_room_ = false;
    std::shared_ptr<Snapshot> next_snapshot_;  // until it is synced
};

}  // namespace revenant::journal
