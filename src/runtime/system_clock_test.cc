#include "runtime/system_clock.h"

#include <gtest/gtest.h>

namespace revenant::runtime {
namespace {

constexpr std::int64_t hour_us = 3'600'000'000;

TEST(SteadyTime, BeginsWithTheWallClockAndGoesOnWithoutIt) {
    const SteadyTime time({1'000'000, 40});
    EXPECT_EQ(time.at(40), Timestamp{1'000'000});
    EXPECT_EQ(time.at(90), Timestamp{1'000'050});
}

TEST(SteadyTime, TellsHowFarTheWallClockWasMoved) {
    const SteadyTime time({1'000'000, 40});
    EXPECT_EQ(time.wall_ahead({1'000'050, 90}), Duration{0});
    EXPECT_EQ(time.wall_ahead({1'000'050 + hour_us, 90}), Duration{hour_us});
    EXPECT_EQ(time.wall_ahead({1'000'050 - hour_us, 90}), Duration{-hour_us});
}

TEST(SystemClock, IsTheWallClockWhileNobodySetsIt) {
    const Timestamp before = wall_now();
    const Timestamp shown = system_now() + wall_ahead();
    const Timestamp after = wall_now();
    EXPECT_GE(shown, before - milliseconds(1));
    EXPECT_LE(shown, after + milliseconds(1));
}

}  // namespace
}  // namespace revenant::runtime
