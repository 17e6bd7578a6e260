// Compares the formats of the data directory with stored files.
//
// tests/golden/v1 is a data directory of format version 1 with its expected contents. A broker that
// cannot read it, or reads it differently, cannot read the disks of its users. It is never
// rewritten. tests/golden/written is the output of the current version: the same format with small
// differences. REVENANT_WRITE_GOLDEN=1 rewrites it after an intended change.

#include "amqp091/message/properties.h"
#include "amqp10/message/message_format.h"
#include "catalog/catalog.h"
#include "engine/codec/event_codec.h"
#include "journal/disk_posix.h"
#include "journal/journal.h"
#include "runtime/catalog_store.h"
#include "tests/golden/golden_catalog.h"
#include "tests/golden/golden_description.h"
#include "tests/golden/golden_vhost.h"
#include "tests/support/folder.h"
#include "tests/support/inline_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <variant>

namespace revenant::golden {
namespace {

namespace fs = std::filesystem;

const fs::path golden = fs::path(REVENANT_SOURCE_DIR) / "tests/golden/v1";
const fs::path today = fs::path(REVENANT_SOURCE_DIR) / "tests/golden/written";
const std::string vhost_folder = "vhosts/%2F";

bool is_to_be_written() { return std::getenv("REVENANT_WRITE_GOLDEN") != nullptr; }

// The same history writes the same bytes only with the same secret.
class GoldenDisk final : public journal::PosixDisk {
  public:
    std::uint32_t draw_secret() override { return 0x676f6c64; }
};

// A copy, because opening a directory changes it.
struct Copy {
    explicit Copy(const fs::path& of = golden) {
        fs::copy(of, folder / "data", fs::copy_options::recursive);
    }
    std::string vhost() const { return folder / "data/" + vhost_folder; }
    std::string catalog() const { return folder / "data/catalog"; }
    Folder folder;
    journal::PosixDisk disk;
};

std::string recovered_vhost(journal::Disk& disk, const std::string& directory) {
    GoldenVhost vhost(disk, directory);
    const auto refused = vhost.start();
    EXPECT_EQ(refused, std::nullopt);
    return refused ? *refused : vhost.description();
}

std::string recovered_catalog(journal::Disk& disk, const std::string& directory) {
    auto store = runtime::CatalogStore::open(disk, directory);
    if (!store) return store.error();
    Catalog catalog;
    const auto loaded = (*store)->load(catalog);
    if (!loaded) return loaded.error();
    return describe_catalog(catalog.rules());
}

void write_all(journal::Disk& disk, const std::string& data) {
    GoldenVhost(disk, data + "/" + vhost_folder).live();
    write_catalog(disk, data + "/catalog");
    fs::remove_all(data + "/" + vhost_folder + "/scratch");
}

// Names first: a difference of thousands of bytes is not readable.
void expect_same_files(const fs::path& expected, const fs::path& found) {
    const auto wanted = all_files(expected);
    const auto written = all_files(found);
    std::set<std::string> names;
    for (const auto& [name, bytes] : wanted) names.insert(name);
    for (const auto& [name, bytes] : written) names.insert(name);
    for (const std::string& name : names) {
        ASSERT_TRUE(wanted.contains(name)) << name << " is new";
        ASSERT_TRUE(written.contains(name)) << name << " is missing";
        const std::string& a = wanted.at(name);
        const std::string& b = written.at(name);
        const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
        EXPECT_TRUE(a == b) << name << " differs at offset " << (differ.first - a.begin());
    }
}

TEST(Golden, WritesTheFilesAnewWhenAsked) {
    if (!is_to_be_written()) GTEST_SKIP() << "REVENANT_WRITE_GOLDEN is not set";
    fs::remove_all(today);
    GoldenDisk disk;
    write_all(disk, today);
    Copy copy(today);
    write_file(today / "vhost.txt", recovered_vhost(copy.disk, copy.vhost()));
    write_file(today / "catalog.txt", recovered_catalog(copy.disk, copy.catalog()));
}

TEST(Golden, TheVirtualHostIsRecovered) {
    Copy copy;
    EXPECT_EQ(recovered_vhost(copy.disk, copy.vhost()), file_contents(golden / "vhost.txt"));
}

TEST(Golden, TheVirtualHostIsRecoveredASecondTime) {
    Copy copy;
    recovered_vhost(copy.disk, copy.vhost());
    EXPECT_EQ(recovered_vhost(copy.disk, copy.vhost()), file_contents(golden / "vhost.txt"));
}

TEST(Golden, TheCatalogIsRecovered) {
    Copy copy;
    EXPECT_EQ(recovered_catalog(copy.disk, copy.catalog()), file_contents(golden / "catalog.txt"));
}

TEST(Golden, TheSameLifeWritesTheSameBytes) {
    Folder folder;
    GoldenDisk disk;
    write_all(disk, folder / "data");
    expect_same_files(today / "vhosts", folder / "data/vhosts");
    expect_same_files(today / "catalog", folder / "data/catalog");
}

TEST(Golden, WhatIsFoundIsWhatWasThere) {
    Folder folder;
    GoldenDisk disk;
    write_all(disk, folder / "data");
    EXPECT_EQ(recovered_vhost(disk, folder / "data/" + vhost_folder),
              file_contents(today / "vhost.txt"));
}

TEST(Golden, EveryKindOfFactStandsBehindTheSnapshot) {
    Copy copy;
    InlineWorker worker;
    auto journal = journal::Journal::open(copy.disk, worker, copy.vhost(), {}).value();
    EXPECT_FALSE(journal->snapshot().empty());
    const engine::MessageFormats formats{&amqp091::message_format(), &amqp10::message_format()};
    engine::EventReader reader(formats, [&](Lsn at) {
        std::string bytes(engine::stored_message_header_bytes, '\0');
        EXPECT_TRUE(journal->read(at, bytes).has_value());
        bytes.resize(engine::stored_size(bytes));
        EXPECT_TRUE(journal->read(at, bytes).has_value());
        return engine::decode_stub(bytes, formats, at);
    });
    std::set<std::size_t> kinds;
    std::size_t pages = 0;
    const auto replayed = journal->replay([&](const journal::Journal::Record& record) {
        std::vector<engine::Event> facts;
        if (record.bytes.front() == static_cast<char>(engine::RecordKind::page)) {
            pages += 1;
        } else {
            EXPECT_TRUE(
                reader.read(record.bytes.substr(1), {record.at.value + 1}, record.batch, facts));
        }
        for (const engine::Event& fact : facts) kinds.insert(fact.index());
        return Result<void, journal::IoError>{};
    });
    EXPECT_TRUE(replayed.has_value());
    // All except BlockDiscarded, which needs a damaged disk.
    EXPECT_EQ(kinds.size(), std::variant_size_v<engine::Event> - 1)
        << ::testing::PrintToString(kinds);
    EXPECT_FALSE(kinds.contains(engine::Event(engine::BlockDiscarded{}).index()));
}

}  // namespace
}  // namespace revenant::golden
