#include "journal/compacted_file.h"

#include "base/probe.h"
#include "tests/sim/journal_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace revenant::journal {
namespace {

using sim::JournalStage;
using sim::SimDisk;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Extents, ThoseThatTouchOrOverlapAreOne) {
    EXPECT_THAT(joined({{{30}, 5}, {{10}, 5}, {{15}, 5}, {{12}, 4}, {{10}, 5}}),
                ElementsAre(Extent{{10}, 10}, Extent{{30}, 5}));
}

TEST(Extents, AnIndexFindsWhatItHoldsAndNothingElse) {
    const ExtentIndex index({{{10}, 10}, {{30}, 5}}, 100);
    EXPECT_EQ(index.find({10})->offset, 100U);
    EXPECT_EQ(index.find({19})->offset, 109U);
    EXPECT_EQ(index.find({19})->contiguous_end, Lsn{20});
    EXPECT_EQ(index.find({30})->offset, 110U);
    for (const std::uint64_t at : {9U, 20U, 29U, 35U}) EXPECT_FALSE(index.find({at})) << at;
}

// Many segments of records, a few of which are still in use.
class Sparse : public testing::Test {
  protected:
    Sparse() {
        stage.open();
        for (int i = 0; i < 200; ++i) {
            const std::string bytes = "record " + std::to_string(i) + std::string(40, '.');
            const Lsn at = stage.append_safely(bytes);
            if (i % 50 == 7) kept.push_back({at, bytes});
        }
        std::set<Lsn> in_use;
        for (const Kept& one : kept) in_use.insert(stage.journal->segment_of(one.at));
        stage.snapshot_and_wait("state", in_use);
    }
    void compact() {
        const auto closed = stage.journal->closed_segments();
        ASSERT_FALSE(closed.empty());
        std::vector<Extent> extents;
        for (const Kept& one : kept) extents.push_back({one.at, one.bytes.size()});
        stage.journal->compact(closed.front().start, closed.back().end, extents);
        stage.worker.run_all();
    }
    void expect_all_kept() {
        for (const Kept& one : kept) EXPECT_EQ(stage.read(one.at, one.bytes.size()), one.bytes);
    }

    struct Kept {
        Lsn at;
        std::string bytes;
    };
    JournalStage stage;
    std::vector<Kept> kept;
};

TEST_F(Sparse, WhatIsInUseIsReadFromTheSamePositions) {
    const std::size_t files = stage.journal->closed_segments().size();
    EXPECT_GT(files, 3U);
    compact();
    EXPECT_EQ(stage.journal->closed_segments().size(), 1U);
    EXPECT_EQ(stage.files(".compacted").size(), 1U);
    expect_all_kept();
    EXPECT_THAT(Probe::reached(), Contains("journal.compacted"));
}

TEST_F(Sparse, ItIsThereAfterACrash) {
    compact();
    EXPECT_THAT(stage.open_after(SimDisk::Loss::power), IsEmpty());
    EXPECT_EQ(stage.snapshot, "state");
    expect_all_kept();
    stage.append_safely("more");
    EXPECT_THAT(stage.open_after(SimDisk::Loss::power), ElementsAre("more"));
    expect_all_kept();
}

TEST_F(Sparse, ACompactedFileIsCompactedAgain) {
    compact();
    kept.erase(kept.begin(), kept.begin() + 2);
    for (int i = 0; i < 60; ++i) stage.append_safely(std::string(60, 'x'));
    std::set<Lsn> in_use;
    for (const Kept& one : kept) in_use.insert(stage.journal->segment_of(one.at));
    stage.snapshot_and_wait("later", in_use);
    compact();
    EXPECT_EQ(stage.files(".compacted").size(), 1U);
    expect_all_kept();
    stage.open_after(SimDisk::Loss::power);
    expect_all_kept();
}

TEST_F(Sparse, WithNothingInUseANewSnapshotRemovesIt) {
    compact();
    stage.append_safely("more");
    stage.snapshot_and_wait("nothing refers to it");
    EXPECT_THAT(stage.files(".compacted"), IsEmpty());
}

TEST_F(Sparse, ACrashAtAnyStepLosesNothing) {
    for (std::uint64_t step = 1; step < 200; ++step) {
        JournalStage& world = stage;
        const std::uint64_t before = world.disk.steps();
        world.disk.crash_at_step(before + step);
        const auto closed = world.journal->closed_segments();
        std::vector<Extent> extents;
        for (const Kept& one : kept) extents.push_back({one.at, one.bytes.size()});
        world.journal->compact(closed.front().start, closed.back().end, extents);
        world.worker.run_all();
        const bool crashed = world.disk.crashed();
        ASSERT_THAT(world.open_after(SimDisk::Loss::power), IsEmpty()) << step;
        expect_all_kept();
        if (!crashed) return;
    }
    FAIL() << "it never ended without a crash";
}

TEST_F(Sparse, AFullDiskLeavesNothingBehindOfIt) {
    stage.disk.set_capacity(stage.disk.used_bytes() + 300);
    compact();
    EXPECT_THAT(stage.files(".new"), IsEmpty());
    EXPECT_TRUE(stage.journal->take_found_no_room());
    EXPECT_FALSE(stage.journal->take_found_no_room());
    expect_all_kept();
    stage.disk.set_capacity(std::nullopt);
    compact();
    EXPECT_EQ(stage.files(".compacted").size(), 1U);
    expect_all_kept();
}

TEST_F(Sparse, ADamagedIndexIsNoticed) {
    compact();
    const std::string name = stage.files(".compacted").front();
    stage.disk.flip_bit(stage.path(name), 45, 0);
    EXPECT_THAT(stage.open_after(SimDisk::Loss::power).front(), HasSubstr(name));
}

}  // namespace
}  // namespace revenant::journal
