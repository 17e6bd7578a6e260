#include "node/ballast.h"

#include "tests/sim/sim_disk.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace revenant::node {
namespace {

using sim::SimDisk;

constexpr std::uint64_t plenty = 4 * Ballast::bytes;

struct Held {
    Held() { EXPECT_TRUE(disk.make_directory(directory)); }
    std::optional<std::size_t> size() const {
        if (!disk.exists(path)) return std::nullopt;
        return disk.contents(path).size();
    }

    const std::string directory = "/data";
    const std::string path = "/data/ballast";
    SimDisk disk{1};
    Ballast ballast{disk, directory};
};

TEST(Ballast, IsTakenWhenThereIsPlenty) {
    Held h;
    EXPECT_TRUE(h.ballast.hold(plenty));
    EXPECT_EQ(h.size(), Ballast::bytes);
}

TEST(Ballast, IsNotTakenOfTheLast) {
    Held h;
    EXPECT_FALSE(h.ballast.hold(plenty - 1));
    EXPECT_FALSE(h.ballast.hold(0));
    EXPECT_EQ(h.size(), std::nullopt);
}

// The remaining free space is then available to publishers.
TEST(Ballast, OnceHeldIsHeldHoweverLittleIsLeft) {
    Held h;
    EXPECT_TRUE(h.ballast.hold(plenty));
    const auto written = h.disk.counts().bytes_written;
    EXPECT_TRUE(h.ballast.hold(0));
    EXPECT_TRUE(h.ballast.hold(plenty));
    EXPECT_EQ(h.disk.counts().bytes_written, written) << "it is taken once";
}

TEST(Ballast, GivesItsRoomBackAndWantsPlentyForTheNext) {
    Held h;
    EXPECT_TRUE(h.ballast.hold(plenty));
    const std::uint64_t used = h.disk.used_bytes();
    h.ballast.release();
    EXPECT_EQ(h.size(), std::nullopt);
    EXPECT_EQ(h.disk.used_bytes(), used - Ballast::bytes);
    EXPECT_FALSE(h.ballast.hold(Ballast::bytes));
    EXPECT_TRUE(h.ballast.hold(plenty));
    EXPECT_EQ(h.size(), Ballast::bytes);
}

TEST(Ballast, ThatIsNotHeldMayBeReleased) {
    Held h;
    h.ballast.release();
    h.ballast.release();
    EXPECT_FALSE(h.ballast.hold(0));
}

TEST(Ballast, OfAnEarlierRunIsFound) {
    Held h;
    EXPECT_TRUE(h.ballast.hold(plenty));
    Ballast next(h.disk, h.directory);
    EXPECT_TRUE(next.hold(0));
}

// An earlier process ended while writing the ballast.
TEST(Ballast, ThatIsTooSmallIsNone) {
    Held h;
    ASSERT_TRUE(h.disk.create(h.path).value()->write(0, std::string(Ballast::bytes - 1, 'x')));
    EXPECT_FALSE(h.ballast.hold(0));
    EXPECT_TRUE(h.ballast.hold(plenty));
    EXPECT_EQ(h.size(), Ballast::bytes);
    EXPECT_TRUE(h.ballast.hold(0));
}

// Other processes used the space first: publishers stay unblocked, and the ballast is tried again.
TEST(Ballast, ThatFindsNoRoomIsNotHeld) {
    Held h;
    h.disk.set_capacity(h.disk.used_bytes() + Ballast::bytes / 2);
    EXPECT_TRUE(h.ballast.hold(plenty));
    EXPECT_FALSE(h.ballast.hold(0));
    h.disk.set_capacity(std::nullopt);
    EXPECT_TRUE(h.ballast.hold(plenty));
    EXPECT_TRUE(h.ballast.hold(0));
}

}  // namespace
}  // namespace revenant::node
