#include "engine/state/deadlines.h"

#include <gtest/gtest.h>

#include <vector>

namespace revenant::engine {
namespace {

Deadlines::Item item(std::int64_t at, std::uint64_t queue) {
    return {.at = Timestamp{at}, .queue = {queue}};
}

TEST(Deadlines, TheEarliestComesFirst) {
    Deadlines deadlines;
    EXPECT_EQ(deadlines.next(), never);
    deadlines.add(item(30, 1));
    deadlines.add(item(10, 2));
    deadlines.add(item(20, 3));
    EXPECT_EQ(deadlines.next(), Timestamp{10});
    EXPECT_FALSE(deadlines.pop_due(Timestamp{9}, 3));
    EXPECT_EQ(deadlines.pop_due(Timestamp{20}, 3)->queue, QueueId{2});
    EXPECT_EQ(deadlines.pop_due(Timestamp{20}, 3)->queue, QueueId{3});
    EXPECT_FALSE(deadlines.pop_due(Timestamp{20}, 3));
    EXPECT_EQ(deadlines.next(), Timestamp{30});
}

TEST(Deadlines, EqualTimesKeepTheOrderOfBeingAdded) {  // determinism
    Deadlines deadlines;
    for (std::uint64_t i = 1; i <= 50; ++i) deadlines.add(item(7, i));
    for (std::uint64_t i = 1; i <= 50; ++i) {
        EXPECT_EQ(deadlines.pop_due(Timestamp{7}, deadlines.newest())->queue, QueueId{i});
    }
}

TEST(Deadlines, WhatWasAddedLaterWaitsForTheNextPass) {
    Deadlines deadlines;
    deadlines.add(item(7, 1));
    const std::uint64_t newest = deadlines.newest();
    deadlines.add(item(7, 2));
    EXPECT_EQ(deadlines.pop_due(Timestamp{7}, newest)->queue, QueueId{1});
    EXPECT_FALSE(deadlines.pop_due(Timestamp{7}, newest));
    EXPECT_EQ(deadlines.pop_due(Timestamp{7}, deadlines.newest())->queue, QueueId{2});
}

TEST(Deadlines, StaleOnesGoAndTheRestKeepsItsOrder) {
    Deadlines deadlines;
    for (std::uint64_t i = 1; i <= 100; ++i) deadlines.add(item(100 - i % 10, i));
    deadlines.remove_stale([](const Deadlines::Item& one) { return one.queue.value % 2 == 0; });
    EXPECT_EQ(deadlines.size(), 50U);
    Deadlines::Item before = item(0, 0);
    while (const auto next = deadlines.pop_due(Timestamp{100}, deadlines.newest())) {
        EXPECT_EQ(next->queue.value % 2, 1U);
        EXPECT_LE(before.at, next->at);
        if (before.at == next->at) {
            EXPECT_LT(before.queue, next->queue);
        }
        before = *next;
    }
}

}  // namespace
}  // namespace revenant::engine
