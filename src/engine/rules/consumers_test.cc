#include "engine/rules/consumers.h"

#include "base/probe.h"
#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace revenant::engine {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::map<std::uint32_t, int> per_consumer(const std::vector<Delivery>& deliveries) {
    std::map<std::uint32_t, int> counted;
    for (const Delivery& delivery : deliveries) counted[delivery.consumer] += 1;
    return counted;
}

void publish_numbers(ScenarioChannel& ch, const std::string& queue, int count) {
    for (int i = 1; i <= count; ++i) ch.publish(queue, std::to_string(i));
}

std::uint32_t consume_with_priority(ScenarioChannel& ch, int priority) {
    return ch.consume("q", {.arguments = arguments({{"x-priority", priority}})});
}

// -------------------------------------------------------------------------------- pauses

TEST(PausedChannel, TakesNothingWhileTheOthersOfItsConnectionGoOn) {  // amqp10 3.3
    Scenario s;
    auto& paused = s.open_channel();
    auto& other = s.open_channel();
    paused.declare_queue("q");
    paused.declare_queue("r");
    const auto drained = paused.consume("q", {.uses_credit = true});
    paused.set_credit(drained, 5);
    other.consume("r");
    paused.pause();
    publish_numbers(other, "q", 2);
    publish_numbers(other, "r", 2);
    paused.set_credit(drained, 5, {.drain = true});
    EXPECT_THAT(paused.take_deliveries(), IsEmpty());
    EXPECT_THAT(paused.take_credit_states(), IsEmpty()) << "a drain is paused, too";
    EXPECT_THAT(other.take_bodies(), ElementsAre("1", "2"));
    paused.resume();
    EXPECT_THAT(paused.take_bodies(), ElementsAre("1", "2"));
    EXPECT_THAT(paused.take_credit_states(), SizeIs(1));
}

// -------------------------------------------------------------------------------- prefetch

TEST(Prefetch, WithoutItThereIsNoLimit) {  // amqp091 11.1
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.consume("q");
    publish_numbers(ch, "q", 100);
    EXPECT_THAT(ch.take_deliveries(), SizeIs(100));
}

TEST(Prefetch, LimitsTheUnsettledDeliveriesOfAConsumer) {  // amqp091 11.1
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    publish_numbers(ch, "q", 10);
    ch.qos(3);
    ch.consume("q");
    EXPECT_THAT(ch.take_bodies(), ElementsAre("1", "2", "3"));
    ch.ack(2);
    EXPECT_THAT(ch.take_bodies(), ElementsAre("4"));
    ch.ack_up_to(4);
    EXPECT_THAT(ch.take_bodies(), ElementsAre("5", "6", "7"));
    EXPECT_EQ(s.queue("q").unacked_count(), 3U);
}

TEST(Prefetch, AppliesToConsumersStartedAfterwards) {  // amqp091 11.1
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("a");
    ch.declare_queue("b");
    publish_numbers(ch, "a", 5);
    publish_numbers(ch, "b", 5);
    ch.qos(1);
    const auto first = ch.consume("a");
    ch.qos(2);
    const auto second = ch.consume("b");
    EXPECT_THAT(per_consumer(ch.take_deliveries()),
                (std::map<std::uint32_t, int>{{first, 1}, {second, 2}}));
    ch.qos(0);
    ch.ack(1);
    EXPECT_THAT(per_consumer(ch.take_deliveries()), (std::map<std::uint32_t, int>{{first, 1}}));
}

TEST(Prefetch, EachConsumerHasItsOwn) {  // amqp091 11.1
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.qos(2);
    const auto first = ch.consume("q");
    const auto second = ch.consume("q");
    publish_numbers(ch, "q", 10);
    EXPECT_THAT(per_consumer(ch.take_deliveries()),
                (std::map<std::uint32_t, int>{{first, 2}, {second, 2}}));
}

TEST(Prefetch, GlobalIsSharedByTheConsumersOfTheChannel) {  // amqp091 11.1
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("a");
    ch.declare_queue("b");
    ch.qos(3, /*global=*/true);
    ch.consume("a");
    ch.consume("b");
    publish_numbers(ch, "a", 2);
    publish_numbers(ch, "b", 4);
    EXPECT_THAT(ch.take_deliveries(), SizeIs(3));
    ch.ack(1);  // of a: the credit goes to the consumer with ready messages
    EXPECT_THAT(ch.take_deliveries(), SizeIs(1));
    ch.ack_up_to(0);
    EXPECT_THAT(ch.take_deliveries(), SizeIs(2));
}

TEST(Prefetch, GlobalMayBeChangedWhileConsumersRun) {  // amqp091 11.1
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.qos(1, true);
    ch.consume("q");
    publish_numbers(ch, "q", 9);
    EXPECT_THAT(ch.take_deliveries(), SizeIs(1));
    ch.qos(4, true);
    EXPECT_THAT(ch.take_deliveries(), SizeIs(3));
    ch.qos(2, true);  // below the number already unsettled
    ch.ack(1);
    ch.ack(2);
    EXPECT_THAT(ch.take_deliveries(), IsEmpty());
    ch.ack(3);
    EXPECT_THAT(ch.take_deliveries(), SizeIs(1));
    ch.qos(0, true);
    EXPECT_THAT(ch.take_deliveries(), SizeIs(4));
}

TEST(Prefetch, BothLimitsHold) {  // amqp091 11.1
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.qos(2);
    ch.qos(3, true);
    const auto first = ch.consume("q");
    const auto second = ch.consume("q");
    publish_numbers(ch, "q", 10);
    const auto counted = per_consumer(ch.take_deliveries());
    EXPECT_EQ(counted.at(first) + counted.at(second), 3);
    EXPECT_LE(counted.at(first), 2);
    EXPECT_LE(counted.at(second), 2);
}

TEST(Prefetch, IgnoresConsumersThatDoNotAcknowledge) {  // amqp091 11.2
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.qos(1);
    ch.qos(1, true);
    ch.consume("q", {.no_ack = true});
    publish_numbers(ch, "q", 5);
    EXPECT_THAT(ch.take_deliveries(), SizeIs(5));
}

TEST(Prefetch, IgnoresGets) {  // amqp091 11.2
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    publish_numbers(ch, "q", 5);
    ch.qos(1);
    ch.qos(1, true);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(ch.get("q"));
    ch.consume("q");
    EXPECT_THAT(ch.take_bodies(), ElementsAre("4"));
}

// ------------------------------------------------------------------------------- consuming

TEST(Consume, IsAnsweredBeforeItsFirstDelivery) {  // amqp091 11.3
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.publish("q", "a");
    ch.take_transcript();
    ch.consume("q");
    EXPECT_THAT(ch.take_transcript(), ElementsAre("done", "deliver 1 a"));
}

TEST(Consume, TheQueueMustExist) {  // amqp091 11.3
    Scenario s;
    auto& ch = s.open_channel();
    ch.consume("missing");
    ch.expect_refused(RefusalKind::not_found, "no queue 'missing' in vhost '/'");
}

TEST(Consume, AnExclusiveConsumerIsAlone) {  // amqp091 11.4
    Scenario s;
    auto& ch = s.open_channel();
    auto& other = s.open_channel();
    const std::string text = "queue 'q' in vhost '/' in exclusive use";
    ch.declare_queue("q");
    const auto plain = ch.consume("q");
    other.consume("q", {.exclusive = true});
    other.expect_refused(RefusalKind::access_refused, text);
    ch.cancel(plain);
    const auto exclusive = ch.consume("q", {.exclusive = true});
    other.consume("q");
    other.expect_refused(RefusalKind::access_refused, text);
    other.consume("q", {.exclusive = true});
    other.expect_refused(RefusalKind::access_refused, text);
    ch.cancel(exclusive);
    other.consume("q");
    EXPECT_TRUE(other.is_open());
}

TEST(Consume, ExclusiveAndSingleActiveDoNotGoTogether) {  // amqp091 11.4
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-single-active-consumer", true}});
    ch.consume("q", {.exclusive = true});
    ch.expect_refused(RefusalKind::access_refused, "queue 'q' in vhost '/' in exclusive use");
}

TEST(Consume, ThePriorityMustBeAnInteger) {  // amqp091 11.5
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.consume("q", {.arguments = arguments({{"x-priority", "high"}})});
    ch.expect_refused(RefusalKind::precondition_failed,
                      "invalid arg 'x-priority' for queue 'q' in vhost '/': \"expected integer, "
                      "got longstr\"");
    ch.consume("q",
               {.arguments = arguments({{"x-priority", -3}, {"x-cancel-on-ha-failover", true}})});
    EXPECT_TRUE(ch.is_open());
}

TEST(Consume, AnOffsetIsForStreams) {  // amqp091 11.5, as in RabbitMQ 4.3.6
    Scenario s;
    auto& ch = s.open_channel();
    for (const std::string type : {"classic", "quorum"}) {
        ch.declare_queue(type, {{"x-queue-type", type.c_str()}});
        ch.consume(type, {.arguments = arguments({{"x-stream-offset", "first"}})});
        ch.expect_refused(RefusalKind::precondition_failed,
                          "invalid arg 'x-stream-offset' for queue '" + type +
                              "' in vhost '/' of queue type rabbit_" + type + "_queue");
    }
}

TEST(ConsumerPriority, TheHigherIsServedWhileItCanTake) {  // amqp091 11.6
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.qos(2);
    const auto low = consume_with_priority(ch, -1);
    const auto normal = ch.consume("q");
    const auto high = consume_with_priority(ch, 10);
    publish_numbers(ch, "q", 3);
    EXPECT_THAT(per_consumer(ch.take_deliveries()),
                (std::map<std::uint32_t, int>{{high, 2}, {normal, 1}}));
    ch.ack(1);  // the consumer of high priority again
    ch.publish("q", "4");
    ch.publish("q", "5");
    ch.publish("q", "6");
    EXPECT_THAT(per_consumer(ch.take_deliveries()),
                (std::map<std::uint32_t, int>{{high, 1}, {normal, 1}, {low, 1}}));
}

TEST(ConsumerPriority, EqualOnesTakeTurns) {  // amqp091 11.6, 11.19
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    const auto high = arguments({{"x-priority", 5}});
    const auto first = ch.consume("q", {.arguments = high});
    const auto second = ch.consume("q", {.arguments = high});
    ch.consume("q");
    publish_numbers(ch, "q", 6);
    EXPECT_THAT(per_consumer(ch.take_deliveries()),
                (std::map<std::uint32_t, int>{{first, 3}, {second, 3}}));
}

TEST(ConsumerPriority, NothingIsLeftOfOneWhenItsConsumersAreGone) {
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    const auto stays = ch.consume("q");
    for (int priority = 1; priority <= 100; ++priority) {
        ch.cancel(consume_with_priority(ch, priority));
    }
    EXPECT_EQ(s.queue("q").consumers.lines.size(), 1U);
    ch.publish("q", "a");
    EXPECT_EQ(ch.take_delivery().consumer, stays);
}

TEST(SingleActiveConsumer, TheFirstIsActiveUntilItGoes) {  // amqp091 11.7
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-single-active-consumer", true}});
    const auto first = ch.consume("q");
    const auto second = ch.consume("q");
    auto& other = s.open_channel(s.connect());
    other.consume("q");
    publish_numbers(ch, "q", 3);
    EXPECT_THAT(per_consumer(ch.take_deliveries()), (std::map<std::uint32_t, int>{{first, 3}}));
    ch.cancel(first);
    ch.publish("q", "4");
    EXPECT_THAT(per_consumer(ch.take_deliveries()), (std::map<std::uint32_t, int>{{second, 1}}));
    ch.close();
    EXPECT_THAT(other.take_bodies(), ElementsAre("1", "2", "3", "4"));
}

// A classic queue with consumers of the priorities 0, 1 and 9; the first is active.
struct ClassicWithActive {
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    std::uint32_t third = 0;

    ClassicWithActive() {
        ch.declare_queue("q", {{"x-single-active-consumer", true}});
        first = ch.consume("q");
        second = consume_with_priority(ch, 1);
        third = consume_with_priority(ch, 9);
    }
};

TEST(SingleActiveConsumer, RegistrationDecidesNotPriority) {  // amqp091 11.7, classic
    ClassicWithActive c;
    c.ch.publish("q", "a");
    EXPECT_EQ(c.ch.take_delivery().consumer, c.first);
    c.ch.cancel(c.second);
    c.ch.cancel(c.first);
    c.ch.publish("q", "b");
    EXPECT_EQ(c.ch.take_delivery().consumer, c.third);
}

TEST(SingleActiveConsumer, TheHighestPriorityIsNext) {  // amqp091 11.7, classic
    ClassicWithActive c;
    c.ch.cancel(c.first);
    c.ch.publish("q", "a");
    EXPECT_EQ(c.ch.take_delivery().consumer, c.third);
}

TEST(SingleActiveConsumer, WaitingOnesTakeNothingThoughTheActiveIsFull) {  // amqp091 11.7
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-single-active-consumer", true}});
    ch.qos(1);
    const auto first = ch.consume("q");
    ch.consume("q");
    publish_numbers(ch, "q", 3);
    EXPECT_THAT(ch.take_deliveries(), SizeIs(1));
    ch.ack(1);
    EXPECT_EQ(ch.take_delivery().consumer, first);
    EXPECT_TRUE(ch.get("q"));  // a get is not a consumer
}

// A quorum queue with a consumer of priority 0 and prefetch 1 that received the first of three
// messages.
struct QuorumWithActive {
    Scenario s;
    ScenarioChannel& low_channel = s.open_channel();
    ScenarioChannel& high_channel = s.open_channel();
    std::uint32_t low = 0;

    QuorumWithActive() {
        low_channel.declare_queue("q",
                                  {{"x-queue-type", "quorum"}, {"x-single-active-consumer", true}});
        low_channel.qos(1);
        low = low_channel.consume("q");
        publish_numbers(low_channel, "q", 3);
        EXPECT_THAT(low_channel.take_bodies(), ElementsAre("1"));
    }
};

TEST(SingleActiveConsumer, OfAQuorumQueueYieldsToAHigherPriority) {  // amqp091 11.7
    QuorumWithActive q;
    consume_with_priority(q.high_channel, 10);
    EXPECT_THAT(q.high_channel.take_bodies(), IsEmpty()) << "the active one has a message";
    EXPECT_THAT(Probe::reached(), Contains("consumers.active_yields"));
    q.low_channel.ack(1);
    EXPECT_THAT(q.high_channel.take_bodies(), ElementsAre("2", "3"));
    EXPECT_THAT(q.low_channel.take_bodies(), IsEmpty());
    q.high_channel.ack(1);
    q.high_channel.close();
    EXPECT_THAT(q.low_channel.take_bodies(), ElementsAre("3")) << "then it is active again";
}

TEST(SingleActiveConsumer, OfAQuorumQueueYieldsImmediatelyIfItHasNothing) {  // amqp091 11.7
    QuorumWithActive q;
    q.low_channel.ack(1);
    q.low_channel.ack(2);
    q.low_channel.ack(3);
    q.low_channel.take_deliveries();
    consume_with_priority(q.high_channel, 10);
    publish_numbers(q.low_channel, "q", 1);
    EXPECT_THAT(q.high_channel.take_bodies(), ElementsAre("1"));
}

TEST(SingleActiveConsumer, OfAQuorumQueueStaysIfTheOtherLeavesBeforeItsTurn) {  // amqp091 11.7
    QuorumWithActive q;
    const auto high = consume_with_priority(q.high_channel, 10);
    q.high_channel.cancel(high);
    q.low_channel.ack(1);
    EXPECT_THAT(q.low_channel.take_bodies(), ElementsAre("2"));
    consume_with_priority(q.high_channel, 0);
    q.low_channel.ack(2);
    EXPECT_THAT(q.low_channel.take_bodies(), ElementsAre("3")) << "equal is not higher";
}

TEST(SingleActiveConsumer, OfAQuorumQueueYieldsToTheHighestOfThose) {  // amqp091 11.7
    QuorumWithActive q;
    consume_with_priority(q.high_channel, 5);
    auto& highest_channel = q.s.open_channel();
    const auto highest = consume_with_priority(highest_channel, 10);
    q.low_channel.requeue(1);
    EXPECT_THAT(highest_channel.take_bodies(), ElementsAre("1", "2", "3"));
    highest_channel.ack_up_to(3);
    highest_channel.cancel(highest);
    publish_numbers(q.low_channel, "q", 1);
    EXPECT_THAT(q.high_channel.take_bodies(), ElementsAre("1"));
}

// --------------------------------------------------------------------------------- cancel

TEST(Cancel, LeavesWhatIsUnsettledUnsettled) {  // amqp091 11.14
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    publish_numbers(ch, "q", 3);
    ch.qos(2);
    const auto consumer = ch.consume("q");
    ch.cancel(consumer);
    EXPECT_EQ(s.queue("q").unacked_count(), 2U);
    EXPECT_EQ(s.queue("q").ready_count(), 1U);
    ch.ack(1);
    ch.requeue(2);
    EXPECT_THAT(s.ready("q"), ElementsAre("2", "3"));
    EXPECT_THAT(ch.take_deliveries(), SizeIs(2));  // none after the cancel
}

TEST(Cancel, OfAnUnknownConsumerSucceeds) {  // amqp091 11.14
    Scenario s;
    auto& ch = s.open_channel();
    ch.cancel(99);
    EXPECT_TRUE(ch.is_open());
}

TEST(Cancel, TheSharedCreditOfACancelledConsumerComesBack) {  // amqp091 11.1, 11.14
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.qos(1, true);
    const auto first = ch.consume("q");
    publish_numbers(ch, "q", 2);
    ch.cancel(first);
    const auto second = ch.consume("q");
    EXPECT_THAT(per_consumer(ch.take_deliveries()), (std::map<std::uint32_t, int>{{first, 1}}));
    ch.ack(1);
    EXPECT_EQ(ch.take_delivery().consumer, second);
}

}  // namespace
}  // namespace revenant::engine
