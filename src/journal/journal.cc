#include "journal/journal.h"

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/check.h"
#include "base/probe.h"
#include "journal/batch_format.h"
#include "journal/secret_file.h"
#include "journal/snapshot_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace revenant::journal {

struct Journal::Written {
    std::optional<Lsn> end;  // end of the batch; absent for a sync without a batch
    std::optional<IoError> error;
    std::optional<Segment> opened;
    std::int64_t sync_us = 0;
};

struct Journal::Snapshot {
    Lsn at;
    std::string bytes;
    std::set<Lsn> segments_in_use;
    // Unwritten data has no segment to name yet, so later segments stay.
    std::optional<Lsn> last_segment;
    bool submitted = false;
    std::optional<IoError> error;
};

Journal::Journal(Disk& disk, DiskWorker& worker, std::string directory, JournalSettings settings)
    : disk_(disk),
      worker_(worker),
      directory_(std::move(directory)),
      settings_(settings),
      self_(std::make_shared<Journal*>(this)),
      writer_(std::make_shared<SegmentWriter>(disk, directory_, settings.segments)) {}

Journal::~Journal() { *self_ = nullptr; }

void Journal::close() {
    // A listener that was notified of a full disk waits for its end.
    if (std::exchange(disk_full_, false) && listener_.disk_full) listener_.disk_full(false);
    listener_ = {};
    closed_ = true;
}

// ------------------------------------------------------------------------- opening

Result<std::unique_ptr<Journal>, IoError> Journal::open(Disk& disk, DiskWorker& worker,
                                                        std::string directory,
                                                        JournalSettings settings) {
    REVENANT_TRY_VOID(disk.make_directory(directory));
    std::unique_ptr<Journal> journal(new Journal(disk, worker, std::move(directory), settings));
    REVENANT_TRY_VOID(journal->find_files());
    REVENANT_TRY_VOID(journal->find_end());
    return journal;
}

Result<void, IoError> Journal::find_files() {
    REVENANT_TRY(const auto names, disk_.list(directory_));
    std::vector<Lsn> snapshots;
    std::vector<CompactedFile> compacted_files;
    for (const std::string& name : names) {
        const std::string path = directory_ + "/" + name;
        if (const auto start = parse_segment_name(name)) {
            reader_.add({*start, path, disk_.open_when_read(path), nullptr});
        } else if (const auto compacted = parse_compacted_name(name)) {
            REVENANT_TRY(auto file, open_compacted_file(disk_, directory_, *compacted));
            compacted_files.push_back(std::move(file));
        } else if (const auto at = parse_snapshot_name(name)) {
            snapshots.push_back(*at);
        } else if (name.ends_with(".spare")) {
            writer_->add_spare(path);
        } else if (name.ends_with(".new")) {
            leftovers_.push_back(path);  // an unfinished file
        }
    }
    adopt(std::move(compacted_files));
    if (snapshots.empty()) return {};
    // Every snapshot was synced before it got its final name, so the newest must be complete.
    std::sort(snapshots.begin(), snapshots.end());
    REVENANT_TRY_VOID(read_snapshot(snapshots.back()));
    snapshots.pop_back();
    for (const Lsn at : snapshots) leftovers_.push_back(directory_ + "/" + snapshot_name(at));
    return {};
}

// Each compacted file replaces the files it was made from, including earlier compacted ones. A
// crash may have left some of them.
void Journal::adopt(std::vector<CompactedFile> files) {
    std::sort(files.begin(), files.end(),
              [](const CompactedFile& a, const CompactedFile& b) { return a.start < b.start; });
    Lsn covered;
    for (const CompactedFile& file : files) {
        if (file.start < covered) {
            leftovers_.push_back(file.path);
            continue;
        }
        covered = file.end;
        std::vector<Segment> replaced;
        for (const auto& [start, segment] : reader_.all()) {
            if (start >= file.start && start < file.end) replaced.push_back(segment);
        }
        for (const Segment& segment : replaced) {
            reader_.forget(segment.start);
            leftovers_.push_back(segment.path);
        }
        reader_.add({file.start, file.path, file.file, file.index});
    }
}

Result<void, IoError> Journal::read_snapshot(Lsn at) {
    REVENANT_TRY(auto snapshot, read_snapshot_file(disk_, directory_, at));
    snapshot_at_ = at;
    snapshot_ = std::move(snapshot.bytes);
    epoch_ = snapshot.epoch;
    return {};
}

namespace {

constexpr std::size_t rewritten_at_once_bytes = 1024 * 1024;

// Data that a killed process left may not be on disk yet. If a sync of it failed, it never will be,
// although it is readable: later syncs do not cover it. So it is written again.
Result<void, IoError> rewrite_tail(const Segment& segment, File& file, Lsn from, Lsn end) {
    std::string bytes;
    for (Lsn at = from; at < end; at.value += bytes.size()) {
        bytes.resize(std::min<std::uint64_t>(rewritten_at_once_bytes, end.value - at.value));
        const std::uint64_t offset = at.value - segment.start.value;
        REVENANT_TRY(const std::size_t got, file.read(offset, bytes));
        if (got != bytes.size()) {
            return Unexpected{IoError{"file " + segment.path + " is shorter than expected"}};
        }
        REVENANT_TRY_VOID(file.write(offset, bytes));
    }
    return file.sync();
}

}  // namespace

// Only the last segment can be torn, so the end is searched there.
Result<void, IoError> Journal::find_end() {
    Lsn end = snapshot_at_;
    secret_ = read_secret(disk_, directory_);
    const Secret kept = secret_;
    if (!reader_.all().empty()) {
        const auto at = reader_.all().rbegin();
        const Segment& last = at->second;
        Lsn certain = last.start;  // everything before this position is synced
        const auto visit = [&](const ScannedBatch& batch) {
            certain = std::max(certain, batch.synced);
            epoch_ = std::max(epoch_, batch.epoch);
            return Result<void, IoError>{};
        };
        REVENANT_TRY(const StreamEnd found, find_stream_end(last, {secret_, snapshot_at_}, visit));
        epoch_ = std::max(epoch_, found.epoch);
        secret_ = found.secret;
        const auto before = std::next(at);
        if (found.end == last.start && last.start > snapshot_at_ &&
            before != reader_.all().rend()) {
            // No batch in it is intact, so the epoch is that of the segment before.
            REVENANT_TRY_VOID(scan_segment(before->second, before->first, last.start, visit));
        }
        if (found.end < snapshot_at_) {
            return Unexpected{IoError{"journal damaged: file " + last.path + ", offset " +
                                      std::to_string(found.end.value - last.start.value) +
                                      ": the journal ends before snapshot " + snapshot_path() +
                                      "; see docs/formats/journal.md for recovery"}};
        }
        end = found.end;
        REVENANT_TRY(auto file, disk_.open(last.path));
        REVENANT_TRY_VOID(rewrite_tail(last, *file, std::min(certain, end), end));
        writer_->resume(last, std::move(file), end);
    }
    REVENANT_TRY_VOID(disk_.sync_directory(directory_));
    if (epoch_ == UINT32_MAX) {
        return Unexpected{
            IoError{"journal damaged: directory " + directory_ + ": start counter out of range"}};
    }
    epoch_ += 1;
    while (secret_ == 0) secret_ = disk_.draw_secret();
    secret_is_kept_ = secret_ == kept;
    written_ = end;
    durable_ = end;
    start_gathering(end);
    return {};
}

Result<void, IoError> Journal::replay(const Visitor& visit) {
    const Lsn end = durable_;
    const auto each_record = [&](const ScannedBatch& batch) -> Result<void, IoError> {
        ByteReader in(batch.bytes);
        in.bytes(batch_header_bytes);
        while (in.remaining() >= record_header_bytes) {
            const std::uint32_t size = in.u32();
            if (size == 0) break;
            const Lsn at{batch.at.value + batch.bytes.size() - in.remaining()};
            const std::string_view bytes = in.bytes(size);
            if (in.failed()) {
                return Unexpected{IoError{"journal damaged: directory " + directory_ +
                                          ", position " + std::to_string(at.value) +
                                          ": record extends past its batch"}};
            }
            REVENANT_TRY_VOID(visit({bytes, at, batch.at}));
        }
        return {};
    };
    // A copy, because the visitor may append, which opens segments.
    const std::map<Lsn, Segment> segments = reader_.all();
    Lsn expected = snapshot_at_;
    const auto missing = [&] {
        return Unexpected{IoError{"journal damaged: directory " + directory_ +
                                  ": the segment that contains position " +
                                  std::to_string(expected.value) +
                                  " is missing; see docs/formats/journal.md for recovery"}};
    };
    for (auto at = segments.begin(); at != segments.end(); ++at) {
        const auto following = std::next(at);
        const Lsn segment_end = following == segments.end() ? end : following->first;
        if (segment_end <= snapshot_at_ || at->first >= end) continue;
        const Lsn from = std::max(at->first, snapshot_at_);
        if (from != expected) return missing();
        REVENANT_TRY_VOID(scan_segment(at->second, from, segment_end, each_record));
        expected = segment_end;
    }
    if (expected != end) return missing();
    for (const std::string& path : std::exchange(leftovers_, {})) {
        REVENANT_TRY_VOID(disk_.remove(path));
    }
    snapshot_.clear();
    snapshot_.shrink_to_fit();
    if (secret_is_kept_) return {};
    auto kept = keep_secret(disk_, directory_, secret_);
    // On a full disk the file can wait until the next snapshot, because every batch has the secret.
    if (!kept && !kept.error().disk_full) return kept;
    secret_is_kept_ = kept.has_value();
    return {};
}

// ------------------------------------------------------------------------- appending

void Journal::start_gathering(Lsn at) {
    gathering_at_ = at;
    gathering_.assign(batch_header_bytes, '\0');
}

std::string& Journal::begin_record() {
    record_at_ = gathering_.size();
    gathering_.append(record_header_bytes, '\0');
    return gathering_;
}

Lsn Journal::end_record() {
    const std::size_t size = gathering_.size() - record_at_ - record_header_bytes;
    CHECK(size > 0);
    ByteWriter(gathering_).patch_u32(record_at_, static_cast<std::uint32_t>(size));
    return position();
}

std::size_t Journal::waiting_bytes() const {
    std::size_t bytes = gathering_.size();
    for (const Sealed& batch : sealed_) bytes += batch.bytes->size();
    return bytes;
}

void Journal::flush(SyncMode mode) {
    const bool gathered = gathering_.size() > batch_header_bytes;
    const bool unsynced = gathered || !sealed_.empty() || durable_ != written_;
    if (gathered) flush_wanted_ = true;
    if (unsynced && mode == SyncMode::immediate) sync_wanted_ = true;
    // While the disk is full, only retry() tries again.
    if (!disk_full_) submit();
}

void Journal::retry() {
    if (!disk_full_) return;
    PROBE("journal.tried_again");
    submit();
}

// Completes the gathered records as a batch.
void Journal::seal() {
    if (gathering_.size() == batch_header_bytes) return;
    finish_batch(gathering_, gathering_at_, durable_, epoch_, secret_);
    sealed_.push_back({gathering_at_, std::make_shared<const std::string>(std::move(gathering_))});
    start_gathering({gathering_at_.value + sealed_.back().bytes->size()});
    flush_wanted_ = false;
}

void Journal::submit() {
    if (failed_ || closed_ || disk_busy_) return;
    if (sealed_.empty() && flush_wanted_) seal();
    if (sealed_.empty() && durable_ == written_) sync_wanted_ = false;
    if (sealed_.empty() && !sync_wanted_) return;
    disk_busy_ = true;
    // All sealed batches share one sync, after the last.
    syncing_ = sealed_.size() <= 1 && sync_wanted_;
    // After a full disk, the sync may be meant for records that are still being gathered.
    if (syncing_ && !flush_wanted_) sync_wanted_ = false;
    const auto written = std::make_shared<Written>();
    if (!sealed_.empty()) {
        written->end = {sealed_.front().at.value + sealed_.front().bytes->size()};
    }
    worker_.run(
        [written, writer = writer_, batch = sealed_.empty() ? Sealed{} : sealed_.front(),
         sync = syncing_, now = settings_.now] {
            Result<void, IoError> outcome;
            if (batch.bytes) outcome = writer->write(batch.at, *batch.bytes, written->opened);
            const Timestamp before = sync && now != nullptr ? now() : Timestamp{};
            if (outcome && sync) outcome = writer->sync();
            if (sync && now != nullptr) written->sync_us = (now() - before).us;
            if (!outcome) written->error = std::move(outcome).error();
        },
        [written, self = self_] {
            if (*self != nullptr) (*self)->on_written(*written);
        });
}

void Journal::on_written(const Written& written) {
    disk_busy_ = false;
    if (failed_) return;
    if (written.opened) reader_.add(*written.opened);
    if (written.error && written.error->disk_full) {
        sync_wanted_ = sync_wanted_ || syncing_;
        if (!std::exchange(disk_full_, true) && listener_.disk_full) listener_.disk_full(true);
        return;
    }
    if (written.error) return fail(*written.error);
    if (written.end) {
        written_ = *written.end;
        counters_.batches += 1;
        counters_.written_bytes += sealed_.front().bytes->size();
        sealed_.pop_front();
    }
    const bool synced = syncing_;
    if (synced) {
        durable_ = written_;
        counters_.syncs.observe(static_cast<std::uint64_t>(written.sync_us));
        submit_snapshot();
    }
    // The listener may append and flush immediately.
    if (std::exchange(disk_full_, false) && listener_.disk_full) listener_.disk_full(false);
    if (synced && listener_.durable) listener_.durable(durable_);
    submit();
}

void Journal::fail(const IoError& error) {
    if (std::exchange(failed_, true)) return;
    if (listener_.failed) listener_.failed(error.text);
}

// ------------------------------------------------------------------------- reading

Result<void, IoError> Journal::read(Lsn at, std::span<char> into) const {
    const auto copy_from = [&](const std::string& bytes, Lsn start) {
        const std::uint64_t offset = at.value - start.value;
        CHECK(offset + into.size() <= bytes.size());
        std::memcpy(into.data(), bytes.data() + offset, into.size());
    };
    if (at >= gathering_at_) {
        copy_from(gathering_, gathering_at_);
        return {};
    }
    for (const Sealed& batch : sealed_) {
        if (at < batch.at || at.value >= batch.at.value + batch.bytes->size()) continue;
        copy_from(*batch.bytes, batch.at);
        return {};
    }
    return reader_.read(at, into);
}

Lsn Journal::contiguous_end(Lsn at) const {
    if (at >= gathering_at_) return position();
    for (const Sealed& batch : sealed_) {
        const Lsn end{batch.at.value + batch.bytes->size()};
        if (at >= batch.at && at < end) return end;
    }
    return reader_.contiguous_end(at).value_or(written_);
}

std::string Journal::describe_position(Lsn at) const {
    const Segment* const segment = reader_.find(at);
    if (segment == nullptr) return "position " + std::to_string(at.value) + " of " + directory_;
    return "file " + segment->path + ", offset " + std::to_string(at.value - segment->start.value);
}

bool Journal::has_position(Lsn at) const { return at >= written_ || reader_.has_position(at); }

std::string Journal::snapshot_path() const {
    return directory_ + "/" + snapshot_name(snapshot_at_);
}

Lsn Journal::segment_of(Lsn at) const {
    const Segment* const segment = reader_.find(at);
    return segment == nullptr ? Lsn{} : segment->start;
}

std::vector<Lsn> Journal::segments_between(Lsn first, Lsn last) const {
    std::vector<Lsn> starts;
    const auto& segments = reader_.all();
    auto at = segments.upper_bound(first);
    if (at != segments.begin()) --at;
    for (; at != segments.end() && at->first <= last; ++at) starts.push_back(at->first);
    return starts;
}

// ------------------------------------------------------------------------- snapshots

void Journal::write_snapshot(std::string bytes, std::set<Lsn> segments_in_use) {
    CHECK(!next_snapshot_ && !compacting_);
    seal();  // replay begins with a complete batch
    next_snapshot_ = std::make_shared<Snapshot>(
        Snapshot{gathering_at_, std::move(bytes), std::move(segments_in_use), {}, false, {}});
    if (!reader_.all().empty()) next_snapshot_->last_segment = reader_.all().rbegin()->first;
    if (durable_ >= next_snapshot_->at) return submit_snapshot();
    flush(SyncMode::immediate);
}

// Everything a snapshot refers to is synced before the snapshot is.
void Journal::submit_snapshot() {
    if (failed_ || closed_ || !next_snapshot_ || durable_ < next_snapshot_->at) return;
    if (std::exchange(next_snapshot_->submitted, true)) return;
    worker_.run(
        [snapshot = next_snapshot_, before = snapshot_at_, epoch = epoch_, &disk = disk_,
         directory = directory_, unkept = secret_is_kept_ ? 0 : secret_] {
            Result<void, IoError> written;
            if (unkept != 0) written = keep_secret(disk, directory, unkept);
            if (written) {
                written =
                    write_snapshot_file(disk, directory, snapshot->at, epoch, snapshot->bytes);
            }
            if (written && before != snapshot->at) {
                written = disk.remove(directory + "/" + snapshot_name(before));
            }
            if (!written) snapshot->error = std::move(written).error();
        },
        [snapshot = next_snapshot_, self = self_] {
            if (*self != nullptr) (*self)->on_snapshot_written(*snapshot);
        });
}

void Journal::on_snapshot_written(const Snapshot& snapshot) {
    const std::shared_ptr<Snapshot> done = std::exchange(next_snapshot_, nullptr);
    if (snapshot.error && snapshot.error->disk_full) {  // the next one may find space
        found_no_room_ = true;
        return;
    }
    if (snapshot.error) return fail(*snapshot.error);
    if (failed_) return;
    snapshot_at_ = snapshot.at;
    secret_is_kept_ = true;
    counters_.snapshots += 1;
    counters_.snapshot_bytes += snapshot.bytes.size();
    drop_segments(snapshot);
}

// ------------------------------------------------------------------------- compaction

std::vector<Journal::ClosedSegment> Journal::closed_segments() const {
    std::vector<ClosedSegment> closed;
    const auto& segments = reader_.all();
    for (auto at = segments.begin(); at != segments.end(); ++at) {
        const auto following = std::next(at);
        if (following == segments.end()) break;
        // Segments after it may have been removed.
        std::uint64_t bytes =
            std::min(following->first.value - at->first.value, settings_.segments.segment_bytes);
        if (at->second.index) {
            bytes = 0;
            for (const Extent& extent : at->second.index->extents()) bytes += extent.size;
        }
        closed.push_back({at->first, following->first, bytes, at->second.index != nullptr,
                          unreadable_.contains(at->first)});
    }
    return closed;
}

struct Journal::Compaction {
    std::vector<Segment> sources;
    std::shared_ptr<const void> kept_open;
    std::vector<Extent> extents;
    Lsn end;
    std::optional<CompactedFile> file;
    std::optional<IoError> error;
    bool unreadable = false;  // the error is in a source
};

void Journal::compact(Lsn start, Lsn end, std::vector<Extent> in_use) {
    CHECK(!compacting_ && !next_snapshot_);
    if (closed_) return;
    const auto compaction = std::make_shared<Compaction>();
    SegmentReader sources;
    for (const auto& [at, segment] : reader_.all()) {
        if (at < start || at >= end) continue;
        compaction->sources.push_back(segment);
        sources.add(segment);
    }
    CHECK(!compaction->sources.empty() && end <= snapshot_at_);
    // The new file may replace a compacted file with the same first position, which is read until
    // the new file is complete.
    if (const Segment& first = compaction->sources.front(); first.index) {
        auto kept = first.file->keep_open();
        if (!kept) {
            unreadable_.insert(first.start);
            return;
        }
        compaction->kept_open = std::move(kept).value();
    }
    compaction->extents = joined(std::move(in_use));
    compaction->end = end;
    compacting_ = true;
    worker_.run(
        [compaction, sources, start, end, &disk = disk_, directory = directory_] {
            auto written = write_compacted_file(disk, directory, start, end, compaction->extents,
                                                [&](const Extent& extent, std::span<char> into) {
                                                    auto outcome = sources.read(extent.at, into);
                                                    compaction->unreadable = !outcome;
                                                    return outcome;
                                                });
            if (written) {
                compaction->file = std::move(written).value();
            } else {
                compaction->error = std::move(written).error();
            }
        },
        [compaction, self = self_] {
            if (*self != nullptr) (*self)->on_compacted(*compaction);
        });
}

void Journal::on_compacted(const Compaction& compaction) {
    compacting_ = false;
    if (compaction.error && compaction.error->disk_full) {  // the next one may find space
        found_no_room_ = true;
        return;
    }
    if (compaction.unreadable) {
        // Unreadable data stays in place; it may be readable after a restart.
        for (const Segment& segment : compaction.sources) unreadable_.insert(segment.start);
        return;
    }
    if (compaction.error) return fail(*compaction.error);
    PROBE("journal.compacted");
    counters_.compactions += 1;
    for (const Extent& extent : compaction.extents) counters_.compacted_bytes += extent.size;
    const CompactedFile& file = *compaction.file;
    for (const Segment& segment : compaction.sources) {
        reader_.forget(segment.start);
        // The new file has replaced a compacted one with the same first position.
        if (segment.path != file.path) retire(segment);
    }
    reader_.add({file.start, file.path, file.file, file.index});
}

void Journal::retire(const Segment& segment) {
    if (closed_) return;  // removed with the directory
    if (segment.index) {
        worker_.run([&disk = disk_,
                     path = segment.path] { static_cast<void>(disk.remove(path).has_value()); },
                    [] {});
        return;
    }
    worker_.run([writer = writer_,
                 path = segment.path] { static_cast<void>(writer->retire(path).has_value()); },
                [] {});
}

void Journal::trim_spares() {
    if (closed_) return;
    worker_.run([writer = writer_] { writer->trim_spares(); }, [] {});
}

void Journal::drop_segments(const Snapshot& snapshot) {
    std::vector<Segment> dead;
    const auto& segments = reader_.all();
    for (auto at = segments.begin(); at != segments.end(); ++at) {
        const auto following = std::next(at);
        // The last segment is being written.
        if (following == segments.end() || following->first > snapshot.at) break;
        if (!snapshot.last_segment || at->first > *snapshot.last_segment) break;
        if (!snapshot.segments_in_use.contains(at->first)) dead.push_back(at->second);
    }
    for (const Segment& segment : dead) {
        reader_.forget(segment.start);
        retire(segment);
    }
}

}  // namespace revenant::journal
