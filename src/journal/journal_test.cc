#include "journal/journal.h"

#include "base/probe.h"
#include "journal/batch_format.h"
#include "journal/segments.h"
#include "journal/snapshot_file.h"
#include "tests/sim/journal_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::journal {
namespace {

using sim::JournalStage;
using sim::SimDisk;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Urgency = Journal::Urgency;

const std::string long_record(char letter) { return std::string(600, letter); }

// ------------------------------------------------------------------------- appending

TEST(Journal, RecordsComeBackInOrder) {
    JournalStage s;
    EXPECT_THAT(s.open(), IsEmpty());
    s.append("one");
    s.append("two");
    s.flush_and_wait(Urgency::now);
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
    s.flush_and_wait(Urgency::now);
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
    s.journal->flush(Urgency::now);
    s.journal->flush(Urgency::when_convenient);
    EXPECT_EQ(s.worker.waiting(), 0U);
    s.append_safely("one");
    s.journal->flush(Urgency::now);
    EXPECT_EQ(s.worker.waiting(), 0U);
}

TEST(Journal, AFlushThatIsNotUrgentWritesWithoutASync) {
    JournalStage s;
    s.open();
    const std::uint64_t syncs = s.disk.counts().syncs;
    s.append("one");
    s.flush_and_wait(Urgency::when_convenient);
    EXPECT_EQ(s.disk.counts().syncs, syncs);
    EXPECT_THAT(s.durable, IsEmpty());
    s.flush_and_wait(Urgency::now);
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
    s.journal->flush(Urgency::now);
    std::vector<std::string> expected{"first"};
    for (int i = 0; i < 50; ++i) {
        expected.push_back("record " + std::to_string(i));
        s.append(expected.back());
        s.journal->flush(Urgency::now);
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
        s.journal->flush(Urgency::now);
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
    s.flush_and_wait(Urgency::when_convenient);
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
    s.journal->flush(Urgency::now);
    s.append(long_record('b'));
    EXPECT_GE(s.journal->waiting_bytes(), idle + 1200);
    s.flush_and_wait(Urgency::now);
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

// ------------------------------------------------------------------------- the torn tail

TEST(Journal, WhatWasNotSyncedMayBeMissingButIsNeverTorn) {
    std::set<std::size_t> counts;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        JournalStage s(seed);
        s.open();
        s.append_safely("safe");
        const std::vector<std::string> appended{"safe", std::string(300, 'a'), "b",
                                                std::string(90, 'c')};
        for (std::size_t i = 1; i < appended.size(); ++i) {
            s.append(appended[i]);
            s.flush_and_wait(Urgency::when_convenient);
        }
        const auto left = s.open_after(SimDisk::Loss::power);
        ASSERT_GE(left.size(), 1U);
        ASSERT_LE(left.size(), appended.size());
        EXPECT_TRUE(std::equal(left.begin(), left.end(), appended.begin())) << "seed " << seed;
        counts.insert(left.size());
    }
    EXPECT_THAT(counts, SizeIs(4)) << "nothing lost, or some, or everything that can be";
}

TEST(Journal, ATornTailIsCutAndWhatFollowsIsReadBack) {
    JournalStage s;
    s.open();
    s.append_safely("safe");
    const Lsn torn = s.journal->batch_position();
    s.append("torn");
    s.flush_and_wait(Urgency::when_convenient);
    s.disk.flip_bit(s.path(segment_name({0})), torn.value + batch_header_bytes + 5, 3);
    const std::uint64_t cut = Probe::hits("segments.tail_cut");
    EXPECT_THAT(s.open(), ElementsAre("safe"));
    EXPECT_GT(Probe::hits("segments.tail_cut"), cut);
    EXPECT_EQ(s.journal->batch_position(), torn);
    s.append_safely("next");
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre("safe", "next"));
}

// Two batches that were not synced, the first of them torn, and nothing that fills ahead.
struct Torn : JournalStage {
    explicit Torn(std::size_t safe_bytes) {
        settings.segments.small_batch_bytes = 0;
        open();
        append_safely(std::string(safe_bytes, 's'));
        open();
        torn = journal->batch_position();
        append(std::string(100, '1'));
        flush_and_wait(Urgency::when_convenient);
        append("stale");
        flush_and_wait(Urgency::when_convenient);
        const std::string last = files(".segment").back();
        const std::uint64_t start = parse_segment_name(last).value().value;
        disk.flip_bit(path(last), torn.value - start + batch_header_bytes + 5, 3);
    }
    Lsn torn;
};

TEST(JournalStart, ABatchThatWasCutOffNeverReturnsBehindANewOne) {
    Torn s(100);
    EXPECT_THAT(s.open(), SizeIs(1));
    s.append_safely(std::string(100, '2'));
    EXPECT_THAT(s.open(), ElementsAre(std::string(100, 's'), std::string(100, '2')));
    s.append_safely("end");
    EXPECT_THAT(s.open(), ElementsAre(std::string(100, 's'), std::string(100, '2'), "end"));
}

TEST(JournalStart, NeitherInASegmentThatHasNothingElse) {
    Torn s(900);
    EXPECT_THAT(s.files(".segment"), SizeIs(2));
    for (int start = 0; start < 3; ++start) EXPECT_THAT(s.open(), SizeIs(1));
    s.append_safely(std::string(100, '2'));
    EXPECT_THAT(s.open(), ElementsAre(std::string(900, 's'), std::string(100, '2')));
}

TEST(JournalStart, TheEpochNeverFallsWithinAStream) {
    JournalStage s;
    for (int start = 0; start < 5; ++start) s.open();
    s.append_safely(std::string(950, 'a'));
    s.append_safely("b");
    const auto names = s.files(".segment");
    ASSERT_THAT(names, SizeIs(2));
    s.disk.flip_bit(s.path(names[1]), batch_header_bytes + 5, 3);
    EXPECT_THAT(s.open(), SizeIs(1));
    s.append_safely("c");
    const Lsn start = parse_segment_name(names[1]).value();
    const auto before = read_batch_header(s.disk.contents(s.path(names[0])), {0});
    const auto after = read_batch_header(s.disk.contents(s.path(names[1])), start);
    EXPECT_GT(after.value().epoch, before.value().epoch);
}

// A process that was killed leaves what the system has yet to write.
struct Killed : JournalStage {
    explicit Killed(std::uint64_t seed) : JournalStage(seed) {
        open();
        append_safely("safe");
        append(std::string(400, 'a'));
        flush_and_wait(Urgency::when_convenient);
        append(std::string(90, 'b'));
        flush_and_wait(Urgency::when_convenient);
        EXPECT_THAT(open_after(SimDisk::Loss::process), SizeIs(3));
    }
};

TEST(JournalStart, WhatWasFoundIsSafeWithTheNextRecord) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        Killed s(seed);
        s.append("next");
        s.flush_and_wait(Urgency::when_convenient);
        const auto left = s.open_after(SimDisk::Loss::power);
        ASSERT_GE(left.size(), 3U) << "seed " << seed << ": " << left[0];
    }
}

TEST(JournalStart, WhatWasFoundIsSafeBeforeTheNextSegmentBegins) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        Killed s(seed);
        s.append_safely(long_record('x'));
        EXPECT_THAT(s.open_after(SimDisk::Loss::power), SizeIs(4)) << "seed " << seed;
    }
}

TEST(JournalStart, WhatWasFoundIsSafeBeforeASnapshotStandsForIt) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        Killed s(seed);
        s.snapshot_and_wait("snapshot");
        EXPECT_THAT(s.open_after(SimDisk::Loss::power), IsEmpty()) << "seed " << seed;
        EXPECT_EQ(s.snapshot, "snapshot");
    }
}

TEST(JournalStart, ASegmentThatWasFoundIsThereForCertain) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        JournalStage s(seed);
        s.open();
        s.append("one");
        s.journal->flush(Urgency::now);
        s.disk.crash_at_step(s.disk.steps() + 2);  // the directory is not synced
        s.worker.run_all();
        s.open_after(SimDisk::Loss::process);
        s.append_safely("two");
        EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre("two")) << "seed " << seed;
    }
}

// ------------------------------------------------------------------------- damage

// Three batches in each of two segments.
struct Filled : JournalStage {
    Filled() {
        open();
        for (char letter = 'a'; letter <= 'f'; ++letter) {
            batches.push_back(journal->batch_position());
            append_safely(std::string(250, letter));
        }
        EXPECT_THAT(files(".segment"), ElementsAre(segment_name({0}), segment_name(batches[3])));
    }
    std::vector<Lsn> batches;
};

TEST(JournalDamage, InTheMiddleOfTheLastSegmentIsRefused) {
    for (const std::size_t within :
         {std::size_t{0}, std::size_t{9}, std::size_t{13}, std::size_t{20}, std::size_t{100}}) {
        Filled s;
        const std::string file = s.path(segment_name(s.batches[3]));
        const std::uint64_t offset = s.batches[4].value - s.batches[3].value;
        s.disk.flip_bit(file, offset + within, 1);
        EXPECT_THAT(s.open(), ElementsAre(AllOf(HasSubstr("journal damaged: file " + file),
                                                HasSubstr("offset " + std::to_string(offset)))))
            << within;
    }
}

TEST(JournalDamage, InAnEarlierSegmentIsRefused) {
    for (const std::size_t batch : {0, 1, 2}) {
        Filled s;
        const std::string file = s.path(segment_name({0}));
        const std::uint64_t offset = s.batches[batch].value;
        s.disk.flip_bit(file, offset + 60, 1);
        EXPECT_THAT(s.open(), ElementsAre(AllOf(HasSubstr("journal damaged: file " + file),
                                                HasSubstr("offset " + std::to_string(offset)))));
    }
}

TEST(JournalDamage, AMissingSegmentIsRefused) {
    Filled s;
    ASSERT_TRUE(s.disk.remove(s.path(segment_name({0}))).has_value());
    EXPECT_THAT(s.open(), ElementsAre(AllOf(HasSubstr("journal damaged"), HasSubstr(s.directory),
                                            HasSubstr("position 0 is missing"))));
}

TEST(JournalDamage, MissingSegmentsBeforeAnEmptyOneAreRefused) {
    JournalStage s;
    s.open();
    s.append_safely(long_record('a'));
    s.append(long_record('b'));
    s.journal->flush(Urgency::now);
    s.disk.crash_at_step(s.disk.steps() + 3);  // its segment was made
    s.worker.run_all();
    EXPECT_THAT(s.open_after(SimDisk::Loss::process), ElementsAre(long_record('a')));
    ASSERT_THAT(s.files(".segment"), SizeIs(2));
    ASSERT_TRUE(s.disk.remove(s.path(segment_name({0}))).has_value());
    EXPECT_THAT(s.open(), ElementsAre(HasSubstr("position 0 is missing")));
}

TEST(JournalDamage, AMissingSegmentInTheMiddleIsRefused) {
    Filled s;
    s.append_safely(long_record('g'));
    s.append_safely(long_record('h'));
    const std::string before = s.path(segment_name({0}));
    ASSERT_TRUE(s.disk.remove(s.path(segment_name(s.batches[3]))).has_value());
    EXPECT_THAT(s.open(),
                ElementsAre(AllOf(HasSubstr("journal damaged: file " + before),
                                  HasSubstr("offset " + std::to_string(s.batches[3].value)))));
}

TEST(JournalDamage, AnEndBeforeTheSnapshotIsRefused) {
    Filled s;
    s.snapshot_and_wait("snapshot");
    const auto names = s.files(".segment");
    ASSERT_THAT(names, ElementsAre(segment_name(s.batches[3])));
    s.disk.flip_bit(s.path(names[0]), s.batches[5].value - s.batches[3].value + 50, 1);
    EXPECT_THAT(s.open(), ElementsAre(AllOf(HasSubstr("journal damaged"), HasSubstr(s.directory),
                                            HasSubstr("it ends before the snapshot"))));
}

TEST(JournalDamage, OfTheSnapshotIsRefused) {
    Filled s;
    s.snapshot_and_wait("snapshot");
    const auto names = s.files(".snapshot");
    ASSERT_THAT(names, SizeIs(1));
    s.disk.flip_bit(s.path(names[0]), 35, 1);
    EXPECT_THAT(s.open(), ElementsAre(AllOf(HasSubstr("snapshot damaged: file " + s.path(names[0])),
                                            HasSubstr("checksum"))));
}

TEST(JournalDamage, AReadThatFailsIsNotTakenForTheEnd) {
    Filled s;
    s.disk.fail_reads(true);
    EXPECT_THAT(s.open(), ElementsAre(HasSubstr("read " + s.directory)));
    s.disk.fail_reads(false);
    EXPECT_THAT(s.open(), SizeIs(6));
}

// ------------------------------------------------------------------------- reading

TEST(JournalRead, GivesTheSameBytesWhereverTheyAre) {
    JournalStage s;
    s.open();
    const Lsn first = s.append("the first of them");
    const Lsn second = s.append("the second");
    const auto both = [&] { return s.read(first, 17) + "|" + s.read(second, 10); };
    EXPECT_EQ(both(), "the first of them|the second") << "gathering";
    s.journal->flush(Urgency::now);
    EXPECT_EQ(both(), "the first of them|the second") << "sealed";
    s.worker.work_one();
    EXPECT_EQ(both(), "the first of them|the second") << "written, not yet told";
    s.worker.run_all();
    EXPECT_EQ(both(), "the first of them|the second") << "written";
    s.append_safely(long_record('x'));
    s.append_safely(long_record('y'));
    s.journal->expect_read(first, 17);
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
    EXPECT_THAT(s.read(at, 10), HasSubstr("no segment holds position"));
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
    s.journal->flush(Urgency::when_convenient);
    s.append("b");
    s.journal->write_snapshot("a and b", {});
    EXPECT_TRUE(s.journal->is_writing_snapshot());
    s.append("c");
    s.worker.run_one();
    EXPECT_THAT(s.files(".snapshot"), IsEmpty()) << "b is not safe yet";
    s.worker.run_all();
    EXPECT_FALSE(s.journal->is_writing_snapshot());
    EXPECT_THAT(s.files(".snapshot"), SizeIs(1));
    s.flush_and_wait(Urgency::now);
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre("c"));
    EXPECT_EQ(s.snapshot, "a and b");
}

TEST(JournalSnapshot, SealsNoBatchIntoTheSyncThatIsUnderWay) {
    JournalStage s;
    s.open();
    s.append("one");
    s.flush_and_wait(Urgency::when_convenient);
    s.journal->flush(Urgency::now);
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
    s.journal->flush(Urgency::now);
    s.journal->write_snapshot("first", {});
    s.append("three");
    s.journal->flush(Urgency::now);
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
    s.journal->flush(Urgency::now);
    s.journal->flush(Urgency::now);
    s.worker.run_one();
    const std::uint64_t renames = s.disk.counts().renames;
    s.journal->write_snapshot("snapshot", {});
    s.worker.run_all();
    EXPECT_EQ(s.disk.counts().renames, renames + 1);
}

TEST(Journal, FlushedTwiceIsSyncedOnce) {
    JournalStage s;
    s.open();
    s.append("one");
    s.journal->flush(Urgency::now);
    s.journal->flush(Urgency::now);
    s.worker.run_one();
    EXPECT_EQ(s.worker.waiting(), 0U);
    EXPECT_THAT(s.durable, SizeIs(1));
}

TEST(JournalSnapshot, AnEarlierOneDoesNotEndTheNext) {
    JournalStage s;
    s.open();
    s.append("one");
    s.journal->write_snapshot("first", {});
    s.append("two");
    s.journal->flush(Urgency::now);
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

// What is not written yet has no segment that could be named as in use.
TEST(JournalSnapshot, KeepsTheSegmentsThatBeganAfterItWasAskedFor) {
    JournalStage s;
    s.settings.segments.spares_max = 0;
    s.open();
    s.append_safely(long_record('a'));
    const Lsn at = s.append(long_record('b'));
    s.journal->flush(Urgency::now);
    s.append(long_record('c'));
    s.journal->write_snapshot("b is referred to", {s.journal->segment_of(at)});
    s.append(long_record('d'));
    s.flush_and_wait(Urgency::now);
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
    s.journal->flush(Urgency::now);
    s.append(long_record('b'));
    s.journal->write_snapshot("a is referred to", {});
    s.append(long_record('c'));
    s.flush_and_wait(Urgency::now);
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

// ------------------------------------------------------------------------- a full disk

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
    s.flush_and_wait(Urgency::now);
    EXPECT_THAT(s.full, ElementsAre(true)) << "told once";
    EXPECT_EQ(s.read(at, 600), long_record('x'));
    s.disk.set_capacity(std::nullopt);
    const std::uint64_t tried = Probe::hits("journal.tried_again");
    s.journal->retry();
    EXPECT_EQ(Probe::hits("journal.tried_again"), tried + 1);
    s.worker.run_all();
    EXPECT_THAT(s.full, ElementsAre(true, false));
    EXPECT_FALSE(s.journal->is_disk_full());
    s.flush_and_wait(Urgency::now);
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
                               s.journal->flush(Urgency::now);
                           }});
    s.disk.set_capacity(s.disk.used_bytes());
    s.append_safely(long_record('x'));
    s.disk.set_capacity(std::nullopt);
    s.journal->retry();
    s.worker.run_all();
    EXPECT_GE(s.journal->durable(), s.end);
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre("one", long_record('x'), "three"));
}

TEST(Journal, WhoeverIsToldOfDurabilityMayAppendAtOnce) {
    JournalStage s;
    s.open();
    int told = 0;
    s.journal->listen({.durable =
                           [&](Lsn) {
                               if (++told > 3) return;
                               s.append("next");
                               s.journal->flush(Urgency::now);
                           },
                       .failed = {},
                       .disk_full = {}});
    s.append_safely("one");
    EXPECT_EQ(told, 4);
    EXPECT_GE(s.journal->durable(), s.end);
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre("one", "next", "next", "next"));
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

// What came after it would be cut off by the next start.
TEST(JournalFailure, OfAnEpochThatCannotGrowIsRefused) {
    JournalStage s;
    ASSERT_TRUE(s.disk.make_directory(s.directory).has_value());
    ASSERT_TRUE(write_snapshot_file(s.disk, s.directory, {0}, UINT32_MAX, "state").has_value());
    EXPECT_THAT(s.open(), ElementsAre(HasSubstr("journal damaged: directory " + s.directory)));
}

// The process ends, the machine goes on: what the sync did not write can still be read. It is not
// on the disk, and no later sync would bring it there.
TEST(JournalFailure, WhatASyncLeftOutIsWrittenAgainByTheNextStart) {
    JournalStage s;
    s.open();
    s.append_safely("a");
    s.disk.fail_next_sync();
    s.append("b");
    s.flush_and_wait(Urgency::now);
    EXPECT_THAT(s.failed, SizeIs(1));
    EXPECT_THAT(s.open_after(SimDisk::Loss::process), ElementsAre("a", "b"));
    s.append_safely("c");
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre("a", "b", "c"));
}

// What was asked for while the disk was full is not forgotten over the batch that is tried again.
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

// Some file systems find only then that there is no room. What the failed sync left out may be
// forgotten by now: written earlier, no longer ours to write again.
TEST(JournalFailure, OfASyncIsNoFullDiskWhateverItSays) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        JournalStage s(seed);
        s.open();
        s.append_safely("one");
        s.append("two");
        s.flush_and_wait(Urgency::when_convenient);
        const auto promised = s.durable;
        s.disk.fail_next_sync_as_full();
        s.append_safely("three");
        s.journal->retry();
        s.flush_and_wait(Urgency::now);
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
    s.journal->flush(Urgency::now);
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
    s.journal->flush(Urgency::now);
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

TEST(Journal, MayBeDestroyedWhileWorkIsUnderWay) {
    JournalStage s;
    s.open();
    s.append_safely("zero");
    s.append("one");
    s.journal->flush(Urgency::now);
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

}  // namespace
}  // namespace revenant::journal
