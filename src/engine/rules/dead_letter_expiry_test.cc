// Expiry of messages and queues. tools/dead_letter_cases.txt maps the cases of RabbitMQ to tests.
#include "tests/support/dead_letter_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

TEST_P(EveryKind, AQueuesTimeToLiveOfZeroIsCountedWithoutAnExchange) {  // DL-11, DL-126
    declare("q", {{"x-message-ttl", 0}});
    publish(numbers(1, 1000));
    s.advance(milliseconds(1));
    EXPECT_EQ(died(DeathReason::expired, DeathStrategy::disabled), 1000U);
}

TEST_P(EveryKind, AMessagesTimeToLiveOfZeroIsCountedWithoutAnExchange) {  // DL-126
    declare("q");
    publish(numbers(1, 1000), {.ttl_ms = 0});
    s.advance(milliseconds(1));
    EXPECT_EQ(died(DeathReason::expired, DeathStrategy::disabled), 1000U);
}

TEST_P(EveryKind, AMessageIsTakenInTimeOrGone) {  // DL-122
    declare("q", {{"x-message-ttl", 10}});
    publish({"1", "2"});
    s.advance(milliseconds(9));
    EXPECT_EQ(take("q").body(), "1");
    s.advance(milliseconds(1));
    EXPECT_FALSE(ch.get("q"));
    publish({"3"}, {.ttl_ms = 5});
    s.advance(milliseconds(5));
    EXPECT_FALSE(ch.get("q"));
    EXPECT_EQ(died(DeathReason::expired, DeathStrategy::disabled), 2U);
}

TEST_P(EveryKind, TwoMessagesOfOneMomentNeedNotDieTogether) {  // DL-126, DL-128
    declare("q");
    publish({"1"}, {.ttl_ms = 1});
    publish({"2"});
    s.advance(milliseconds(2));
    EXPECT_EQ(take("q").body(), "2");
    EXPECT_EQ(s.queue("q").message_count(), 0U);
}

TEST_P(EveryKind, CountsAreRightWhenTheOnlyMessageExpired) {  // DL-131
    declare("q");
    publish({"1"}, {.ttl_ms = 1});
    s.let_pass(milliseconds(2));  // no Tick: the get finds it overdue
    EXPECT_FALSE(ch.get("q"));
    publish({"2", "3"});
    EXPECT_EQ(s.queue("q").ready_count(), 2U);
    EXPECT_EQ(take("q").body(), "2");
    EXPECT_EQ(take("q").body(), "3");
    EXPECT_EQ(s.queue("q").message_count(), 0U);
}

TEST_P(EveryKind, AnExpiredMessageBehindAnotherIsNotDelivered) {  // DL-128
    declare("q");
    publish({"1"}, {.ttl_ms = 100});
    publish({"2"}, {.ttl_ms = 1});
    publish({"3"});
    s.advance(milliseconds(50));
    ch.consume("q", {.no_ack = true});
    EXPECT_THAT(ch.take_bodies(), ElementsAre("1", "3"));
}

// Messages expire on time at any depth; with ttl-mode head only at the head, as in RabbitMQ.
TEST_P(EveryKind, WhatExpiredBehindTheHeadDiesInOrder) {  // DL-128, DL-133
    declare_with_grave();
    const auto publish_three = [&] {
        publish({"1"});
        publish({"2", "3"}, {.ttl_ms = 1});
        s.advance(milliseconds(2));
    };
    publish_three();
    EXPECT_THAT(s.ready("dead"), ElementsAre("2", "3"));
    EXPECT_EQ(take("q").body(), "1");
    ch.purge("dead");
    set_policy({{"ttl-mode", "head"}});
    publish_three();
    EXPECT_THAT(s.ready("dead"), IsEmpty());
    ch.ack(get(1).front());
    EXPECT_THAT(s.ready("dead"), ElementsAre("2", "3"));
}

TEST_F(QuorumCases, EveryPriorityLosesWhatExpired) {  // DL-129
    declare_with_grave();
    publish({"high, late"}, {.ttl_ms = 1, .priority = 9});
    publish({"high"}, {.priority = 9});
    publish({"low, late"}, {.ttl_ms = 1, .priority = 1});
    publish({"low"}, {.priority = 1});
    s.advance(milliseconds(1));
    EXPECT_THAT(s.ready("q"), ElementsAre("high", "low"));
    EXPECT_THAT(s.ready("dead"), ElementsAre("high, late", "low, late"));
}

TEST_F(ClassicCases, TimeToLiveEmptiesAllPriorities) {  // DL-130
    declare("dead");
    declare("q", {{"x-max-priority", 3}, {"x-message-ttl", 10}});
    publish_with_priorities({1, 2, 3, 1, 2, 3, 1, 2, 3});
    s.advance(milliseconds(10));
    EXPECT_THAT(s.ready("q"), IsEmpty());
    set_policy({{"dead-letter-exchange", ""}, {"dead-letter-routing-key", "dead"}});
    publish_with_priorities({1, 2, 3, 1, 2, 3, 1, 2, 3});
    s.advance(milliseconds(10));
    EXPECT_THAT(s.ready("q"), IsEmpty());
    EXPECT_EQ(s.queue("dead").ready_count(), 9U);
}

TEST_P(EveryKind, AnOperatorsTimeToLiveIsNotRetroactive) {  // DL-123, DL-128, DL-199
    declare("q");
    publish(numbers(1, 50));
    set_policy({{"message-ttl", 1}}, "^q$", PolicyScope::operator_only);
    publish(numbers(51, 75));
    s.advance(milliseconds(10));
    EXPECT_THAT(s.ready("q"), ElementsAreArray(numbers(1, 50))) << "messages expire on time";
    set_policy({{"ttl-mode", "head"}});
    publish(numbers(51, 75));
    s.advance(milliseconds(10));
    EXPECT_EQ(s.queue("q").ready_count(), 75U) << "messages expire only at the head";
    for (const std::string& body : numbers(1, 50)) EXPECT_EQ(take("q").body(), body);
    EXPECT_FALSE(ch.get("q"));
}

TEST_P(EveryKind, TheSmallerTimeToLiveOfPolicyAndOperatorHolds) {  // DL-122, DL-199
    declare("q");
    set_policy({{"message-ttl", 20}});
    set_policy({{"message-ttl", 10}}, "^q$", PolicyScope::operator_only);
    publish({"1"});
    s.advance(milliseconds(9));
    EXPECT_THAT(s.ready("q"), ElementsAre("1"));
    s.advance(milliseconds(1));
    EXPECT_THAT(s.ready("q"), IsEmpty());
}

TEST_F(QuorumCases, APolicysTimeToLiveConcernsLaterMessages) {  // DL-122, DL-123
    declare("q");
    publish({"old"});
    set_policy({{"message-ttl", 10}});
    publish({"new"});
    s.advance(milliseconds(10));
    EXPECT_THAT(s.ready("q"), ElementsAre("old"));
}

// -------------------------------------------------------------------------------------- queues

TEST_P(EveryKind, TheSmallerQueueTtlDeletesTheQueue) {  // DL-23, DL-134
    declare("q", {{"x-expires", 1000}});
    set_policy({{"expires", 10'000}});
    s.advance(milliseconds(999));
    EXPECT_TRUE(s.has_queue("q"));
    s.advance(milliseconds(1));
    ch.declare_queue("q", {.passive = true});
    ch.expect_refused(RefusalKind::not_found, "no queue 'q' in vhost '/'");
}

TEST_P(EveryKind, AnExpiredQueueFreesTheLimitOfQueues) {  // DL-134
    const char* const type = is_classic() ? "classic" : "quorum";
    const QueueOptions limited{.durable = true,
                               .arguments = arguments({{"x-expires", 10}, {"x-queue-type", type}}),
                               .queues_max = 1};
    ch.declare_queue("first", limited);
    ch.declare_queue("second", limited);
    EXPECT_TRUE(ch.take_refusal());
    s.advance(milliseconds(10));
    ch.declare_queue("second", limited);
    EXPECT_TRUE(s.has_queue("second"));
}

TEST_F(QuorumCases, OneActiveConsumerKeepsTheQueueAlive) {  // DL-134
    declare("q", {{"x-single-active-consumer", true}, {"x-expires", 100}});
    s.advance(milliseconds(99));
    const auto consumer = ch.consume("q");
    s.advance(milliseconds(500));
    ASSERT_TRUE(s.has_queue("q"));
    ch.cancel(consumer);
    s.advance(milliseconds(99));
    ASSERT_TRUE(s.has_queue("q"));
    crash();  // recovery restarts the period
    s.advance(milliseconds(99));
    ASSERT_TRUE(s.has_queue("q"));
    s.advance(milliseconds(1));
    EXPECT_FALSE(s.has_queue("q"));
}

}  // namespace
}  // namespace revenant::engine
