#include "runtime/catalog_store.h"

#include "catalog/catalog_codec.h"
#include "tests/sim/sim_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace revenant::runtime {
namespace {

using sim::SimDisk;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct Stored {
    Stored() { open(); }
    // Whether a catalog was found, "true" or "false"; otherwise the error.
    std::string open() {
        store.reset();
        catalog = std::make_unique<Catalog>();
        auto opened = CatalogStore::open(disk, directory);
        if (!opened) return opened.error();
        store = std::move(opened).value();
        const auto found = store->load(*catalog);
        return !found ? found.error() : *found ? "true" : "false";
    }
    std::string open_after(SimDisk::Loss loss) {
        store.reset();
        disk.restart(loss);
        return open();
    }
    // "safe", or the error.
    std::string change(const CatalogCommand& command) {
        const auto record = catalog->handle(command).value();
        const auto kept = store->append(record, catalog->rules());
        return kept ? "safe" : kept.error();
    }
    bool has_vhost(const std::string& name) { return catalog->rules().vhosts.contains(name); }
    // The path of the snapshot; empty if there is none.
    std::string snapshot() {
        const auto names = disk.list(directory).value();
        for (const std::string& name : names) {
            if (name.ends_with(".snapshot")) return directory + "/" + name;
        }
        return {};
    }
    bool has_snapshot() { return !snapshot().empty(); }
    void close() { store->close(catalog->rules()); }

    const std::string directory = "/data/catalog";
    SimDisk disk{1};
    std::unique_ptr<Catalog> catalog;
    std::unique_ptr<CatalogStore> store;
};

TEST(CatalogStore, AFreshOneHoldsNothing) {
    Stored s;
    EXPECT_EQ(s.open(), "false");
}

TEST(CatalogStore, WhatWasAppendedIsFoundAgain) {
    Stored s;
    EXPECT_EQ(s.change(PutVhost{.name = "a"}), "safe");
    EXPECT_EQ(s.change(PutVhost{.name = "b", .description = "the second"}), "safe");
    EXPECT_EQ(s.change(DeleteVhost{"a"}), "safe");
    const AccessRules before = s.catalog->rules();
    EXPECT_EQ(s.open(), "true");
    EXPECT_EQ(s.catalog->rules(), before);
}

TEST(CatalogStore, WhatWasAppendedSurvivesALossOfPower) {
    Stored s;
    for (int i = 0; i < 20; ++i) {
        const std::string name = "v" + std::to_string(i);
        EXPECT_EQ(s.change(PutVhost{.name = name}), "safe");
        EXPECT_EQ(s.open_after(SimDisk::Loss::power), "true");
        EXPECT_TRUE(s.has_vhost(name));
    }
    EXPECT_EQ(s.catalog->rules().vhosts.size(), 20U);
}

TEST(CatalogStore, AChangeThatChangesNothingIsNotWritten) {
    Stored s;
    EXPECT_EQ(s.change(PutVhost{.name = "a"}), "safe");
    const auto written = s.disk.counts().bytes_written;
    EXPECT_EQ(s.change(PutVhost{.name = "a"}), "safe");
    EXPECT_EQ(s.disk.counts().bytes_written, written);
}

TEST(CatalogStore, AFullDiskIsTold) {
    Stored s;
    EXPECT_EQ(s.change(PutVhost{.name = "a"}), "safe");
    s.disk.set_capacity(s.disk.used_bytes());
    // Within the zeros written ahead there is still space.
    const std::string large(2 * 1024 * 1024, 'x');
    EXPECT_EQ(s.change(PutVhost{.name = "b", .description = large}), "the disk is full");
}

TEST(CatalogStore, AfterAFullDiskTheSameChangeIsStillWritten) {
    Stored s;
    EXPECT_EQ(s.change(PutVhost{.name = "a"}), "safe");
    s.disk.set_capacity(s.disk.used_bytes());
    const std::string large(2 * 1024 * 1024, 'x');
    EXPECT_EQ(s.change(PutVhost{.name = "b", .description = large}), "the disk is full");
    s.disk.set_capacity(std::nullopt);
    EXPECT_EQ(s.change(PutVhost{.name = "c"}), "safe");
    const AccessRules before = s.catalog->rules();
    EXPECT_EQ(s.open_after(SimDisk::Loss::power), "true");
    EXPECT_EQ(s.catalog->rules(), before);
}

TEST(CatalogStore, AFailedSyncIsToldAndNothingIsSafeAfterIt) {
    Stored s;
    EXPECT_EQ(s.change(PutVhost{.name = "a"}), "safe");
    s.disk.fail_next_sync();
    EXPECT_THAT(s.change(PutVhost{.name = "b"}), HasSubstr("sync"));
    EXPECT_THAT(s.change(PutVhost{.name = "c"}), HasSubstr("sync"));
    EXPECT_EQ(s.open_after(SimDisk::Loss::power), "true");
    EXPECT_TRUE(s.has_vhost("a"));
    EXPECT_FALSE(s.has_vhost("c"));
}

TEST(CatalogStore, AFailedWriteIsTold) {
    Stored s;
    s.disk.fail_next_write();
    EXPECT_THAT(s.change(PutVhost{.name = "a"}), HasSubstr("write"));
}

TEST(CatalogStore, ASnapshotIsTakenAfterAMebibyteAndFound) {
    Stored s;
    const std::string large(300 * 1024, 'x');
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(s.change(PutVhost{.name = "v" + std::to_string(i), .description = large}),
                  "safe");
    }
    EXPECT_FALSE(s.has_snapshot());
    for (int i = 0; i < 3; ++i) EXPECT_EQ(s.change(DeleteVhost{"v" + std::to_string(i)}), "safe");
    EXPECT_EQ(s.change(PutVhost{.name = "kept", .description = large}), "safe");
    EXPECT_TRUE(s.has_snapshot());
    EXPECT_EQ(s.change(PutVhost{.name = "behind it"}), "safe");
    const AccessRules before = s.catalog->rules();
    EXPECT_EQ(s.open_after(SimDisk::Loss::power), "true");
    EXPECT_EQ(s.catalog->rules(), before);
}

TEST(CatalogStore, DamageIsToldWithFileAndPlace) {
    Stored s;
    EXPECT_EQ(s.change(PutVhost{.name = "a"}), "safe");
    EXPECT_EQ(s.change(PutVhost{.name = "b"}), "safe");
    s.store.reset();
    s.disk.flip_bit(s.directory + "/0000000000000000.segment", 50, 3);
    EXPECT_THAT(s.open(), HasSubstr(s.directory + "/0000000000000000.segment, offset 0"));
}

TEST(CatalogStore, AFactThatContradictsOthersIsToldWithFileAndPlace) {
    Stored s;
    EXPECT_EQ(s.change(PutVhost{.name = "a"}), "safe");
    ASSERT_TRUE(s.store->append({VhostDeleted{"b"}}, s.catalog->rules()));
    EXPECT_THAT(s.open(), AllOf(HasSubstr(s.directory + "/0000000000000000.segment, offset"),
                                HasSubstr("contradicts")));
}

// ------------------------------------------------------------------------- space

constexpr std::uint64_t room_needed = 4 * 1024 * 1024;

TEST(CatalogStoreRoom, IsFourMebibytes) {
    Stored s;
    EXPECT_TRUE(s.store->has_room());
    s.disk.set_capacity(s.disk.used_bytes() + room_needed);
    EXPECT_TRUE(s.store->has_room());
    s.disk.set_capacity(s.disk.used_bytes() + room_needed - 1);
    EXPECT_FALSE(s.store->has_room());
    s.disk.set_capacity(std::nullopt);
    EXPECT_TRUE(s.store->has_room());
}

TEST(CatalogStoreRoom, IsEnoughForALargeChange) {
    Stored s;
    s.disk.set_capacity(s.disk.used_bytes() + room_needed);
    ASSERT_TRUE(s.store->has_room());
    const std::string large(1024 * 1024, 'x');
    EXPECT_EQ(s.change(PutVhost{.name = "a", .description = large}), "safe");
}

// In that case the write reports the error.
TEST(CatalogStoreRoom, IsSupposedWhereTheDiskDoesNotSay) {
    Stored s;
    s.disk.set_capacity(s.disk.used_bytes());
    EXPECT_FALSE(s.store->has_room());
    s.disk.fail_at_step(s.disk.steps() + 1);
    EXPECT_TRUE(s.store->has_room());
}

// ------------------------------------------------------------------------- shutdown

TEST(CatalogStoreClose, LeavesEverythingInASnapshot) {
    Stored s;
    EXPECT_EQ(s.change(PutVhost{.name = "a"}), "safe");
    EXPECT_FALSE(s.has_snapshot());
    s.close();
    EXPECT_TRUE(s.has_snapshot());
    const AccessRules before = s.catalog->rules();
    EXPECT_EQ(s.open_after(SimDisk::Loss::power), "true");
    EXPECT_EQ(s.catalog->rules(), before);
}

TEST(CatalogStoreClose, WritesNothingIfNothingHasChanged) {
    Stored fresh;
    fresh.close();
    EXPECT_FALSE(fresh.has_snapshot());
    Stored s;
    EXPECT_EQ(s.change(PutVhost{.name = "a"}), "safe");
    s.close();
    EXPECT_EQ(s.open(), "true");
    const auto written = s.disk.counts().bytes_written;
    s.close();
    EXPECT_EQ(s.disk.counts().bytes_written, written);
    EXPECT_EQ(s.open(), "true");
    EXPECT_TRUE(s.has_vhost("a"));
}

TEST(CatalogStoreClose, OnAFullDiskLeavesTheJournalAsItIs) {
    Stored s;
    EXPECT_EQ(s.change(PutVhost{.name = "a"}), "safe");
    s.disk.set_capacity(s.disk.used_bytes() + room_needed - 1);
    s.close();
    EXPECT_FALSE(s.has_snapshot());
    EXPECT_EQ(s.open_after(SimDisk::Loss::power), "true");
    EXPECT_TRUE(s.has_vhost("a"));
}

// An unreadable last record looks like one that was never finished.
TEST(CatalogStoreClose, DamageDoneLaterIsNoTornChange) {
    Stored killed;
    EXPECT_EQ(killed.change(PutVhost{.name = "a"}), "safe");
    killed.store.reset();
    killed.disk.flip_bit(killed.directory + "/0000000000000000.segment", 50, 3);
    EXPECT_EQ(killed.open(), "false") << "nobody can tell";

    Stored closed;
    EXPECT_EQ(closed.change(PutVhost{.name = "a"}), "safe");
    closed.close();
    closed.store.reset();
    const std::string path = closed.snapshot();
    closed.disk.flip_bit(path, closed.disk.contents(path).size() / 2, 3);
    EXPECT_THAT(closed.open(), HasSubstr(path));
}

}  // namespace
}  // namespace revenant::runtime
