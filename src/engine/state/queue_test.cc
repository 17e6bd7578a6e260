#include "engine/state/queue.h"

#include "engine/recovery/snapshot_codec.h"
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

TEST(Queue, ALevelThatNobodyUsesCostsNothing) {
    Queue queue = queue_with(arguments({{"x-max-priority", 255}}));
    const std::uint64_t empty = queue_with({}).memory_bytes();
    EXPECT_EQ(queue.level_count(), 256U);
    EXPECT_EQ(queue.memory_bytes(), empty);
    const Queue& looked_at = queue;
    for (std::size_t level = 0; level < queue.level_count(); ++level) {
        EXPECT_EQ(looked_at.level(level).live_count(), 0U);
        EXPECT_FALSE(queue.contains(Position::of(level, 0)));
        EXPECT_EQ(queue.next_in(level), Position::of(level, 0));
    }
    EXPECT_EQ(queue.purge({}), 0U);
    queue.clear();
    EXPECT_EQ(queue.memory_bytes(), empty);
    const Position high = queue.push(255, queue_entry("high"), never);
    EXPECT_TRUE(queue.has_level(0) && queue.has_level(255));
    EXPECT_FALSE(queue.has_level(254));
    EXPECT_EQ(queue.head(), high);
    queue.take(high);
    EXPECT_EQ(queue.next_in(255), Position::of(255, 1));
}

// For all operations, and after a restart.
TEST(Queue, NoLevelIsMadeByLooking) {
    Scenario s;
    auto& ch = s.open_channel();
    const auto levels = [&](const char* name) {
        std::size_t count = 0;
        s.queue(name).for_each_level([&](std::size_t, const Chain&) { ++count; });
        return count;
    };
    ch.declare_queue("q", {{"x-max-priority", 255}, {"x-max-length", 3}});
    ch.declare_queue("quorum", {{"x-queue-type", "quorum"}});
    for (const char* queue : {"q", "quorum"}) {
        EXPECT_EQ(levels(queue), 1U);
        for (int i = 0; i < 5; ++i) ch.publish(queue, "m", {.ttl_ms = 100});
        ch.nack(ch.get(queue)->tag);
        s.advance(milliseconds(100));
        ch.publish(queue, "m");
        ch.purge(queue);
        ch.set_policy({"p", ".*", ApplyTo::queues, 0, arguments({{"ttl-mode", "head"}})});
        ch.publish(queue, "m", {.ttl_ms = 100});
        s.advance(milliseconds(100));
        ch.clear_policy("p");
        EXPECT_EQ(levels(queue), 1U);
        ch.publish(queue, "m", {.priority = 7});
        EXPECT_EQ(levels(queue), 2U);
    }
    ch.requeue(ch.get("quorum")->tag);
    EXPECT_EQ(levels("quorum"), 3U);
    for (const char* queue : {"q", "quorum"}) ch.purge(queue);
    State restored;
    ASSERT_TRUE(decode_snapshot(encode_snapshot(s.engine().state(), Shutdown::clean), restored));
    std::size_t made = 0;
    restored.find_queue("q")->for_each_level([&](std::size_t, const Chain&) { ++made; });
    EXPECT_EQ(made, 2U);
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
