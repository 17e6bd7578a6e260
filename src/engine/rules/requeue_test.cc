#include "engine/rules/requeue.h"

#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A quorum queue q that dead-letters to the classic queue dead.
struct Retrying {
    Retrying(std::initializer_list<Argument> given = {}) : ch(s.open_channel()) {
        ch.declare_queue("dead");
        Table table = arguments({{"x-queue-type", "quorum"},
                                 {"x-dead-letter-exchange", ""},
                                 {"x-dead-letter-routing-key", "dead"}});
        for (const Argument& argument : given) table.push_back(argument.field);
        ch.declare_queue("q", {.durable = true, .arguments = table});
    }
    void publish(std::initializer_list<const char*> bodies) {
        for (const char* body : bodies) ch.publish("q", body);
    }
    Delivery get() { return *ch.get("q"); }

    Scenario s;
    ScenarioChannel& ch;
};

TEST(DeliveryLimit, TheFailureBeyondItKills) {  // DL-147, DL-148
    Retrying r({{"x-delivery-limit", 2}});
    r.publish({"a"});
    r.ch.fail(r.get().tag);
    r.ch.fail(r.get().tag);
    EXPECT_THAT(r.s.ready("q"), ElementsAre("a"));
    r.ch.fail(r.get().tag);
    EXPECT_THAT(r.s.ready("q"), IsEmpty());
    EXPECT_THAT(r.ch.get("dead")->deaths(), ElementsAre("q delivery_limit 1"));
}

TEST(DeliveryLimit, ZeroMeansTheFirst) {  // DL-148
    Retrying r({{"x-delivery-limit", 0}});
    r.publish({"a"});
    r.ch.fail(r.get().tag);
    EXPECT_THAT(r.s.ready("dead"), ElementsAre("a"));
}

TEST(DeliveryLimit, IsTwentyByDefault) {  // DL-148
    Retrying r;
    r.publish({"a"});
    for (int i = 0; i < 20; ++i) r.ch.fail(r.get().tag);
    EXPECT_THAT(r.s.ready("q"), ElementsAre("a"));
    r.ch.fail(r.get().tag);
    EXPECT_THAT(r.s.ready("dead"), ElementsAre("a"));
}

TEST(DeliveryLimit, OnlyFailuresCount) {  // DL-147, DL-150
    Retrying r({{"x-delivery-limit", 0}});
    r.publish({"a"});
    for (int i = 0; i < 5; ++i) r.ch.requeue(r.get().tag);
    r.get();
    r.ch.recover();
    EXPECT_THAT(r.s.ready("q"), ElementsAre("a"));
    r.get();
    r.ch.close();  // a regular close counts, too
    EXPECT_THAT(r.s.ready("dead"), ElementsAre("a"));
}

TEST(DeliveryLimit, InRabbitMq312EveryReturnCounts) {  // section 24
    Retrying r({{"x-delivery-limit", 1}});
    r.s.be_compatible_with(Compatibility::v3_12);
    r.publish({"a"});
    r.ch.requeue(r.get().tag);
    const Delivery second = r.get();
    EXPECT_EQ(second.counts.delivery, 1U);
    EXPECT_EQ(second.counts.acquired, 0U);  // not shown
    r.ch.requeue(second.tag);
    EXPECT_THAT(r.s.ready("dead"), ElementsAre("a"));
}

TEST(DeliveryLimit, ABatchDiesInItsOrder) {  // DL-151, DL-157, DL-158
    Retrying r({{"x-delivery-limit", 0}});
    r.publish({"a", "b", "c"});
    r.ch.consume("q");
    EXPECT_THAT(r.ch.take_bodies(), ElementsAre("a", "b", "c"));
    r.ch.close();
    EXPECT_THAT(r.s.ready("dead"), ElementsAre("a", "b", "c"));
}

TEST(DeliveryLimit, ThePolicyMayChangeItWhileTheQueueRuns) {  // DL-149, DL-159
    Retrying r;
    r.publish({"a"});
    r.ch.fail(r.get().tag);
    r.ch.set_policy({"p", "^q$", ApplyTo::all, 0, arguments({{"delivery-limit", 1}})});
    r.ch.fail(r.get().tag);
    EXPECT_THAT(r.s.ready("dead"), ElementsAre("a"));
}

TEST(DeliveryCounts, AreShownOnceTheyCount) {  // DL-152, DL-154
    Retrying r;
    r.publish({"a"});
    const Delivery first = r.get();
    EXPECT_FALSE(first.counts.any());
    EXPECT_FALSE(first.redelivered);
    r.ch.requeue(first.tag);
    const Delivery second = r.get();
    EXPECT_EQ(second.counts.acquired, 1U);
    EXPECT_EQ(second.counts.delivery, 0U);
    EXPECT_TRUE(second.redelivered);
    r.ch.fail(second.tag);
    const Delivery third = r.get();
    EXPECT_EQ(third.counts.acquired, 2U);
    EXPECT_EQ(third.counts.delivery, 1U);
}

TEST(DeliveryCounts, GoOnInTheNextQueue) {  // DL-155
    Retrying r;
    r.ch.declare_queue("later",
                       {.durable = true, .arguments = arguments({{"x-queue-type", "quorum"}})});
    r.ch.bind("amq.fanout", "later");
    r.ch.declare_queue("p", {.durable = true,
                             .arguments = arguments({{"x-queue-type", "quorum"},
                                                     {"x-dead-letter-exchange", "amq.fanout"}})});
    r.ch.publish("p", "failed");
    r.ch.publish("p", "unwanted");
    r.ch.reject(r.ch.get("p")->tag);
    r.ch.nack(r.ch.get("p")->tag);
    const auto failed = r.ch.get("later");
    EXPECT_EQ(failed->counts.delivery, 1U);
    EXPECT_EQ(failed->counts.acquired, 1U);
    EXPECT_TRUE(failed->redelivered);
    const auto unwanted = r.ch.get("later");
    EXPECT_FALSE(unwanted->counts.any());
    EXPECT_FALSE(unwanted->redelivered);
}

TEST(ReturnedList, IsServedFirstInTheOrderOfTheReturns) {  // DL-156
    Retrying r;
    r.ch.publish("q", "low", {.priority = 1});
    r.ch.publish("q", "a");
    r.ch.publish("q", "b");
    const auto a = r.get();
    const auto b = r.get();
    r.ch.publish("q", "high", {.priority = 9});
    r.ch.requeue(b.tag);
    r.ch.requeue(a.tag);
    EXPECT_THAT(r.s.ready("q"), ElementsAre("b", "a", "high", "low"));
}

TEST(ReturnedList, WithoutALimitTheUnwantedGoesToTheBack) {  // DL-156
    Retrying r({{"x-delivery-limit", -1}});
    r.publish({"a", "b", "c"});
    r.ch.requeue(r.get().tag);
    EXPECT_THAT(r.s.ready("q"), ElementsAre("b", "c", "a"));
    r.ch.fail(r.get().tag);
    EXPECT_THAT(r.s.ready("q"), ElementsAre("b", "c", "a"));
}

TEST(QuorumPriorities, ThereAreThirtyTwo) {  // amqp091 16.2; DL-156
    Retrying r;
    r.ch.publish("q", "0", {.priority = 0});
    r.ch.publish("q", "none");
    r.ch.publish("q", "4", {.priority = 4});
    r.ch.publish("q", "31", {.priority = 31});
    r.ch.publish("q", "200", {.priority = 200});
    r.ch.publish("q", "5", {.priority = 5});
    EXPECT_THAT(r.s.ready("q"), ElementsAre("31", "200", "5", "none", "4", "0"));
}

TEST(DelayedRetry, WaitsLongerWithEveryFailure) {  // DL-160, DL-161, DL-163
    Retrying r({{"x-delayed-retry-type", "failed"},
                {"x-delayed-retry-min", 10},
                {"x-delayed-retry-max", 25}});
    r.publish({"a"});
    r.ch.requeue(r.get().tag);
    EXPECT_THAT(r.s.ready("q"), ElementsAre("a")) << "not a failure";
    for (const std::int64_t wait : {10, 20, 25, 25}) {
        r.ch.fail(r.get().tag);
        EXPECT_EQ(r.s.queue("q").delayed().count, 1U);
        r.s.advance(milliseconds(wait - 1));
        EXPECT_FALSE(r.ch.get("q"));
        r.s.advance(milliseconds(1));
        EXPECT_THAT(r.s.ready("q"), ElementsAre("a"));
    }
}

TEST(DelayedRetry, MayMeanWhatWasReturnedOnly) {  // DL-161
    Retrying r({{"x-delayed-retry-type", "returned"}, {"x-delayed-retry-min", 10}});
    r.publish({"a"});
    r.ch.fail(r.get().tag);
    EXPECT_THAT(r.s.ready("q"), ElementsAre("a"));
    r.ch.requeue(r.get().tag);
    EXPECT_THAT(r.s.ready("q"), IsEmpty());
}

TEST(DelayedRetry, TheLimitComesFirst) {  // DL-162
    Retrying r(
        {{"x-delayed-retry-type", "all"}, {"x-delayed-retry-min", 10}, {"x-delivery-limit", 0}});
    r.publish({"a"});
    r.ch.fail(r.get().tag);
    EXPECT_THAT(r.s.ready("dead"), ElementsAre("a"));
}

TEST(DelayedRetry, WhatWaitsCountsForLimitsAndIsPurged) {  // DL-136, DL-163, DL-15
    Retrying r({{"x-delayed-retry-type", "all"}, {"x-delayed-retry-min", 10}, {"x-max-length", 1}});
    r.publish({"a"});
    r.ch.requeue(r.get().tag);
    r.publish({"b"});
    EXPECT_THAT(r.s.ready("dead"), ElementsAre("b"));
    EXPECT_EQ(r.ch.purge("q"), 1U);
    r.s.advance(milliseconds(20));
    EXPECT_FALSE(r.ch.get("q"));
}

TEST(DelayedRetry, WhatExpiredMeanwhileDiesInsteadOfComingBack) {  // DL-163
    Retrying r({{"x-delayed-retry-type", "all"}, {"x-delayed-retry-min", 30}});
    r.ch.publish("q", "a", {.ttl_ms = 10});
    r.ch.requeue(r.get().tag);
    r.s.advance(milliseconds(20));
    EXPECT_EQ(r.s.queue("q").delayed().count, 1U) << "it does not expire while delayed";
    r.s.advance(milliseconds(10));
    EXPECT_THAT(r.ch.get("dead")->deaths(), ElementsAre("q expired 1"));
}

TEST(DelayedRetry, ComesBackToAWaitingConsumer) {
    Retrying r({{"x-delayed-retry-type", "all"}, {"x-delayed-retry-min", 10}});
    r.publish({"a"});
    r.ch.consume("q");
    r.ch.fail(r.ch.take_delivery().tag);
    EXPECT_THAT(r.ch.take_bodies(), IsEmpty());
    r.s.advance(milliseconds(10));
    EXPECT_THAT(r.ch.take_bodies(), ElementsAre("a"));
}

TEST(QuorumTtl, ZeroLeavesAMillisecond) {  // DL-126
    Retrying r;
    r.ch.publish("q", "a", {.ttl_ms = 0});
    EXPECT_THAT(r.s.ready("q"), ElementsAre("a"));
    r.s.advance(milliseconds(1));
    EXPECT_THAT(r.s.ready("dead"), ElementsAre("a"));
}

TEST(QuorumTtl, ABatchDiesReturnedFirstThenByPriority) {  // DL-129
    Retrying r;
    r.ch.publish("q", "low", {.ttl_ms = 10, .priority = 0});
    r.ch.publish("q", "high", {.ttl_ms = 10, .priority = 9});
    r.ch.publish("q", "back", {.ttl_ms = 10, .priority = 20});
    r.ch.requeue(r.get().tag);
    r.ch.publish("q", "high2", {.ttl_ms = 10, .priority = 9});
    r.s.advance(milliseconds(10));
    EXPECT_THAT(r.s.ready("dead"), ElementsAre("back", "high", "high2", "low"));
}

TEST(QuorumQueue, KnowsNoChannelWidePrefetch) {  // amqp091 11.1
    Retrying r;
    r.ch.qos(5, /*global=*/true);
    r.ch.consume("q");
    r.ch.expect_refused(RefusalKind::not_implemented,
                        "queue 'q' in vhost '/' does not support global qos");
}

TEST(QuorumQueue, IsNotDeletedUnderAConditon) {  // amqp091 8.12
    Retrying r;
    r.ch.delete_queue("q", /*if_unused=*/true);
    r.ch.expect_refused(RefusalKind::not_implemented,
                        "cannot delete queue 'q' in vhost '/'. queue.delete operations with "
                        "if-unused flag set are not supported by quorum queues");
    r.ch.delete_queue("q", false, /*if_empty=*/true);
    r.ch.expect_refused(RefusalKind::not_implemented,
                        "cannot delete queue 'q' in vhost '/'. queue.delete operations with "
                        "if-empty flag set are not supported by quorum queues");
}

TEST(QuorumQueue, ASingleActiveConsumerIsFollowedByTheMostImportant) {  // amqp091 11.7
    Retrying r({{"x-single-active-consumer", true}});
    const auto first = r.ch.consume("q");
    r.ch.consume("q");
    const auto important = r.ch.consume("q", {.arguments = arguments({{"x-priority", 5}})});
    r.ch.cancel(first);
    r.publish({"a"});
    EXPECT_EQ(r.ch.take_delivery().consumer, important);
    r.ch.get("q");
    r.ch.expect_refused(RefusalKind::resource_locked,
                        "cannot obtain access to locked queue 'q' in vhost '/'. basic.get "
                        "operations are not supported by quorum queues with single active "
                        "consumer");
}

TEST(QuorumOverflow, IsSoftAndLetsGoAtFourFifths) {  // DL-140
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("q", {.durable = true,
                           .arguments = arguments({{"x-queue-type", "quorum"},
                                                   {"x-max-length", 5},
                                                   {"x-overflow", "reject-publish"}})});
    const auto publish = [&] {
        ch.publish("q", "m", {.confirm = true});
        return ch.take_confirms().at(0).accepted;
    };
    for (int i = 0; i < 6; ++i) EXPECT_TRUE(publish()) << i;
    EXPECT_FALSE(publish());
    ch.ack(ch.get("q")->tag);
    EXPECT_FALSE(publish()) << "below the limit, but above the resume limit";
    ch.ack(ch.get("q")->tag);
    EXPECT_TRUE(publish()) << "four of five";
}

TEST(QuorumOverflow, ResumesAlsoIfItGrowsAgainBeforeTheNextPublish) {  // DL-140
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("q", {.durable = true,
                           .arguments = arguments({{"x-queue-type", "quorum"},
                                                   {"x-max-length", 1},
                                                   {"x-overflow", "reject-publish"}})});
    ch.publish("q", "a");
    ch.publish("q", "b");
    const auto a = ch.get("q");
    const auto b = ch.get("q");  // now below the resume limit
    ch.ack(a->tag);
    ch.requeue(b->tag);
    ch.publish("q", "c", {.confirm = true});
    EXPECT_TRUE(ch.take_confirms().at(0).accepted);
}

TEST(QuorumOverflow, BytesIncludeTheProperties) {  // DL-143
    Retrying r;
    r.ch.publish("q", "ab");
    const Queue& queue = r.s.queue("q");
    const Delivery got = r.get();
    EXPECT_EQ(queue.unacked_bytes(), 2 + got.message->properties().size());
}

}  // namespace
}  // namespace revenant::engine
