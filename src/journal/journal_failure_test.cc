// A full disk, which is temporary, and a failing disk, which is not.
#include "base/probe.h"
#include "journal/journal.h"
#include "journal/snapshot_file.h"
#include "tests/sim/journal_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::journal {
namespace {

using sim::JournalStage;
using sim::long_record;
using sim::SimDisk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using SyncMode = Journal::SyncMode;

// ------------------------------------------------------------------------- full disk

TEST(JournalDiskFull, KeepsTheBatchAndLosesNothing) {
    JournalStage s;
    s.open();
    s.append_safely("one");
    s.disk.set_capacity(s.disk.used_bytes());
    const Lsn at = s.append_safely(long_record('x'));
    const Lsn promised = s.journal->durable();
    EXPECT_THAT(s.full, ElementsAre(true));
    EXPECT_TRUE(s.journal->is_disk_full());
    EXPECT_LT(promised, s.end);
    s.append("three");
    s.flush_and_wait(SyncMode::immediate);
    EXPECT_THAT(s.full, ElementsAre(true)) << "told once";
    EXPECT_EQ(s.read(at, 600), long_record('x'));
    s.disk.set_capacity(std::nullopt);
    const std::uint64_t tried = Probe::hits("journal.tried_again");
    s.journal->retry();
    EXPECT_EQ(Probe::hits("journal.tried_again"), tried + 1);
    s.worker.run_all();
    EXPECT_THAT(s.full, ElementsAre(true, false));
    EXPECT_FALSE(s.journal->is_disk_full());
    s.flush_and_wait(SyncMode::immediate);
    EXPECT_GE(s.journal->durable(), s.end);
    EXPECT_THAT(s.failed, IsEmpty());
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre("one", long_record('x'), "three"));
}

TEST(JournalDiskFull, WhoeverIsToldOfRoomMayAppendAtOnce) {
    JournalStage s;
    s.open();
    s.append_safely("one");
    s.journal->listen({.durable = [&](Lsn at) { s.durable.push_back(at); },
                       .failed = {},
                       .disk_full =
                           [&](bool is_full) {
                               if (is_full) return;
                               s.append("three");
                               s.journal->flush(SyncMode::immediate);
                           }});
    s.disk.set_capacity(s.disk.used_bytes());
    s.append_safely(long_record('x'));
    s.disk.set_capacity(std::nullopt);
    s.journal->retry();
    s.worker.run_all();
    EXPECT_GE(s.journal->durable(), s.end);
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre("one", long_record('x'), "three"));
}

TEST(JournalDiskFull, WithRoomEnoughARetryAsksNothing) {
    JournalStage s;
    s.open();
    s.append("one");
    s.journal->retry();
    EXPECT_EQ(s.worker.waiting(), 0U);
}

TEST(JournalDiskFull, WhenNoSegmentCanBeMadeItIsMadeLater) {
    JournalStage s;
    s.open();
    s.append_safely(long_record('a'));
    s.disk.set_capacity(0);
    s.append_safely(long_record('b'));
    EXPECT_THAT(s.full, ElementsAre(true));
    s.disk.set_capacity(std::nullopt);
    s.journal->retry();
    s.worker.run_all();
    EXPECT_THAT(s.open_after(SimDisk::Loss::power),
                ElementsAre(long_record('a'), long_record('b')));
}

TEST(JournalDiskFull, ASnapshotThatFoundNoRoomLeavesItToOthers) {
    JournalStage s;
    s.open();
    s.append_safely("one");
    const std::uint64_t used = s.disk.used_bytes();
    s.disk.set_capacity(used + 100);
    s.snapshot_and_wait(long_record('s'));
    EXPECT_FALSE(s.journal->is_writing_snapshot());
    EXPECT_THAT(s.failed, IsEmpty());
    EXPECT_THAT(s.files(".snapshot"), IsEmpty());
    EXPECT_EQ(s.disk.used_bytes(), used);
    s.disk.set_capacity(std::nullopt);
    s.append_safely("two");
    s.snapshot_and_wait("one and two");
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), IsEmpty());
    EXPECT_EQ(s.snapshot, "one and two");
}

// ------------------------------------------------------------------------- failures

TEST(JournalFailure, OfAWriteIsToldOnceAndNothingIsPromisedAfterIt) {
    JournalStage s;
    s.open();
    s.append_safely("one");
    const auto promised = s.durable;
    s.disk.fail_next_write();
    s.append_safely("two");
    EXPECT_THAT(s.failed, ElementsAre(HasSubstr("write " + s.directory)));
    s.append_safely("three");
    s.journal->retry();
    s.worker.run_all();
    EXPECT_THAT(s.failed, SizeIs(1));
    EXPECT_EQ(s.durable, promised);
    EXPECT_THAT(s.full, IsEmpty());
}

TEST(JournalFailure, OfASyncIsToldOnceAndNothingIsPromisedAfterIt) {
    JournalStage s;
    s.open();
    s.append_safely("one");
    const auto promised = s.durable;
    s.disk.fail_next_sync();
    s.append_safely("two");
    EXPECT_THAT(s.failed, ElementsAre(HasSubstr("sync " + s.directory)));
    s.append_safely("three");
    EXPECT_THAT(s.failed, SizeIs(1));
    EXPECT_EQ(s.durable, promised);
}

// The next startup would cut off everything after it.
TEST(JournalFailure, OfAnEpochThatCannotGrowIsRefused) {
    JournalStage s;
    ASSERT_TRUE(s.disk.make_directory(s.directory).has_value());
    ASSERT_TRUE(write_snapshot_file(s.disk, s.directory, {0}, UINT32_MAX, "state").has_value());
    EXPECT_THAT(s.open(), ElementsAre(HasSubstr("journal damaged: directory " + s.directory)));
}

// The process ends but the machine keeps running: data that the sync did not write can still be
// read. It is not on disk, and no later sync would write it.
TEST(JournalFailure, WhatASyncLeftOutIsWrittenAgainByTheNextStart) {
    JournalStage s;
    s.open();
    s.append_safely("a");
    s.disk.fail_next_sync();
    s.append("b");
    s.flush_and_wait(SyncMode::immediate);
    EXPECT_THAT(s.failed, SizeIs(1));
    EXPECT_THAT(s.open_after(SimDisk::Loss::process), ElementsAre("a", "b"));
    s.append_safely("c");
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre("a", "b", "c"));
}

// A sync requested while the disk was full still happens after the batch is retried.
TEST(JournalFailure, OfAFullDiskDelaysNoLaterSync) {
    JournalStage s;
    s.open();
    s.append_safely("one");
    s.disk.set_capacity(s.disk.used_bytes());
    s.append_safely(std::string(3000, 'x'));
    EXPECT_THAT(s.full, ElementsAre(true));
    s.disk.set_capacity(std::nullopt);
    s.append_safely("two");
    s.journal->retry();
    s.worker.run_all();
    EXPECT_EQ(s.journal->durable(), s.journal->batch_position());
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), SizeIs(3));
}

// Some file systems report a lack of space only at the sync. The kernel may have dropped the data
// that the failed sync did not write.
TEST(JournalFailure, OfASyncIsNoFullDiskWhateverItSays) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        JournalStage s(seed);
        s.open();
        s.append_safely("one");
        s.append("two");
        s.flush_and_wait(SyncMode::deferred);
        const auto promised = s.durable;
        s.disk.fail_next_sync_as_full();
        s.append_safely("three");
        s.journal->retry();
        s.flush_and_wait(SyncMode::immediate);
        EXPECT_THAT(s.failed, ElementsAre(HasSubstr("No space left")));
        EXPECT_THAT(s.full, IsEmpty());
        EXPECT_EQ(s.durable, promised);
    }
}

TEST(JournalFailure, OfABatchAndASnapshotIsToldOnce) {
    JournalStage s;
    s.open();
    s.append_safely("one");
    s.journal->write_snapshot("snapshot", {});
    s.append("two");
    s.journal->flush(SyncMode::immediate);
    s.disk.crash();
    s.worker.run_all();
    EXPECT_THAT(s.failed, SizeIs(1));
}

TEST(JournalFailure, OfASnapshotIsFollowedByNoPromise) {
    JournalStage s;
    s.open();
    s.append_safely("one");
    const auto promised = s.durable;
    s.journal->write_snapshot("snapshot", {});
    s.append("two");
    s.journal->flush(SyncMode::immediate);
    s.disk.fail_next_sync();
    s.worker.run_all();
    EXPECT_THAT(s.failed, ElementsAre(HasSubstr(".snapshot.new")));
    EXPECT_EQ(s.durable, promised);
}

TEST(JournalFailure, IsFollowedByNoSnapshot) {
    JournalStage s;
    s.open();
    s.append_safely("one");
    s.journal->write_snapshot("first", {});
    s.disk.fail_next_sync();
    s.worker.run_all();
    s.journal->write_snapshot("second", {});
    EXPECT_EQ(s.worker.waiting(), 0U);
    EXPECT_THAT(s.files(".snapshot"), IsEmpty());
}

TEST(JournalFailure, WhatWasAppendedCanStillBeRead) {
    JournalStage s;
    s.open();
    s.disk.fail_next_sync();
    const Lsn at = s.append_safely("one");
    EXPECT_EQ(s.read(at, 3), "one");
}

TEST(JournalFailure, OfASnapshotIsTold) {
    JournalStage s;
    s.open();
    s.append_safely("one");
    s.journal->write_snapshot("snapshot", {});
    s.disk.fail_next_sync();
    s.worker.run_all();
    EXPECT_THAT(s.failed, ElementsAre(HasSubstr(".snapshot.new")));
}

}  // namespace
}  // namespace revenant::journal
