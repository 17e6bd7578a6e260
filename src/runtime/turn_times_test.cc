#include "runtime/turn_times.h"

#include <gtest/gtest.h>

namespace revenant::runtime {
namespace {

void burn_cpu(std::int64_t us) {
    const Duration begun = thread_cpu_time();
    while (thread_cpu_time().us - begun.us < us) {
    }
}

TEST(TurnTimes, ALongTurnIsToldWithItsCommand) {
    TurnTimes times;
    const Timestamp began{1'000'000};
    times.begin(began);
    burn_cpu(6'000);
    ASSERT_TRUE(times.was_long(began, {1'006'000}));
    times.note_long("purge_queue");
    EXPECT_GE(times.summary().longest_us.at("purge_queue"), 6'000);
    EXPECT_EQ(times.summary().longer_than[0], 1U);
    EXPECT_EQ(times.summary().longer_than[1], 1U);
    EXPECT_EQ(times.summary().longer_than[3], 0U);
}

TEST(TurnTimes, WhatWaitedForTheMachineIsNoLongTurn) {
    TurnTimes times;
    const Timestamp began{1'000'000};
    times.begin(began);
    ASSERT_TRUE(times.was_long(began, {2'000'000}));
    times.note_long("publish");
    EXPECT_TRUE(times.summary().longest_us.empty());
    EXPECT_EQ(times.summary().longer_than[0], 0U);
}

}  // namespace
}  // namespace revenant::runtime
