// Recovery of intact, torn, unsynced and damaged files.
#include "base/probe.h"
#include "journal/batch_format.h"
#include "journal/journal.h"
#include "journal/segments.h"
#include "tests/sim/journal_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace revenant::journal {
namespace {

using sim::JournalStage;
using sim::long_record;
using sim::SimDisk;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using SyncMode = Journal::SyncMode;

// ------------------------------------------------------------------------- torn tail

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
            s.flush_and_wait(SyncMode::deferred);
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
    s.flush_and_wait(SyncMode::deferred);
    s.disk.flip_bit(s.path(segment_name({0})), torn.value + batch_header_bytes + 5, 3);
    const std::uint64_t cut = Probe::hits("segments.tail_cut");
    EXPECT_THAT(s.open(), ElementsAre("safe"));
    EXPECT_GT(Probe::hits("segments.tail_cut"), cut);
    EXPECT_EQ(s.journal->batch_position(), torn);
    s.append_safely("next");
    EXPECT_THAT(s.open_after(SimDisk::Loss::power), ElementsAre("safe", "next"));
}

// Two unsynced batches, the first of them torn, and no zeros written ahead.
struct Torn : JournalStage {
    explicit Torn(std::size_t safe_bytes) {
        settings.segments.small_batch_bytes = 0;
        open();
        append_safely(std::string(safe_bytes, 's'));
        open();
        torn = journal->batch_position();
        append(std::string(100, '1'));
        flush_and_wait(SyncMode::deferred);
        append("stale");
        flush_and_wait(SyncMode::deferred);
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

// A killed process leaves data that the system has not written yet.
struct Killed : JournalStage {
    explicit Killed(std::uint64_t seed) : JournalStage(seed) {
        open();
        append_safely("safe");
        append(std::string(400, 'a'));
        flush_and_wait(SyncMode::deferred);
        append(std::string(90, 'b'));
        flush_and_wait(SyncMode::deferred);
        EXPECT_THAT(open_after(SimDisk::Loss::process), SizeIs(3));
    }
};

TEST(JournalStart, WhatWasFoundIsSafeWithTheNextRecord) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        Killed s(seed);
        s.append("next");
        s.flush_and_wait(SyncMode::deferred);
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
        s.journal->flush(SyncMode::immediate);
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
    s.journal->flush(SyncMode::immediate);
    s.disk.crash_at_step(s.disk.steps() + 3);  // its segment was created
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
                                            HasSubstr("the journal ends before snapshot"))));
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

}  // namespace
}  // namespace revenant::journal
