#include "journal/snapshot_file.h"

#include "tests/sim/sim_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::journal {
namespace {

using sim::SimDisk;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Written {
    explicit Written(std::string_view bytes, std::uint64_t seed = 1) : disk(seed) {
        EXPECT_TRUE(disk.make_directory("/d").has_value());
        EXPECT_TRUE(write_snapshot_file(disk, "/d", {0x1000}, 5, bytes).has_value());
    }
    std::string refusal() {
        const auto read = read_snapshot_file(disk, "/d", {0x1000});
        return read ? "" : read.error().text;
    }
    SimDisk disk;
    const std::string path = "/d/0000000000001000.snapshot";
};

TEST(SnapshotFile, ComesBackAsItWasWritten) {
    for (const std::string& bytes :
         {std::string("a snapshot"), std::string(), std::string(5000, 's')}) {
        Written w(bytes);
        const auto read = read_snapshot_file(w.disk, "/d", {0x1000});
        ASSERT_TRUE(read.has_value()) << read.error().text;
        EXPECT_EQ(read->bytes, bytes);
        EXPECT_EQ(read->epoch, 5U);
    }
}

TEST(SnapshotFile, IsNamedAfterItsPosition) {
    EXPECT_EQ(snapshot_name({0x1000}), "0000000000001000.snapshot");
    EXPECT_EQ(parse_snapshot_name("0000000000001000.snapshot"), Lsn{0x1000});
    for (const char* name : {"0000000000001000.snapshot.new", "0000000000001000.segment",
                             "1000.snapshot", "000000000000100g.snapshot", ".snapshot", ""}) {
        EXPECT_FALSE(parse_snapshot_name(name)) << name;
    }
}

TEST(SnapshotFile, WithItsNameIsWholeAndCertain) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Written w(std::string(3000, 's'), seed);
        w.disk.crash();
        w.disk.restart(SimDisk::Loss::power);
        EXPECT_THAT(w.disk.list("/d").value(), ElementsAre("0000000000001000.snapshot"));
        EXPECT_EQ(w.refusal(), "");
    }
}

// Crashes one step later each time, until no crash happens.
TEST(SnapshotFile, WhereverItIsInterruptedTheOldOneOrTheNewOneIsThere) {
    bool crashed = true;
    bool seen_old = false;
    bool seen_new = false;
    for (std::uint64_t step = 1; crashed; ++step) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            Written w("old", seed);
            w.disk.crash_at_step(w.disk.steps() + step);
            const auto written =
                write_snapshot_file(w.disk, "/d", {0x1000}, 6, std::string(2000, 'n'));
            crashed = w.disk.crashed();
            EXPECT_EQ(written.has_value(), !crashed);
            w.disk.restart(SimDisk::Loss::power);
            const auto read = read_snapshot_file(w.disk, "/d", {0x1000});
            ASSERT_TRUE(read.has_value()) << read.error().text;
            (read->bytes == "old" ? seen_old : seen_new) = true;
            EXPECT_TRUE(read->bytes == std::string(2000, 'n') || (crashed && read->bytes == "old"));
        }
    }
    EXPECT_TRUE(seen_old && seen_new);
}

TEST(SnapshotFile, EveryFlippedBitIsRefused) {
    Written w("contents");
    const std::size_t bytes = w.disk.contents(w.path).size();
    for (std::size_t bit = 0; bit < bytes * 8; ++bit) {
        w.disk.flip_bit(w.path, bit / 8, bit % 8);
        EXPECT_THAT(w.refusal(), HasSubstr("file " + w.path)) << "bit " << bit;
        w.disk.flip_bit(w.path, bit / 8, bit % 8);
    }
    EXPECT_EQ(w.refusal(), "");
}

TEST(SnapshotFile, EveryPrefixIsRefused) {
    Written w("contents");
    const std::string whole = w.disk.contents(w.path);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        ASSERT_TRUE(w.disk.create(w.path).value()->write(0, whole.substr(0, size)).has_value());
        EXPECT_THAT(w.refusal(), AllOf(HasSubstr(w.path), HasSubstr("damaged"))) << size;
    }
}

TEST(SnapshotFile, OfAnotherPositionIsRefused) {
    Written w("contents");
    ASSERT_TRUE(w.disk.rename(w.path, "/d/" + snapshot_name({0x2000})).has_value());
    EXPECT_THAT(read_snapshot_file(w.disk, "/d", {0x2000}).error().text,
                HasSubstr("invalid header"));
}

TEST(SnapshotFile, ThatIsNotThereIsAnError) {
    Written w("contents");
    EXPECT_THAT(read_snapshot_file(w.disk, "/d", {8}).error().text, HasSubstr("No such file"));
}

TEST(SnapshotFile, ThatFoundNoRoomIsRemoved) {
    Written w("contents");
    w.disk.set_capacity(w.disk.used_bytes() + 100);
    const auto written = write_snapshot_file(w.disk, "/d", {0x2000}, 5, std::string(200, 'x'));
    EXPECT_TRUE(written.error().disk_full);
    EXPECT_THAT(w.disk.list("/d").value(), ElementsAre("0000000000001000.snapshot"));
}

}  // namespace
}  // namespace revenant::journal
