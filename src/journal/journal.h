// Journal: an ordered stream of records made durable, and snapshots that shorten it. It knows no
// events. START READING HERE; the format is in batch_format.h.
//
// It lives on one thread, its home, and never waits: what was appended is gathered, handed to the
// disk's thread as one batch, and while that is written and synced the next one gathers. Bytes can
// be read back from the moment they were appended.
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
    Timestamp (*now)() = nullptr;  // to measure syncs by, on the disk's thread; may be absent
};

class Journal {
  public:
    // Told at home. A failed write or sync is never tried again: the node must stop. A full disk is
    // no failure: the batch is kept and tried again by retry().
    struct Listener {
        std::function<void(Lsn)> durable;
        std::function<void(const std::string&)> failed;
        std::function<void(bool)> disk_full;  // true when it is, false when it no longer is
    };

    // The records after the newest snapshot; `batch` is the position of the batch a record is in.
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

    // --- at the start: the newest snapshot, then everything behind it ---

    // Empty if there is none.
    const std::string& snapshot() const { return snapshot_; }
    std::string snapshot_path() const;
    // Until it has gone well nothing on the disk is changed: who refuses the contents leaves them
    // to the version of the broker that wrote them.
    Result<void, IoError> replay(const Visitor& visit);
    void listen(Listener listener) { listener_ = std::move(listener); }
    // Nothing more is handed to the disk, and nobody is told of what was. What can be read stays
    // readable. When the worker has done what it was given so far, the directory may go.
    void close();

    // --- appending ---

    // A record is what is appended to this string until end_record().
    std::string& begin_record();
    // The position of the next byte that is appended.
    Lsn position() const { return {gathering_at_.value + gathering_.size()}; }
    // Where the batch begins that is being gathered.
    Lsn batch_position() const { return gathering_at_; }
    // The position that must be durable for this record to be safe.
    Lsn end_record();

    enum class SyncMode : std::uint8_t { deferred, immediate };
    // Hands what was gathered to the disk, unless the disk is still at work: then as soon as it is
    // done. Convenient means: written, not yet synced.
    void flush(SyncMode mode);
    // A full disk may have room again.
    void retry();
    std::size_t waiting_bytes() const;
    std::size_t gathered_bytes() const { return gathering_.size(); }
    Lsn durable() const { return durable_; }
    bool is_disk_full() const { return disk_full_; }
    const JournalCounters& counters() const { return counters_; }
    std::size_t segment_count() const { return reader_.all().size(); }

    // --- reading ---

    Result<void, IoError> read(Lsn at, std::span<char> into) const;
    // Whether there is a file with this position in it.
    bool has_position(Lsn at) const;
    // The end of what lies in one place with this position: so far one read goes.
    Lsn contiguous_end(Lsn at) const;
    // That will be read soon.
    void will_need(Lsn at, std::uint64_t size) const { reader_.will_need(at, size); }
    // "file F, offset N", for errors.
    std::string describe_position(Lsn at) const;
    // The position its segment begins with: what is removed together. Known when it is written;
    // before that the answer is the segment written last.
    Lsn segment_of(Lsn at) const;
    // The segments from the one that holds `first` to the one that holds `last`.
    std::vector<Lsn> segments_between(Lsn first, Lsn last) const;

    // --- snapshots ---

    Lsn snapshot_position() const { return snapshot_at_; }
    // Everything before position() is in these bytes, but for what lies in the segments named,
    // which are still referred to. Other segments before it are gone when the snapshot is safe;
    // those that begin only after this call stay until the next one.
    void write_snapshot(std::string bytes, std::set<Lsn> segments_in_use);
    bool is_writing_snapshot() const { return next_snapshot_ != nullptr; }

    // --- compaction ---

    struct ClosedSegment {
        Lsn start;
        Lsn end;
        std::uint64_t bytes = 0;  // that it holds
        bool compacted = false;
        bool unreadable = false;  // a compaction could not read all of it
    };
    // All but the one that is being written, in order.
    std::vector<ClosedSegment> closed_segments() const;
    // Puts what is in use of the segments from `start` to `end`, all before the newest snapshot,
    // into one file in their place. In use is what that snapshot refers to, not less: a restart
    // begins there. Neither a snapshot nor another compaction may be under way.
    void compact(Lsn start, Lsn end, std::vector<Extent> in_use);
    bool is_compacting() const { return compacting_; }
    // Gives back files that are kept for later, where room has become short.
    void trim_spares();
    // Whether a snapshot or a compaction has found no room since this was last asked.
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
    // Callbacks of work under way look here whether the journal is still there.
    std::shared_ptr<Journal*> self_;
    std::shared_ptr<SegmentWriter> writer_;  // touched by the disk's thread only, once it is open
    SegmentReader reader_;

    std::string gathering_;
    Lsn gathering_at_;
    std::size_t record_at_ = 0;
    // Batches that are complete, the first of them with the disk while it is at work. Mostly one.
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
    bool secret_is_kept_ = false;  // in its file

    JournalCounters counters_;
    std::vector<std::string> leftovers_;  // files that go when the start has succeeded
    std::string snapshot_;
    Lsn snapshot_at_;
    bool compacting_ = false;
    std::set<Lsn> unreadable_;  // segments that a compaction could not read
    bool found_no_room_ = false;
    std::shared_ptr<Snapshot> next_snapshot_;  // until it is safe
};

}  // namespace revenant::journal
