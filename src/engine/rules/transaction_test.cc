#include "engine/rules/transaction.h"

#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using enum RefusalKind;

TEST(Transaction, PublishesAreHeldUntilCommit) {  // amqp091 10.5
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.select();
    ch.publish("q", "a");
    ch.publish("q", "b");
    EXPECT_THAT(s.ready("q"), IsEmpty());
    ch.commit();
    EXPECT_THAT(s.ready("q"), ElementsAre("a", "b"));
    ch.publish("q", "c");  // the next transaction has begun
    EXPECT_THAT(s.ready("q"), ElementsAre("a", "b"));
}

TEST(Transaction, ARollbackForgetsThePublishes) {  // amqp091 10.5
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.select();
    ch.publish("q", "a");
    ch.rollback();
    ch.commit();
    EXPECT_THAT(s.ready("q"), IsEmpty());
}

TEST(Transaction, SettlementsAreHeldUntilCommit) {  // amqp091 10.5; DL-3
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("dead");
    ch.declare_queue("q", {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "dead"}});
    for (const char* body : {"a", "b", "c", "d"}) ch.publish("q", body);
    for (int i = 0; i < 4; ++i) ch.get("q");
    ch.select();
    ch.ack(1);
    ch.nack(2);
    ch.nack(3);
    ch.requeue(4);
    EXPECT_EQ(s.queue("q").unacked_count(), 4U);
    EXPECT_THAT(s.ready("dead"), IsEmpty());
    ch.commit();
    EXPECT_EQ(s.queue("q").unacked_count(), 0U);
    EXPECT_THAT(s.ready("q"), ElementsAre("d"));
    EXPECT_THAT(s.ready("dead"), ElementsAre("b", "c"));
}

TEST(Transaction, ARollbackMakesSettledDeliveriesUnsettledAgain) {  // amqp091 10.5; DL-3
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.publish("q", "a");
    ch.publish("q", "b");
    ch.get("q");
    ch.get("q");
    ch.select();
    ch.nack_up_to(0);
    ch.rollback();
    EXPECT_EQ(s.queue("q").unacked_count(), 2U);  // not requeued
    EXPECT_THAT(s.ready("q"), IsEmpty());
    ch.ack(1);
    ch.commit();
    EXPECT_EQ(s.ended(Ending::acknowledged), 1U);
    EXPECT_EQ(s.ended(Ending::no_dlx), 0U);
}

TEST(Transaction, TagsAreCheckedWhenTheyArrive) {  // amqp091 10.5
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.publish("q", "a");
    ch.get("q");
    ch.select();
    ch.ack(1);
    ch.ack(1);  // held already
    ch.expect_refused(precondition_failed, "unknown delivery tag 1");
    EXPECT_THAT(s.ready("q"), ElementsAre("a"));  // the transaction ended with its channel
    ch.select();
    ch.ack(77);
    ch.expect_refused(precondition_failed, "unknown delivery tag 77");
}

TEST(Transaction, MultipleLeavesOutWhatIsHeld) {  // amqp091 10.5, 11.11
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    for (const char* body : {"a", "b", "c"}) ch.publish("q", body);
    for (int i = 0; i < 3; ++i) ch.get("q");
    ch.select();
    ch.requeue(2);
    ch.ack_up_to(3);
    ch.commit();
    EXPECT_THAT(s.ready("q"), ElementsAre("b"));
    EXPECT_EQ(s.ended(Ending::acknowledged), 2U);
}

TEST(Transaction, PublishesComeBeforeSettlements) {  // amqp091 10.5
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "out"}});
    ch.declare_queue("out");
    ch.publish("q", "old");
    ch.get("q");
    ch.select();
    ch.nack(1);
    ch.publish("out", "new");
    ch.commit();
    EXPECT_THAT(s.ready("out"), ElementsAre("new", "old"));
}

TEST(Transaction, ReturnsComeBeforeTheAnswer) {  // amqp091 10.5
    Scenario s;
    auto& ch = s.open_channel();
    ch.select();
    ch.publish("nobody", "a", {.mandatory = true});
    EXPECT_THAT(ch.take_returns(), IsEmpty());
    ch.take_transcript();
    ch.commit();
    EXPECT_THAT(ch.take_transcript(), ElementsAre("return a", "done"));
}

TEST(Transaction, ARefusedPublishMakesThemPartial) {  // amqp091 10.5
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("full", {{"x-max-length", 1}, {"x-overflow", "reject-publish"}});
    ch.declare_queue("open");
    ch.select();
    for (const char* body : {"a", "b"}) ch.publish("full", body);
    ch.publish("open", "c");
    ch.commit();
    ch.expect_refused(precondition_failed, "partial tx completion");
    EXPECT_THAT(s.ready("full"), ElementsAre("a"));
    EXPECT_THAT(s.ready("open"), ElementsAre("c"));
}

TEST(Transaction, AWaitingConsumerMakesRoomBetweenItsPublishes) {  // amqp091 8.18, 10.5
    Scenario s;
    auto& ch = s.open_channel();
    auto& consumer = s.open_channel();
    ch.declare_queue("q", {{"x-max-length", 1}, {"x-overflow", "reject-publish"}});
    consumer.consume("q");
    ch.select();
    for (const char* body : {"a", "b", "c"}) ch.publish("q", body);
    ch.commit();
    EXPECT_TRUE(ch.is_open());
    EXPECT_THAT(consumer.take_bodies(), ElementsAre("a", "b", "c"));
}

TEST(Transaction, ChecksOfAPublishAreMadeWhenItArrives) {  // amqp091 9.2, 10.5
    Scenario s;
    auto& ch = s.open_channel();
    ch.select();
    ch.publish("k", "a", {.exchange = "nowhere"});
    ch.expect_refused(RefusalKind::not_found, "no exchange 'nowhere' in vhost '/'");
}

TEST(Transaction, AnExchangeThatWentMeanwhileRoutesNothing) {  // amqp091 10.5
    Scenario s;
    auto& ch = s.open_channel();
    auto& other = s.open_channel();
    ch.declare_exchange("x", "fanout");
    ch.select();
    ch.publish("", "a", {.exchange = "x", .mandatory = true});
    other.delete_exchange("x");
    ch.commit();
    EXPECT_THAT(ch.take_returns(), ElementsAre("a"));
}

TEST(Transaction, WithoutASelectThereIsNothingToEnd) {  // amqp091 10.5
    Scenario s;
    auto& ch = s.open_channel();
    ch.commit();
    ch.expect_refused(precondition_failed, "channel is not transactional");
    ch.rollback();
    ch.expect_refused(precondition_failed, "channel is not transactional");
}

TEST(Transaction, ASecondSelectChangesNothing) {  // amqp091 10.4
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.select();
    ch.publish("q", "a");
    ch.select();
    ch.commit();
    EXPECT_THAT(s.ready("q"), ElementsAre("a"));
}

TEST(Transaction, AClosingChannelForgetsIt) {  // amqp091 5.6, 10.5
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.publish("q", "a");
    ch.get("q");
    ch.select();
    ch.ack(1);
    ch.publish("q", "b");
    ch.close();
    EXPECT_THAT(s.ready("q"), ElementsAre("a"));
}

TEST(Transaction, ARecoverLeavesWhatIsHeld) {  // amqp091 10.5, 11.13
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    for (const char* body : {"a", "b"}) ch.publish("q", body);
    ch.get("q");
    ch.get("q");
    ch.select();
    ch.ack(1);
    ch.recover();
    EXPECT_THAT(s.ready("q"), ElementsAre("b"));
    ch.commit();
    EXPECT_EQ(s.ended(Ending::acknowledged), 1U);
    EXPECT_THAT(s.ready("q"), ElementsAre("b"));
}

TEST(Transaction, AQueueMayGoBeforeItsSettlementsAreCommitted) {  // amqp091 10.5
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    for (const char* body : {"a", "b", "c"}) ch.publish("q", body);
    for (int i = 0; i < 3; ++i) ch.get("q");
    ch.select();
    ch.ack(1);
    ch.nack_up_to(0);
    ch.delete_queue("q");
    ch.commit();
    EXPECT_TRUE(ch.is_open());
}

TEST(Transaction, ItsWorkIsOneRecord) {  // style: all events of one command form one record
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("a");
    ch.declare_queue("b");
    ch.publish("a", "old");
    ch.get("a");
    ch.select();
    const std::size_t before = s.events().size();
    ch.publish("a", "x");
    ch.publish("b", "y");
    ch.ack(1);
    EXPECT_EQ(s.events().size(), before);
    ch.commit();
    EXPECT_EQ(s.events().size(), before + 3);
}

}  // namespace
}  // namespace revenant::engine
