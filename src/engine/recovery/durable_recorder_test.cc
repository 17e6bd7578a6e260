// Every scenario is replayed at its end from the records of DurableRecorder. These are the cases in
// which the durable state differs from the live one.
#include "engine/recovery/durable_recorder.h"

#include "base/probe.h"
#include "engine/view/describe.h"
#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::engine {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

struct Mixed {
    // The state that a restart would restore.
    std::string durable() { return describe(s.engine().state(), DescribeScope::durable); }
    void declare(const char* name, bool durable, const char* dead_to = nullptr) {
        Table given;
        if (dead_to != nullptr) {
            given =
                arguments({{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", dead_to}});
        }
        ch.declare_queue(name, {.durable = durable, .arguments = given});
    }
    void reject_head(const char* queue) { ch.nack(ch.get(queue)->tag); }

    Scenario s;
    ScenarioChannel& ch = s.open_channel();
};

TEST(DurableRecorder, ATransientMessageInADurableQueueIsForgotten) {
    Mixed m;
    m.declare("q", true);
    m.ch.publish("q", "passing", {.persistent = false});
    m.ch.publish("q", "kept");
    EXPECT_THAT(m.durable(), HasSubstr("kept"));
    EXPECT_THAT(m.durable(), Not(HasSubstr("passing")));
}

TEST(DurableRecorder, AQuorumQueueKeepsTransientMessagesToo) {
    Mixed m;
    m.ch.declare_queue("q", {.arguments = arguments({{"x-queue-type", "quorum"}})});
    m.ch.publish("q", "transient", {.persistent = false});
    EXPECT_THAT(m.durable(), HasSubstr("transient"));
}

TEST(DurableRecorder, ALetterFromAPassingQueueIsWrittenWhenItArrives) {
    Mixed m;
    m.declare("dead", true);
    m.declare("q", false, "dead");
    m.ch.publish("q", "letter");
    EXPECT_THAT(m.durable(), Not(HasSubstr("letter")));
    m.reject_head("q");
    EXPECT_THAT(m.durable(), HasSubstr("letter"));
    EXPECT_THAT(m.durable(), HasSubstr("died q rejected 1"));
    m.s.finish();
    EXPECT_THAT(Probe::reached(), Contains("durable_facts.letter_from_a_passing_queue"));
}

TEST(DurableRecorder, ALetterIntoAPassingQueueIsGoneAfterARestart) {
    Mixed m;
    m.declare("dead", false);
    m.declare("q", true, "dead");
    m.ch.publish("q", "body");
    m.reject_head("q");
    EXPECT_THAT(m.s.ready("dead"), ::testing::ElementsAre("body"));
    EXPECT_THAT(m.durable(), Not(HasSubstr("body")));
    m.s.finish();
    EXPECT_THAT(Probe::reached(), Contains("durable_facts.letter_into_a_passing_queue"));
}

TEST(DurableRecorder, OfSeveralTargetsThoseThatSurviveKeepTheLetter) {
    Mixed m;
    m.ch.declare_queue("q", {.arguments = arguments({{"x-dead-letter-exchange", "amq.fanout"}})});
    m.declare("kept", true);
    m.declare("passing", false);
    m.ch.bind("amq.fanout", "kept");
    m.ch.bind("amq.fanout", "passing");
    m.ch.publish("q", "letter");
    m.reject_head("q");
    EXPECT_THAT(m.s.ready("passing"), ::testing::ElementsAre("letter"));
    EXPECT_THAT(m.durable(), HasSubstr("letter"));
    EXPECT_THAT(m.durable(), Not(HasSubstr("queue passing")));
}

TEST(DurableRecorder, AMessageInAPassingAndADurableQueueIsWrittenOnce) {
    Mixed m;
    m.declare("a", true);
    m.declare("b", true);
    m.declare("passing", false, "b");
    for (const char* queue : {"a", "b", "passing"}) m.ch.bind("amq.fanout", queue);
    const std::string body(1000, 'x');
    const std::uint64_t before = m.s.journal_bytes();
    m.ch.publish("key", body, {.exchange = "amq.fanout"});
    m.reject_head("passing");  // it refers to the bytes already written
    EXPECT_LT(m.s.journal_bytes() - before, 2 * body.size());
    m.ch.ack(m.ch.get("a")->tag);
    EXPECT_EQ(m.ch.get("b")->body(), body);
}

TEST(DurableRecorder, AnExclusiveQueueEndsWithItsConnectionAndIsNotKept) {
    Mixed m;
    m.ch.declare_queue("own", {.durable = true, .exclusive = true});
    m.ch.publish("own", "mine");
    EXPECT_THAT(m.durable(), Not(HasSubstr("own")));
}

TEST(DurableRecorder, ABindingSurvivesIfBothOfItsEndsDo) {
    Mixed m;
    m.ch.declare_exchange("kept", "fanout", {.durable = true});
    m.ch.declare_exchange("passing", "fanout");
    m.declare("q", true);
    m.ch.bind("kept", "q", "one");
    m.ch.bind("passing", "q", "two");
    m.ch.unbind("passing", "q", "two");
    m.ch.bind("passing", "q", "three");
    EXPECT_THAT(m.durable(), HasSubstr("key one"));
    EXPECT_THAT(m.durable(), Not(HasSubstr("key three")));
    m.ch.delete_exchange("passing");
    m.ch.delete_queue("q");
}

TEST(DurableRecorder, WhatExpiredStaysGoneAfterARestartAndTheRestIsThere) {  // DL-128
    Mixed m;
    m.ch.declare_queue("q");
    for (int i = 0; i < 5; ++i) m.ch.publish("q", "old", {.ttl_ms = 100});
    for (int i = 0; i < 5; ++i) m.ch.publish("q", "new", {.ttl_ms = 1000});
    m.s.advance(milliseconds(500));
    EXPECT_THAT(m.durable(), Not(HasSubstr("old")));
    EXPECT_THAT(m.durable(), HasSubstr("new"));
    m.s.finish();  // the same from the journal and from a snapshot
}

TEST(DurableRecorder, APurgeSparesWhatIsUnsettled) {
    Mixed m;
    m.declare("q", true);
    for (const char* body : {"first", "second", "third"}) m.ch.publish("q", body);
    m.ch.get("q");
    EXPECT_EQ(m.ch.purge("q"), 2U);
    EXPECT_THAT(m.durable(), HasSubstr("first"));
    EXPECT_THAT(m.durable(), Not(HasSubstr("second")));
}

}  // namespace
}  // namespace revenant::engine
