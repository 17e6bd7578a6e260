#include "engine/rules/expiry.h"

#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Arguments that dead-letter to the queue "dead".
Table dead_to_dead(std::initializer_list<Argument> more = {}) {
    Table table = arguments(more);
    table.push_back({"x-dead-letter-exchange", Value::string("")});
    table.push_back({"x-dead-letter-routing-key", Value::string("dead")});
    return table;
}

struct Expiring {
    explicit Expiring(std::initializer_list<Argument> more = {}) {
        ch.declare_queue("dead");
        ch.declare_queue("q", {.arguments = dead_to_dead(more)});
    }
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
};

// ---------------------------------------------------------------------------- messages

TEST(MessageTtl, OfTheQueueEndsAMessageExactlyOnTime) {  // amqp091 8.16; DL-127
    Expiring e{{"x-message-ttl", 1000}};
    e.ch.publish("q", "a");
    e.s.advance(microseconds(999'999));
    EXPECT_THAT(e.s.ready("q"), ElementsAre("a"));
    e.s.advance(microseconds(1));
    EXPECT_THAT(e.s.ready("q"), IsEmpty());
    EXPECT_THAT(e.s.ready("dead"), ElementsAre("a"));
    EXPECT_THAT(e.ch.get("dead")->deaths(), ElementsAre("q expired 1"));
}

TEST(MessageTtl, OfTheMessageToo) {  // amqp091 8.16
    Expiring e;
    e.ch.publish("q", "a", {.ttl_ms = 500});
    e.ch.publish("q", "b");
    e.s.advance(milliseconds(500));
    EXPECT_THAT(e.s.ready("q"), ElementsAre("b"));
    EXPECT_THAT(e.s.ready("dead"), ElementsAre("a"));
}

TEST(MessageTtl, TheSmallerOfBothCounts) {  // amqp091 8.16; DL-122
    Expiring e{{"x-message-ttl", 1000}};
    e.ch.publish("q", "longer", {.ttl_ms = 5000});
    e.ch.publish("q", "shorter", {.ttl_ms = 200});
    e.s.advance(milliseconds(200));
    EXPECT_THAT(e.s.ready("q"), ElementsAre("longer"));
    e.s.advance(milliseconds(800));
    EXPECT_THAT(e.s.ready("q"), IsEmpty());
}

TEST(MessageTtl, ActsAtAnyDepth) {  // differs from DL-6 and DL-128
    Expiring e;
    e.ch.publish("q", "head");
    for (int i = 0; i < 600; ++i) {
        e.ch.publish("q", std::to_string(i), {.ttl_ms = i % 3 == 0 ? 100 : 100'000});
    }
    e.s.advance(milliseconds(100));
    EXPECT_EQ(e.s.ready("dead").size(), 200U);
    EXPECT_EQ(e.s.ready("q").size(), 401U);
    EXPECT_EQ(e.s.ready("q").front(), "head");
}

TEST(MessageTtl, MessagesThatDieTogetherDieOldestFirst) {  // DL-133
    Expiring e{{"x-message-ttl", 100}};
    std::vector<std::string> bodies;
    for (int i = 0; i < 600; ++i) {
        bodies.push_back(std::to_string(i));
        e.ch.publish("q", bodies.back());
    }
    e.s.advance(milliseconds(100));
    EXPECT_EQ(e.s.ready("dead"), bodies);
}

TEST(MessageTtl, AnEarlierDeadlineBehindALaterOneIsMet) {  // timers move forward
    Expiring e;
    for (const int ttl : {900, 300, 600, 100}) {
        e.ch.publish("q", std::to_string(ttl), {.ttl_ms = ttl});
    }
    const Timestamp start = e.s.now();
    for (const int at : {100, 300, 600, 900}) {
        e.s.advance(start + milliseconds(at) - e.s.now());
        EXPECT_EQ(e.s.ready("dead").back(), std::to_string(at));
    }
    EXPECT_EQ(e.s.engine().next_deadline(), never);
}

TEST(MessageTtl, ZeroWithoutAWaitingConsumerIsDeathAtOnce) {  // DL-126
    Expiring e;
    e.ch.publish("q", "a", {.ttl_ms = 0, .mandatory = true, .confirm = true});
    EXPECT_THAT(e.s.ready("q"), IsEmpty());
    EXPECT_THAT(e.s.ready("dead"), ElementsAre("a"));
    EXPECT_THAT(e.ch.take_returns(), IsEmpty());  // it was routed
    EXPECT_TRUE(e.ch.take_confirms().front().accepted);
    EXPECT_FALSE(e.ch.get("q"));
}

TEST(MessageTtl, ZeroWithAWaitingConsumerIsDelivered) {  // DL-126
    Expiring e{{"x-message-ttl", 0}};
    e.ch.qos(1);
    e.ch.consume("q");
    e.ch.publish("q", "a");
    e.ch.publish("q", "b");  // the consumer's prefetch is used up
    EXPECT_THAT(e.ch.take_bodies(), ElementsAre("a"));
    EXPECT_THAT(e.s.ready("dead"), ElementsAre("b"));
}

TEST(MessageTtl, ZeroInTheTargetOfAnExpiryLetsAWaitingConsumerTakeIt) {  // DL-126
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("last");
    ch.declare_queue("dead", {{"x-message-ttl", 0},
                              {"x-dead-letter-exchange", ""},
                              {"x-dead-letter-routing-key", "last"}});
    ch.declare_queue("q", {.arguments = dead_to_dead({{"x-message-ttl", 10}})});
    ch.publish("q", "a");
    ch.consume("dead");
    s.advance(milliseconds(10));
    EXPECT_THAT(ch.take_bodies(), ElementsAre("a"));
    ch.cancel(1);
    ch.publish("q", "b");
    s.advance(milliseconds(10));
    EXPECT_THAT(s.ready("last"), ElementsAre("b"));
}

TEST(MessageTtl, AnUnsettledMessageDoesNotExpire) {  // DL-21
    Expiring e{{"x-message-ttl", 100}};
    e.ch.publish("q", "a");
    e.ch.get("q");
    e.s.advance(seconds(10));
    EXPECT_EQ(e.s.queue("q").unacked_count(), 1U);
    e.ch.ack(1);
    EXPECT_THAT(e.s.ready("dead"), IsEmpty());
}

TEST(MessageTtl, ARequeueKeepsTheOriginalDeadline) {  // DL-132
    Expiring e{{"x-message-ttl", 100}};
    e.ch.publish("q", "a");
    e.ch.get("q");
    e.s.advance(milliseconds(60));
    e.ch.requeue(1);
    e.s.advance(milliseconds(39));
    EXPECT_THAT(e.s.ready("q"), ElementsAre("a"));
    e.s.advance(milliseconds(1));
    EXPECT_THAT(e.s.ready("dead"), ElementsAre("a"));
}

TEST(MessageTtl, ARequeueSetsATimerAgain) {  // DL-132
    Expiring e;
    e.s.keep_in_memory();  // both in one block
    e.ch.publish("q", "a", {.ttl_ms = 50});
    e.ch.publish("q", "b", {.ttl_ms = 100});
    e.ch.get("q");
    e.ch.get("q");
    e.ch.requeue(1);
    e.s.advance(milliseconds(60));  // the timer ran for "a" while "b" was unacked
    EXPECT_EQ(e.s.engine().next_deadline(), never);
    e.ch.requeue(2);
    e.s.advance(milliseconds(40));
    EXPECT_THAT(e.s.ready("dead"), ElementsAre("a", "b"));
}

TEST(MessageTtl, AMessageRequeuedTooLateDiesAtOnce) {  // DL-132
    Expiring e{{"x-message-ttl", 100}};
    for (const char* body : {"a", "b"}) e.ch.publish("q", body);
    e.ch.get("q");
    e.ch.get("q");
    e.s.advance(milliseconds(200));
    e.ch.requeue_up_to(0);
    EXPECT_THAT(e.s.ready("q"), IsEmpty());
    EXPECT_THAT(e.s.ready("dead"), ElementsAre("a", "b"));
}

TEST(MessageTtl, AMessageRequeuedTooLateIsNotHandedToAWaitingConsumer) {  // DL-131, DL-132
    Expiring e{{"x-message-ttl", 100}};
    e.ch.consume("q");
    e.ch.publish("q", "a");
    EXPECT_THAT(e.ch.take_bodies(), ElementsAre("a"));
    e.s.advance(milliseconds(200));
    e.ch.requeue(1);
    EXPECT_THAT(e.ch.take_bodies(), IsEmpty());
    EXPECT_THAT(e.s.ready("dead"), ElementsAre("a"));
    EXPECT_THAT(e.ch.get("dead")->deaths(), ElementsAre("q expired 1"));
}

TEST(MessageTtl, AnExpiredMessageIsNeverHandedOut) {  // DL-131
    Expiring e{{"x-message-ttl", 100}};
    e.ch.publish("q", "a");
    e.s.let_pass(milliseconds(150));  // no Tick
    EXPECT_FALSE(e.ch.get("q"));
    e.ch.publish("q", "b");
    e.s.let_pass(milliseconds(150));
    e.ch.consume("q");
    EXPECT_THAT(e.ch.take_bodies(), IsEmpty());
    EXPECT_THAT(e.s.ready("dead"), ElementsAre("a", "b"));
}

TEST(MessageTtl, EveryLevelOfAPriorityQueueExpiresOnTime) {  // amqp091 16.3; differs from DL-130
    Expiring e{{"x-max-priority", 3}};
    e.ch.publish("q", "high", {.ttl_ms = 500, .priority = 3});
    e.ch.publish("q", "low", {.ttl_ms = 100});
    e.s.advance(milliseconds(100));
    EXPECT_THAT(e.s.ready("q"), ElementsAre("high"));
    EXPECT_THAT(e.s.ready("dead"), ElementsAre("low"));
    e.s.advance(milliseconds(400));
    EXPECT_THAT(e.s.ready("q"), IsEmpty());
}

TEST(MessageTtl, AChainOfQueuesIsWalkedInTime) {  // DL-70, DL-122
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("end");
    for (const auto& [name, next] :
         {std::pair{"a", "b"}, std::pair{"b", "c"}, std::pair{"c", "end"}}) {
        ch.declare_queue(name, {{"x-message-ttl", 100},
                                {"x-dead-letter-exchange", ""},
                                {"x-dead-letter-routing-key", next}});
    }
    ch.publish("a", "m");
    s.advance(milliseconds(299));
    EXPECT_THAT(s.ready("c"), ElementsAre("m"));
    s.advance(milliseconds(1));
    EXPECT_THAT(s.ready("end"), ElementsAre("m"));
    EXPECT_THAT(ch.get("end")->deaths(), ElementsAre("c expired 1", "b expired 1", "a expired 1"));
}

TEST(MessageTtl, WithoutADeadLetterExchangeTheMessageIsDropped) {  // DL-11
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-message-ttl", 100}});
    ch.publish("q", "a");
    s.advance(milliseconds(100));
    EXPECT_EQ(s.ended(Ending::no_dlx), 1U);
}

TEST(MessageTtl, TheLongestThatIsAllowedNeverOverflows) {  // DL-124
    Expiring e;
    e.ch.publish("q", "a", {.ttl_ms = 315'360'000'000});
    e.s.advance(seconds(86'400));
    EXPECT_THAT(e.s.ready("q"), ElementsAre("a"));
}

TEST(MessageTtl, TimersOfMessagesThatWereTakenInTimeDoNotPileUp) {
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-message-ttl", 3'600'000}});
    ch.consume("q", {.no_ack = true});
    for (int i = 0; i < 40'000; ++i) ch.publish("q", "m");
    EXPECT_LT(s.engine().state().deadlines().size(), 100U);
}

// ------------------------------------------------------------------------------ queues

// A quorum queue that delays requeued messages for two milliseconds.
Table retrying(std::initializer_list<Argument> more) {
    Table table = arguments(more);
    for (const Argument& one :
         {Argument{"x-queue-type", "quorum"}, Argument{"x-delayed-retry-type", "all"},
          Argument{"x-delayed-retry-min", 2}}) {
        table.push_back(one.field);
    }
    return table;
}

TEST(MessageTtl, AfterItsDelayALateMessageDiesThoughALetterHasLeft) {  // DL-163
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {.durable = true,
                           .arguments = retrying({{"x-message-ttl", 1},
                                                  {"x-overflow", "reject-publish"},
                                                  {"x-dead-letter-strategy", "at-least-once"},
                                                  {"x-dead-letter-exchange", ""},
                                                  {"x-dead-letter-routing-key", "dead"}})});
    ch.publish("q", "letter");
    ch.nack(ch.get("q")->tag);  // goes to the outbox: there is no route
    ch.publish("q", "late");
    ch.requeue(ch.get("q")->tag);
    ch.declare_queue("dead");
    EXPECT_THAT(s.ready("dead"), ElementsAre("letter"));
    s.advance(milliseconds(2));
    EXPECT_THAT(s.ready("q"), IsEmpty());
    EXPECT_THAT(s.ready("dead"), ElementsAre("letter", "late"));
}

TEST(MessageTtl, WithTtlModeHeadALateMessageWaitsAfterItsDelayForTheHead) {  // DL-128, DL-163
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {.durable = true, .arguments = retrying({})});
    ch.set_policy(
        {.name = "head", .pattern = "^q$", .definition = arguments({{"ttl-mode", "head"}})});
    ch.publish("q", "first");
    ch.publish("q", "late", {.ttl_ms = 1});
    ch.requeue(ch.get("q")->tag);
    ch.requeue(ch.get("q")->tag);
    s.advance(milliseconds(2));
    EXPECT_THAT(s.ready("q"), ElementsAre("first", "late"));
    ch.ack(ch.get("q")->tag);
    EXPECT_THAT(s.ready("q"), IsEmpty());
}

TEST(QueueTtl, AnUnusedQueueIsDeletedOnTime) {  // amqp091 8.17; DL-14, DL-134
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("dead");
    ch.declare_queue("q", {.arguments = dead_to_dead({{"x-expires", 1000}})});
    ch.publish("q", "a");
    s.advance(milliseconds(999));
    EXPECT_TRUE(s.has_queue("q"));
    ch.publish("q", "b");  // a publish is not a use
    s.advance(milliseconds(1));
    EXPECT_FALSE(s.has_queue("q"));
    EXPECT_THAT(s.ready("dead"), IsEmpty());  // its messages are dropped
    EXPECT_EQ(s.ended(Ending::queue_deleted), 2U);
}

TEST(QueueTtl, AGetAndADeclareAreUses) {  // amqp091 8.17
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-expires", 1000}});
    s.advance(milliseconds(900));
    ch.get("q");
    s.advance(milliseconds(900));
    ch.declare_queue("q", {{"x-expires", 1000}});
    s.advance(milliseconds(900));
    ch.declare_queue("q", {.passive = true});
    s.advance(milliseconds(999));
    EXPECT_TRUE(s.has_queue("q"));
    s.advance(milliseconds(1));
    EXPECT_FALSE(s.has_queue("q"));
}

TEST(QueueTtl, APassiveDeclareIsNoUseOfAQuorumQueue) {  // amqp091 8.17, as RabbitMQ 4.3.6
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-queue-type", "quorum"}, {"x-expires", 1000}});
    s.advance(milliseconds(900));
    ch.declare_queue("q", {.passive = true});
    s.advance(milliseconds(100));
    EXPECT_FALSE(s.has_queue("q"));
}

TEST(QueueTtl, WhileThereIsAConsumerTheQueueStays) {  // amqp091 8.17; DL-134
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-expires", 1000}});
    const auto first = ch.consume("q");
    const auto second = ch.consume("q");
    s.advance(seconds(10));
    ch.cancel(first);
    s.advance(seconds(10));
    EXPECT_TRUE(s.has_queue("q"));
    ch.cancel(second);
    s.advance(milliseconds(999));
    EXPECT_TRUE(s.has_queue("q"));
    s.advance(milliseconds(1));
    EXPECT_FALSE(s.has_queue("q"));
}

TEST(QueueTtl, AClosedChannelStartsThePeriod) {  // amqp091 8.17
    Scenario s;
    auto& ch = s.open_channel();
    auto& consumer = s.open_channel();
    ch.declare_queue("q", {{"x-expires", 1000}});
    consumer.consume("q");
    s.advance(seconds(5));
    consumer.close();
    s.advance(milliseconds(999));
    EXPECT_TRUE(s.has_queue("q"));
    s.advance(milliseconds(1));
    EXPECT_FALSE(s.has_queue("q"));
}

TEST(QueueTtl, AQueueMayExpireWithUnsettledDeliveries) {  // amqp091 8.17
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-expires", 1000}});
    ch.publish("q", "a");
    ch.get("q");
    s.advance(seconds(1));
    EXPECT_FALSE(s.has_queue("q"));
    ch.ack(1);
    EXPECT_TRUE(ch.is_open());
}

TEST(QueueTtl, AnExpiredTargetTakesNothingMore) {  // both expire at the same time
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("dead", {{"x-expires", 1000}});
    ch.declare_queue("q", {.arguments = dead_to_dead({{"x-message-ttl", 1000}})});
    ch.publish("q", "a");
    s.let_pass(seconds(2));
    ch.declare_queue("q", {.passive = true});
    EXPECT_FALSE(s.has_queue("dead"));
    EXPECT_THAT(s.ready("q"), IsEmpty());
}

TEST(QueueTtl, ManyUsesLeaveOneTimer) {  // one item per expiring queue (deadlines.h)
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-expires", 3'600'000}});
    for (int i = 0; i < 1000; ++i) {
        ch.get("q");
        ch.cancel(ch.consume("q"));
        s.advance(milliseconds(1));
    }
    EXPECT_LE(s.engine().state().deadlines().size(), 1U);
    s.advance(milliseconds(3'599'998));
    EXPECT_TRUE(s.has_queue("q"));
    s.advance(milliseconds(1));
    EXPECT_FALSE(s.has_queue("q"));
}

}  // namespace
}  // namespace revenant::engine
