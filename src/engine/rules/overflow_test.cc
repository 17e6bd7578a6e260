#include "engine/rules/overflow.h"

#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A queue "q" with these arguments that dead-letters to "dead".
struct Limited {
    Limited(std::initializer_list<Argument> limits) {
        Table table = arguments(limits);
        table.push_back({"x-dead-letter-exchange", Value::string("")});
        table.push_back({"x-dead-letter-routing-key", Value::string("dead")});
        ch.declare_queue("dead");
        ch.declare_queue("q", {.arguments = table});
        ch.take_transcript();
    }
    void publish(std::initializer_list<const char*> bodies, const PublishOptions& options = {}) {
        for (const char* body : bodies) ch.publish("q", body, options);
    }
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
};

TEST(DropHead, IsTheDefaultAndTakesTheOldest) {  // amqp091 8.18; DL-7, DL-137, DL-146
    Limited l{{"x-max-length", 2}};
    l.publish({"a", "b", "c", "d"}, {.confirm = true});
    EXPECT_THAT(l.s.ready("q"), ElementsAre("c", "d"));
    EXPECT_THAT(l.s.ready("dead"), ElementsAre("a", "b"));
    EXPECT_THAT(l.ch.take_transcript(), ElementsAre("ack 1", "ack 2", "ack 3", "ack 4"));
    EXPECT_THAT(l.ch.get("dead")->deaths(), ElementsAre("q maxlen 1"));
}

TEST(DropHead, BytesAreTheBytesOfTheBodies) {  // amqp091 8.18; DL-136, DL-143
    Limited l{{"x-max-length-bytes", 5}};
    l.publish({"aa", "bbb"}, {.headers = arguments({{"a header", "that does not count"}})});
    EXPECT_THAT(l.s.ready("q"), ElementsAre("aa", "bbb"));
    l.publish({"c"});
    EXPECT_THAT(l.s.ready("q"), ElementsAre("bbb", "c"));
    l.publish({"dddd"});
    EXPECT_THAT(l.s.ready("q"), ElementsAre("c", "dddd"));
}

TEST(DropHead, AMessageLargerThanTheLimitDropsEverythingItselfLast) {  // DL-137
    Limited l{{"x-max-length-bytes", 3}};
    l.publish({"a", "b", "toolarge"});
    EXPECT_THAT(l.s.ready("q"), IsEmpty());
    EXPECT_THAT(l.s.ready("dead"), ElementsAre("a", "b", "toolarge"));
}

TEST(DropHead, EitherLimitMakesTheQueueFull) {  // DL-136
    Limited l{{"x-max-length", 2}, {"x-max-length-bytes", 3}};
    l.publish({"a", "b", "c"});
    EXPECT_THAT(l.s.ready("q"), ElementsAre("b", "c"));
    l.publish({"ddd"});
    EXPECT_THAT(l.s.ready("q"), ElementsAre("ddd"));
}

TEST(DropHead, WhatIsUnsettledDoesNotCount) {  // DL-21, DL-136
    Limited l{{"x-max-length", 1}};
    l.publish({"a"});
    l.ch.get("q");
    l.publish({"b"});
    EXPECT_THAT(l.s.ready("q"), ElementsAre("b"));
    EXPECT_EQ(l.s.queue("q").unacked_count(), 1U);
    EXPECT_THAT(l.s.ready("dead"), IsEmpty());
}

TEST(DropHead, ARequeueMayDropTheRequeuedMessageItself) {  // DL-142
    Limited l{{"x-max-length", 1}};
    l.publish({"a"});
    l.ch.get("q");
    l.publish({"b"});
    l.ch.requeue(1);
    EXPECT_THAT(l.s.ready("q"), ElementsAre("b"));
    EXPECT_THAT(l.s.ready("dead"), ElementsAre("a"));
}

TEST(DropHead, ALimitOfZeroLetsOnlyWaitingConsumersHaveAnything) {  // DL-136
    Limited l{{"x-max-length", 0}};
    l.publish({"a"});
    EXPECT_THAT(l.s.ready("dead"), ElementsAre("a"));
    l.ch.consume("q");
    l.publish({"b"});
    EXPECT_THAT(l.ch.take_bodies(), ElementsAre("b"));
    EXPECT_THAT(l.s.ready("dead"), ElementsAre("a"));
}

TEST(DropHead, TheHighestPriorityGoesFirst) {  // DL-145
    Limited l{{"x-max-length", 4}, {"x-max-priority", 3}};
    for (const int priority : {1, 2, 3, 1, 2, 3, 1, 2, 3}) {
        l.ch.publish("q", std::to_string(priority),
                     {.priority = static_cast<std::uint8_t>(priority)});
    }
    EXPECT_THAT(l.s.ready("q"), ElementsAre("2", "1", "1", "1"));
}

TEST(DropHead, WithoutADeadLetterExchangeTheLossIsOnRecord) {  // DL-11
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-max-length", 1}});
    for (const char* body : {"a", "b", "c"}) ch.publish("q", body);
    EXPECT_EQ(s.ended(Ending::no_dlx), 2U);
}

TEST(RejectPublish, NacksAndDropsWithoutADeath) {  // amqp091 8.18; DL-18, DL-138
    Limited l{{"x-max-length", 2}, {"x-overflow", "reject-publish"}};
    l.publish({"a", "b", "c"}, {.confirm = true});
    EXPECT_THAT(l.ch.take_transcript(), ElementsAre("ack 1", "ack 2", "nack 3"));
    EXPECT_THAT(l.s.ready("q"), ElementsAre("a", "b"));
    EXPECT_THAT(l.s.ready("dead"), IsEmpty());
    EXPECT_EQ(l.s.engine().state().accounts().ended_total(), 0U);
    l.publish({"d"});  // no effect without confirms
    EXPECT_THAT(l.ch.take_transcript(), IsEmpty());
    EXPECT_EQ(l.s.engine().state().traffic().refused_by_queue, 2U);
}

TEST(RejectPublish, BytesThatWouldExceedTheLimitAreRefused) {  // DL-138
    Limited l{{"x-max-length-bytes", 5}, {"x-overflow", "reject-publish"}};
    l.publish({"aaa", "bbb", "cc", ""});
    EXPECT_THAT(l.s.ready("q"), ElementsAre("aaa", "cc", ""));
}

TEST(RejectPublish, TakesAgainWhenThereIsRoom) {  // DL-138
    Limited l{{"x-max-length", 1}, {"x-overflow", "reject-publish"}};
    l.publish({"a", "b"});
    l.ch.ack(l.ch.get("q")->tag);
    l.publish({"c"});
    EXPECT_THAT(l.s.ready("q"), ElementsAre("c"));
}

TEST(RejectPublish, ALimitOfZeroRefusesThoughAConsumerWaits) {  // DL-141
    Limited l{{"x-max-length", 0}, {"x-overflow", "reject-publish"}};
    l.ch.consume("q");
    l.publish({"a"}, {.confirm = true});
    EXPECT_THAT(l.ch.take_transcript(), ElementsAre("done", "nack 1"));
}

TEST(RejectPublish, ARequeueIsNeverRefused) {  // DL-142
    Limited l{{"x-max-length", 1}, {"x-overflow", "reject-publish"}};
    l.publish({"a"});
    l.ch.get("q");
    l.publish({"b"});
    l.ch.requeue(1);
    EXPECT_THAT(l.s.ready("q"), ElementsAre("a", "b"));
    EXPECT_THAT(l.s.ready("dead"), IsEmpty());
}

TEST(RejectPublish, PrioritiesDoNotHelp) {  // DL-145
    Limited l{{"x-max-length", 4}, {"x-max-priority", 3}, {"x-overflow", "reject-publish"}};
    for (const int priority : {1, 2, 3, 1, 2, 3, 1, 2, 3}) {
        l.ch.publish("q", std::to_string(priority),
                     {.priority = static_cast<std::uint8_t>(priority)});
    }
    EXPECT_THAT(l.s.ready("q"), ElementsAre("3", "2", "1", "1"));
}

TEST(RejectPublishDlx, NacksAndSendsOnWhatItRefuses) {  // DL-7, DL-8, DL-139
    Limited l{{"x-max-length", 1}, {"x-overflow", "reject-publish-dlx"}};
    l.publish({"a", "b", "c"}, {.confirm = true});
    EXPECT_THAT(l.ch.take_transcript(), ElementsAre("ack 1", "nack 2", "nack 3"));
    EXPECT_THAT(l.s.ready("q"), ElementsAre("a"));
    EXPECT_THAT(l.s.ready("dead"), ElementsAre("b", "c"));
    const auto dead = l.ch.get("dead");
    EXPECT_THAT(dead->deaths(), ElementsAre("q maxlen 1"));
    EXPECT_EQ(dead->envelope->history.first.queue, "q");  // although it was never in that queue
}

TEST(RejectPublishDlx, RequeuesStayEvenAboveTheLimit) {  // DL-142
    Limited l{{"x-max-length", 1}, {"x-overflow", "reject-publish-dlx"}};
    l.publish({"a"});
    l.ch.get("q");
    l.publish({"b"});
    l.ch.requeue(1);
    EXPECT_THAT(l.s.ready("q"), ElementsAre("a", "b"));
    l.publish({"c"});
    EXPECT_THAT(l.s.ready("dead"), ElementsAre("c"));
}

TEST(RejectPublishDlx, WhereNobodyTakesItTheRefusedMessageIsGone) {  // DL-11, DL-48, DL-55
    Scenario s;
    auto& ch = s.open_channel();
    const auto limits = [](std::initializer_list<Argument> more) {
        Table table = arguments({{"x-max-length", 0}, {"x-overflow", "reject-publish-dlx"}});
        for (const Argument& argument : more) table.push_back(argument.field);
        return QueueOptions{.arguments = table};
    };
    ch.declare_queue("without", limits({}));
    ch.declare_queue("missing", limits({{"x-dead-letter-exchange", "nowhere"}}));
    ch.declare_queue("unbound", limits({{"x-dead-letter-exchange", "amq.fanout"}}));
    ch.declare_queue("itself", limits({{"x-dead-letter-exchange", ""}}));
    for (const char* queue : {"without", "missing", "unbound", "itself"}) {
        ch.publish(queue, "a", {.confirm = true});
    }
    for (const Confirm& confirm : ch.take_confirms()) EXPECT_FALSE(confirm.accepted);
    EXPECT_EQ(s.engine().state().accounts().entered, 0U);
}

}  // namespace
}  // namespace revenant::engine
