// Journal::has_position(): whether a message that is referred to can still exist.
#include "journal/journal.h"
#include "journal/segments.h"
#include "tests/sim/journal_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace revenant::journal {
namespace {

using sim::JournalStage;
using sim::SimDisk;
using ::testing::ElementsAre;

// Each record is in its own segment; the last segment is being written.
struct FourSegments {
    FourSegments() {
        stage.settings.segments.spares_max = 0;
        stage.open();
        for (const char letter : {'a', 'b', 'c', 'd'}) {
            records.push_back(stage.append_safely(std::string(600, letter)));
        }
    }
    std::vector<bool> held() const {
        std::vector<bool> found;
        for (const Lsn at : records) found.push_back(stage.journal->has_position(at));
        return found;
    }
    Lsn segment_of(std::size_t record) const { return stage.journal->segment_of(records[record]); }
    std::string file_of(std::size_t record) const {
        return stage.path(segment_name(segment_of(record)));
    }
    // Takes a snapshot that refers to the first three segments.
    void take_snapshot() {
        stage.snapshot_and_wait("snapshot", {segment_of(0), segment_of(1), segment_of(2)});
    }

    JournalStage stage;
    std::vector<Lsn> records;
};

TEST(JournalHolds, WhatIsOnItsWayToTheDisk) {
    JournalStage s;
    s.open();
    const Lsn at = s.append("one");
    EXPECT_TRUE(s.journal->has_position(at)) << "gathered";
    s.journal->flush(Journal::SyncMode::immediate);
    EXPECT_TRUE(s.journal->has_position(at)) << "sealed";
    s.worker.work_one();
    EXPECT_TRUE(s.journal->has_position(at)) << "written, not yet told";
    s.worker.run_all();
    EXPECT_TRUE(s.journal->has_position(at)) << "written";
    s.open_after(SimDisk::Loss::power);
    EXPECT_TRUE(s.journal->has_position(at)) << "after a start";
}

TEST(JournalHolds, EverySegmentThatASnapshotKeeps) {
    FourSegments four;
    EXPECT_THAT(four.held(), ElementsAre(true, true, true, true));
    four.stage.snapshot_and_wait("snapshot", {four.segment_of(1)});
    EXPECT_THAT(four.held(), ElementsAre(false, true, false, true));
}

TEST(JournalHolds, NothingOfAFileThatIsMissing) {
    FourSegments four;
    four.take_snapshot();
    ASSERT_TRUE(four.stage.disk.remove(four.file_of(0)));
    four.stage.open_after(SimDisk::Loss::process);
    EXPECT_THAT(four.held(), ElementsAre(false, true, true, true));
}

TEST(JournalHolds, NothingBehindTheEndOfAFile) {
    FourSegments four;
    four.take_snapshot();
    const std::string path = four.file_of(1);
    const std::string whole = four.stage.disk.contents(path);
    const std::uint64_t offset = four.records[1].value - four.segment_of(1).value;
    const auto cut_to = [&](std::uint64_t size) {
        auto file = four.stage.disk.create(path).value();
        ASSERT_TRUE(file->write(0, whole.substr(0, size)));
        four.stage.open_after(SimDisk::Loss::process);
    };
    cut_to(offset);
    EXPECT_THAT(four.held(), ElementsAre(true, false, true, true));
    cut_to(offset + 1);
    EXPECT_THAT(four.held(), ElementsAre(true, true, true, true));
}

TEST(JournalHolds, OfACompactedFileWhatWasInUse) {
    FourSegments four;
    four.take_snapshot();
    four.stage.journal->compact(four.segment_of(0), four.segment_of(3), {{four.records[1], 600}});
    four.stage.worker.run_all();
    EXPECT_THAT(four.held(), ElementsAre(false, true, false, true));
    four.stage.open_after(SimDisk::Loss::power);
    EXPECT_THAT(four.held(), ElementsAre(false, true, false, true));
    EXPECT_TRUE(four.stage.journal->has_position({four.records[1].value + 599}));
    EXPECT_FALSE(four.stage.journal->has_position({four.records[1].value + 600}));
}

}  // namespace
}  // namespace revenant::journal
