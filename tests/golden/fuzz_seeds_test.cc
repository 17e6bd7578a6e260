// Seeds for the fuzz targets of the formats, made from the golden files: REVENANT_WRITE_GOLDEN=1
// rewrites them. They are tests as well: a target must read its seed to the end.

#include "amqp091/message/properties.h"
#include "amqp10/message/message_format.h"
#include "catalog/catalog_codec.h"
#include "engine/chain/page_codec.h"
#include "engine/codec/event_codec.h"
#include "engine/recovery/snapshot_codec.h"
#include "journal/disk_posix.h"
#include "journal/journal.h"
#include "tests/golden/golden_properties.h"
#include "tests/support/folder.h"
#include "tests/support/inline_worker.h"
#include "tests/support/repaired.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace revenant::golden {
namespace {

namespace fs = std::filesystem;

const fs::path repository = REVENANT_SOURCE_DIR;
const engine::MessageFormats both_formats{&amqp091::message_format(), &amqp10::message_format()};
using Seeds = std::map<std::string, std::string>;

void write_seeds(const std::string& target, const Seeds& seeds) {
    if (std::getenv("REVENANT_WRITE_GOLDEN") == nullptr) return;
    const fs::path folder = repository / "tests/fuzz/corpus" / target;
    fs::remove_all(folder);
    fs::create_directories(folder);
    for (const auto& [name, bytes] : seeds) write_file(folder / name, bytes);
}

void mark_messages(std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        const std::string_view rest = std::string_view(bytes).substr(at);
        const std::size_t size = engine::stored_size(rest);
        if (size == 0 || size > rest.size()) continue;
        if (!engine::decode_message(rest.substr(0, size), both_formats, std::nullopt)) continue;
        bytes.replace(at, mark_bytes, message_mark);
        at += size - 1;
    }
}

void mark_pages(std::string& bytes) {
    for (std::size_t at = 2; at < bytes.size(); ++at) {
        const std::size_t size = length_before(bytes, at);
        engine::Block block;
        if (size <= mark_bytes || size > bytes.size() - at) continue;
        const std::string_view page = std::string_view(bytes).substr(at, size);
        if (!engine::decode_page(page, engine::Durability::durable, both_formats, block)) continue;
        bytes.replace(at, mark_bytes, page_mark);
    }
}

// All records of a journal from its start, and its snapshot.
std::string for_each_record(const std::string& golden_folder,
                            const std::function<void(const journal::Journal::Record&)>& visit) {
    Folder folder;
    const std::string copy = folder / "copy";
    fs::copy(repository / "tests/golden/written" / golden_folder, copy);
    journal::PosixDisk disk;
    InlineWorker worker;
    const std::string snapshot = journal::Journal::open(disk, worker, copy, {}).value()->snapshot();
    for (const auto& entry : fs::directory_iterator(copy)) {
        if (entry.path().extension() == ".snapshot") fs::remove(entry.path());
    }
    auto journal = journal::Journal::open(disk, worker, copy, {}).value();
    const auto replayed = journal->replay([&](const journal::Journal::Record& record) {
        visit(record);
        return Result<void, journal::IoError>{};
    });
    EXPECT_TRUE(replayed.has_value());
    return snapshot;
}

MessageRef any_message(Lsn at) {
    MessageHead head;
    head.format = both_formats.front();
    return make_stub("", "q", {3, 2}, std::move(head), at);
}

TEST(FuzzSeeds, OfRecordsOfFacts) {
    Seeds seeds;
    std::string history;
    for_each_record("vhosts/%2F", [&](const journal::Journal::Record& record) {
        if (record.bytes.front() != static_cast<char>(engine::RecordKind::events)) return;
        std::string bytes(record.bytes.substr(1));
        engine::EventReader reader(both_formats, any_message);
        std::vector<engine::Event> facts;
        if (!reader.read(bytes, {1}, {0}, facts)) return;  // it refers to its batch
        std::string name = "facts";
        for (const engine::Event& fact : facts) name += '-' + std::to_string(fact.index());
        mark_messages(bytes);
        if (bytes.size() < 2000) seeds.emplace(name.substr(0, 60), bytes);
        if (history.size() + bytes.size() < 6000) history += bytes;
        facts.clear();
        engine::EventReader again(both_formats, any_message);
        EXPECT_TRUE(again.read(repaired(bytes), {1}, {0}, facts)) << name;
    });
    seeds["history"] = history;
    EXPECT_GT(seeds.size(), 15U);
    write_seeds("event_fuzz", seeds);
}

engine::Block small_block() {
    engine::Block block;
    for (std::size_t i = 0; i < 3; ++i) {
        const std::string properties = every_property();
        auto read = amqp091::read_published(properties, "").value();
        engine::Entry entry;
        entry.message = make_message("x", "key", properties, "body", std::move(read.head));
        entry.delivery_count = 2;
        if (i == 1) {
            auto* const envelope = new Envelope;
            envelope->exchange = "dlx";
            envelope->routing_keys = {"a", "b"};
            envelope->history.deaths = {{"q", DeathReason::expired, 3, {1}, {2}, "x", {"key"}, 5}};
            entry.envelope = EnvelopeRef::adopt(envelope);
        }
        block.push(i * 7, std::move(entry), i == 2 ? Timestamp{1'700'000'000'000'000} : never);
    }
    return block;
}

TEST(FuzzSeeds, OfPages) {
    Seeds seeds;
    for_each_record("vhosts/%2F", [&](const journal::Journal::Record& record) {
        if (record.bytes.front() != static_cast<char>(engine::RecordKind::page)) return;
        const std::string page(record.bytes.substr(1));
        engine::Block block;
        EXPECT_TRUE(engine::decode_page(page, engine::Durability::durable, both_formats, block));
        seeds["durable-" + std::to_string(seeds.size())] = '\0' + page.substr(mark_bytes);
    });
    EXPECT_GT(seeds.size(), 0U);
    std::string transient =
        engine::encode_page(small_block(), engine::Durability::transient).bytes.substr(mark_bytes);
    mark_messages(transient);
    seeds["passing"] = '\1' + transient;
    write_seeds("page_fuzz", seeds);
}

TEST(FuzzSeeds, OfSnapshots) {
    Seeds seeds;
    std::string golden = for_each_record("vhosts/%2F", [](const auto&) {});
    mark_pages(golden);
    EXPECT_NE(golden.find(page_mark), std::string::npos);
    seeds["golden"] = golden;
    engine::State state;
    seeds["empty"] = engine::encode_snapshot(state, engine::Shutdown::clean);
    engine::QueueDeclaration queue;
    queue.id = {1};
    queue.name = "q";
    queue.durable = true;
    state.apply(engine::QueueDeclared{queue, {}});
    state.apply(engine::Bound{"amq.topic", engine::DestinationKind::queue, "q", "a.*", {}});
    engine::Block block = small_block();
    for (std::size_t i = 0; i < block.entries.size(); ++i) {
        const engine::Entry& entry = block.entries[i];
        if (entry.state == engine::EntryState::gone) continue;
        state.apply(
            engine::Enqueued{entry.message, {{1}, engine::Position::of(0, i), block.deadline(i)}});
    }
    seeds["small"] = engine::encode_snapshot(state, engine::Shutdown::none);
    mark_pages(seeds["small"]);
    mark_messages(seeds["small"]);
    for (const auto& [name, bytes] : seeds) {
        engine::State read;
        read.paging().formats = both_formats;
        EXPECT_TRUE(engine::decode_snapshot(repaired(bytes), read).has_value()) << name;
    }
    write_seeds("snapshot_fuzz", seeds);
}

TEST(FuzzSeeds, OfTheCatalog) {
    Seeds seeds;
    const std::string snapshot =
        for_each_record("catalog", [&](const journal::Journal::Record& record) {
            EXPECT_TRUE(decode_catalog_record(record.bytes).has_value());
            seeds["record-" + std::to_string(seeds.size())] = std::string(record.bytes);
        });
    EXPECT_TRUE(decode_catalog_record(snapshot).has_value());
    seeds["snapshot"] = snapshot;
    write_seeds("catalog_fuzz", seeds);
}

TEST(FuzzSeeds, OfFilesOfAJournal) {
    Seeds seeds;
    for (const auto& entry : fs::directory_iterator(repository / "tests/golden/written/catalog")) {
        const bool is_snapshot = entry.path().extension() == ".snapshot";
        const std::string bytes = file_contents(entry.path());
        seeds[is_snapshot ? "snapshot" : "segment"] = (is_snapshot ? '\4' : '\0') + bytes;
        seeds[is_snapshot ? "snapshot-repaired" : "segment-repaired"] =
            (is_snapshot ? '\5' : '\3') + bytes;
    }
    EXPECT_EQ(seeds.size(), 4U);
    write_seeds("journal_fuzz", seeds);
}

}  // namespace
}  // namespace revenant::golden
