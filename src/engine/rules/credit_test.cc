#include "tests/support/scenario.h"

#include <gtest/gtest.h>

namespace revenant::engine {
namespace {

using Bodies = std::vector<std::string>;
using Lines = std::vector<std::string>;

struct Credited {
    Scenario s;
    ScenarioChannel& publisher = s.open_channel();
    ScenarioChannel& link = s.open_channel(s.connect());
    std::uint32_t consumer = 0;

    explicit Credited(std::initializer_list<Argument> queue = {}) {
        publisher.declare_queue("q", queue);
        consumer = link.consume("q", {.uses_credit = true});
    }
    void publish(std::initializer_list<const char*> bodies) {
        for (const char* body : bodies) publisher.publish("q", body);
    }
};

TEST(Credit, NothingIsDeliveredWithoutIt) {
    Credited c;
    c.publish({"a", "b"});
    EXPECT_EQ(c.link.take_bodies(), Bodies{});
}

TEST(Credit, IsUsedUpByDeliveriesNotBySettlement) {
    Credited c;
    c.publish({"a", "b", "c"});
    c.link.set_credit(c.consumer, 2);
    EXPECT_EQ(c.link.take_bodies(), (Bodies{"a", "b"}));
    c.link.ack(1);
    c.link.ack(2);
    EXPECT_EQ(c.link.take_bodies(), Bodies{});
    c.link.set_credit(c.consumer, 3);
    EXPECT_EQ(c.link.take_bodies(), Bodies{"c"});
}

TEST(Credit, OfTheSameCountGrantsNothingNew) {
    Credited c;
    c.publish({"a", "b"});
    c.link.set_credit(c.consumer, 1);
    c.link.set_credit(c.consumer, 1);
    EXPECT_EQ(c.link.take_bodies(), Bodies{"a"});
}

TEST(Credit, CanBeTakenBack) {
    Credited c;
    c.link.set_credit(c.consumer, 10);
    c.link.set_credit(c.consumer, 0);
    c.publish({"a"});
    EXPECT_EQ(c.link.take_bodies(), Bodies{});
}

TEST(Credit, AlsoBoundsPresettledDeliveries) {
    Credited c;
    ScenarioChannel& settled = c.s.open_channel();
    c.publish({"a", "b"});
    const auto consumer = settled.consume("q", {.no_ack = true, .uses_credit = true});
    settled.set_credit(consumer, 1);
    EXPECT_EQ(settled.take_bodies(), Bodies{"a"});
}

TEST(Credit, OfOneConsumerLeavesTheRestToOthers) {
    Credited c;
    ScenarioChannel& other = c.s.open_channel();
    other.consume("q");
    c.link.set_credit(c.consumer, 1);
    c.publish({"a", "b", "c"});
    EXPECT_EQ(c.link.take_deliveries().size() + other.take_deliveries().size(), 3U);
    c.publish({"d"});
    EXPECT_EQ(other.take_bodies(), Bodies{"d"});
}

TEST(Credit, EchoTellsHowItStands) {
    Credited c;
    c.publish({"a", "b", "c"});
    c.link.set_credit(c.consumer, 2, {.echo = true});
    // The reply is sent before the deliveries that the command causes.
    EXPECT_EQ(c.link.take_credit_states(), Lines{"credit 1 delivered 0 until 2 available 3"});
    c.link.set_credit(c.consumer, 2, {.echo = true});
    EXPECT_EQ(c.link.take_credit_states(), Lines{"credit 1 delivered 2 until 2 available 1"});
}

TEST(Credit, DrainDeliversWhatIsThereAndTakesTheRestBack) {
    Credited c;
    c.publish({"a", "b"});
    c.link.take_transcript();
    c.link.set_credit(c.consumer, 10, {.drain = true});
    EXPECT_EQ(
        c.link.take_transcript(),
        (Lines{"deliver 1 a", "deliver 1 b", "credit 1 delivered 2 until 10 available 0 drained"}));
    c.publish({"c"});
    EXPECT_EQ(c.link.take_bodies(), (Bodies{"a", "b"}));
}

TEST(Credit, DrainWithMoreThanEnoughMessagesUsesAllOfIt) {
    Credited c;
    c.publish({"a", "b", "c"});
    c.link.set_credit(c.consumer, 2, {.drain = true});
    EXPECT_EQ(c.link.take_credit_states(),
              Lines{"credit 1 delivered 2 until 2 available 1 drained"});
}

TEST(Credit, DrainOfAnEmptyQueueIsAnsweredAtOnce) {
    Credited c;
    c.link.set_credit(c.consumer, 10, {.drain = true});
    EXPECT_EQ(c.link.take_credit_states(),
              Lines{"credit 1 delivered 0 until 10 available 0 drained"});
}

TEST(Credit, DrainWaitsForASocketThatIsFull) {
    Credited c;
    c.publish({"a", "b", "c"});
    c.s.take_only(c.link.connection(), 1);
    c.link.set_credit(c.consumer, 5, {.drain = true});
    EXPECT_EQ(c.link.take_bodies(), Bodies{"a"});
    EXPECT_EQ(c.link.take_credit_states(), Lines{});
    c.s.resume(c.link.connection());
    EXPECT_EQ(c.link.take_bodies(), (Bodies{"b", "c"}));
    EXPECT_EQ(c.link.take_credit_states(),
              Lines{"credit 1 delivered 3 until 5 available 0 drained"});
}

TEST(Credit, DrainThatWasWithdrawnIsNotAnswered) {
    Credited c;
    c.publish({"a", "b"});
    c.s.take_only(c.link.connection(), 1);
    c.link.set_credit(c.consumer, 5, {.drain = true});
    c.link.set_credit(c.consumer, 5);
    c.s.resume(c.link.connection());
    EXPECT_EQ(c.link.take_credit_states(), Lines{});
    EXPECT_EQ(c.link.take_bodies(), (Bodies{"a", "b"}));
}

TEST(Credit, OfAConsumerThatWaitsForItsTurnIsDrainedToo) {
    Credited c({{"x-single-active-consumer", true}});
    ScenarioChannel& second = c.s.open_channel();
    const auto waiting = second.consume("q", {.uses_credit = true});
    c.publish({"a"});
    second.set_credit(waiting, 4, {.drain = true});
    EXPECT_EQ(second.take_credit_states(),
              Lines{"credit 1 delivered 0 until 4 available 1 drained"});
}

// amqp10 5.26
TEST(Credit, TheFirstOfAQuorumQueueTellsWhoseTurnItIs) {
    Credited c({{"x-queue-type", "quorum"}});
    c.link.set_credit(c.consumer, 2);
    EXPECT_EQ(c.link.take_credit_states(),
              Lines{"credit 1 delivered 0 until 2 available 0 active"});
    c.link.set_credit(c.consumer, 4, {.echo = true});
    EXPECT_EQ(c.link.take_credit_states(), Lines{"credit 1 delivered 0 until 4 available 0"});
}

TEST(Credit, WhoWaitsIsToldWhenItsTurnComes) {
    Credited c({{"x-queue-type", "quorum"}, {"x-single-active-consumer", true}});
    c.link.set_credit(c.consumer, 2);
    c.link.take_credit_states();
    ScenarioChannel& second = c.s.open_channel();
    ScenarioChannel& third = c.s.open_channel();
    second.set_credit(second.consume("q", {.uses_credit = true}), 4);
    third.consume("q", {.uses_credit = true});
    EXPECT_EQ(second.take_credit_states(),
              Lines{"credit 1 delivered 0 until 4 available 0 waiting"});
    c.link.cancel(c.consumer);
    EXPECT_EQ(second.take_credit_states(),
              Lines{"credit 1 delivered 0 until 4 available 0 active"});
    second.cancel(1);
    EXPECT_EQ(third.take_credit_states(), Lines{});  // it never got credit
    third.set_credit(1, 1, {.drain = true});
    EXPECT_EQ(third.take_credit_states(),
              Lines{"credit 1 delivered 0 until 1 available 0 drained active"});
}

TEST(Credit, ForAConsumerWhoseQueueIsGoneMeansNothing) {
    Credited c;
    c.publisher.delete_queue("q");
    c.link.set_credit(c.consumer, 4, {.drain = true, .echo = true});
    EXPECT_EQ(c.link.take_credit_states(), Lines{});
}

}  // namespace
}  // namespace revenant::engine
