#include "runtime/vhost_store.h"

#include "base/check.h"
#include "base/probe.h"
#include "engine/chain/page_codec.h"
#include "engine/codec/message_codec.h"
#include "engine/recovery/fact_check.h"
#include "engine/recovery/snapshot_codec.h"
#include "engine/state/memory_budget.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace revenant::runtime {

using engine::Keeping;

Result<std::unique_ptr<VhostStore>, std::string> VhostStore::open(
    journal::Disk& disk, std::unique_ptr<journal::DiskWorker> worker, const std::string& directory,
    StoreSettings settings, Fatal fatal) {
    std::unique_ptr<VhostStore> store(
        new VhostStore(disk, std::move(worker), directory, settings, std::move(fatal)));
    auto opened = journal::Journal::open(disk, *store->worker_, directory, settings.journal);
    if (!opened) return Unexpected{std::move(opened).error().text};
    store->journal_ = std::move(opened).value();
    return store;
}

// ------------------------------------------------------------------------- restart

// Empty if no message is there. The position comes from a record: nothing about it is certain.
MessageRef VhostStore::find_message(Lsn at, const engine::MessageFormats& formats) {
    if (at >= journal_->durable()) return {};
    std::string bytes(engine::stored_message_header_bytes, '\0');
    if (!journal_->read(at, bytes)) return {};
    const std::size_t size = engine::stored_size(bytes);
    if (size > journal_->readable_to(at).value - at.value) return {};
    bytes.resize(size);
    if (!journal_->read(at, bytes)) return {};
    return engine::decode_stub(bytes, formats, at);
}

namespace {

std::string number_of(char byte) {
    return std::to_string(static_cast<unsigned>(static_cast<std::uint8_t>(byte)));
}

}  // namespace

Result<engine::Stop, std::string> VhostStore::recover_snapshot(engine::State& state) {
    const std::string& bytes = journal_->snapshot();
    if (bytes.empty()) return engine::Stop::none;
    if (static_cast<std::uint8_t>(bytes.front()) != engine::snapshot_version) {
        return Unexpected{"file " + journal_->snapshot_path() + " holds a snapshot of version " +
                          number_of(bytes.front()) + "; this broker knows version " +
                          std::to_string(engine::snapshot_version)};
    }
    const auto decoded = engine::decode_snapshot(bytes, state);
    if (!decoded) {
        return Unexpected{"file " + journal_->snapshot_path() + " holds no sound snapshot"};
    }
    return decoded->stop;
}

Result<void, std::string> VhostStore::recover(engine::State& state) {
    REVENANT_TRY(const engine::Stop stop, recover_snapshot(state));
    bool suspect = stop != engine::Stop::clean;
    const engine::MessageFormats& formats = state.paging().formats;
    engine::EventReader reader(formats, [&](Lsn at) { return find_message(at, formats); });
    std::vector<engine::Event> facts;
    const auto replayed = journal_->replay(
        [&](const journal::Journal::Record& record) -> Result<void, journal::IoError> {
            const char kind = record.bytes.front();
            if (kind == static_cast<char>(engine::RecordKind::page)) return {};
            if (kind != static_cast<char>(engine::RecordKind::facts)) {
                return Unexpected{journal::IoError{journal_->place_of(record.at) +
                                                   ": a record of kind " + number_of(kind) +
                                                   ", which this broker does not know"}};
            }
            facts.clear();
            if (!reader.read(record.bytes.substr(1), {record.at.value + 1}, record.batch, facts)) {
                return Unexpected{journal::IoError{
                    journal_->place_of(record.at) +
                    ": a record with a fact that this broker does not know or cannot read"}};
            }
            for (const engine::Event& fact : facts) {
                if (!engine::fits(state, fact)) {
                    return Unexpected{journal::IoError{
                        journal_->place_of(record.at) +
                        ": a record with a fact that contradicts those before it"}};
                }
                state.apply(fact);
            }
            state.free_retired_bindings();
            engine::keep_memory_budget_in_replay(state);
            suspect = true;
            return {};
        });
    if (!replayed) return Unexpected{replayed.error().text};
    REVENANT_TRY_VOID(check_files(state));
    if (suspect) state.suspect_all();
    auto scratch = journal::Scratch::open(disk_, directory_ + "/scratch");
    if (!scratch) return Unexpected{std::move(scratch).error().text};
    scratch_ = std::move(scratch).value();
    return {};
}

// A file that is missing is noticed now and not when somebody comes for a message in it.
Result<void, std::string> VhostStore::check_files(engine::State& state) const {
    for (const engine::JournalUse& use : engine::journal_in_use(state)) {
        for (const Lsn at : {use.first, use.last}) {
            if (journal_->holds(at)) continue;
            return Unexpected{"journal damaged: " + journal_->place_of(at) +
                              ": here should be messages, but the file is missing or too short; "
                              "see docs/formats/journal.md for ways out"};
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
        take_snapshot(state, engine::Stop::none);
    }
}

void VhostStore::tidy_up(engine::State& state) {
    if (is_busy() || !planned_.empty()) return;
    if (bytes_since_snapshot() >= settings_.idle_snapshot_after_bytes) {
        take_snapshot(state, engine::Stop::none);
    } else if (journal_->position() != looked_at_) {
        free_space(state);
    }
}

// A record that settles a message is a few bytes, and the message may be millions: what was written
// since the last snapshot says nothing about what one would free.
void VhostStore::free_space(engine::State& state) {
    if (is_busy() || !planned_.empty()) return;
    const std::uint64_t ended = state.accounts().ended_total();
    const bool found_no_room = journal_->take_found_no_room();
    if (!found_no_room && journal_->position() == looked_at_ && ended == ended_when_looked_) return;
    looked_at_ = journal_->position();
    ended_when_looked_ = ended;
    // It is not worth looking at every queue for less.
    if (closed_bytes() < settings_.compact_for_bytes) return;
    const BytesInUse used = bytes_by_segment(engine::journal_in_use(state));
    if (freeable_bytes(used) < settings_.compact_for_bytes) return;
    PROBE("vhost_store.freed_space");
    take_snapshot(state, engine::Stop::none);
}

bool VhostStore::is_busy() const {
    return journal_->is_writing_snapshot() || journal_->is_compacting();
}

std::uint64_t VhostStore::bytes_since_snapshot() const {
    return journal_->position().value - journal_->snapshot_position().value;
}

VhostStore::BytesInUse VhostStore::bytes_by_segment(
    const std::vector<engine::JournalUse>& uses) const {
    BytesInUse bytes;
    for (const engine::JournalUse& use : uses) {
        // A stretch may reach over several segments; what lies between counts as used.
        const std::vector<Lsn> segments = journal_->segments_between(use.first, use.last);
        for (const Lsn segment : segments) bytes[segment] += use.bytes / segments.size();
    }
    return bytes;
}

void VhostStore::take_snapshot(engine::State& state, engine::Stop stop) {
    engine::EncodedSnapshot snapshot = engine::encode_snapshot_with_uses(state, stop);
    const BytesInUse used = bytes_by_segment(snapshot.uses);
    std::set<Lsn> in_use;
    for (const auto& [segment, bytes] : used) in_use.insert(segment);
    journal_->write_snapshot(std::move(snapshot.bytes), std::move(in_use));
    if (stop == engine::Stop::none) plan_compactions(state, used);
}

// ------------------------------------------------------------------------- compaction

namespace {

struct Neighbours {
    Lsn start;
    Lsn end;
    std::size_t files = 0;
    std::uint64_t bytes = 0;
    std::uint64_t used = 0;

    std::uint64_t gain() const { return bytes - std::min(bytes, used); }
    bool worth(const StoreSettings& settings) const {
        return gain() >= settings.compact_for_bytes || files >= settings.compact_for_files;
    }
};

// A file is worth touching if little of it is in use, or if it is small.
bool is_sparse(const journal::Journal::ClosedSegment& segment, std::uint64_t used) {
    constexpr std::uint64_t small_file_bytes = 1024 * 1024;
    if (segment.unreadable) return false;
    return used * 4 < segment.bytes || (segment.compacted && segment.bytes < small_file_bytes);
}

std::vector<Neighbours> sparse_neighbours(
    const std::vector<journal::Journal::ClosedSegment>& segments,
    const std::map<Lsn, std::uint64_t>& bytes_in_use, const std::set<Lsn>& kept_whole) {
    std::vector<Neighbours> found(1);
    for (const auto& segment : segments) {
        const auto used = bytes_in_use.find(segment.start);
        if (used == bytes_in_use.end()) continue;  // the snapshot removes it
        if (kept_whole.contains(segment.start) || !is_sparse(segment, used->second)) {
            found.emplace_back();
            continue;
        }
        Neighbours& run = found.back();
        if (run.files == 0) run.start = segment.start;
        run.end = segment.end;
        run.files += 1;
        run.bytes += segment.bytes;
        run.used += used->second;
    }
    return found;
}

}  // namespace

// What a snapshot taken now would give back, with the compactions that follow it.
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
    for (const Neighbours& run : sparse_neighbours(segments, bytes_in_use, kept_whole_)) {
        if (run.worth(settings_)) bytes += run.gain();
    }
    return bytes;
}

// What the snapshot refers to must stay even when it is settled before the compaction begins:
// a restart begins with the snapshot. So what is in use is seen when the snapshot is taken.
void VhostStore::plan_compactions(engine::State& state, const BytesInUse& bytes_in_use) {
    planned_.clear();
    planned_with_ = journal_->batch_position();
    for (const Neighbours& run :
         sparse_neighbours(journal_->closed_segments(), bytes_in_use, kept_whole_)) {
        if (!run.worth(settings_)) continue;
        const engine::ExactUse used = engine::journal_in_use(state, run.start, run.end);
        if (!used.somewhere.empty()) {
            PROBE("vhost_store.kept_whole");
            for (const engine::JournalUse& use : used.somewhere) {
                const auto segments = journal_->segments_between(use.first, use.last);
                kept_whole_.insert(segments.begin(), segments.end());
            }
            continue;  // the next plan leaves them out
        }
        PlannedCompaction& planned = planned_.emplace_back();
        planned.start = run.start;
        planned.end = run.end;
        for (const engine::JournalUse& use : used.exact) {
            planned.in_use.push_back({use.first, use.bytes});
        }
    }
}

void VhostStore::compact_if_planned() {
    if (planned_.empty()) return;
    PlannedCompaction planned = std::move(planned_.back());
    planned_.pop_back();
    // A snapshot that found no room is not there.
    if (journal_->snapshot_position() != planned_with_) return;
    journal_->compact(planned.start, planned.end, std::move(planned.in_use));
}

// ------------------------------------------------------------------------- cold store

engine::ColdPage VhostStore::keep(std::string_view page, Keeping keeping) {
    const auto size = static_cast<std::uint32_t>(page.size());
    if (keeping == Keeping::passing) {
        const auto at = scratch_->keep(page);
        // A full disk: it stays in memory, where the alarm sees it.
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

// While it recovers, what cannot be read is needed to go on: the node ends.
std::string VhostStore::unreadable(std::string why) const {
    if (!scratch_) fatal_(why);
    return why;
}

Result<std::string, std::string> VhostStore::read_page(engine::ColdPage page, Keeping keeping) {
    if (keeping == Keeping::durable) {
        const Lsn end = journal_->readable_to(page.at);
        if (end < page.at || page.size > end.value - page.at.value) {
            return Unexpected{"journal damaged: " + journal_->place_of(page.at) +
                              ": no page can be here"};
        }
        std::string bytes(page.size, '\0');
        auto read = journal_->read(page.at, bytes);
        if (!read) return Unexpected{std::move(read).error().text};
        if (!engine::page_is_whole(bytes)) {
            return Unexpected{"journal damaged: " + journal_->place_of(page.at) +
                              ": a page of a queue can no longer be read"};
        }
        return bytes;
    }
    auto bytes = scratch_->fetch(page.at.value, page.size);
    if (!bytes) return Unexpected{std::move(bytes).error().text};
    if (!engine::page_is_whole(*bytes)) {
        return Unexpected{"directory " + directory_ +
                          "/scratch: a page of a queue can no longer be read"};
    }
    return std::move(bytes).value();
}

Result<std::string, std::string> VhostStore::fetch(engine::ColdPage page, Keeping keeping) {
    auto bytes = read_page(page, keeping);
    if (!bytes) return Unexpected{unreadable(std::move(bytes).error())};
    return bytes;
}

Result<void, std::string> VhostStore::read(Lsn at, std::span<char> into) {
    auto read = journal_->read(at, into);
    if (!read) return Unexpected{unreadable(std::move(read).error().text)};
    return {};
}

std::string VhostStore::damaged(Lsn at) {
    return unreadable(
        "journal damaged: " + journal_->place_of(at) +
        ": what was once a message here can no longer be read; see docs/formats/journal.md for "
        "ways out");
}

void VhostStore::expect(const engine::ColdBlock& block) {
    if (block.passing_page) {
        scratch_->expect(block.passing_page.at.value, block.passing_page.size);
    }
    if (block.durable_page) journal_->expect_read(block.durable_page.at, block.durable_page.size);
    for (const engine::JournalUse& use : block.uses) {
        journal_->expect_read(use.first, std::max(use.bytes, use.last.value - use.first.value));
    }
}

}  // namespace revenant::runtime
