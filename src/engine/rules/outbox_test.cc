#include "engine/rules/outbox.h"

#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A quorum queue q with at-least-once dead-lettering to the exchange dlx, which does not exist yet.
struct Guarded {
    Guarded() : ch(s.open_channel()) { declare("q"); }
    void declare(const char* name, std::initializer_list<Argument> more = {}) {
        Table table = arguments({{"x-queue-type", "quorum"},
                                 {"x-dead-letter-exchange", "dlx"},
                                 {"x-dead-letter-strategy", "at-least-once"},
                                 {"x-overflow", "reject-publish"}});
        for (const Argument& argument : more) table.push_back(argument.field);
        ch.declare_queue(name, {.durable = true, .arguments = table});
    }
    void kill(const char* body, const PublishOptions& options = {}) {
        ch.publish("q", body, options);
        ch.nack(ch.get("q")->tag);
    }
    std::uint64_t waiting() { return s.queue("q").outbox().count; }

    Scenario s;
    ScenarioChannel& ch;
};

TEST(AtLeastOnce, ALetterWithoutAnExchangeWaits) {  // DL-173, DL-177, DL-213
    Guarded g;
    g.kill("a");
    EXPECT_EQ(g.waiting(), 1U);
    EXPECT_EQ(g.s.queue("q").ready_count(), 0U);
    EXPECT_EQ(g.s.queue("q").message_count(), 1U);
    EXPECT_THAT(g.s.notices(), ElementsAre(HasSubstr("dlx_missing")));
    g.ch.declare_exchange("dlx", "fanout");
    EXPECT_EQ(g.waiting(), 1U);
    g.ch.declare_queue("dead");
    g.ch.bind("dlx", "dead");  // now there is a route
    EXPECT_EQ(g.waiting(), 0U);
    EXPECT_THAT(g.ch.get("dead")->deaths(), ElementsAre("q rejected 1"));
    EXPECT_EQ(g.s.notices().size(), 2U);
    EXPECT_EQ(g.s.engine().state().traffic().dead_letters_confirmed, 1U);
}

TEST(AtLeastOnce, ALetterThatLeavesLetsPublishesResume) {  // DL-136, DL-140
    Guarded g;
    g.declare("full", {{"x-max-length", 1}});
    g.ch.publish("full", "held");
    const std::uint64_t held = g.ch.get("full")->tag;
    g.ch.publish("full", "letter");
    g.ch.nack(g.ch.get("full")->tag);
    g.ch.publish("full", "one too many");
    g.ch.ack(g.ch.get("full")->tag);
    g.ch.declare_exchange("dlx", "fanout");
    g.ch.declare_queue("dead");
    g.ch.bind("dlx", "dead");  // now the queue is empty
    g.ch.requeue(held);
    g.ch.publish("full", "next", {.confirm = true});
    EXPECT_TRUE(g.ch.take_confirms().front().accepted);
}

TEST(AtLeastOnce, IsDirectWhenTheTargetIsThere) {  // DL-176
    Guarded g;
    g.ch.declare_exchange("dlx", "fanout");
    for (const char* name : {"one", "two"}) {
        g.ch.declare_queue(name);
        g.ch.bind("dlx", name);
    }
    g.kill("a");
    EXPECT_EQ(g.waiting(), 0U);
    EXPECT_THAT(g.s.ready("one"), ElementsAre("a"));
    EXPECT_THAT(g.s.ready("two"), ElementsAre("a"));
}

TEST(AtLeastOnce, AFullTargetGetsItWhenItHasRoom) {  // DL-179, DL-176
    Guarded g;
    g.ch.declare_exchange("dlx", "fanout");
    g.ch.declare_queue("full", {{"x-max-length", 1}, {"x-overflow", "reject-publish"}});
    g.ch.declare_queue("open");
    g.ch.bind("dlx", "full");
    g.ch.bind("dlx", "open");
    for (const char* body : {"a", "b", "c"}) g.kill(body);
    EXPECT_THAT(g.s.ready("open"), ElementsAre("a", "b", "c"));
    EXPECT_EQ(g.waiting(), 2U);
    g.ch.ack(g.ch.get("full")->tag);
    EXPECT_THAT(g.s.ready("full"), ElementsAre("b"));
    g.ch.consume("full", {.no_ack = true});
    EXPECT_THAT(g.ch.take_bodies(), ElementsAre("b", "c"));
    EXPECT_EQ(g.waiting(), 0U);
    EXPECT_THAT(g.s.ready("open"), ElementsAre("a", "b", "c")) << "each once";
}

TEST(AtLeastOnce, OneTooLargeDoesNotHoldUpSmallerOnes) {  // DL-177, intentionally different
    Guarded g;
    g.ch.declare_exchange("dlx", "fanout");
    g.ch.declare_queue("small", {{"x-max-length-bytes", 5}, {"x-overflow", "reject-publish"}});
    g.ch.bind("dlx", "small");
    for (const char* body : {"first", "too large", "later"}) g.kill(body);
    EXPECT_EQ(g.waiting(), 2U);
    g.ch.ack(g.ch.get("small")->tag);
    EXPECT_THAT(g.s.ready("small"), ElementsAre("later"));
    EXPECT_EQ(g.waiting(), 1U);
}

TEST(AtLeastOnce, AQuorumTargetRefusesAsWell) {  // DL-168, DL-179
    Guarded g;
    g.ch.declare_exchange("dlx", "fanout");
    g.ch.declare_queue("full", {.durable = true,
                                .arguments = arguments({{"x-queue-type", "quorum"},
                                                        {"x-max-length", 1},
                                                        {"x-overflow", "reject-publish"}})});
    g.ch.bind("dlx", "full");
    for (const char* body : {"a", "b", "c"}) g.kill(body);
    EXPECT_EQ(g.waiting(), 1U);
    g.ch.declare_queue(
        "plain",
        {.durable = true,
         .arguments = arguments({{"x-queue-type", "quorum"}, {"x-dead-letter-exchange", "dlx"}})});
    g.ch.publish("plain", "d");
    g.ch.nack(g.ch.get("plain")->tag);
    EXPECT_THAT(g.s.ready("full"), ElementsAre("a", "b", "d")) << "at most once is not refused";
}

TEST(AtLeastOnce, ADeletedTargetIsNotWaitedFor) {  // DL-181, DL-182
    Guarded g;
    g.ch.declare_exchange("dlx", "fanout");
    g.ch.declare_queue("full", {{"x-max-length", 0}, {"x-overflow", "reject-publish"}});
    g.ch.declare_queue("open");
    g.ch.bind("dlx", "full");
    g.ch.bind("dlx", "open");
    g.kill("a");
    EXPECT_EQ(g.waiting(), 1U);
    g.ch.delete_queue("full");
    EXPECT_EQ(g.waiting(), 0U) << "all remaining targets have it";
    EXPECT_THAT(g.s.ready("open"), ElementsAre("a"));
    g.ch.delete_queue("open");
    g.kill("b");
    EXPECT_EQ(g.waiting(), 1U);
    g.ch.declare_queue("open");
    g.ch.bind("dlx", "open");
    EXPECT_THAT(g.s.ready("open"), ElementsAre("b"));
}

TEST(AtLeastOnce, ACycleIsKeptUntilItIsRepaired) {  // DL-116, DL-186
    Guarded g;
    g.ch.declare_exchange("dlx", "fanout");
    g.ch.bind("dlx", "q");
    g.ch.publish("q", "a", {.ttl_ms = 5});
    g.s.advance(milliseconds(5));
    EXPECT_EQ(g.waiting(), 1U);
    g.ch.declare_queue("dead");
    g.ch.bind("dlx", "dead");
    EXPECT_EQ(g.waiting(), 0U);
    EXPECT_THAT(g.ch.get("dead")->deaths(), ElementsAre("q expired 1"));
}

TEST(AtLeastOnce, TheRoutingInForceAtTheRetryIsUsed) {  // DL-183, DL-184, DL-185
    Guarded g;
    g.ch.declare_exchange("dlx", "direct");
    g.ch.declare_queue("dead");
    g.ch.set_policy({"p", "^q$", ApplyTo::all, 0, arguments({{"dead-letter-routing-key", "x"}})});
    g.kill("a", {.cc = {"other"}});
    EXPECT_EQ(g.waiting(), 1U);
    g.ch.bind("dlx", "dead", "other");
    EXPECT_EQ(g.waiting(), 1U);
    g.ch.clear_policy("p");  // now the message's own keys are used, including CC
    EXPECT_THAT(g.s.ready("dead"), ElementsAre("a"));
}

TEST(AtLeastOnce, ChangingTheStrategyDeletesNothing) {  // DL-188, intentionally different
    Guarded g;
    g.kill("a");
    g.ch.set_policy({"p", "^q$", ApplyTo::all, 0, arguments({{"overflow", "drop-head"}})});
    EXPECT_FALSE(g.s.queue("q").settings.at_least_once);
    EXPECT_EQ(g.waiting(), 1U);
    g.kill("b");
    EXPECT_EQ(g.s.ended(Ending::dlx_missing), 1U);
    g.ch.declare_exchange("dlx", "fanout");
    g.ch.declare_queue("dead");
    g.ch.bind("dlx", "dead");
    EXPECT_THAT(g.s.ready("dead"), ElementsAre("a"));
}

TEST(AtLeastOnce, TheUndeliverableDoNotBlockTheOthers) {  // DL-177, intentionally different
    Guarded g;
    g.ch.declare_exchange("dlx", "direct");
    g.ch.declare_queue("dead");
    g.ch.bind("dlx", "dead", "good");
    g.ch.declare_exchange("in", "fanout");
    g.ch.bind("in", "q");
    for (int i = 0; i < 100; ++i) {
        g.ch.publish(i % 2 == 0 ? "bad" : "good", std::to_string(i), {.exchange = "in"});
        g.ch.nack(g.ch.get("q")->tag);
    }
    EXPECT_EQ(g.s.queue("dead").ready_count(), 50U);
    EXPECT_EQ(g.waiting(), 50U);
}

TEST(AtLeastOnce, WhatWaitsCountsForLimitsAndIsPurged) {  // DL-136, DL-15
    Guarded g;
    g.declare("small", {{"x-max-length", 1}});
    for (const char* body : {"a", "b"}) {
        g.ch.publish("small", body);
        g.ch.nack(g.ch.get("small")->tag);
    }
    g.ch.publish("small", "c", {.confirm = true});
    EXPECT_FALSE(g.ch.take_confirms().at(0).accepted);
    EXPECT_EQ(g.ch.purge("small"), 2U);
    g.ch.publish("small", "d", {.confirm = true});
    EXPECT_TRUE(g.ch.take_confirms().at(0).accepted);
    EXPECT_EQ(g.s.ended(Ending::purged), 2U);
}

TEST(AtLeastOnce, AnOutboxOfThousandsIsSentInPortions) {
    Guarded g;
    for (int i = 0; i < 2500; ++i) g.kill(std::to_string(i).c_str());
    EXPECT_EQ(g.s.notices().size(), 1U);
    g.ch.declare_exchange("dlx", "fanout");
    g.ch.declare_queue("dead");
    g.ch.bind("dlx", "dead");
    g.s.advance({0});
    EXPECT_EQ(g.waiting(), 0U);
    const auto bodies = g.s.ready("dead");
    ASSERT_EQ(bodies.size(), 2500U);
    for (int i = 0; i < 2500; ++i) ASSERT_EQ(bodies[i], std::to_string(i));
}

TEST(AtLeastOnce, AWaitingConsumerMakesRoomBeforeALetterIsRefused) {  // DL-140; seed 81412
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("q", {{"x-queue-type", "quorum"},
                           {"x-max-length", 2},
                           {"x-overflow", "reject-publish"},
                           {"x-dead-letter-exchange", ""},
                           {"x-dead-letter-routing-key", "q"},
                           {"x-dead-letter-strategy", "at-least-once"}});
    for (const char* body : {"a", "b", "c"}) ch.publish("q", body);
    ch.qos(1);
    ch.consume("q");
    ch.reject(ch.take_delivery().tag);
    EXPECT_EQ(ch.take_delivery().body(), "b");
    EXPECT_THAT(s.ready("q"), ::testing::ElementsAre("c", "a"));
    EXPECT_EQ(s.queue("q").outbox().count, 0U);
}

TEST(AtLeastOnce, ALetterWhoseOtherTargetsAreGoneWithTheirExchangeLeaves) {  // DL-181; seed 78824
    Guarded g;
    g.ch.declare_exchange("dlx", "fanout", {.durable = true});
    g.ch.declare_queue("open");
    g.ch.declare_queue("full", {{"x-max-length", 1}, {"x-overflow", "reject-publish"}});
    g.ch.bind("dlx", "open");
    g.ch.bind("dlx", "full");
    g.ch.publish("full", "in the way");
    g.kill("a");
    EXPECT_EQ(g.s.queue("q").outbox().count, 1U);
    g.ch.delete_exchange("dlx");
    EXPECT_EQ(g.s.queue("q").outbox().count, 0U);
    EXPECT_THAT(g.s.ready("open"), ::testing::ElementsAre("a"));
}

TEST(AtLeastOnce, TheTimeOfDeathIsKept) {  // DL-175
    Guarded g;
    g.kill("a");
    const Timestamp died = g.s.now();
    g.s.advance(seconds(5));
    g.ch.declare_exchange("dlx", "fanout");
    g.ch.declare_queue("dead");
    g.ch.bind("dlx", "dead");
    const Delivery got = *g.ch.get("dead");
    EXPECT_EQ(got.envelope->history.deaths.at(0).first_time, died);
    EXPECT_EQ(got.envelope->history.deaths.at(0).count, 1U);
}

}  // namespace
}  // namespace revenant::engine
