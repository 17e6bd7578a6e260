#include "journal/segments.h"

#include "base/check.h"
#include "base/probe.h"
#include "journal/position_name.h"

#include <algorithm>

namespace revenant::journal {
namespace {

constexpr std::string_view segment_suffix = ".segment";
constexpr std::string_view spare_suffix = ".spare";

Unexpected<IoError> damaged(const Segment& segment, Lsn at) {
    return Unexpected{
        IoError{"journal damaged: file " + segment.path + ", offset " +
                std::to_string(at.value - segment.start.value) +
                ": synced data is unreadable; see docs/formats/journal.md for recovery"}};
}

Unexpected<IoError> unsupported_version(const Segment& segment, unsigned version) {
    return Unexpected{IoError{"file " + segment.path + " has journal format version " +
                              std::to_string(version) + ", this broker supports version " +
                              std::to_string(batch_version_known) +
                              "; see docs/formats/journal.md"}};
}

Unexpected<IoError> of_earlier_version(const Segment& segment, Lsn at) {
    return Unexpected{IoError{
        "file " + segment.path + ", offset " + std::to_string(at.value - segment.start.value) +
        ": an earlier version of the broker was used after a later one and was not stopped "
        "cleanly; start it again, stop it, then start this one; see docs/formats/journal.md"}};
}

}  // namespace

std::string segment_name(Lsn start) { return position_name(start, segment_suffix); }

std::optional<Lsn> parse_segment_name(std::string_view name) {
    return parse_position_name(name, segment_suffix);
}

// ------------------------------------------------------------------------- reading

const Segment* SegmentReader::find(Lsn at) const {
    auto found = segments_.upper_bound(at);
    if (found == segments_.begin()) return nullptr;
    return &std::prev(found)->second;
}

Result<void, IoError> SegmentReader::read(Lsn at, std::span<char> into) const {
    const Segment* const segment = find(at);
    if (segment == nullptr) {
        return Unexpected{IoError{"journal damaged: no segment contains position " +
                                  std::to_string(at.value) +
                                  "; see docs/formats/journal.md for recovery"}};
    }
    std::uint64_t offset = at.value - segment->start.value;
    if (segment->index) {
        const auto place = segment->index->find(at);
        if (!place || place->contiguous_end.value - at.value < into.size()) {
            return damaged(*segment, at);
        }
        offset = place->offset;
    }
    REVENANT_TRY(const std::size_t got, segment->file->read(offset, into));
    if (got != into.size()) return damaged(*segment, at);
    return {};
}

bool SegmentReader::has_position(Lsn at) const {
    const Segment* const segment = find(at);
    if (segment == nullptr) return false;
    if (segment->index) return segment->index->find(at).has_value();
    const auto size = segment->file->size();
    return size && at.value - segment->start.value < *size;
}

std::optional<Lsn> SegmentReader::contiguous_end(Lsn at) const {
    const Segment* const segment = find(at);
    if (segment != nullptr && segment->index) {
        const auto place = segment->index->find(at);
        return place ? place->contiguous_end : at;
    }
    const auto following = segments_.upper_bound(at);
    if (following == segments_.end()) return std::nullopt;
    return following->first;
}

void SegmentReader::will_need(Lsn at, std::uint64_t size) const {
    const Segment* const segment = find(at);
    if (segment == nullptr) return;
    std::uint64_t offset = at.value - segment->start.value;
    if (segment->index) {
        const auto place = segment->index->find(at);
        if (!place) return;
        offset = place->offset;
    }
    segment->file->will_need(offset, size);
}

namespace {

// A moving window of a segment file.
class Window {
  public:
    Window(const Segment& segment, std::uint64_t file_bytes)
        : segment_(segment), file_bytes_(file_bytes) {}

    std::uint64_t end() const { return segment_.start.value + file_bytes_; }

    // Returns `size` bytes from this position, or fewer at the end of the file.
    Result<std::string_view, IoError> at(Lsn at, std::size_t size) {
        const std::uint64_t offset = at.value - segment_.start.value;
        const std::uint64_t wanted = std::min<std::uint64_t>(size, file_bytes_ - offset);
        if (offset < offset_ || offset + wanted > offset_ + buffer_.size()) {
            offset_ = offset;
            buffer_.resize(
                std::min(std::max<std::uint64_t>(wanted, window_bytes), file_bytes_ - offset));
            REVENANT_TRY(const std::size_t got, segment_.file->read(offset, buffer_));
            buffer_.resize(got);
        }
        return std::string_view(buffer_).substr(offset - offset_, wanted);
    }

  private:
    static constexpr std::uint64_t window_bytes = 1024 * 1024;
    const Segment& segment_;
    const std::uint64_t file_bytes_;
    std::uint64_t offset_ = 0;
    std::string buffer_;
};

// Returns the batch at this position if it is intact.
Result<std::optional<ScannedBatch>, IoError> read_batch(Window& window, Lsn at) {
    REVENANT_TRY(const std::string_view head, window.at(at, batch_header_bytes));
    const auto header = read_batch_header(head, at);
    if (!header || at.value + header->size > window.end()) return std::optional<ScannedBatch>{};
    REVENANT_TRY(const std::string_view bytes, window.at(at, header->size));
    if (!is_batch_intact(bytes, *header)) return std::optional<ScannedBatch>{};
    return std::optional{ScannedBatch{at, bytes, header->epoch, header->synced, header->secret}};
}

// A batch of another version is neither torn nor damaged, and is never cut off.
Result<void, IoError> check_version(const Segment& segment, Window& window, Lsn at, Secret secret) {
    REVENANT_TRY(const std::string_view head, window.at(at, batch_header_bytes));
    const auto version = batch_version(head, at);
    if (!version || (secret != 0 && version->secret != secret)) return {};
    if (version->number != batch_version_known)
        return unsupported_version(segment, version->number);
    return {};
}

// Scans the bytes after a position that has no intact batch.
class TailScan {
  public:
    TailScan(const Segment& segment, Window& window, Lsn broken, Secret secret)
        : segment_(segment), window_(window), broken_(broken), secret_(secret) {}

    Result<void, IoError> search() {
        REVENANT_TRY_VOID(look_at_the_broken_one());
        for (std::uint64_t at = broken_.value + batch_alignment;
             at + batch_header_bytes <= window_.end(); at += batch_alignment) {
            REVENANT_TRY(const std::string_view head, window_.at({at}, batch_header_bytes));
            const auto version = batch_version(head, {at});
            if (!version || (secret_ != 0 && version->secret != secret_)) continue;
            REVENANT_TRY_VOID(look_at({at}));
        }
        return {};
    }
    // Whether a later batch records that the broken position was synced.
    bool was_synced() const { return was_synced_; }
    std::uint32_t epoch() const { return epoch_; }  // the highest found

  private:
    Result<void, IoError> look_at_the_broken_one() {
        REVENANT_TRY(const std::string_view head, window_.at(broken_, batch_header_bytes));
        header_ = read_batch_header(head, broken_);
        if (!header_) return {};
        // The beginning of a segment never contains bytes of a client.
        if (secret_ == 0 && broken_ == segment_.start) secret_ = header_->secret;
        if (secret_ == 0) torn_to_ = {broken_.value + header_->size};
        return {};
    }
    Result<void, IoError> look_at(Lsn at) {
        if (at < torn_to_ && !is_beginning_of_next(at)) return {};
        REVENANT_TRY_VOID(check_version(segment_, window_, at, secret_));
        REVENANT_TRY(const auto batch, read_batch(window_, at));
        if (!batch) return {};
        was_synced_ = was_synced_ || batch->synced > broken_;
        epoch_ = std::max(epoch_, batch->epoch);
        return {};
    }
    // If no secret is known, bytes inside a torn batch belong to that batch, whatever they look
    // like, unless the size of that batch is wrong.
    bool is_beginning_of_next(Lsn at) {
        constexpr unsigned tries_max = 16;
        if (tries_++ >= tries_max) return false;
        const auto bytes = window_.at(broken_, at.value - broken_.value);
        return bytes && would_be_whole(*bytes, *header_);
    }

    const Segment& segment_;
    Window& window_;
    const Lsn broken_;
    Secret secret_;
    std::optional<BatchHeader> header_;  // of the broken batch, if readable
    Lsn torn_to_;  // end of the broken batch according to its header, if no secret is known
    unsigned tries_ = 0;
    bool was_synced_ = false;
    std::uint32_t epoch_ = 0;
};

}  // namespace

Result<void, IoError> scan_segment(const Segment& segment, Lsn from, Lsn end,
                                   const BatchVisitor& visit) {
    REVENANT_TRY(const std::uint64_t file_bytes, segment.file->size());
    Window window(segment, file_bytes);
    for (Lsn at = from; at < end;) {
        if (at.value > window.end()) return damaged(segment, at);
        REVENANT_TRY(const auto batch, read_batch(window, at));
        if (!batch) {
            REVENANT_TRY_VOID(check_version(segment, window, at, 0));
            return damaged(segment, at);
        }
        REVENANT_TRY_VOID(visit(*batch));
        at.value += batch->bytes.size();
    }
    return {};
}

Result<StreamEnd, IoError> find_stream_end(const Segment& segment, const KnownOfStream& known,
                                           const BatchVisitor& visit) {
    REVENANT_TRY(const std::uint64_t file_bytes, segment.file->size());
    Window window(segment, file_bytes);
    StreamEnd found{segment.start, 0, known.secret};
    for (Lsn& at = found.end;;) {
        REVENANT_TRY(const auto batch, read_batch(window, at));
        const bool is_ours = batch && (found.secret == 0 || batch->secret == found.secret ||
                                       at == segment.start || at < known.reached);
        // A batch of an earlier epoch was cut off by a later start.
        if (batch && batch->epoch >= found.epoch && !is_ours && batch->secret == 0) {
            return of_earlier_version(segment, at);
        }
        if (!is_ours || batch->epoch < found.epoch) break;
        found.epoch = batch->epoch;
        found.secret = batch->secret;
        REVENANT_TRY_VOID(visit(*batch));
        at.value += batch->bytes.size();
    }
    REVENANT_TRY_VOID(check_version(segment, window, found.end, found.secret));
    TailScan remains(segment, window, found.end, found.secret);
    REVENANT_TRY_VOID(remains.search());
    if (remains.was_synced()) return damaged(segment, found.end);
    PROBE("segments.tail_cut");
    found.epoch = std::max(found.epoch, remains.epoch());
    return found;
}

// ------------------------------------------------------------------------- writing

void SegmentWriter::resume(Segment segment, std::shared_ptr<File> file, Lsn end) {
    filled_ = end.value - segment.start.value;
    stale_from_ = filled_;
    const auto size = file->size();
    stale_to_ = size ? *size : UINT64_MAX;
    file_ = std::move(file);
    current_ = std::move(segment);
}

Result<void, IoError> SegmentWriter::write(Lsn at, std::string_view batch,
                                           std::optional<Segment>& opened) {
    auto outcome = write_once(at, batch, opened);
    // Before the disk counts as full, the spares are removed.
    while (!outcome && outcome.error().disk_full && drop_spare()) {
        outcome = write_once(at, batch, opened);
    }
    return outcome;
}

bool SegmentWriter::drop_spare() {
    if (spares_.empty()) return false;
    PROBE("segments.spare_dropped");
    const bool removed = disk_.remove(spares_.back()).has_value();
    spares_.pop_back();
    return removed;
}

Result<void, IoError> SegmentWriter::write_once(Lsn at, std::string_view batch,
                                                std::optional<Segment>& opened) {
    const bool fits =
        current_ && (at.value - current_->start.value) + batch.size() <= settings_.segment_bytes;
    if (!fits && (!current_ || current_->start != at)) {
        REVENANT_TRY_VOID(open_next(at));
        opened = current_;
    }
    const std::uint64_t offset = at.value - current_->start.value;
    if (batch.size() < settings_.small_batch_bytes) {
        REVENANT_TRY_VOID(zero_ahead(offset + batch.size()));
    }
    REVENANT_TRY_VOID(end_with_zeros(offset + batch.size()));
    REVENANT_TRY_VOID(file_->write(offset, batch));
    filled_ = std::max(filled_, offset + batch.size());
    unsynced_ = true;
    return {};
}

Result<void, IoError> SegmentWriter::sync() {
    if (!unsynced_) return {};
    if (auto outcome = file_->sync(); !outcome) {
        IoError error = std::move(outcome).error();
        error.disk_full = false;
        return Unexpected{std::move(error)};
    }
    unsynced_ = false;
    return {};
}

// A segment is synced before the next one begins, so only the last can be torn.
Result<void, IoError> SegmentWriter::open_next(Lsn start) {
    REVENANT_TRY_VOID(sync());
    const std::string path = directory_ + "/" + segment_name(start);
    std::shared_ptr<File> file;
    filled_ = 0;
    stale_from_ = 0;
    stale_to_ = 0;
    if (!spares_.empty()) {
        PROBE("segments.spare_used");
        REVENANT_TRY_VOID(disk_.rename(spares_.back(), path));
        spares_.pop_back();
        REVENANT_TRY(file, disk_.open(path));
        REVENANT_TRY(filled_, file->size());
        stale_to_ = filled_;
    } else {
        REVENANT_TRY(file, disk_.create(path));
    }
    REVENANT_TRY_VOID(disk_.sync_directory(directory_));
    current_ = Segment{start, path, disk_.open_when_read(path), nullptr};
    file_ = std::move(file);
    return {};
}

// No old bytes after the last batch may look like the next one. The zeros are written before the
// batch, so that a killed process cannot leave a batch without them.
Result<void, IoError> SegmentWriter::end_with_zeros(std::uint64_t end) {
    const std::uint64_t to = std::min(end + batch_header_bytes, stale_to_);
    if (std::max(end, stale_from_) >= to) return {};
    return file_->write(end, std::string(to - end, '\0'));
}

Result<void, IoError> SegmentWriter::zero_ahead(std::uint64_t end) {
    if (end <= filled_) return {};
    const std::uint64_t to = std::max(end, filled_ + settings_.fill_bytes);
    const std::string zeros(to - filled_, '\0');
    REVENANT_TRY_VOID(file_->write(filled_, zeros));
    filled_ = to;
    stale_from_ = to;
    return {};
}

bool SegmentWriter::is_roomy() const {
    constexpr std::uint64_t segments_free_min = 8;
    const auto free_bytes = disk_.free_bytes(directory_);
    return free_bytes && *free_bytes >= segments_free_min * settings_.segment_bytes;
}

void SegmentWriter::trim_spares() {
    while (!spares_.empty() && !is_roomy() && drop_spare()) {
    }
}

Result<void, IoError> SegmentWriter::retire(const std::string& path) {
    // If disk space is low, no spare is kept.
    if (spares_.size() >= settings_.spares_max || !is_roomy()) return disk_.remove(path);
    const std::string spare = path + std::string(spare_suffix);
    REVENANT_TRY_VOID(disk_.rename(path, spare));
    spares_.push_back(spare);
    return {};
}

}  // namespace revenant::journal
