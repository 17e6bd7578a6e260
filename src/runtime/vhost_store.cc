#include "runtime/vhost_store.h"

#include "base/check.h"
#include "engine/fact_check.h"
#include "engine/memory_budget.h"
#include "engine/message_codec.h"
#include "engine/page_codec.h"
#include "engine/snapshot_codec.h"

#include <algorithm>
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
            engine::keep_memory_budget_in_replay(state);
            suspect = true;
            return {};
        });
    if (!replayed) return Unexpected{replayed.error().text};
    if (suspect) state.suspect_all();
    auto scratch = journal::Scratch::open(disk_, directory_ + "/scratch");
    if (!scratch) return Unexpected{std::move(scratch).error().text};
    scratch_ = std::move(scratch).value();
    return {};
}

// ------------------------------------------------------------------------- snapshots

void VhostStore::take_snapshot_if_due(engine::State& state) {
    if (journal_->is_writing_snapshot()) return;
    const std::uint64_t written = journal_->position().value - journal_->snapshot_position().value;
    if (written >= settings_.snapshot_after_bytes) take_snapshot(state, engine::Stop::none);
}

void VhostStore::take_snapshot(engine::State& state, engine::Stop stop) {
    std::set<Lsn> in_use;
    for (const engine::JournalUse& use : engine::journal_in_use(state)) {
        // A stretch may reach over several segments; what lies between counts as used.
        for (const Lsn segment : journal_->segments_between(use.first, use.last)) {
            in_use.insert(segment);
        }
    }
    journal_->write_snapshot(engine::encode_snapshot(state, stop), std::move(in_use));
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

std::string VhostStore::fetch(engine::ColdPage page, Keeping keeping) {
    if (keeping == Keeping::durable) {
        const Lsn end = journal_->readable_to(page.at);
        if (end < page.at || page.size > end.value - page.at.value) {
            fatal_("journal damaged: " + journal_->place_of(page.at) + ": no page can be here");
        }
        std::string bytes(page.size, '\0');
        read(page.at, bytes);
        if (!engine::page_is_whole(bytes)) {
            fatal_("journal damaged: " + journal_->place_of(page.at) +
                   ": a page of a queue can no longer be read");
        }
        return bytes;
    }
    auto bytes = scratch_->fetch(page.at.value, page.size);
    if (!bytes) fatal_(bytes.error().text);
    if (!engine::page_is_whole(*bytes)) {
        fatal_("directory " + directory_ + "/scratch: a page of a queue can no longer be read");
    }
    return std::move(bytes).value();
}

void VhostStore::read(Lsn at, std::span<char> into) {
    const auto read = journal_->read(at, into);
    if (!read) fatal_(read.error().text);
}

void VhostStore::expect(engine::ColdPage page, Keeping keeping) {
    if (keeping == Keeping::durable) journal_->expect_read(page.at, page.size);
}

}  // namespace revenant::runtime
