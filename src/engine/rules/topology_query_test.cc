#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace revenant::engine {
namespace {

TEST(Inquiry, ATargetMustBeThere) {
    Scenario s;
    auto& c = s.open_channel();
    c.declare_exchange("x", "topic");
    c.declare_queue("q");
    c.check_target("x");
    c.check_target("", "q");
    c.check_target("none");
    c.expect_refused(RefusalKind::not_found, "no exchange 'none' in vhost '/'");
    c.check_target("", "none");
    c.expect_refused(RefusalKind::not_found, "no queue 'none' in vhost '/'");
}

TEST(Inquiry, WhoHasATargetHearsOfItsEnd) {  // amqp10 4.4
    Scenario s;
    auto& owner = s.open_channel();
    auto& sender = s.open_channel();
    auto& gone = s.open_channel();
    owner.declare_queue("q");
    owner.declare_queue("r");
    gone.check_target("", "q");
    gone.close();
    sender.check_target("", "r");
    sender.check_target("", "q");
    sender.take_transcript();
    owner.delete_queue("r");
    EXPECT_THAT(sender.take_transcript(), ::testing::IsEmpty()) << "it has another target now";
    owner.delete_queue("q");
    EXPECT_THAT(sender.take_transcript(), ::testing::ElementsAre("target gone"));
    owner.declare_queue("q");
    owner.delete_queue("q");
    EXPECT_THAT(sender.take_transcript(), ::testing::IsEmpty());
}

TEST(Inquiry, AnInternalExchangeIsNoTarget) {
    Scenario s;
    auto& c = s.open_channel();
    c.declare_exchange("inner", "fanout", {.internal = true});
    c.check_target("inner");
    c.expect_refused(RefusalKind::access_refused,
                     "forbidden to publish to internal exchange 'inner' in vhost '/'");
}

TEST(Inquiry, AReplyConsumerIsATargetWhileItIsThere) {
    Scenario s;
    auto& c = s.open_channel();
    auto& asks = s.open_channel();
    asks.consume("amq.rabbitmq.reply-to",
                 {.no_ack = true, .reply_name = "amq.rabbitmq.reply-to.one"});
    c.check_target("", "amq.rabbitmq.reply-to.one");
    c.check_target("", "amq.rabbitmq.reply-to.two");
    c.expect_refused(RefusalKind::not_found, "no queue 'amq.rabbitmq.reply-to.two' in vhost '/'");
}

TEST(Inquiry, AQueueIsDescribedAsItWasDeclared) {
    Scenario s;
    auto& c = s.open_channel();
    c.declare_queue("q", {{"x-queue-type", "quorum"}, {"x-max-length", 5}});
    c.publish("q", "a");
    c.publish("q", "b");
    c.consume("q", {.uses_credit = true});
    const QueueDescription told = c.describe_queue("q");
    EXPECT_EQ(told.name, "q");
    EXPECT_EQ(told.type, "quorum");
    EXPECT_TRUE(told.durable);
    EXPECT_FALSE(told.exclusive);
    EXPECT_FALSE(told.auto_delete);
    EXPECT_EQ(told.arguments, arguments({{"x-queue-type", "quorum"}, {"x-max-length", 5}}));
    EXPECT_EQ(told.message_count, 2U);
    EXPECT_EQ(told.consumer_count, 1U);
}

TEST(Inquiry, TheExclusiveQueueOfAnotherIsLocked) {
    Scenario s;
    s.open_channel().declare_queue("mine", {.durable = false, .exclusive = true});
    auto& other = s.open_channel(s.connect());
    other.describe_queue("mine");
    EXPECT_EQ(other.take_refusal().value().kind, RefusalKind::resource_locked);
}

TEST(Inquiry, BindingsOfOneKeyAreListedWithTheirArguments) {
    Scenario s;
    auto& c = s.open_channel();
    c.declare_exchange("x", "headers");
    c.declare_queue("q");
    c.bind("x", "q", "k", {.arguments = arguments({{"a", 1}})});
    c.bind("x", "q", "k", {.arguments = arguments({{"a", 2}})});
    c.bind("x", "q", "other");
    const auto listed = c.list_bindings({.source = "x", .destination = "q", .routing_key = "k"});
    ASSERT_EQ(listed.size(), 2U);
    for (const auto& binding : listed) {
        EXPECT_EQ(binding.routing_key, "k");
        EXPECT_EQ(binding.arguments.size(), 1U);
    }
    EXPECT_TRUE(
        c.list_bindings({.source = "none", .destination = "q", .routing_key = "k"}).empty());
    EXPECT_TRUE(c.list_bindings({.source = "x",
                                 .destination_kind = DestinationKind::exchange,
                                 .destination = "q",
                                 .routing_key = "k"})
                    .empty());
}

TEST(Inquiry, EveryQueueIsBoundToTheDefaultExchange) {
    Scenario s;
    auto& c = s.open_channel();
    c.declare_queue("q");
    EXPECT_EQ(c.list_bindings({.source = "", .destination = "q", .routing_key = "q"}).size(), 1U);
    EXPECT_TRUE(c.list_bindings({.source = "", .destination = "q", .routing_key = "k"}).empty());
}

}  // namespace
}  // namespace revenant::engine
