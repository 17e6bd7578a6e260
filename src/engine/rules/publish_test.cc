#include "engine/rules/publish.h"

#include "base/probe.h"
#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using enum RefusalKind;

TEST(Publish, TheExchangeMustExist) {  // amqp091 9.2
    Scenario s;
    auto& ch = s.open_channel();
    ch.publish("k", "a", {.exchange = "nowhere", .confirm = true});
    EXPECT_THAT(ch.take_confirms(), IsEmpty());
    ch.expect_refused(RefusalKind::not_found, "no exchange 'nowhere' in vhost '/'");
}

TEST(Publish, ATopicRefusalCountsOnlyForATopicExchange) {  // amqp091 9.2, 15.4
    Scenario s;
    auto& ch = s.open_channel();
    const Refusal refusal{RefusalKind::not_permitted, "write access to topic 'k' refused"};
    ch.publish("k", "a", {.exchange = "amq.direct", .refusal_if_topic = refusal});
    EXPECT_TRUE(ch.is_open());
    ch.publish("k", "a", {.exchange = "amq.topic", .refusal_if_topic = refusal});
    ch.expect_refused(refusal.kind, refusal.text);
}

TEST(Publish, WhatElseIsWrongIsToldAfterTheExchange) {  // amqp091 9.2
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    const Refusal wrong{precondition_failed, "invalid expiration 'abc': no_integer"};
    const Refusal topic{RefusalKind::not_permitted, "write access to topic 'k' refused"};
    ch.publish("k", "a", {.exchange = "nowhere", .refusal = wrong});
    ch.expect_refused(RefusalKind::not_found, "no exchange 'nowhere' in vhost '/'");
    ch.publish("k", "a", {.exchange = "amq.topic", .refusal_if_topic = topic, .refusal = wrong});
    ch.expect_refused(topic.kind, topic.text);
    ch.publish("q", "a", {.refusal = wrong});
    ch.expect_refused(wrong.kind, wrong.text);
    ch.select();
    ch.publish("q", "a", {.refusal = wrong});  // immediately, not at the commit
    ch.expect_refused(wrong.kind, wrong.text);
    EXPECT_THAT(s.ready("q"), IsEmpty());
}

TEST(Publish, WhatWasAcceptedBeforeAFailureStays) {  // amqp091 9.10
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.publish("q", "a");
    ch.publish("q", "b", {.exchange = "nowhere"});
    ch.expect_refused(RefusalKind::not_found, "no exchange 'nowhere' in vhost '/'");
    EXPECT_THAT(s.ready("q"), ElementsAre("a"));
}

TEST(Publish, WhatCannotBeRoutedIsDroppedOrReturned) {  // amqp091 9.4, 9.5
    Scenario s;
    auto& ch = s.open_channel();
    ch.publish("nobody", "dropped");
    EXPECT_THAT(ch.take_returns(), IsEmpty());
    ch.publish("nobody", "returned", {.mandatory = true});
    EXPECT_THAT(ch.take_returns(), ElementsAre("returned"));
    const ClientTraffic traffic = s.engine().state().traffic().of_all_clients();
    EXPECT_EQ(traffic.unroutable_dropped, 1U);
    EXPECT_EQ(traffic.unroutable_returned, 1U);
    EXPECT_EQ(traffic.received, 2U);
    EXPECT_EQ(traffic.routed, 0U);
}

TEST(Publish, AReturnComesBeforeItsConfirm) {  // amqp091 9.4
    Scenario s;
    auto& ch = s.open_channel();
    ch.publish("nobody", "a", {.mandatory = true, .confirm = true});
    ch.publish("nobody", "b", {.confirm = true});
    EXPECT_THAT(ch.take_transcript(), ElementsAre("return a", "ack 1", "ack 2"));
}

TEST(Publish, OrderIsKeptFromChannelToQueue) {  // amqp091 9.9
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    std::vector<std::string> bodies;
    for (int i = 0; i < 1000; ++i) {
        bodies.push_back(std::to_string(i));
        ch.publish("q", bodies.back());
    }
    ch.consume("q", {.no_ack = true});
    EXPECT_EQ(ch.take_bodies(), bodies);
}

TEST(Confirms, EveryPublishIsConfirmedInOrder) {  // amqp091 10.1, 10.2
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.publish("q", "without");
    ch.publish("q", "a", {.confirm = true});
    ch.publish("nobody", "b", {.confirm = true});
    ch.publish("q", "c", {.confirm = true});
    EXPECT_THAT(ch.take_transcript(), ElementsAre("done", "ack 1", "ack 2", "ack 3"));
}

TEST(Confirms, ARefusalByOneOfSeveralQueuesIsANack) {  // amqp091 10.2; DL-144
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("open");
    ch.declare_queue("full", {{"x-max-length", 1}, {"x-overflow", "reject-publish"}});
    ch.bind("amq.fanout", "open");
    ch.bind("amq.fanout", "full");
    ch.take_transcript();
    for (const char* body : {"a", "b", "c"}) {
        ch.publish("", body, {.exchange = "amq.fanout", .confirm = true});
    }
    EXPECT_THAT(ch.take_transcript(), ElementsAre("ack 1", "nack 2", "nack 3"));
    EXPECT_THAT(s.ready("open"), ElementsAre("a", "b", "c"));  // the other queue keeps it
    EXPECT_THAT(s.ready("full"), ElementsAre("a"));
}

TEST(Confirms, ARefusedMessageIsRoutedAndSoNotReturned) {  // amqp091 9.4, 10.2
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("full", {{"x-max-length", 0}, {"x-overflow", "reject-publish"}});
    ch.take_transcript();
    ch.publish("full", "a", {.mandatory = true, .confirm = true});
    EXPECT_THAT(ch.take_transcript(), ElementsAre("nack 1"));
}

TEST(Confirms, EachChannelCountsForItself) {  // amqp091 10.1
    Scenario s;
    auto& one = s.open_channel();
    auto& two = s.open_channel();
    one.publish("nobody", "a", {.confirm = true});
    two.publish("nobody", "b", {.confirm = true});
    one.publish("nobody", "c", {.confirm = true});
    EXPECT_THAT(one.take_transcript(), ElementsAre("ack 1", "ack 2"));
    EXPECT_THAT(two.take_transcript(), ElementsAre("ack 1"));
}

// ------------------------------------------------------------------------ direct reply-to

const std::string reply_queue = "amq.rabbitmq.reply-to";
const std::string token = "amq.rabbitmq.reply-to.g1h2";

TEST(DirectReply, GoesStraightToTheChannelThatAsked) {  // amqp091 14.1, 14.3
    Scenario s;
    auto& requester = s.open_channel();
    auto& responder = s.open_channel(s.connect());
    const auto consumer = requester.consume(reply_queue, {.no_ack = true, .reply_name = token});
    responder.publish(token, "answer", {.mandatory = true, .confirm = true});
    const Delivery reply = requester.take_delivery();
    EXPECT_EQ(reply.consumer, consumer);
    EXPECT_EQ(reply.body(), "answer");
    EXPECT_EQ(reply.exchange(), "");
    EXPECT_EQ(reply.routing_key(), token);
    EXPECT_FALSE(reply.redelivered);
    EXPECT_THAT(responder.take_transcript(), ElementsAre("ack 1"));
}

TEST(DirectReply, ToAClientThatDoesNotReadEndsSomewhere) {
    Scenario s;
    auto& requester = s.open_channel();
    auto& responder = s.open_channel(s.connect());
    requester.consume(reply_queue, {.no_ack = true, .reply_name = token});
    s.take_only(requester.connection(), 1);
    const std::string megabyte(1024 * 1024, 'm');
    for (int i = 0; i < 30; ++i) responder.publish(token, megabyte, {.mandatory = true});
    const auto returned = responder.take_returns();
    EXPECT_GE(requester.take_deliveries().size(), 16U) << "a short pause costs no reply";
    EXPECT_GE(returned.size(), 10U);
    EXPECT_THAT(Probe::reached(), ::testing::Contains("publish.reply_dropped"));
    s.resume(requester.connection());
    responder.publish(token, "again", {.mandatory = true});
    EXPECT_EQ(requester.take_delivery().body(), "again");
    EXPECT_THAT(responder.take_returns(), IsEmpty());
}

TEST(DirectReply, CountsItsDeliveriesWithTheOthers) {  // amqp091 11.8
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.consume(reply_queue, {.no_ack = true, .reply_name = token});
    ch.consume("q");
    ch.publish("q", "a");
    ch.publish(token, "b");
    ch.publish("q", "c");
    EXPECT_THAT(ch.take_bodies(), ElementsAre("a", "b", "c"));
    ch.ack_up_to(3);
    EXPECT_EQ(s.queue("q").unacked_count(), 0U);
}

TEST(DirectReply, CannotBeAcknowledged) {  // amqp091 14.1
    Scenario s;
    auto& ch = s.open_channel();
    ch.consume(reply_queue, {.no_ack = false, .reply_name = token});
    ch.expect_refused(precondition_failed, "reply consumer cannot acknowledge");
}

TEST(DirectReply, OncePerChannel) {  // amqp091 14.1
    Scenario s;
    auto& ch = s.open_channel();
    ch.consume(reply_queue, {.no_ack = true, .reply_name = token});
    ch.consume(reply_queue, {.no_ack = true, .reply_name = token + "x"});
    ch.expect_refused(precondition_failed, "reply consumer already set");
}

TEST(DirectReply, ALateReplyIsDroppedOrReturned) {  // amqp091 14.3
    Scenario s;
    auto& ch = s.open_channel();
    ch.publish(token, "dropped");
    ch.publish(token, "returned", {.mandatory = true});
    EXPECT_THAT(ch.take_returns(), ElementsAre("returned"));
}

TEST(DirectReply, OnlyTheDefaultExchangeKnowsTheName) {  // amqp091 14.3
    Scenario s;
    auto& ch = s.open_channel();
    ch.consume(reply_queue, {.no_ack = true, .reply_name = token});
    ch.publish(token, "m", {.exchange = "amq.direct", .mandatory = true});
    EXPECT_THAT(ch.take_returns(), ElementsAre("m"));
}

TEST(DirectReply, ADeclareAsksWhetherItIsAlive) {  // amqp091 14.3
    Scenario s;
    auto& requester = s.open_channel();
    auto& responder = s.open_channel(s.connect());
    requester.consume(reply_queue, {.no_ack = true, .reply_name = token});
    for (const QueueOptions& options :
         {QueueOptions{}, QueueOptions{.passive = true}, QueueOptions{.exclusive = true}}) {
        const QueueAnswer answer = responder.declare_queue(token, options);
        EXPECT_EQ(answer.message_count, 0U);
        EXPECT_EQ(answer.consumer_count, 1U);
    }
    requester.close();
    responder.declare_queue(token);
    responder.expect_refused(RefusalKind::not_found, "no queue '" + token + "' in vhost '/'");
}

TEST(DirectReply, ThePseudoQueueItselfIsAlwaysThere) {  // amqp091 14.1, 14.3
    Scenario s;
    auto& ch = s.open_channel();
    EXPECT_EQ(ch.declare_queue(reply_queue).consumer_count, 1U);
    EXPECT_FALSE(s.has_queue(reply_queue));
}

TEST(DirectReply, CannotBeBoundNorFetchedFrom) {  // amqp091 14.3
    Scenario s;
    auto& ch = s.open_channel();
    const std::string text = "cannot bind or unbind to a volatile (direct reply-to) queue";
    ch.bind("amq.direct", token, "k");
    ch.expect_refused(RefusalKind::access_refused, text);
    ch.unbind("amq.direct", token, "k");
    ch.expect_refused(RefusalKind::access_refused, text);
    ch.get(token);
    EXPECT_EQ(ch.take_refusal()->kind, RefusalKind::not_implemented);
}

TEST(DirectReply, ACancelFreesTheSlot) {  // amqp091 14.4
    Scenario s;
    auto& ch = s.open_channel();
    const auto consumer = ch.consume(reply_queue, {.no_ack = true, .reply_name = token});
    ch.cancel(consumer);
    ch.publish(token, "late", {.mandatory = true});
    EXPECT_THAT(ch.take_returns(), ElementsAre("late"));
    ch.consume(reply_queue, {.no_ack = true, .reply_name = token + "2"});
    ch.publish(token + "2", "in time");
    EXPECT_THAT(ch.take_bodies(), ElementsAre("in time"));
}

}  // namespace
}  // namespace revenant::engine
