#include "engine/rules/consumer_timeout.h"

#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view refusal_text =
    "timed out. Timeout value used: 1000 ms. This timeout value can be configured, see consumers "
    "doc guide to learn more";

// A quorum queue "q" with a consumer timeout of one second.
struct TimeoutFixture {
    explicit TimeoutFixture(std::initializer_list<Argument> more = {{"x-consumer-timeout", 1000}})
        : ch(s.open_channel()) {
        Table table = arguments({{"x-queue-type", "quorum"}});
        for (const Argument& one : more) table.push_back(field(one));
        ch.declare_queue("q", {.durable = true, .arguments = std::move(table)});
    }
    static Field field(const Argument& one) { return arguments({one}).front(); }
    std::uint32_t consume(TimeoutAction action, ScenarioChannel& on) {
        return on.consume("q", {.on_timeout = action});
    }
    std::uint32_t consume(TimeoutAction action) { return consume(action, ch); }

    Scenario s;
    ScenarioChannel& ch;
};

TEST(ConsumerTimeout, ReturnsTheMessageAndCancelsTheConsumer) {  // amqp091 11.17
    TimeoutFixture k;
    k.ch.publish("q", "a");
    const auto consumer = k.consume(TimeoutAction::consumer_cancelled);
    EXPECT_EQ(k.ch.take_delivery().body(), "a");
    k.s.advance(milliseconds(999));
    EXPECT_THAT(k.ch.take_cancelled(), IsEmpty());
    k.s.advance(milliseconds(1));
    EXPECT_THAT(k.ch.take_cancelled(), ElementsAre(consumer));
    EXPECT_THAT(k.s.ready("q"), ElementsAre("a"));
    EXPECT_TRUE(k.ch.is_open());
}

TEST(ConsumerTimeout, IsNoFailureOfTheMessage) {  // DL-150
    TimeoutFixture k;
    k.ch.publish("q", "a");
    k.consume(TimeoutAction::consumer_cancelled);
    k.s.advance(seconds(1));
    const auto again = k.ch.get("q");
    ASSERT_TRUE(again);
    EXPECT_EQ(again->counts.delivery, 0U);
    EXPECT_EQ(again->counts.acquired, 1U);
    EXPECT_TRUE(again->redelivered);
    k.ch.ack(again->tag);
}

TEST(ConsumerTimeout, ALateSettlementOfACancelledConsumerIsIgnored) {  // amqp091 11.17
    TimeoutFixture k;
    k.ch.publish("q", "a");
    k.ch.publish("q", "b");
    k.consume(TimeoutAction::consumer_cancelled);
    k.ch.take_deliveries();
    k.s.advance(seconds(1));
    k.ch.ack(1);
    k.ch.ack_up_to(2);
    k.ch.nack(2);
    EXPECT_TRUE(k.ch.is_open());
    EXPECT_THAT(k.s.ready("q"), ElementsAre("a", "b"));
    k.ch.ack(3);
    k.ch.expect_refused(RefusalKind::precondition_failed, "unknown delivery tag 3");
}

TEST(ConsumerTimeout, EndsTheChannelOfWhomNobodyCanTell) {  // amqp091 11.17
    TimeoutFixture k;
    k.ch.publish("q", "a");
    k.ch.publish("q", "b");
    k.ch.qos(1);
    k.consume(TimeoutAction::channel_closed);
    k.s.advance(seconds(1));
    k.ch.expect_refused(RefusalKind::precondition_failed, refusal_text);
    EXPECT_THAT(k.s.ready("q"), ElementsAre("a", "b"));
    const auto again = k.ch.get("q", /*no_ack=*/true);
    EXPECT_EQ(again->counts.delivery, 0U) << "it timed out before the channel failed";
}

TEST(ConsumerTimeout, EndsTheChannelThatGotAMessage) {  // amqp091 11.17
    TimeoutFixture k;
    k.ch.publish("q", "a");
    ASSERT_TRUE(k.ch.get("q"));
    k.s.advance(seconds(1));
    k.ch.expect_refused(RefusalKind::precondition_failed, refusal_text);
    EXPECT_THAT(k.s.ready("q"), ElementsAre("a"));
}

TEST(ConsumerTimeout, SuspendsAConsumerUntilItHasSettled) {  // amqp10 5.27
    TimeoutFixture k;
    k.ch.publish("q", "a");
    k.consume(TimeoutAction::consumer_suspended);
    k.ch.take_deliveries();
    k.s.advance(seconds(1));
    EXPECT_THAT(k.ch.take_timed_out(), ElementsAre(1U));
    EXPECT_THAT(k.s.ready("q"), ElementsAre("a"));
    k.ch.publish("q", "b");
    EXPECT_THAT(k.ch.take_deliveries(), IsEmpty());
    k.ch.reject(1);  // the outcome is ignored: the consumer no longer holds the message
    EXPECT_THAT(k.ch.take_bodies(), ElementsAre("a", "b"));
    k.ch.ack(2);
    k.ch.ack(3);
    EXPECT_EQ(k.s.ended(Ending::acknowledged), 2U);
}

TEST(ConsumerTimeout, GivesTheMessageToAnotherConsumer) {
    TimeoutFixture k;
    ScenarioChannel& other = k.s.open_channel();
    k.ch.publish("q", "a");
    k.consume(TimeoutAction::consumer_suspended);
    k.consume(TimeoutAction::consumer_suspended, other);
    EXPECT_EQ(k.ch.take_delivery().body(), "a");
    k.s.advance(seconds(1));
    EXPECT_EQ(other.take_delivery().body(), "a");
    other.ack(1);
    k.ch.ack(1);
    EXPECT_EQ(k.s.ended(Ending::acknowledged), 1U);
}

TEST(ConsumerTimeout, PassesTheTurnOfASingleActiveConsumer) {  // amqp10 5.26, 5.27
    TimeoutFixture k({{"x-consumer-timeout", 1000}, {"x-single-active-consumer", true}});
    ScenarioChannel& other = k.s.open_channel();
    const auto first =
        k.ch.consume("q", {.uses_credit = true, .on_timeout = TimeoutAction::consumer_suspended});
    const auto second =
        other.consume("q", {.uses_credit = true, .on_timeout = TimeoutAction::consumer_suspended});
    k.ch.set_credit(first, 10);
    other.set_credit(second, 10);
    k.ch.publish("q", "a");
    EXPECT_EQ(k.ch.take_delivery().body(), "a");
    k.ch.take_credit_states();
    other.take_credit_states();
    k.s.advance(seconds(1));
    EXPECT_THAT(k.ch.take_credit_states(),
                ElementsAre("credit 1 delivered 1 until 10 available 1 waiting"));
    EXPECT_THAT(other.take_credit_states(),
                ElementsAre("credit 1 delivered 0 until 10 available 1 active"));
    EXPECT_EQ(other.take_delivery().body(), "a");
    // No other consumer is left when the second one times out, too; the first to settle becomes
    // active.
    k.s.advance(seconds(1));
    EXPECT_THAT(other.take_timed_out(), ElementsAre(1U));
    k.ch.ack(1);
    EXPECT_EQ(k.ch.take_delivery().body(), "a");
    other.ack(1);
    EXPECT_THAT(other.take_deliveries(), IsEmpty());
    k.ch.ack(2);
}

TEST(ConsumerTimeout, OfASingleActiveConsumerThatIsCancelled) {  // amqp091 11.7, 11.17
    TimeoutFixture k({{"x-consumer-timeout", 1000}, {"x-single-active-consumer", true}});
    ScenarioChannel& other = k.s.open_channel();
    k.consume(TimeoutAction::consumer_cancelled);
    k.consume(TimeoutAction::consumer_cancelled, other);
    k.ch.publish("q", "a");
    k.s.advance(seconds(1));
    EXPECT_EQ(other.take_delivery().body(), "a");
    other.ack(1);
}

TEST(ConsumerTimeout, OnlyThoseKeptTooLongGoBack) {
    TimeoutFixture k;
    k.ch.publish("q", "a");
    k.consume(TimeoutAction::consumer_cancelled);
    k.s.advance(milliseconds(600));
    k.ch.publish("q", "b");
    k.s.advance(milliseconds(400));
    EXPECT_THAT(k.s.ready("q"), ElementsAre("a"));
    k.ch.ack(2);
    EXPECT_EQ(k.s.ended(Ending::acknowledged), 1U);
    k.s.advance(seconds(10));
    EXPECT_TRUE(k.ch.is_open());
}

TEST(ConsumerTimeout, WhatIsSettledInTimeIsNotMissed) {
    TimeoutFixture k;
    k.consume(TimeoutAction::consumer_cancelled);
    for (std::uint64_t tag = 1; tag <= 20; ++tag) {
        k.ch.publish("q", "a");
        k.s.advance(milliseconds(900));
        k.ch.ack(tag);
    }
    EXPECT_THAT(k.ch.take_cancelled(), IsEmpty());
    EXPECT_EQ(k.s.ended(Ending::acknowledged), 20U);
}

TEST(ConsumerTimeout, TheConsumersOwnTimeoutComesFirst) {  // amqp091 11.5
    TimeoutFixture k;
    k.ch.publish("q", "a");
    k.ch.consume("q", {.arguments = arguments({{"x-consumer-timeout", 50}}),
                       .on_timeout = TimeoutAction::consumer_cancelled});
    k.s.advance(milliseconds(50));
    EXPECT_THAT(k.s.ready("q"), ElementsAre("a"));
    k.ch.consume("q", {.arguments = arguments({{"x-consumer-timeout", 5000}}),
                       .on_timeout = TimeoutAction::consumer_cancelled});
    k.s.advance(milliseconds(4999));
    EXPECT_THAT(k.s.ready("q"), IsEmpty());
    k.s.advance(milliseconds(1));
    EXPECT_THAT(k.s.ready("q"), ElementsAre("a"));
}

TEST(ConsumerTimeout, ComesFromTheConfigurationIfNobodySaysOtherwise) {  // amqp091 11.17
    Scenario s({.consumer_timeout_ms = 300});
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("plain",
                     {.durable = true, .arguments = arguments({{"x-queue-type", "quorum"}})});
    ch.declare_queue(
        "any", {.durable = true,
                .arguments = arguments({{"x-queue-type", "quorum"}, {"x-consumer-timeout", 0}})});
    ch.publish("plain", "a");
    ch.publish("any", "b");
    ch.consume("plain", {.on_timeout = TimeoutAction::consumer_cancelled});
    ch.consume("any", {.on_timeout = TimeoutAction::consumer_cancelled});
    s.advance(seconds(3600));
    EXPECT_THAT(s.ready("plain"), ElementsAre("a"));
    EXPECT_THAT(s.ready("any"), IsEmpty()) << "0 means no timeout";
}

TEST(ConsumerTimeout, TheSmallerOfArgumentAndPolicyHoldsAtOnce) {  // amqp091 11.17
    TimeoutFixture k;
    k.ch.publish("q", "a");
    k.consume(TimeoutAction::consumer_cancelled);
    k.s.advance(milliseconds(500));
    k.ch.set_policy({"p", ".*", ApplyTo::all, 0, arguments({{"consumer-timeout", 2000}})});
    k.s.advance(milliseconds(100));
    EXPECT_THAT(k.s.ready("q"), IsEmpty());
    k.ch.set_policy({"p", ".*", ApplyTo::all, 0, arguments({{"consumer-timeout", 200}})});
    k.s.advance(milliseconds(0));
    EXPECT_THAT(k.s.ready("q"), ElementsAre("a"));
}

TEST(ConsumerTimeout, IsUnknownToClassicQueues) {  // amqp091 11.17
    Scenario s({.consumer_timeout_ms = 300});
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("q");
    ch.publish("q", "a");
    ch.consume("q", {.arguments = arguments({{"x-consumer-timeout", "no number"}}),
                     .on_timeout = TimeoutAction::consumer_cancelled});
    s.advance(seconds(3600));
    EXPECT_THAT(s.ready("q"), IsEmpty());
}

TEST(ConsumerTimeout, OfAConsumerIsANaturalNumber) {  // amqp091 11.5
    TimeoutFixture k;
    k.ch.consume("q", {.arguments = arguments({{"x-consumer-timeout", "soon"}})});
    k.ch.expect_refused(RefusalKind::precondition_failed,
                        "invalid arg 'x-consumer-timeout' for queue 'q' in vhost '/': \"expected "
                        "integer, got longstr\"");
    k.ch.consume("q", {.arguments = arguments({{"x-consumer-timeout", -1}})});
    k.ch.expect_refused(
        RefusalKind::precondition_failed,
        "invalid arg 'x-consumer-timeout' for queue 'q' in vhost '/': {value_negative,-1}");
}

TEST(ConsumerTimeout, WhatATransactionHoldsIsSettled) {
    TimeoutFixture k;
    k.ch.publish("q", "a");
    k.consume(TimeoutAction::consumer_cancelled);
    k.ch.select();
    k.ch.ack(1);
    k.s.advance(seconds(5));
    k.ch.commit();
    EXPECT_EQ(k.s.ended(Ending::acknowledged), 1U);
}

TEST(ConsumerTimeout, TheDeadOfADeletedQueueDoNotTimeOut) {
    TimeoutFixture k;
    k.ch.publish("q", "a");
    k.consume(TimeoutAction::consumer_suspended);
    k.ch.delete_queue("q");
    k.s.advance(seconds(5));
    EXPECT_THAT(k.ch.take_timed_out(), IsEmpty());
    k.ch.ack(1);
    EXPECT_TRUE(k.ch.is_open());
}

TEST(ConsumerTimeout, ASuspendedConsumerMayOutliveItsQueue) {
    TimeoutFixture k;
    k.ch.publish("q", "a");
    k.consume(TimeoutAction::consumer_suspended);
    k.s.advance(seconds(1));
    EXPECT_THAT(k.ch.take_timed_out(), ElementsAre(1U));
    k.ch.delete_queue("q");
    k.ch.ack(1);
    EXPECT_TRUE(k.ch.is_open());
}

TEST(ConsumerTimeout, AnExpiredMessageDiesWhenItComesBack) {  // DL-132
    TimeoutFixture k({{"x-consumer-timeout", 1000}, {"x-message-ttl", 100}});
    k.consume(TimeoutAction::consumer_cancelled);
    k.ch.publish("q", "a");
    k.s.advance(seconds(1));
    EXPECT_THAT(k.s.ready("q"), IsEmpty());
    EXPECT_EQ(k.s.queue("q").unacked_count(), 0U);
}

}  // namespace
}  // namespace revenant::engine
