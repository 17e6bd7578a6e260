#include "engine/rules/dispatch.h"

#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Dispatch, ConsumersAreServedInTurnOneMessageAtATime) {  // amqp091 11.19
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    for (int i = 0; i < 3; ++i) ch.consume("q");
    std::vector<std::uint32_t> order;
    for (int i = 0; i < 7; ++i) ch.publish("q", "m");
    for (const Delivery& delivery : ch.take_deliveries()) order.push_back(delivery.consumer);
    EXPECT_THAT(order, ElementsAre(1, 2, 3, 1, 2, 3, 1));
}

TEST(Dispatch, ABlockedConsumerLosesItsTurnAndComesBack) {  // amqp091 11.19
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.qos(1);
    ch.consume("q");
    ch.consume("q");
    for (const char* body : {"a", "b", "c", "d"}) ch.publish("q", body);
    ch.ack(2);  // of consumer 2
    ch.ack(3);  // again
    ch.ack(1);
    EXPECT_THAT(ch.take_transcript(), ElementsAre("done", "done", "done", "done", "deliver 1 a",
                                                  "deliver 2 b", "deliver 2 c", "deliver 2 d"));
}

TEST(Dispatch, ADeliveryShowsWhereTheMessageWasPublished) {  // amqp091 11.8
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.bind("amq.topic", "q", "#");
    ch.consume("q");
    ch.publish("a.b", "m", {.exchange = "amq.topic"});
    const Delivery delivery = ch.take_delivery();
    EXPECT_EQ(delivery.exchange(), "amq.topic");
    EXPECT_EQ(delivery.routing_key(), "a.b");
    EXPECT_EQ(delivery.tag, 1U);
    EXPECT_FALSE(delivery.redelivered);
}

TEST(Dispatch, DeliveryNumbersAreSharedByConsumersAndGets) {  // amqp091 11.8
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.declare_queue("other");
    ch.publish("other", "x");
    ch.consume("q", {.no_ack = true});
    ch.publish("q", "a");
    EXPECT_EQ(ch.get("other")->tag, 2U);
    ch.publish("q", "b");
    EXPECT_EQ(ch.take_deliveries().back().tag, 3U);
}

TEST(Dispatch, RedeliveredMeansDeliveredBeforeAndReturned) {  // amqp091 11.9
    Scenario s;
    auto& ch = s.open_channel();
    auto& other = s.open_channel(s.connect());
    ch.declare_queue("q");
    ch.publish("q", "a");
    ch.publish("q", "b");
    EXPECT_FALSE(ch.get("q")->redelivered);
    ch.close();
    other.consume("q", {.no_ack = true});
    EXPECT_THAT(other.take_transcript(), ElementsAre("done", "redeliver 1 a", "deliver 1 b"));
}

TEST(Dispatch, WithoutAcknowledgementAMessageIsSettledOnSend) {  // amqp091 11.18; DL-17
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-dead-letter-exchange", "amq.fanout"}});
    ch.consume("q", {.no_ack = true});
    ch.publish("q", "a");
    EXPECT_EQ(s.ended(Ending::auto_acknowledged), 1U);
    EXPECT_EQ(s.queue("q").unacked_count(), 0U);
    ch.ack(1);
    ch.expect_refused(RefusalKind::precondition_failed, "unknown delivery tag 1");
}

TEST(Get, GivesTheHeadAndTheNumberLeft) {  // amqp091 11.10
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    for (const char* body : {"a", "b", "c"}) ch.publish("q", body);
    const auto first = ch.get("q");
    EXPECT_EQ(first->body(), "a");
    EXPECT_EQ(first->messages_left, 2U);
    EXPECT_EQ(ch.get("q", /*no_ack=*/true)->body(), "b");
    EXPECT_EQ(ch.get("q")->messages_left, 0U);
    EXPECT_FALSE(ch.get("q"));
    EXPECT_EQ(s.queue("q").unacked_count(), 2U);
    const Consumption consumed = s.engine().state().traffic().of_all_clients().consumed();
    EXPECT_EQ(consumed.got_manual_ack, 2U);
    EXPECT_EQ(consumed.got_auto_ack, 1U);
    EXPECT_EQ(consumed.get_empty, 1U);
    ch.get("missing");
    ch.expect_refused(RefusalKind::not_found, "no queue 'missing' in vhost '/'");
}

TEST(Priorities, TheHigherGoesFirstInOrderInsideALevel) {  // amqp091 16.1
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-max-priority", 5}});
    ch.publish("q", "none");
    ch.publish("q", "zero", {.priority = 0});
    ch.publish("q", "three", {.priority = 3});
    ch.publish("q", "five", {.priority = 5});
    ch.publish("q", "nine", {.priority = 9});  // treated as five
    ch.publish("q", "three too", {.priority = 3});
    ch.consume("q", {.no_ack = true});
    EXPECT_THAT(ch.take_bodies(),
                ElementsAre("five", "nine", "three", "three too", "none", "zero"));
}

TEST(Priorities, AReturnedMessageKeepsItsLevelAndPlace) {  // amqp091 11.12, 16.1
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-max-priority", 2}});
    ch.publish("q", "low");
    ch.publish("q", "high", {.priority = 2});
    const auto high = ch.get("q");
    ch.publish("q", "high too", {.priority = 2});
    ch.requeue(high->tag);
    EXPECT_THAT(s.ready("q"), ElementsAre("high", "high too", "low"));
}

// --------------------------------------------------------- paused connections

TEST(Pause, AFullConnectionGetsNothingUntilItAsks) {
    Scenario s;
    const ConnectionId slow = s.connect();
    auto& ch = s.open_channel();
    auto& consumer = s.open_channel(slow);
    ch.declare_queue("q");
    ch.declare_queue("other");
    consumer.consume("q");
    consumer.consume("other");
    s.take_only(slow, 2);
    for (const char* body : {"a", "b", "c", "d"}) ch.publish("q", body);
    ch.publish("other", "e");
    EXPECT_THAT(consumer.take_bodies(), ElementsAre("a", "b"));
    consumer.ack(1);  // credit alone is not enough
    EXPECT_THAT(consumer.take_bodies(), IsEmpty());
    s.check();
    s.resume(slow);
    EXPECT_THAT(consumer.take_bodies(), ElementsAre("c", "d", "e"));
}

TEST(Pause, OthersAreServedMeanwhile) {
    Scenario s;
    const ConnectionId slow = s.connect();
    auto& fast = s.open_channel();
    auto& full = s.open_channel(slow);
    fast.declare_queue("q");
    full.consume("q");
    fast.consume("q", {.no_ack = true});
    s.take_only(slow, 1);
    for (const char* body : {"a", "b", "c", "d"}) fast.publish("q", body);
    EXPECT_THAT(full.take_bodies(), ElementsAre("a"));
    EXPECT_THAT(fast.take_bodies(), ElementsAre("b", "c", "d"));
    s.resume(slow);
    for (const char* body : {"e", "f"}) fast.publish("q", body);
    EXPECT_THAT(full.take_bodies(), SizeIs(1));  // round robin again
    EXPECT_THAT(fast.take_bodies(), SizeIs(1));
}

TEST(Pause, ConsumersWithoutAcknowledgementPauseToo) {
    Scenario s;
    const ConnectionId slow = s.connect();
    auto& ch = s.open_channel();
    auto& full = s.open_channel(slow);
    ch.declare_queue("q");
    s.take_only(slow, 1);
    full.consume("q", {.no_ack = true});
    ch.publish("q", "a");
    ch.publish("q", "b");
    EXPECT_THAT(full.take_bodies(), ElementsAre("a"));
    EXPECT_THAT(s.ready("q"), ElementsAre("b"));  // not lost in a full buffer
    s.resume(slow);
    EXPECT_THAT(full.take_bodies(), ElementsAre("b"));
}

TEST(Pause, AReplyGoesThroughAndPausesTheRest) {  // amqp091 14.3
    Scenario s;
    const ConnectionId slow = s.connect();
    auto& ch = s.open_channel();
    auto& full = s.open_channel(slow);
    ch.declare_queue("q");
    full.consume("amq.rabbitmq.reply-to",
                 {.no_ack = true, .reply_name = "amq.rabbitmq.reply-to.x"});
    full.consume("q");
    s.take_only(slow, 1);
    ch.publish("amq.rabbitmq.reply-to.x", "reply");
    ch.publish("q", "a");
    EXPECT_THAT(full.take_bodies(), ElementsAre("reply"));
    s.resume(slow);
    EXPECT_THAT(full.take_bodies(), ElementsAre("a"));
}

TEST(Pause, AClosingChannelOfAFullConnectionGivesItsMessagesBack) {
    Scenario s;
    const ConnectionId slow = s.connect();
    auto& ch = s.open_channel();
    auto& full = s.open_channel(slow);
    ch.declare_queue("q");
    full.consume("q");
    s.take_only(slow, 1);
    ch.publish("q", "a");
    ch.publish("q", "b");
    full.close();
    EXPECT_THAT(s.ready("q"), ElementsAre("a", "b"));
    auto& again = s.open_channel(slow);
    again.consume("q");
    EXPECT_THAT(again.take_bodies(), IsEmpty());  // the connection is still full
    s.resume(slow);
    EXPECT_THAT(again.take_bodies(), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace revenant::engine
