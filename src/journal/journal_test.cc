#include "journal/journal.h"

#include "journal/segments.h"
#include "tests/sim/journal_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

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

// ------------------------------------------------------------------------- appending

TEST(Journal, RecordsComeBackInOrder) {
    JournalStage s;
    EXPECT_THAT(s.open(), IsEmpty());
    s.append("one");
    s.append("two");
    s.flush_and_wait(SyncMode::immediate);
    s.append_safely("three");
    EXPECT_THAT(s.open(), ElementsAre("one", "two", "three"));
    s.append_safely("four");
    EXPECT_THAT(s.open(), ElementsAre("one", "two", "three", "four"));
}

TEST(Journal, RecordsTellWhereTheyAreAndInWhichBatch) {
    JournalStage s;
    s.open();
    const Lsn first_batch = s.journal->batch_position();
    const Lsn one = s.append("one");
    const Lsn two = s.append("two");
    s.flush_and_wait(SyncMode::immediate);
    const Lsn second_batch = s.journal->batch_position();
    const Lsn three = s.append_safely("three");
    s.journal = Journal::open(s.disk, s.worker, s.directory, s.settings).value();
    std::vector<Lsn> at;
    std::vector<Lsn> batches;
    const auto replayed = s.journal->replay([&](const Journal::Record& record) {
        at.push_back(record.at);
        batches.push_back(record.batch);
        return Result<void, IoError>{};
    });
    ASSERT_TRUE(replayed.has_value());
    EXPECT_THAT(at, ElementsAre(one, two, three));
    EXPECT_THAT(batches, ElementsAre(first_batch, first_batch, second_batch));
}

TEST(Journal, AReplayEndsWithTheErrorOfItsVisitor) {
    JournalStage s;
    s.open();
    s.append_safely("one");
    s.append_safely("two");
    s.journal = Journal::open(s.disk, s.worker, s.directory, s.settings).value();
    int visits = 0;
    const auto replayed = s.journal->replay([&](const Journal::Record&) -> Result<void, IoError> {
        visits += 1;
        return Unexpected{IoError{"no such event"}};
    });
    EXPECT_EQ(replayed.error().text, "no such event");
    EXPECT_EQ(visits, 1);
}

TEST(Journal, WithNothingGatheredAFlushAsksNothingOfTheDisk) {
    JournalStage s;
    s.open();
    s.journal->flush(SyncMode::immediate);
    s.journal->flush(SyncMode::deferred);
    EXPECT_EQ(s.worker.waiting(), 0U);
    s.append_safely("one");
    s.journal->flush(SyncMode::immediate);
    EXPECT_EQ(s.worker.waiting(), 0U);
}

TEST(Journal, AFlushThatIsNotUrgentWritesWithoutASync) {
    JournalStage s;
    s.open();
    const std::uint64_t syncs = s.disk.counts().syncs;
    s.append("one");
    s.flush_and_wait(SyncMode::deferred);
    EXPECT_EQ(s.disk.counts().syncs, syncs);
    EXPECT_THAT(s.durable, IsEmpty());
    s.flush_and_wait(SyncMode::immediate);
    EXPECT_EQ(s.disk.counts().syncs, syncs + 1);
    ASSERT_THAT(s.durable, SizeIs(1));
    EXPECT_GE(s.durable[0], s.end);
    EXPECT_EQ(s.journal->durable(), s.durable[0]);
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre("one"));
}

TEST(Journal, OneSyncMakesManyRecordsDurable) {
    JournalStage s;
    s.open();
    const std::uint64_t syncs = s.disk.counts().syncs;
    s.append("first");
    s.journal->flush(SyncMode::immediate);
    std::vector<std::string> expected{"first"};
    for (int i = 0; i < 50; ++i) {
        expected.push_back("record " + std::to_string(i));
        s.append(expected.back());
        s.journal->flush(SyncMode::immediate);
    }
    s.worker.run_all();
    EXPECT_EQ(s.disk.counts().syncs, syncs + 2) << "the first, and all the others";
    EXPECT_THAT(s.durable, SizeIs(2));
    EXPECT_GE(s.durable.back(), s.end);
    EXPECT_EQ(s.open_after(SimDisk::Loss::power), expected);
}

TEST(Journal, DurableIsToldInOrderAndNeverAheadOfTheDisk) {
    JournalStage s;
    s.open();
    std::vector<Lsn> ends;
    for (int i = 0; i < 5; ++i) {
        s.append("record");
        ends.push_back(s.end);
        s.journal->flush(SyncMode::immediate);
        EXPECT_TRUE(s.durable.empty() || s.durable.back() < s.end);
        s.worker.work_one();
        EXPECT_LT(s.journal->durable(), s.end);
        s.worker.tell_one();
    }
    s.worker.run_all();
    EXPECT_TRUE(std::is_sorted(s.durable.begin(), s.durable.end()));
    EXPECT_GE(s.durable.back(), ends.back());
}

TEST(Journal, CountsWhatItWritesAndHowLongASyncTakes) {
    JournalStage s;
    static std::int64_t clock_us = 0;
    s.settings.now = [] { return Timestamp{clock_us += 300}; };
    s.open();
    const Lsn before = s.journal->batch_position();
    s.append("one");
    s.flush_and_wait(SyncMode::deferred);
    EXPECT_EQ(s.journal->counters().syncs.count(), 0U);
    s.append_safely("two");
    const JournalCounters counters = s.journal->counters();
    EXPECT_EQ(counters.batches, 2U);
    EXPECT_EQ(counters.written_bytes, s.journal->batch_position().value - before.value);
    EXPECT_EQ(counters.syncs.count(), 1U);
    EXPECT_EQ(counters.syncs.sum, 300U);
    EXPECT_EQ(counters.snapshots, 0U);
    s.snapshot_and_wait("state");
    EXPECT_EQ(s.journal->counters().snapshots, 1U);
    EXPECT_EQ(s.journal->counters().snapshot_bytes, 5U);
}

TEST(Journal, WaitingBytesAreThoseNotYetWritten) {
    JournalStage s;
    s.open();
    const std::size_t idle = s.journal->waiting_bytes();
    s.append(long_record('a'));
    EXPECT_GE(s.journal->waiting_bytes(), idle + 600);
    s.journal->flush(SyncMode::immediate);
    s.append(long_record('b'));
    EXPECT_GE(s.journal->waiting_bytes(), idle + 1200);
    s.flush_and_wait(SyncMode::immediate);
    EXPECT_EQ(s.journal->waiting_bytes(), idle);
}

TEST(Journal, ABatchLargerThanASegmentHasOneForItself) {
    JournalStage s;
    s.open();
    s.append_safely("before");
    const std::string large(5000, 'L');
    const Lsn at = s.append_safely(large);
    s.append_safely("after");
    EXPECT_EQ(s.read(at, large.size()), large);
    EXPECT_THAT(s.files(".segment"), SizeIs(3));
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre("before", large, "after"));
}

TEST(Journal, FlushedTwiceIsSyncedOnce) {
    JournalStage s;
    s.open();
    s.append("one");
    s.journal->flush(SyncMode::immediate);
    s.journal->flush(SyncMode::immediate);
    s.worker.run_one();
    EXPECT_EQ(s.worker.waiting(), 0U);
    EXPECT_THAT(s.durable, SizeIs(1));
}

TEST(Journal, WhoeverIsToldOfDurabilityMayAppendAtOnce) {
    JournalStage s;
    s.open();
    int told = 0;
    s.journal->listen({.durable =
                           [&](Lsn) {
                               if (++told > 3) return;
                               s.append("next");
                               s.journal->flush(SyncMode::immediate);
                           },
                       .failed = {},
                       .disk_full = {}});
    s.append_safely("one");
    EXPECT_EQ(told, 4);
    EXPECT_GE(s.journal->durable(), s.end);
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre("one", "next", "next", "next"));
}

TEST(Journal, MayBeDestroyedWhileWorkIsUnderWay) {
    JournalStage s;
    s.open();
    s.append_safely("zero");
    s.append("one");
    s.journal->flush(SyncMode::immediate);
    s.worker.work_one();
    s.append("two");
    s.journal.reset();
    s.worker.run_all();
    EXPECT_THAT(s.durable, SizeIs(1));
    EXPECT_THAT(s.open(), ElementsAre("zero", "one"));
    s.append_safely("three");
    s.journal->write_snapshot("snapshot", {});
    s.journal.reset();
    s.worker.run_all();
    EXPECT_THAT(s.open(), IsEmpty());
    EXPECT_EQ(s.snapshot, "snapshot");
}

// ------------------------------------------------------------------------- reading

TEST(JournalRead, GivesTheSameBytesWhereverTheyAre) {
    JournalStage s;
    s.open();
    const Lsn first = s.append("the first of them");
    const Lsn second = s.append("the second");
    const auto both = [&] { return s.read(first, 17) + "|" + s.read(second, 10); };
    EXPECT_EQ(both(), "the first of them|the second") << "gathering";
    s.journal->flush(SyncMode::immediate);
    EXPECT_EQ(both(), "the first of them|the second") << "sealed";
    s.worker.work_one();
    EXPECT_EQ(both(), "the first of them|the second") << "written, not yet told";
    s.worker.run_all();
    EXPECT_EQ(both(), "the first of them|the second") << "written";
    s.append_safely(long_record('x'));
    s.append_safely(long_record('y'));
    s.journal->will_need(first, 17);
    EXPECT_EQ(both(), "the first of them|the second") << "in an earlier segment";
    s.open_after(SimDisk::Loss::power);
    EXPECT_EQ(both(), "the first of them|the second") << "after a start";
}

TEST(JournalRead, OfASegmentThatIsGoneFails) {
    JournalStage s;
    s.open();
    const Lsn at = s.append_safely(long_record('x'));
    s.append_safely(long_record('y'));
    s.snapshot_and_wait("snapshot");
    EXPECT_THAT(s.read(at, 10), HasSubstr("no segment contains position"));
}

TEST(JournalRead, SegmentOfIsThePositionItsFileIsNamedAfter) {
    JournalStage s;
    s.open();
    const Lsn one = s.append_safely(long_record('x'));
    const Lsn start = s.journal->batch_position();
    const Lsn two = s.append_safely(long_record('y'));
    EXPECT_EQ(s.journal->segment_of(one), Lsn{0});
    EXPECT_EQ(s.journal->segment_of(two), start);
    EXPECT_THAT(s.files(".segment"), ElementsAre(segment_name({0}), segment_name(start)));
}

}  // namespace
}  // namespace revenant::journal
