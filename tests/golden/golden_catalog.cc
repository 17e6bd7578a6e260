#include "tests/golden/golden_catalog.h"

#include "base/check.h"
#include "catalog/catalog.h"
#include "catalog/catalog_codec.h"
#include "journal/journal.h"
#include "tests/support/inline_worker.h"

#include <vector>

namespace revenant::golden {
namespace {

constexpr Salt salt{0x90, 0x8d, 0xc6, 0x0a};

std::vector<CatalogCommand> every_wish() {
    return {
        PutVhost{.name = "/", .description = "the first one", .tags = {{"a", "b"}}},
        PutVhost{
            .name = "orders", .default_queue_type = "quorum", .compat = "3.12", .tracing = true},
        PutVhost{.name = "gone"},
        AddUser{"guest", make_hash("guest", salt), {"administrator"}, {}},
        AddUser{"sha512", make_hash("other", salt, HashAlgorithm::sha512), {}, {5, -1}},
        AddUser{"md5", make_hash("old", salt, HashAlgorithm::md5), {"monitoring", "own"}, {}},
        AddUser{"gone", make_hash("gone", salt), {}, {}},
        SetPermissions{"guest", "/", {".*", ".*", ".*"}},
        SetPermissions{"sha512", "orders", {"", "^in\\.", "^out\\."}},
        SetPermissions{"gone", "/", {"a", "b", "c"}},
        SetTopicPermissions{"sha512", "orders", "amq.topic", {"^{username}\\.", ".*"}},
        SetTopicPermissions{"md5", "/", "amq.topic", {"w", "r"}},
        ProtectVhost{"orders", true},
        SetVhostLimits{"orders", {100, 7}},
        SetUserLimits{"md5", {3, std::nullopt}},
        ChangePassword{"guest", make_hash("changed", salt)},
        ClearPassword{"md5"},
        SetTags{"guest", {"administrator", "policymaker"}},
        ClearTopicPermissions{"md5", "/", "amq.topic"},
        ClearPermissions{"gone", "/"},
        DeleteUser{"gone"},
        DeleteVhost{"gone"},
    };
}

}  // namespace

void write_catalog(journal::Disk& disk, const std::string& directory) {
    InlineWorker worker;
    journal::JournalSettings settings;
    settings.segments = {
        .segment_bytes = 4096, .fill_bytes = 512, .small_batch_bytes = 1024, .spares_max = 1};
    auto journal = journal::Journal::open(disk, worker, directory, settings).value();
    Catalog catalog;
    const std::vector<CatalogCommand> wishes = every_wish();
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        const auto record = catalog.handle(wishes[i]);
        CHECK(record.has_value() && !record->empty());
        journal->begin_record() += encode_catalog_record(*record);
        journal->end_record();
        journal->flush(journal::Journal::SyncMode::immediate);
        if (i == wishes.size() / 2) {
            journal->write_snapshot(encode_catalog_record(events_for(catalog.rules())), {});
        }
    }
}

}  // namespace revenant::golden
