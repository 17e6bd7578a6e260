#include "runtime/catalog_store.h"

#include "base/check.h"
#include "catalog/catalog_codec.h"

#include <utility>

namespace revenant::runtime {
namespace {

constexpr std::uint64_t snapshot_after_bytes = 1024 * 1024;
// More than any change needs, including the zeros written ahead of it.
constexpr std::uint64_t room_bytes = 4 * 1024 * 1024;

std::string text_of(CatalogDecodeError error, std::string_view record) {
    switch (error) {
        case CatalogDecodeError::malformed:
            return "damaged record";
        case CatalogDecodeError::unknown_event:
            return "record with an unknown event";
        case CatalogDecodeError::unknown_version:
            return "record version " +
                   std::to_string(
                       static_cast<unsigned>(static_cast<std::uint8_t>(record.front()))) +
                   ", this broker supports version " + std::to_string(catalog_record_version);
    }
    UNREACHABLE();
}

}  // namespace

Result<std::unique_ptr<CatalogStore>, std::string> CatalogStore::open(
    journal::Disk& disk, const std::string& directory) {
    auto store = std::make_unique<CatalogStore>();
    store->disk_ = &disk;
    store->directory_ = directory;
    auto opened = journal::Journal::open(disk, store->worker_, directory, {});
    if (!opened) return Unexpected{std::move(opened).error().text};
    store->journal_ = std::move(opened).value();
    CatalogStore& self = *store;
    store->journal_->listen({.durable = {},
                             .failed = [&self](const std::string& text) { self.failure_ = text; },
                             .disk_full = {}});
    return store;
}

Result<bool, std::string> CatalogStore::load(Catalog& catalog) {
    bool found = false;
    const auto replay = [&](std::string_view bytes,
                            const std::string& place) -> Result<void, journal::IoError> {
        const auto record = decode_catalog_record(bytes);
        if (!record) {
            return Unexpected{journal::IoError{place + ": " + text_of(record.error(), bytes)}};
        }
        if (!catalog.replay(*record)) {
            return Unexpected{
                journal::IoError{place + ": record with an event that contradicts earlier ones"}};
        }
        found = true;
        return {};
    };
    if (!journal_->snapshot().empty()) {
        const auto snapshot = replay(journal_->snapshot(), "file " + journal_->snapshot_path());
        if (!snapshot) return Unexpected{snapshot.error().text};
    }
    const auto replayed = journal_->replay([&](const journal::Journal::Record& record) {
        return replay(record.bytes, journal_->describe_position(record.at));
    });
    if (!replayed) return Unexpected{replayed.error().text};
    return found;
}

bool CatalogStore::has_room() const {
    const auto free_bytes = disk_->free_bytes(directory_);
    return !free_bytes || *free_bytes >= room_bytes;
}

void CatalogStore::close(const AccessRules& rules) {
    if (journal_->batch_position() == journal_->snapshot_position() || !has_room()) return;
    journal_->write_snapshot(encode_catalog_record(events_for(rules)), {});
}

Result<void, std::string> CatalogStore::append(const CatalogRecord& record,
                                               const AccessRules& rules) {
    if (record.empty()) return {};
    journal_->begin_record() += encode_catalog_record(record);
    const Lsn end = journal_->end_record();
    journal_->flush(journal::Journal::SyncMode::immediate);
    journal_->retry();  // an earlier change may have found the disk full
    if (failure_) return Unexpected{*failure_};
    if (journal_->durable() < end) return Unexpected{std::string("the disk is full")};
    const std::uint64_t written = journal_->position().value - journal_->snapshot_position().value;
    if (written >= snapshot_after_bytes) {
        journal_->write_snapshot(encode_catalog_record(events_for(rules)), {});
    }
    return {};
}

}  // namespace revenant::runtime
