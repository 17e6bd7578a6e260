#include "engine/queue.h"

#include "tests/support/scenario.h"

#include <gtest/gtest.h>

namespace revenant::engine {
namespace {

Paging paging;

Queue queue_with(Table given) {
    return {{{1}, "q", false, false, false, std::move(given)}, paging};
}

Entry queue_entry(std::string_view body) {
    Entry made;
    made.message = make_test_message("q", body);
    return made;
}

TEST(Queue, APositionKnowsLevelAndSequence) {
    const Position position = Position::of(255, 123'456'789'012);
    EXPECT_EQ(position.level(), 255U);
    EXPECT_EQ(position.sequence(), 123'456'789'012U);
    EXPECT_EQ(Position{position.packed}, position);
}

TEST(Queue, WithoutPrioritiesHasOneLevel) {
    const Queue queue = queue_with({});
    EXPECT_EQ(queue.level_count(), 1U);
    EXPECT_EQ(queue.level_for(std::nullopt), 0U);
    EXPECT_EQ(queue.level_for(200), 0U);
}

TEST(Queue, APriorityAboveTheMaximumIsTheMaximum) {  // amqp091 16.1
    const Queue queue = queue_with(arguments({{"x-max-priority", 3}}));
    EXPECT_EQ(queue.level_count(), 4U);
    EXPECT_EQ(queue.level_for(std::nullopt), 0U);
    EXPECT_EQ(queue.level_for(3), 3U);
    EXPECT_EQ(queue.level_for(4), 3U);
    EXPECT_EQ(queue.level_for(255), 3U);
}

TEST(Queue, AMaximumPriorityOfZeroBehavesAsOne) {  // amqp091 16.1
    const Queue queue = queue_with(arguments({{"x-max-priority", 0}}));
    EXPECT_EQ(queue.level_count(), 2U);
    EXPECT_EQ(queue.level_for(7), 1U);
}

TEST(Queue, TheHighestPriorityIsTheHead) {  // amqp091 16.1
    Queue queue = queue_with(arguments({{"x-max-priority", 2}}));
    EXPECT_EQ(queue.head(), std::nullopt);
    queue.push(0, queue_entry("low"), never);
    const Position high = queue.push(2, queue_entry("high"), never);
    queue.push(2, queue_entry("high too"), never);
    EXPECT_EQ(queue.head(), high);
    queue.mark_unacked(high);
    EXPECT_EQ(queue.take(*queue.head()).message->body(), "high too");
    EXPECT_EQ(queue.take(*queue.head()).message->body(), "low");
    queue.mark_ready(high);
    EXPECT_EQ(queue.head(), high);
}

TEST(Queue, CountsMessagesAndBytesByState) {
    Queue queue = queue_with({});
    const Position first = queue.push(0, queue_entry("abc"), never);
    const Position second = queue.push(0, queue_entry("de"), never);
    EXPECT_EQ(queue.ready_count(), 2U);
    EXPECT_EQ(queue.ready_bytes(), 5U);
    queue.mark_unacked(first);
    EXPECT_EQ(queue.ready_bytes(), 2U);
    EXPECT_EQ(queue.unacked_count(), 1U);
    EXPECT_EQ(queue.unacked_bytes(), 3U);
    queue.take(first);
    EXPECT_EQ(queue.unacked_count(), 0U);
    EXPECT_EQ(queue.unacked_bytes(), 0U);
    queue.mark_unacked(second);
    queue.mark_ready(second);
    EXPECT_EQ(queue.ready_bytes(), 2U);
    queue.clear();
    EXPECT_EQ(queue.ready_count(), 0U);
    EXPECT_EQ(queue.ready_bytes(), 0U);
    EXPECT_FALSE(queue.contains(second));
}

}  // namespace
}  // namespace revenant::engine
