// A snapshot replaces the segments before it, which become spares.
#include "base/probe.h"
#include "journal/journal.h"
#include "journal/segments.h"
#include "journal/snapshot_file.h"
#include "tests/sim/journal_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace revenant::journal {
namespace {

using sim::JournalStage;
using sim::long_record;
using sim::SimDisk;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using SyncMode = Journal::SyncMode;

// ------------------------------------------------------------------------- snapshots

TEST(JournalSnapshot, StandsForEverythingBeforeIt) {
    JournalStage s;
    s.open();
    s.append_safely("one");
    s.append("two");
    s.snapshot_and_wait("one and two");
    EXPECT_FALSE(s.journal->is_writing_snapshot());
    s.append_safely("three");
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre("three"));
    EXPECT_EQ(s.snapshot, "one and two");
}

TEST(JournalSnapshot, OfAnEmptyJournalComesBack) {
    JournalStage s;
    s.open();
    s.snapshot_and_wait("nothing yet");
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), IsEmpty());
    EXPECT_EQ(s.snapshot, "nothing yet");
    s.append_safely("one");
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre("one"));
}

TEST(JournalSnapshot, ASecondOneAtTheSamePlaceTakesThePlaceOfTheFirst) {
    JournalStage s;
    s.open();
    s.append_safely("one");
    s.snapshot_and_wait("first");
    s.snapshot_and_wait("second");
    EXPECT_THAT(s.files(".snapshot"), SizeIs(1));
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), IsEmpty());
    EXPECT_EQ(s.snapshot, "second");
}

TEST(JournalSnapshot, TakesThePlaceOfTheOneBefore) {
    JournalStage s;
    s.open();
    s.append_safely("one");
    s.snapshot_and_wait("first");
    s.append_safely("two");
    s.snapshot_and_wait("second");
    EXPECT_THAT(s.files(".snapshot"), ElementsAre(snapshot_name(s.journal->snapshot_position())));
}

TEST(JournalSnapshot, LetsSegmentsBeforeItGoUnlessTheyAreInUse) {
    JournalStage s;
    s.settings.segments.spares_max = 0;
    s.open();
    std::vector<Lsn> records;
    for (const char letter : {'a', 'b', 'c', 'd'}) {
        records.push_back(s.append_safely(long_record(letter)));
    }
    EXPECT_THAT(s.files(".segment"), SizeIs(4));
    const Lsn used = s.journal->segment_of(records[1]);
    s.snapshot_and_wait("snapshot", {used});
    EXPECT_THAT(s.files(".segment"), ElementsAre(segment_name(used), s.files(".segment").back()));
    EXPECT_EQ(s.read(records[1], 600), long_record('b'));
    s.open_after(SimDisk::Loss::power);
    EXPECT_EQ(s.read(records[1], 600), long_record('b'));
    s.append_safely(long_record('e'));
    s.snapshot_and_wait("second");
    EXPECT_THAT(s.files(".segment"), SizeIs(1));
}

TEST(JournalSnapshot, WaitsForTheBatchesItStandsFor) {
    JournalStage s;
    s.open();
    s.append(long_record('a'));
    s.journal->flush(SyncMode::deferred);
    s.append("b");
    s.journal->write_snapshot("a and b", {});
    EXPECT_TRUE(s.journal->is_writing_snapshot());
    s.append("c");
    s.worker.run_one();
    EXPECT_THAT(s.files(".snapshot"), IsEmpty()) << "b is not safe yet";
    s.worker.run_all();
    EXPECT_FALSE(s.journal->is_writing_snapshot());
    EXPECT_THAT(s.files(".snapshot"), SizeIs(1));
    s.flush_and_wait(SyncMode::immediate);
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre("c"));
    EXPECT_EQ(s.snapshot, "a and b");
}

TEST(JournalSnapshot, SealsNoBatchIntoTheSyncThatIsUnderWay) {
    JournalStage s;
    s.open();
    s.append("one");
    s.flush_and_wait(SyncMode::deferred);
    s.journal->flush(SyncMode::immediate);
    s.worker.work_one();
    s.append("two");
    s.journal->write_snapshot("one and two", {});
    s.worker.tell_one();
    EXPECT_LT(s.journal->durable(), s.end) << "two was not even written";
    s.worker.run_all();
    s.append_safely("three");
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre("three"));
    EXPECT_EQ(s.snapshot, "one and two");
}

TEST(JournalSnapshot, IsWrittenOnceHoweverManySyncsEndMeanwhile) {
    JournalStage s;
    s.open();
    s.append_safely("one");
    const std::uint64_t renames = s.disk.counts().renames;
    s.append("two");
    s.journal->flush(SyncMode::immediate);
    s.journal->write_snapshot("first", {});
    s.append("three");
    s.journal->flush(SyncMode::immediate);
    s.worker.run_all();
    s.journal->write_snapshot("second", {});
    s.append("four");
    s.worker.run_all();
    EXPECT_EQ(s.disk.counts().renames, renames + 2);
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), IsEmpty());
    EXPECT_EQ(s.snapshot, "second");
}

TEST(JournalSnapshot, IsWrittenOnceThoughASyncEndsAfterItWasHandedOver) {
    JournalStage s;
    s.open();
    s.append("one");
    s.journal->flush(SyncMode::immediate);
    s.journal->flush(SyncMode::immediate);
    s.worker.run_one();
    const std::uint64_t renames = s.disk.counts().renames;
    s.journal->write_snapshot("snapshot", {});
    s.worker.run_all();
    EXPECT_EQ(s.disk.counts().renames, renames + 1);
}

TEST(JournalSnapshot, AnEarlierOneDoesNotEndTheNext) {
    JournalStage s;
    s.open();
    s.append("one");
    s.journal->write_snapshot("first", {});
    s.append("two");
    s.journal->flush(SyncMode::immediate);
    while (s.journal->is_writing_snapshot() && s.worker.run_one()) {
    }
    s.append("three");
    s.journal->write_snapshot("second", {});
    while (s.journal->is_writing_snapshot() && s.worker.run_one()) {
    }
    EXPECT_GE(s.journal->snapshot_position(), s.end);
    s.open_after(SimDisk::Loss::power);
    EXPECT_EQ(s.snapshot, "second");
}

// Unwritten data has no segment that could be named as in use.
TEST(JournalSnapshot, KeepsTheSegmentsThatBeganAfterItWasAskedFor) {
    JournalStage s;
    s.settings.segments.spares_max = 0;
    s.open();
    s.append_safely(long_record('a'));
    const Lsn at = s.append(long_record('b'));
    s.journal->flush(SyncMode::immediate);
    s.append(long_record('c'));
    s.journal->write_snapshot("b is referred to", {s.journal->segment_of(at)});
    s.append(long_record('d'));
    s.flush_and_wait(SyncMode::immediate);
    EXPECT_EQ(s.read(at, 600), long_record('b'));
    s.open_after(SimDisk::Loss::power);
    EXPECT_EQ(s.snapshot, "b is referred to");
    EXPECT_EQ(s.read(at, 600), long_record('b'));
    const Lsn segment = s.journal->segment_of(at);
    s.snapshot_and_wait("nothing is referred to");
    EXPECT_THAT(s.files(".segment"), Not(Contains(segment_name(segment))));
}

TEST(JournalSnapshot, KeepsAlsoTheVeryFirstSegment) {
    JournalStage s;
    s.open();
    const Lsn at = s.append(long_record('a'));
    s.journal->flush(SyncMode::immediate);
    s.append(long_record('b'));
    s.journal->write_snapshot("a is referred to", {});
    s.append(long_record('c'));
    s.flush_and_wait(SyncMode::immediate);
    EXPECT_EQ(s.read(at, 600), long_record('a'));
}

TEST(JournalSnapshot, OneThatWasNeverFinishedIsRemoved) {
    JournalStage s;
    s.open();
    s.append_safely("one");
    ASSERT_TRUE(s.disk.create(s.path(snapshot_name({8}) + ".new")).has_value());
    EXPECT_THAT(s.open(), ElementsAre("one"));
    EXPECT_THAT(s.files(".new"), IsEmpty());
}

// ------------------------------------------------------------------------- spares

TEST(JournalSpares, AreWrittenAgainAndTheirOldContentsNeverRead) {
    JournalStage s;
    s.open();
    for (const char letter : {'a', 'b', 'c'}) s.append_safely(long_record(letter));
    s.snapshot_and_wait("snapshot");
    EXPECT_THAT(s.files(".spare"), SizeIs(2));
    const std::uint64_t used = Probe::hits("segments.spare_used");
    const std::uint64_t creates = s.disk.counts().creates;
    s.append_safely(std::string(400, 'd'));
    s.append_safely("e");
    EXPECT_EQ(Probe::hits("segments.spare_used"), used + 1);
    EXPECT_EQ(s.disk.counts().creates, creates);
    EXPECT_THAT(s.files(".spare"), SizeIs(1));
    EXPECT_THAT(s.disk.contents(s.path(s.files(".segment").back())), HasSubstr("bbbbbbbb"));
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre(std::string(400, 'd'), "e"));
}

TEST(JournalSpares, AreFoundAgainAtTheNextStart) {
    JournalStage s;
    s.open();
    for (const char letter : {'a', 'b', 'c'}) s.append_safely(long_record(letter));
    s.snapshot_and_wait("snapshot");
    s.open();
    s.append_safely(long_record('d'));
    EXPECT_THAT(s.files(".spare"), SizeIs(1));
}

TEST(JournalSpares, AreNotKeptBeyondTheirNumber) {
    JournalStage s;
    s.open();
    for (const char letter : {'a', 'b', 'c', 'd', 'e'}) s.append_safely(long_record(letter));
    s.snapshot_and_wait("snapshot");
    EXPECT_THAT(s.files(".spare"), SizeIs(2));
    EXPECT_THAT(s.files(".segment"), SizeIs(1));
}

}  // namespace
}  // namespace revenant::journal
