// Death records: the history that a dead letter carries.
#include "tests/support/dead_letter_scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DeathRecords, TellWhereTheMessageWasPublishedBefore) {  // DL-77, DL-81
    Cemetery c;
    c.declare("second", dead_to("last"));
    c.declare("last");
    c.declare("first", dead_through("amq.fanout"));
    c.ch.bind("amq.topic", "first", "#");
    c.ch.bind("amq.fanout", "second");
    c.ch.publish("a.b", "m", {.exchange = "amq.topic"});
    const Timestamp died = c.s.now();
    c.reject_head("first");
    c.s.advance(seconds(5));
    c.reject_head("second");
    const Delivery dead = c.take("last");
    const auto& deaths = dead.envelope->history.deaths;
    ASSERT_THAT(dead.deaths(), ElementsAre("second rejected 1", "first rejected 1"));
    EXPECT_EQ(deaths[1].exchange, "amq.topic");
    EXPECT_EQ(deaths[1].first_time, died);
    EXPECT_EQ(deaths[0].exchange, "amq.fanout");
    EXPECT_EQ(deaths[0].first_time, died + seconds(5));
    EXPECT_EQ(dead.envelope->history.first,
              (DeathSummary{"first", DeathReason::rejected, "amq.topic"}));
    EXPECT_EQ(dead.envelope->history.last,
              (DeathSummary{"second", DeathReason::rejected, "amq.fanout"}));
}

TEST(DeathRecords, CountTheRoundsOfARetry) {  // DL-75, DL-76, DL-117
    Cemetery c;
    c.declare("work", dead_to("wait"));
    c.declare("wait", dead_to("work", {{"x-message-ttl", 1000}}));
    c.ch.publish("work", "m");
    for (int round = 0; round < 3; ++round) {
        c.reject_head("work");
        c.s.advance(seconds(1));
    }
    const Delivery delivery = c.take("work");
    EXPECT_THAT(delivery.deaths(), ElementsAre("wait expired 3", "work rejected 3"));
    EXPECT_LT(delivery.envelope->history.deaths[0].first_time,
              delivery.envelope->history.deaths[0].last_time);
}

TEST(DeathRecords, TheMessagesOwnTimeToLiveIsNotedOnceAndThenGone) {  // DL-70, DL-78
    Cemetery c;
    c.declare("second", dead_to("third"));
    c.declare("third");
    c.declare("first", dead_to("second"));
    c.ch.publish("first", "m", {.ttl_ms = 60'000});
    c.reject_head("first");  // for any reason
    c.s.advance(seconds(3600));
    EXPECT_THAT(c.s.ready("second"), ElementsAre("m"));
    c.reject_head("second");
    const Delivery dead = c.take("third");
    EXPECT_EQ(dead.envelope->history.deaths[1].ttl_ms, 60'000);
    EXPECT_EQ(dead.envelope->history.deaths[0].ttl_ms, std::nullopt);
}

TEST(DeathRecords, AQueuesTimeToLiveIsNeverNoted) {  // DL-78, DL-90
    Cemetery c;
    c.declare("dead");
    c.declare("q", dead_to("dead", {{"x-message-ttl", 100}}));
    c.ch.publish("q", "queue only");
    c.ch.publish("q", "both", {.ttl_ms = 5000});
    c.s.advance(milliseconds(100));
    EXPECT_EQ(c.death(c.take("dead")).ttl_ms, std::nullopt);
    EXPECT_EQ(c.death(c.take("dead")).ttl_ms, 5000);
}

TEST(DeathRecords, TheTimeToLiveOfTheTargetCountsFromArrival) {  // DL-70
    Cemetery c;
    c.declare("dead", arguments({{"x-message-ttl", 1000}}));
    c.declare("q", dead_to("dead"));
    c.ch.publish("q", "m");
    c.s.advance(seconds(10));
    c.reject_head("q");
    c.s.advance(milliseconds(999));
    EXPECT_THAT(c.s.ready("dead"), ElementsAre("m"));
    c.s.advance(milliseconds(1));
    EXPECT_THAT(c.s.ready("dead"), IsEmpty());
}

TEST(DeathRecords, ARedeclaredQueueGoesOnWithTheSameRecord) {  // DL-79
    Cemetery c;
    c.declare("dead", dead_to("q"));
    c.declare("q", dead_to("dead"));
    c.ch.publish("q", "m");
    c.reject_head("q");
    c.ch.delete_queue("q");
    c.declare("q", dead_to("dead"));
    c.reject_head("dead");
    c.reject_head("q");
    EXPECT_THAT(c.take("dead").deaths(), ElementsAre("q rejected 2", "dead rejected 1"));
}

TEST(DeathRecords, FailuresTravelWithTheMessage) {  // DL-72, DL-155
    Cemetery c;
    c.declare("dead");
    c.declare("q", dead_to("dead"));
    const auto count = [&] {
        return c.s.queue("dead").at(*c.s.queue("dead").head()).delivery_count;
    };
    c.ch.publish("q", "a");
    c.ch.nack(c.ch.get("q")->tag);
    EXPECT_EQ(count(), 0U);
    c.take("dead");
    c.ch.publish("q", "b");
    c.ch.settle(c.ch.get("q")->tag, {OutcomeKind::released, true});
    c.ch.reject(c.ch.get("q")->tag);
    EXPECT_EQ(count(), 2U);
    c.take("dead");
    for (const char* body : {"c", "d"}) c.ch.publish("q", body);
    c.ch.get("q");
    c.ch.get("q");
    c.ch.settle(0, {OutcomeKind::rejected, true}, true);  // as one batch
    EXPECT_EQ(count(), 1U);
}

// DL-155, as in RabbitMQ 4.3.6.
TEST(DeathRecords, WhatGoesStraightToAConsumerOfAClassicQueueIsNoRedelivery) {
    Cemetery c;
    c.declare("dead");
    c.declare("q", dead_to("dead"));
    auto& consumer = c.s.open_channel();
    consumer.qos(1);
    consumer.consume("dead");
    for (const char* body : {"a", "b"}) c.ch.publish("q", body);
    c.ch.get("q");
    c.ch.get("q");
    c.ch.settle(0, {OutcomeKind::rejected, true}, true);
    const Delivery straight = consumer.take_delivery();
    EXPECT_FALSE(straight.redelivered);
    consumer.ack(straight.tag);
    EXPECT_TRUE(consumer.take_delivery().redelivered) << "this one was ready first";
}

// DL-152, DL-155, as in RabbitMQ 4.3.6.
TEST(DeathRecords, AQuorumQueueCountsCarriedFailuresAsAcquisitions) {
    Cemetery c;
    c.declare("dead", arguments({{"x-queue-type", "quorum"}}));
    c.declare("q", dead_to("dead"));
    c.ch.publish("q", "a");
    c.ch.reject(c.ch.get("q")->tag);
    const auto letter = c.ch.get("dead");
    ASSERT_TRUE(letter);
    EXPECT_TRUE(letter->redelivered);
    EXPECT_EQ(letter->counts.delivery, 1U);
    EXPECT_EQ(letter->counts.acquired, 1U);
}

TEST(DeathRecords, PriorityAndBodyStayAsTheyWere) {  // DL-60, DL-74
    Cemetery c;
    c.declare("dead", arguments({{"x-max-priority", 5}}));
    c.declare("q", dead_to("dead"));
    c.ch.publish("q", "low", {.priority = 1});
    c.ch.publish("q", "high", {.priority = 4});
    c.ch.consume("q");
    c.ch.nack_up_to(0);
    EXPECT_THAT(c.s.ready("dead"), ElementsAre("high", "low"));
}

TEST(DeathRecords, MessagesThatDieTogetherShareOneEnvelope) {  // design, section 3
    Cemetery c;
    c.s.keep_in_memory();
    c.declare("dead");
    c.declare("q", dead_to("dead"));
    for (const char* body : {"a", "b"}) c.ch.publish("q", body);
    c.ch.publish("q", "own ttl", {.ttl_ms = 5000});
    c.ch.consume("q");
    c.ch.nack_up_to(0);
    const Delivery a = c.take("dead");
    const Delivery b = c.take("dead");
    const Delivery own = c.take("dead");
    EXPECT_EQ(a.envelope.get(), b.envelope.get());
    EXPECT_NE(a.envelope.get(), own.envelope.get());
    EXPECT_EQ(c.death(own).ttl_ms, 5000);
}

TEST(DeathRecords, ADeathIsNoPublish) {  // DL-212, DL-167
    Cemetery c;
    c.declare("dead");
    c.declare("q", dead_to("dead"));
    c.ch.publish("q", "a");
    const ClientTraffic before = c.s.engine().state().traffic().of_all_clients();
    c.reject_head("q");
    const ClientTraffic after = c.s.engine().state().traffic().of_all_clients();
    EXPECT_THAT(c.s.ready("dead"), ElementsAre("a"));
    EXPECT_EQ(after.received, before.received);
    EXPECT_EQ(after.routed, before.routed);
    EXPECT_EQ(after.unroutable_dropped, before.unroutable_dropped);
}

}  // namespace
}  // namespace revenant::engine
