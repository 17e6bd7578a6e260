// Dead-letter cycles, and cascades through full queues.
#include "base/probe.h"
#include "tests/support/dead_letter_scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ------------------------------------------------------------------------------ cycles

TEST(Cycles, AQueueThatExpiresToItselfDropsTheMessage) {  // DL-113, DL-115, DL-118
    Cemetery c;
    c.declare("q", dead_through("", {{"x-message-ttl", 100}}));
    c.ch.publish("q", "m");
    c.s.advance(milliseconds(100));
    EXPECT_THAT(c.s.ready("q"), IsEmpty());
    EXPECT_EQ(c.s.ended(Ending::cycle), 1U);
}

TEST(Cycles, AQueueThatOverflowsToItselfDropsTheMessage) {  // DL-113
    Cemetery c;
    c.declare("q", dead_through("", {{"x-max-length", 1}}));
    for (const char* body : {"a", "b"}) c.ch.publish("q", body);
    EXPECT_THAT(c.s.ready("q"), ElementsAre("b"));
    EXPECT_EQ(c.s.ended(Ending::cycle), 1U);
}

TEST(Cycles, AQueueThatRejectsToItselfGoesOnForEver) {  // DL-111, DL-113
    Cemetery c;
    c.declare("q", dead_through(""));
    c.ch.publish("q", "m");
    for (int i = 0; i < 5; ++i) c.reject_head("q");
    EXPECT_THAT(c.take("q").deaths(), ElementsAre("q rejected 5"));
}

TEST(Cycles, ACycleIsLoggedOnce) {  // DL-120
    Cemetery c;
    c.declare("q", dead_through("", {{"x-message-ttl", 100}}));
    for (const char* body : {"a", "b"}) {
        c.ch.publish("q", body);
        c.s.advance(milliseconds(100));
    }
    EXPECT_EQ(c.s.ended(Ending::cycle), 2U);
    EXPECT_THAT(c.s.notices(), ElementsAre(HasSubstr("without a rejection")));
}

TEST(Cycles, OnlyTheCyclicTargetsAreLeftOut) {  // DL-115
    Cemetery c;
    c.declare("dead");
    c.declare("q", dead_through("amq.fanout", {{"x-message-ttl", 100}}));
    c.ch.bind("amq.fanout", "q");
    c.ch.bind("amq.fanout", "dead");
    c.ch.publish("q", "m");
    c.s.advance(milliseconds(100));
    EXPECT_THAT(c.s.ready("dead"), ElementsAre("m"));
    EXPECT_THAT(c.s.ready("q"), IsEmpty());
    EXPECT_EQ(c.s.ended(Ending::dead_lettered), 1U);
}

TEST(Cycles, ACircleOfExpiriesEndsAfterOneRound) {  // DL-112
    Cemetery c;
    c.declare("a", dead_to("b", {{"x-message-ttl", 100}}));
    c.declare("b", dead_to("c", {{"x-message-ttl", 100}}));
    c.declare("c", dead_to("a", {{"x-message-ttl", 100}}));
    c.ch.publish("a", "m");
    c.s.advance(seconds(10));
    EXPECT_EQ(c.s.ended(Ending::dead_lettered), 2U);
    EXPECT_EQ(c.s.ended(Ending::cycle), 1U);
    EXPECT_EQ(c.s.engine().next_deadline(), never);
}

TEST(Cycles, ACircleWithARejectionInItGoesOnForEver) {  // DL-117
    Cemetery c;
    c.declare("q1", dead_to("q2"));
    c.declare("q2", dead_to("q3", {{"x-message-ttl", 100}}));
    c.declare("q3", dead_to("q1", {{"x-message-ttl", 100}}));
    c.ch.publish("q1", "m");
    for (int round = 0; round < 4; ++round) {
        c.reject_head("q1");
        c.s.advance(milliseconds(200));
    }
    EXPECT_THAT(c.take("q1").deaths(),
                ElementsAre("q3 expired 4", "q2 expired 4", "q1 rejected 4"));
}

TEST(Cycles, AnOldRejectionElsewhereDoesNotBreakThem) {  // DL-114
    Cemetery c;
    c.declare("q1", dead_to("q2"));
    c.declare("q2", dead_to("q3", {{"x-message-ttl", 100}}));
    c.declare("q3", dead_to("q2", {{"x-message-ttl", 100}}));
    c.ch.publish("q1", "m");
    c.reject_head("q1");
    c.s.advance(seconds(10));
    EXPECT_EQ(c.s.ended(Ending::cycle), 1U);
}

// ---------------------------------------------------------------------------- cascades

// Each queue is full and dead-letters to the next one.
void declare_ring(ScenarioChannel& ch, int queues, const char* overflow) {
    for (int i = 0; i < queues; ++i) {
        ch.declare_queue("r" + std::to_string(i),
                         {{"x-max-length", 0},
                          {"x-overflow", overflow},
                          {"x-dead-letter-exchange", ""},
                          {"x-dead-letter-routing-key", "r" + std::to_string((i + 1) % queues)}});
    }
}

TEST(Cascades, ALongOneGoesOnInTheNextTurn) {
    Scenario s({.portion = {.steps = 30}});
    ScenarioChannel& ch = s.open_channel();
    declare_ring(ch, 25, "drop-head");
    ch.publish("r0", "a");
    EXPECT_GE(s.ended(Ending::dead_lettered), 5U);
    EXPECT_LT(s.ended(Ending::dead_lettered), 15U);
    EXPECT_EQ(s.ended(Ending::cycle), 0U);
    EXPECT_LE(s.engine().next_deadline(), s.now());
    s.advance({0});
    EXPECT_EQ(s.ended(Ending::dead_lettered), 24U);
    EXPECT_EQ(s.ended(Ending::cycle), 1U);
    EXPECT_THAT(Probe::reached(), ::testing::Contains("worklist.left"));
}

TEST(Cascades, AMessageThatEverybodyRefusesIsGivenUp) {
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    declare_ring(ch, 1100, "reject-publish-dlx");
    ch.publish("r0", "a", {.confirm = true});
    EXPECT_FALSE(ch.take_confirms().at(0).accepted);
    EXPECT_EQ(s.engine().state().traffic().refusal_chains_dropped, 1U);
    EXPECT_THAT(Probe::reached(), ::testing::Contains("dead_letter.refusals_cut"));
}

TEST(Cascades, FullQueuesInACircleEndWithTheCycleRule) {
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    declare_ring(ch, 3, "reject-publish-dlx");
    ch.publish("r0", "a");
    EXPECT_EQ(s.engine().state().traffic().refusal_chains_dropped, 0U);
    EXPECT_EQ(s.notices().size(), 1U) << "one warning per cycle";
    ch.publish("r0", "b");
    EXPECT_EQ(s.notices().size(), 1U);
}

}  // namespace
}  // namespace revenant::engine
