#include "runtime/vhost_store.h"

#include "base/check.h"
#include "base/probe.h"
#include "engine/chain/page_codec.h"
#include "engine/codec/message_codec.h"
#include "engine/recovery/event_check.h"
#include "engine/recovery/snapshot_codec.h"
#include "engine/state/memory_budget.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace revenant::runtime {

using engine::Durability;

Result<std::unique_ptr<VhostStore>, std::string> VhostStore::open(
    journal::Disk& disk, std::unique_ptr<journal::DiskWorker> worker, const std::string& directory,
    StoreSettings settings, FatalHandler fatal) {
    std::unique_ptr<VhostStore> store(
        new VhostStore(disk, std::move(worker), directory, settings, std::move(fatal)));
    auto opened = journal::Journal::open(disk, *store->worker_, directory, settings.journal);
    if (!opened) return Unexpected{std::move(opened).error().text};
    store->journal_ = std::move(opened).value();
    return store;
}

// ------------------------------------------------------------------------- recovery

// Returns nothing if there is no message. The position comes from a record and may be wrong.
MessageRef VhostStore::find_message(Lsn at, const engine::MessageFormats& formats) {
    if (at >= journal_->durable()) return {};
    std::string bytes(engine::stored_message_header_bytes, '\0');
    if (!journal_->read(at, bytes)) return {};
    const std::size_t size = engine::stored_size(bytes);
    if (size > journal_->contiguous_end(at).value - at.value) return {};
    bytes.resize(size);
    if (!journal_->read(at, bytes)) return {};
    return engine::decode_stub(bytes, formats, at);
}

namespace {

std::string number_of(char byte) {
    return std::to_string(static_cast<unsigned>(static_cast<std::uint8_t>(byte)));
}

}  // namespace

Result<engine::Shutdown, std::string> VhostStore::recover_snapshot(engine::State& state) {
    const std::string& bytes = journal_->snapshot();
    if (bytes.empty()) return engine::Shutdown::none;
    if (static_cast<std::uint8_t>(bytes.front()) != engine::snapshot_version) {
        return Unexpected{"file " + journal_->snapshot_path() + " has snapshot version " +
                          number_of(bytes.front()) + ", this broker supports version " +
                          std::to_string(engine::snapshot_version)};
    }
    const auto decoded = engine::decode_snapshot(bytes, state);
    if (!decoded) {
        return Unexpected{"file " + journal_->snapshot_path() + " contains an invalid snapshot"};
    }
    return decoded->stop;
}

Result<void, std::string> VhostStore::recover(engine::State& state) {
    REVENANT_TRY(const engine::Shutdown stop, recover_snapshot(state));
    bool suspect = stop != engine::Shutdown::clean;
    const engine::MessageFormats& formats = state.paging().formats;
    engine::EventReader reader(formats, [&](Lsn at) { return find_message(at, formats); });
    std::vector<engine::Event> facts;
    const auto replayed = journal_->replay(
        [&](const journal::Journal::Record& record) -> Result<void, journal::IoError> {
            const char kind = record.bytes.front();
            if (kind == static_cast<char>(engine::RecordKind::page)) return {};
            if (kind != static_cast<char>(engine::RecordKind::events)) {
                return Unexpected{journal::IoError{journal_->describe_position(record.at) +
                                                   ": unknown record kind " + number_of(kind)}};
            }
            facts.clear();
            if (!reader.read(record.bytes.substr(1), {record.at.value + 1}, record.batch, facts)) {
                return Unexpected{journal::IoError{journal_->describe_position(record.at) +
                                                   ": record with an unknown or unreadable event"}};
            }
            for (const engine::Event& fact : facts) {
                if (!engine::can_apply(state, fact)) {
                    return Unexpected{
                        journal::IoError{journal_->describe_position(record.at) +
                                         ": record with an event that contradicts earlier ones"}};
                }
                state.apply(fact);
            }
            state.free_retired_bindings();
            engine::enforce_memory_budget_in_replay(state);
            suspect = true;
            return {};
        });
    if (!replayed) return Unexpected{replayed.error().text};
    REVENANT_TRY_VOID(check_files(state));
    if (suspect) state.mark_all_redelivered();
    auto scratch = journal::Scratch::open(disk_, directory_ + "/scratch");
    if (!scratch) return Unexpected{std::move(scratch).error().text};
    scratch_ = std::move(scratch).value();
    return {};
}

// Reports a missing file at startup instead of when a message in it is needed.
Result<void, std::string> VhostStore::check_files(engine::State& state) const {
    for (const engine::JournalRange& use : engine::journal_ranges_in_use(state)) {
        for (const Lsn at : {use.first, use.last}) {
            if (journal_->has_position(at)) continue;
            return Unexpected{
                "journal damaged: " + journal_->describe_position(at) +
                ": expected messages at this position, but the file is missing or too short; "
                "see docs/formats/journal.md for recovery"};
        }
    }
    return {};
}

// ------------------------------------------------------------------------- snapshots

void VhostStore::take_snapshot_if_due(engine::State& state) {
    if (is_busy()) return;
    compact_if_planned();
    if (journal_->is_compacting()) return;
    if (bytes_since_snapshot() >= settings_.snapshot_after_bytes) {
        take_snapshot(state, engine::Shutdown::none);
    }
}

void VhostStore::compact_when_idle(engine::State& state) {
    if (is_busy() || !planned_.empty()) return;
    if (bytes_since_snapshot() >= settings_.idle_snapshot_after_bytes) {
        take_snapshot(state, engine::Shutdown::none);
    } else if (journal_->position() != looked_at_) {
        free_space(state);
    }
}

// A record that settles a message has a few bytes, but the message may have millions. The bytes
// written since the last snapshot do not show how much a new one would free.
void VhostStore::free_space(engine::State& state) {
    if (is_busy() || !planned_.empty()) return;
    const std::uint64_t ended = state.accounts().ended_total();
    const bool found_no_room = journal_->take_found_no_room();
    if (!found_no_room && journal_->position() == looked_at_ && ended == ended_when_looked_) return;
    looked_at_ = journal_->position();
    ended_when_looked_ = ended;
    // Checking every queue is not worthwhile for less.
    if (closed_bytes() < settings_.compact_for_bytes) return;
    const BytesInUse used = bytes_by_segment(engine::journal_ranges_in_use(state));
    if (freeable_bytes(used) < settings_.compact_for_bytes) return;
    PROBE("vhost_store.freed_space");
    take_snapshot(state, engine::Shutdown::none);
}

bool VhostStore::is_busy() const {
    return journal_->is_writing_snapshot() || journal_->is_compacting();
}

std::uint64_t VhostStore::bytes_since_snapshot() const {
    return journal_->position().value - journal_->snapshot_position().value;
}

VhostStore::BytesInUse VhostStore::bytes_by_segment(
    const std::vector<engine::JournalRange>& journal_ranges) const {
    BytesInUse bytes;
    for (const engine::JournalRange& use : journal_ranges) {
        // A range may span several segments; segments in the middle count as used.
        const std::vector<Lsn> segments = journal_->segments_between(use.first, use.last);
        for (const Lsn segment : segments) bytes[segment] += use.bytes / segments.size();
    }
    return bytes;
}

void VhostStore::take_snapshot(engine::State& state, engine::Shutdown stop) {
    engine::EncodedSnapshot snapshot = engine::encode_snapshot_with_uses(state, stop);
    const BytesInUse used = bytes_by_segment(snapshot.journal_ranges);
    std::set<Lsn> in_use;
    for (const auto& [segment, bytes] : used) in_use.insert(segment);
    journal_->write_snapshot(std::move(snapshot.bytes), std::move(in_use));
    if (stop == engine::Shutdown::none) plan_compactions(state, used);
}

// ------------------------------------------------------------------------- compaction

namespace {

struct SegmentRun {
    Lsn start;
    Lsn end;
    std::size_t files = 0;
    std::uint64_t bytes = 0;
    std::uint64_t used = 0;

    std::uint64_t reclaimable_bytes() const { return bytes - std::min(bytes, used); }
    bool is_worth_compacting(const StoreSettings& settings) const {
        return reclaimable_bytes() >= settings.compact_for_bytes ||
               files >= settings.compact_for_files;
    }
};

// A file is worth compacting if little of it is in use, or if it is small.
bool is_sparse(const journal::Journal::ClosedSegment& segment, std::uint64_t used) {
    constexpr std::uint64_t small_file_bytes = 1024 * 1024;
    if (segment.unreadable) return false;
    return used * 4 < segment.bytes || (segment.compacted && segment.bytes < small_file_bytes);
}

std::vector<SegmentRun> sparse_runs(const std::vector<journal::Journal::ClosedSegment>& segments,
                                    const std::map<Lsn, std::uint64_t>& bytes_in_use,
                                    const std::set<Lsn>& kept_whole) {
    std::vector<SegmentRun> found(1);
    for (const auto& segment : segments) {
        const auto used = bytes_in_use.find(segment.start);
        if (used == bytes_in_use.end()) continue;  // the snapshot removes it
        if (kept_whole.contains(segment.start) || !is_sparse(segment, used->second)) {
            found.emplace_back();
            continue;
        }
        SegmentRun& run = found.back();
        if (run.files == 0) run.start = segment.start;
        run.end = segment.end;
        run.files += 1;
        run.bytes += segment.bytes;
        run.used += used->second;
    }
    return found;
}

}  // namespace

// The most that a new snapshot and the compactions after it could free.
std::uint64_t VhostStore::closed_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& segment : journal_->closed_segments()) bytes += segment.bytes;
    return bytes;
}

std::uint64_t VhostStore::freeable_bytes(const BytesInUse& bytes_in_use) const {
    const auto segments = journal_->closed_segments();
    std::uint64_t bytes = 0;
    for (const auto& segment : segments) {
        if (!bytes_in_use.contains(segment.start)) bytes += segment.bytes;
    }
    for (const SegmentRun& run : sparse_runs(segments, bytes_in_use, kept_whole_)) {
        if (run.is_worth_compacting(settings_)) bytes += run.reclaimable_bytes();
    }
    return bytes;
}

// Data that the snapshot refers to must stay even if it is settled before the compaction begins,
// because a restart begins with the snapshot. So the ranges in use are taken with the snapshot.
void VhostStore::plan_compactions(engine::State& state, const BytesInUse& bytes_in_use) {
    planned_.clear();
    planned_with_ = journal_->batch_position();
    for (const SegmentRun& run :
         sparse_runs(journal_->closed_segments(), bytes_in_use, kept_whole_)) {
        if (!run.is_worth_compacting(settings_)) continue;
        const engine::ExactUse used = engine::journal_ranges_in_use(state, run.start, run.end);
        if (!used.somewhere.empty()) {
            PROBE("vhost_store.kept_whole");
            for (const engine::JournalRange& use : used.somewhere) {
                const auto segments = journal_->segments_between(use.first, use.last);
                kept_whole_.insert(segments.begin(), segments.end());
            }
            continue;  // the next plan leaves these segments out
        }
        PlannedCompaction& planned = planned_.emplace_back();
        planned.start = run.start;
        planned.end = run.end;
        for (const engine::JournalRange& use : used.exact) {
            planned.in_use.push_back({use.first, use.bytes});
        }
    }
}

void VhostStore::compact_if_planned() {
    if (planned_.empty()) return;
    PlannedCompaction planned = std::move(planned_.back());
    planned_.pop_back();
    // The snapshot was not written because the disk is full.
    if (journal_->snapshot_position() != planned_with_) return;
    journal_->compact(planned.start, planned.end, std::move(planned.in_use));
}

// ------------------------------------------------------------------------- cold store

engine::ColdPage VhostStore::write_page(std::string_view page, Durability durability) {
    const auto size = static_cast<std::uint32_t>(page.size());
    if (durability == Durability::transient) {
        const auto at = scratch_->keep(page);
        // If the disk is full, the page stays in memory, where the memory alarm counts it.
        if (!at) return {};
        return {{*at}, size};
    }
    std::string& record = journal_->begin_record();
    record.push_back(static_cast<char>(engine::RecordKind::page));
    const Lsn at = journal_->position();
    record.append(page);
    journal_->end_record();
    return {at, size};
}

// Recovery cannot continue without the unreadable data, so the node ends.
std::string VhostStore::unreadable(std::string why) const {
    if (!scratch_) fatal_(why);
    return why;
}

Result<std::string, std::string> VhostStore::read_page_bytes(engine::ColdPage page,
                                                             Durability durability) {
    if (durability == Durability::durable) {
        const Lsn end = journal_->contiguous_end(page.at);
        if (end < page.at || page.size > end.value - page.at.value) {
            return Unexpected{"journal damaged: " + journal_->describe_position(page.at) +
                              ": invalid page position"};
        }
        std::string bytes(page.size, '\0');
        auto read = journal_->read(page.at, bytes);
        if (!read) return Unexpected{std::move(read).error().text};
        if (!engine::is_page_intact(bytes)) {
            return Unexpected{"journal damaged: " + journal_->describe_position(page.at) +
                              ": unreadable queue page"};
        }
        return bytes;
    }
    auto bytes = scratch_->fetch(page.at.value, page.size);
    if (!bytes) return Unexpected{std::move(bytes).error().text};
    if (!engine::is_page_intact(*bytes)) {
        return Unexpected{"directory " + directory_ + "/scratch: unreadable queue page"};
    }
    return std::move(bytes).value();
}

Result<std::string, std::string> VhostStore::read_page(engine::ColdPage page,
                                                       Durability durability) {
    auto bytes = read_page_bytes(page, durability);
    if (!bytes) return Unexpected{unreadable(std::move(bytes).error())};
    return bytes;
}

Result<void, std::string> VhostStore::read(Lsn at, std::span<char> into) {
    auto read = journal_->read(at, into);
    if (!read) return Unexpected{unreadable(std::move(read).error().text)};
    return {};
}

std::string VhostStore::fail_damaged(Lsn at) {
    return unreadable("journal damaged: " + journal_->describe_position(at) +
                      ": unreadable message; see docs/formats/journal.md for recovery");
}

void VhostStore::will_need(const engine::ColdBlock& block) {
    if (block.transient_page) {
        scratch_->expect(block.transient_page.at.value, block.transient_page.size);
    }
    if (block.durable_page) journal_->will_need(block.durable_page.at, block.durable_page.size);
    for (const engine::JournalRange& use : block.journal_ranges) {
        journal_->will_need(use.first, std::max(use.bytes, use.last.value - use.first.value));
    }
}

}  // namespace revenant::runtime
