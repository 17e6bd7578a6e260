// Consuming (amqp091, section 11).
#include "tests/support/peer.h"

namespace revenant::amqp091 {
namespace {

using Bodies = std::vector<std::string>;

class ProtocolConsuming : public WireTest {
  protected:
    void publish(std::initializer_list<const char*> bodies) {
        for (const char* body : bodies) channel().publish("", "q", body);
    }
    // A quorum queue with a consumer timeout of one second.
    void declare_impatient(std::string_view queue) {
        const std::string arguments =
            table({{"x-queue-type", "quorum"}, {"x-consumer-timeout", 1000}});
        channel().send(QueueDeclare{.queue = queue, .durable = true, .arguments = arguments});
        channel().expect<QueueDeclareOk>();
    }
};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolConsuming, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp091 11.1
TEST_P(ProtocolConsuming, APrefetchSizeIsNotImplemented) {
    channel().send(BasicQos{.prefetch_size = 1024});
    peer().expect_connection_close<BasicQos>(540, "NOT_IMPLEMENTED - prefetch_size!=0 (1024)");
}

// amqp091 11.1
TEST_P(ProtocolConsuming, PrefetchLimitsEachConsumerStartedLater) {
    channel().declare("q");
    auto consumer = open_channel();
    consumer.qos(1);
    consumer.consume("q", "one");
    consumer.qos(2);
    consumer.consume("q", "two");
    publish({"a", "b", "c", "d", "e"});
    EXPECT_EQ(consumer.expect_delivery("a").consumer_tag, "one");
    EXPECT_EQ(consumer.expect_delivery("b").consumer_tag, "two");
    EXPECT_EQ(consumer.expect_delivery("c").consumer_tag, "two");
    consumer.expect_nothing();
    consumer.ack(1);
    EXPECT_EQ(consumer.expect_delivery("d").consumer_tag, "one");
    consumer.expect_nothing();
    consumer.ack(3);
    EXPECT_EQ(consumer.expect_delivery("e").consumer_tag, "two");
}

// amqp091 11.1: supported here, although RabbitMQ 4.3 has removed it.
TEST_P(ProtocolConsuming, AGlobalPrefetchIsSharedByTheChannel) {
    channel().declare("q");
    auto consumer = open_channel();
    consumer.qos(2, /*global=*/true);
    consumer.consume("q", "one");
    consumer.consume("q", "two");
    publish({"a", "b", "c", "d"});
    consumer.expect_delivery("a");
    consumer.expect_delivery("b");
    consumer.expect_nothing();
    consumer.ack(1);
    consumer.expect_delivery("c");
    consumer.expect_nothing();
    consumer.send(BasicQos{0, 3, true});
    consumer.expect<BasicQosOk>();
    consumer.expect_delivery("d");
}

// amqp091 11.1: with deprecated_features.permit.global_qos = false the behaviour is that of
// RabbitMQ 4.3.
TEST_P(ProtocolConsuming, AGlobalPrefetchThatIsDeniedIsOneOfEachConsumer) {
    settings().permits_global_qos = false;
    channel().declare("q");
    auto consumer = open_channel();
    consumer.qos(1, /*global=*/true);
    consumer.consume("q", "one");
    consumer.consume("q", "two");
    publish({"a", "b", "c"});
    EXPECT_EQ(consumer.expect_delivery("a").consumer_tag, "one");
    EXPECT_EQ(consumer.expect_delivery("b").consumer_tag, "two");
    consumer.expect_nothing();
}

// amqp091 11.1
TEST_P(ProtocolConsuming, ZeroMeansWithoutLimit) {
    channel().declare("q");
    for (int i = 0; i < 300; ++i) publish({"body"});
    auto consumer = open_channel();
    consumer.qos(1);
    consumer.qos(0);
    consumer.consume("q");
    for (int i = 0; i < 300; ++i) consumer.expect_delivery("body");
}

// amqp091 11.2
TEST_P(ProtocolConsuming, PrefetchDoesNotConcernNoAckAndGet) {
    channel().declare("q");
    auto consumer = open_channel();
    consumer.qos(1);
    consumer.consume({.queue = "q", .consumer_tag = "fast", .no_ack = true});
    publish({"a", "b", "c"});
    for (const char* body : {"a", "b", "c"}) consumer.expect_delivery(body);
    consumer.send(BasicCancel{.consumer_tag = "fast"});
    consumer.expect<BasicCancelOk>();
    publish({"d", "e", "f"});
    consumer.get("q");
    consumer.get("q");
    consumer.consume("q", "slow");
    consumer.expect_delivery("f");
}

// amqp091 11.3
TEST_P(ProtocolConsuming, TheServerInventsATag) {
    channel().declare("q");
    const std::string tag = channel().consume("q");
    EXPECT_TRUE(tag.starts_with("amq.ctag-"));
    EXPECT_EQ(tag.size(), 9U + 22U);
    EXPECT_NE(channel().consume("q"), tag);
}

// amqp091 11.3
TEST_P(ProtocolConsuming, ATagIsUsedOncePerChannel) {
    channel().declare("q");
    channel().consume("q", "tag");
    peer().open_channel(2).consume("q", "tag");
    channel().send(BasicConsume{.queue = "q", .consumer_tag = "tag"});
    peer().expect_connection_close<BasicConsume>(
        530, "NOT_ALLOWED - attempt to reuse consumer tag 'tag'");
}

// amqp091 11.3, 19.2
TEST_P(ProtocolConsuming, ConsumeOkPrecedesTheFirstDelivery) {
    channel().declare("q");
    publish({"waiting"});
    channel().send(BasicConsume{.queue = "q", .consumer_tag = "tag"});
    EXPECT_EQ(channel().expect<BasicConsumeOk>().consumer_tag, "tag");
    channel().expect_delivery("waiting");
}

// amqp091 11.3
TEST_P(ProtocolConsuming, NoWaitIsNotAnsweredAndNoLocalIgnored) {
    channel().declare("q");
    channel().send(
        BasicConsume{.queue = "q", .consumer_tag = "tag", .no_local = true, .no_wait = true});
    channel().expect_nothing();
    publish({"of our own"});
    channel().expect_delivery("of our own");
    channel().send(BasicCancel{.consumer_tag = "tag", .no_wait = true});
    channel().expect_nothing();
    channel().consume("q", "tag");
}

// amqp091 11.3
TEST_P(ProtocolConsuming, ConsumingWhatIsNotThereFails) {
    channel().send(BasicConsume{.queue = "missing"});
    channel().expect_close<BasicConsume>(404, "NOT_FOUND - no queue 'missing' in vhost '/'");
}

// amqp091 11.4
TEST_P(ProtocolConsuming, AnExclusiveConsumerIsAlone) {
    const std::string text = "ACCESS_REFUSED - queue 'q' in vhost '/' in exclusive use";
    channel().declare("q");
    channel().consume("q", "first");
    auto other = open_channel();
    other.send(BasicConsume{.queue = "q", .exclusive = true});
    other.expect_close<BasicConsume>(403, text);
    other.reopen();
    channel().send(BasicCancel{.consumer_tag = "first"});
    channel().expect<BasicCancelOk>();
    other.consume({.queue = "q", .consumer_tag = "alone", .exclusive = true});
    channel().send(BasicConsume{.queue = "q"});
    channel().expect_close<BasicConsume>(403, text);
    channel().reopen();
    other.send(BasicCancel{.consumer_tag = "alone"});
    other.expect<BasicCancelOk>();
    channel().consume("q");
}

// amqp091 11.4
TEST_P(ProtocolConsuming, SingleActiveAndExclusiveExcludeEachOther) {
    channel().declare("q", {{"x-single-active-consumer", true}});
    channel().send(BasicConsume{.queue = "q", .exclusive = true});
    channel().expect_close<BasicConsume>(
        403, "ACCESS_REFUSED - queue 'q' in vhost '/' in exclusive use");
}

// amqp091 11.5
TEST_P(ProtocolConsuming, APriorityIsANumber) {
    channel().declare("q");
    const std::string text = table({{"x-priority", "high"}});
    channel().send(BasicConsume{.queue = "q", .arguments = text});
    channel().expect_close<BasicConsume>(
        406,
        "PRECONDITION_FAILED - invalid arg 'x-priority' for queue 'q' in vhost '/': \"expected "
        "integer, got longstr\"");
    channel().reopen();
    const std::string fine = table({{"x-priority", -5}, {"x-cancel-on-ha-failover", true}});
    channel().consume({.queue = "q", .arguments = fine});
}

// amqp091 11.6
TEST_P(ProtocolConsuming, HigherPrioritiesAreServedFirst) {
    channel().declare("q");
    auto consumer = open_channel();
    consumer.qos(2);
    const std::string high = table({{"x-priority", 10}});
    const std::string low = table({{"x-priority", -1}});
    consumer.consume({.queue = "q", .consumer_tag = "low", .arguments = low});
    consumer.consume({.queue = "q", .consumer_tag = "usual"});
    consumer.consume({.queue = "q", .consumer_tag = "high", .arguments = high});
    publish({"1", "2", "3", "4", "5", "6", "7"});
    for (const char* tag : {"high", "high", "usual", "usual", "low", "low"}) {
        EXPECT_EQ(consumer.expect_delivery().consumer_tag, tag);
    }
    consumer.expect_nothing();
    consumer.ack(2);
    EXPECT_EQ(consumer.expect_delivery("7").consumer_tag, "high");
}

// amqp091 11.7
TEST_P(ProtocolConsuming, OneConsumerIsActiveTheOthersWait) {
    channel().declare("q", {{"x-single-active-consumer", true}});
    auto first = open_channel();
    auto second = open_channel();
    auto third = open_channel();
    first.consume("q", "first");
    second.consume("q", "second");
    third.consume("q", "third");
    publish({"a", "b"});
    first.expect_delivery("a");
    first.expect_delivery("b");
    second.expect_nothing();
    first.send(BasicCancel{.consumer_tag = "first"});
    first.expect<BasicCancelOk>();
    publish({"c"});
    second.expect_delivery("c");
    second.peer().disconnect();
    third.expect_delivery("c");
    publish({"d"});
    third.expect_delivery("d");
    first.expect_nothing();
}

// amqp091 11.8
TEST_P(ProtocolConsuming, ADeliveryTellsWhereItCameFrom) {
    channel().declare("q");
    channel().bind("q", "amq.topic", "a.#");
    channel().consume("q", "tag");
    channel().publish("amq.topic", "a.b", "one");
    channel().publish("", "q", "two");
    const auto one = channel().expect_delivery("one");
    EXPECT_EQ(one.consumer_tag, "tag");
    EXPECT_EQ(one.delivery_tag, 1U);
    EXPECT_FALSE(one.redelivered);
    EXPECT_EQ(one.exchange, "amq.topic");
    EXPECT_EQ(one.routing_key, "a.b");
    const auto two = channel().expect_delivery("two");
    EXPECT_EQ(two.delivery_tag, 2U);
    EXPECT_EQ(two.exchange, "");
    EXPECT_EQ(two.routing_key, "q");
}

// amqp091 11.8
TEST_P(ProtocolConsuming, TagsAreCountedPerChannelAndSharedWithGet) {
    channel().declare("q");
    channel().declare("r");
    channel().consume({.queue = "q", .no_ack = true});
    channel().publish("", "q", "a");
    EXPECT_EQ(channel().expect_delivery("a").delivery_tag, 1U);
    channel().publish("", "r", "b");
    EXPECT_EQ(channel().get("r").delivery_tag, 2U);
    channel().publish("", "q", "c");
    EXPECT_EQ(channel().expect_delivery("c").delivery_tag, 3U);
}

// amqp091 11.9
TEST_P(ProtocolConsuming, ReturnedMessagesAreMarked) {
    channel().declare("q");
    publish({"a"});
    EXPECT_FALSE(channel().get("q").redelivered);
    channel().reject(1, true);
    EXPECT_TRUE(channel().get("q").redelivered);
    channel().nack(2, false, true);
    channel().consume("q");
    const auto again = channel().expect_delivery("a");
    EXPECT_TRUE(again.redelivered);
    EXPECT_EQ(again.headers(), Table{}) << "classic queues have no counts";
}

// amqp091 11.10
TEST_P(ProtocolConsuming, GetTellsHowManyAreLeft) {
    channel().declare("q");
    publish({"a", "b", "c"});
    EXPECT_EQ(channel().get("q").message_count, 2U);
    EXPECT_EQ(channel().get("q", true).message_count, 1U);
    EXPECT_EQ(channel().get("q").message_count, 0U);
    channel().send(BasicGet{.queue = "q"});
    channel().expect<BasicGetEmpty>();
    channel().send(BasicGet{.queue = "missing"});
    channel().expect_close<BasicGet>(404, "NOT_FOUND - no queue 'missing' in vhost '/'");
}

// amqp091 11.11
TEST_P(ProtocolConsuming, MultipleSettlesAllUpToTheTag) {
    channel().declare("q");
    publish({"a", "b", "c", "d", "e"});
    auto consumer = open_channel();
    consumer.consume("q");
    for (int i = 0; i < 5; ++i) consumer.expect_delivery();
    consumer.ack(2);
    consumer.nack(3, /*multiple=*/true, /*requeue=*/false);
    consumer.ack(5, /*multiple=*/true);
    consumer.ack(0, /*multiple=*/true);
    consumer.expect_nothing();
    consumer.close();
    EXPECT_EQ(channel().count("q"), 0U);
}

// amqp091 11.11
TEST_P(ProtocolConsuming, TagZeroMeansEverything) {
    channel().declare("q");
    publish({"a", "b", "c"});
    for (int i = 0; i < 3; ++i) channel().get("q");
    channel().nack(0, /*multiple=*/true, /*requeue=*/true);
    EXPECT_EQ(channel().count("q"), 3U);
    channel().nack(0, /*multiple=*/true, /*requeue=*/true);
    channel().expect_nothing();
}

// amqp091 11.11
TEST_P(ProtocolConsuming, AnUnknownTagClosesTheChannel) {
    channel().declare("q");
    publish({"a"});
    const auto expect_unknown = [&](std::uint16_t method, std::uint64_t tag,
                                    Where where = Where::here()) {
        channel().expect_close(406,
                               "PRECONDITION_FAILED - unknown delivery tag " + std::to_string(tag),
                               60, method, where);
        channel().reopen(where);
    };
    channel().ack(1);
    expect_unknown(BasicAck::method_id, 1);
    channel().nack(1, false, true);
    expect_unknown(BasicNack::method_id, 1);
    channel().reject(7, true);
    expect_unknown(BasicReject::method_id, 7);
    channel().ack(0);
    expect_unknown(BasicAck::method_id, 0);
    channel().ack(18446744073709551615U, true);
    expect_unknown(BasicAck::method_id, 18446744073709551615U);
    channel().get("q");
    channel().ack(1);
    channel().ack(1);
    expect_unknown(BasicAck::method_id, 1);
    publish({"b"});
    channel().get("q", true);
    channel().ack(1);
    expect_unknown(BasicAck::method_id, 1);
}

// amqp091 11.11: delivery tags are per channel.
TEST_P(ProtocolConsuming, ATagOfAnotherChannelIsUnknown) {
    channel().declare("q");
    publish({"a"});
    channel().get("q");
    auto other = peer().open_channel(2);
    other.ack(1);
    other.expect_close<BasicAck>(406, "PRECONDITION_FAILED - unknown delivery tag 1");
    channel().ack(1);
    channel().expect_nothing();
}

// amqp091 11.11: multiple with a tag that is already settled.
TEST_P(ProtocolConsuming, MultipleNeedsATagThatIsUnacked) {
    channel().declare("q");
    publish({"a", "b"});
    channel().get("q");
    channel().get("q");
    channel().ack(2);
    channel().ack(2, /*multiple=*/true);
    channel().expect_close<BasicAck>(406, "PRECONDITION_FAILED - unknown delivery tag 2");
}

// amqp091 11.11: the error names the method that failed, even if others were sent after it.
TEST_P(ProtocolConsuming, TheSettlementThatFailedIsNamed) {
    channel().declare("q");
    publish({"a", "b"});
    channel().get("q");
    channel().get("q");
    peer().hold();
    channel().ack(9);
    channel().nack(1, false, true);
    channel().reject(2, true);
    peer().release();
    channel().expect_close<BasicAck>(406, "PRECONDITION_FAILED - unknown delivery tag 9");
}

// amqp091 11.12
TEST_P(ProtocolConsuming, RequeuedMessagesTakeTheirOldPlace) {
    channel().declare("q");
    publish({"a", "b", "c", "d"});
    for (int i = 0; i < 3; ++i) channel().get("q");
    channel().reject(3, true);
    channel().nack(1, false, true);
    EXPECT_EQ(channel().drain("q"), (Bodies{"a", "c", "d"}));
    channel().reject(2, true);
    EXPECT_EQ(channel().drain("q"), Bodies{"b"});
}

// amqp091 11.12
TEST_P(ProtocolConsuming, RejectedMessagesAreDroppedOrDeadLettered) {
    channel().declare("graves");
    channel().declare("q",
                      {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "graves"}});
    channel().declare("plain");
    publish({"a", "b"});
    channel().publish("", "plain", "c");
    channel().get("q");
    channel().get("q");
    channel().get("plain");
    channel().reject(1, false);
    channel().nack(2, false, false);
    channel().reject(3, false);
    EXPECT_EQ(channel().drain("graves"), (Bodies{"a", "b"}));
    EXPECT_EQ(channel().count("plain"), 0U);
}

// amqp091 11.13
TEST_P(ProtocolConsuming, RecoverGivesEverythingBack) {
    channel().declare("q");
    publish({"a", "b"});
    channel().get("q");
    channel().get("q");
    channel().send(BasicRecover{.requeue = true});
    channel().expect<BasicRecoverOk>();
    EXPECT_EQ(channel().count("q"), 2U);
    channel().get("q");
    channel().send(BasicRecoverAsync{.requeue = true});
    channel().expect_nothing();
    EXPECT_EQ(channel().count("q"), 2U);
    EXPECT_TRUE(channel().get("q").redelivered);
}

// amqp091 11.13
TEST_P(ProtocolConsuming, RecoverWithoutRequeueIsNotImplemented) {
    channel().send(BasicRecover{.requeue = false});
    peer().expect_connection_close<BasicRecover>(540, "NOT_IMPLEMENTED - requeue=false");
    Peer& second = connect();
    second.open_channel().send(BasicRecoverAsync{.requeue = false});
    second.expect_connection_close<BasicRecoverAsync>(540, "NOT_IMPLEMENTED - requeue=false");
}

// amqp091 11.14, 19.2
TEST_P(ProtocolConsuming, CancelOkComesBehindTheLastDelivery) {
    channel().declare("q");
    channel().consume("q", "tag");
    peer().hold();
    publish({"a", "b"});
    channel().send(BasicCancel{.consumer_tag = "tag"});
    publish({"c"});
    peer().release();
    channel().expect_delivery("a");
    channel().expect_delivery("b");
    EXPECT_EQ(channel().expect<BasicCancelOk>().consumer_tag, "tag");
    channel().expect_nothing();
    EXPECT_EQ(channel().count("q"), 1U);
    channel().ack(1);
    channel().reject(2, true);
    EXPECT_EQ(channel().drain("q"), (Bodies{"b", "c"}));
}

// amqp091 11.14
TEST_P(ProtocolConsuming, CancellingAnUnknownTagSucceeds) {
    channel().send(BasicCancel{.consumer_tag = "never seen"});
    EXPECT_EQ(channel().expect<BasicCancelOk>().consumer_tag, "never seen");
    channel().send(BasicCancel{.consumer_tag = "never seen", .no_wait = true});
    channel().expect_nothing();
}

// amqp091 11.14: replies are sent in the order of the requests, including those that do not need
// the engine.
TEST_P(ProtocolConsuming, AnswersKeepTheirOrder) {
    channel().declare("q");
    peer().hold();
    channel().send(BasicConsume{.queue = "q", .consumer_tag = "a"});
    channel().send(BasicCancel{.consumer_tag = "unknown"});
    channel().send(QueueDeclare{.queue = "q", .passive = true});
    channel().send(ChannelFlow{.active = true});
    channel().send(BasicCancel{.consumer_tag = "a"});
    channel().send(AccessRequest{});
    channel().send(ConfirmSelect{});
    channel().send(BasicGet{.queue = "q"});
    peer().release();
    channel().expect<BasicConsumeOk>();
    channel().expect<BasicCancelOk>();
    channel().expect<QueueDeclareOk>();
    channel().expect<ChannelFlowOk>();
    channel().expect<BasicCancelOk>();
    channel().expect<AccessRequestOk>();
    channel().expect<ConfirmSelectOk>();
    channel().expect<BasicGetEmpty>();
}

// amqp091 11.15
TEST_P(ProtocolConsuming, AConsumerIsToldThatItsQueueIsGone) {
    auto owner = open_channel();
    owner.send(QueueDeclare{.queue = "mine", .exclusive = true});
    owner.expect<QueueDeclareOk>();
    owner.consume("mine", "tag");
    auto same = owner.peer().open_channel(2);
    same.send(QueueDelete{.queue = "mine"});
    same.expect<QueueDeleteOk>();
    EXPECT_EQ(owner.expect<BasicCancel>(), (BasicCancel{"tag", true}));
    owner.send(BasicCancel{.consumer_tag = "tag"});
    owner.expect<BasicCancelOk>();
}

// amqp091 11.15: clients expect the next frame to be the reply.
TEST_P(ProtocolConsuming, ADeletionIsAnsweredBeforeItsConsumersAreCancelled) {
    channel().declare("q");
    channel().consume("q", "tag");
    channel().send(QueueDelete{.queue = "q"});
    channel().expect<QueueDeleteOk>();
    EXPECT_EQ(channel().expect<BasicCancel>(), (BasicCancel{"tag", true}));
}

// amqp091 11.15: a cancel from the broker crosses one from the client, whose tag is then reused.
TEST_P(ProtocolConsuming, CrossingCancelsDoNotTouchTheNextConsumer) {
    depends_on_distance();
    auto other = open_channel();
    channel().declare("q");
    channel().declare("r");
    channel().consume("q", "tag");
    other.send(QueueDelete{.queue = "q"});
    world().carry(Carry::What::commands);
    channel().send(BasicCancel{.consumer_tag = "tag"});
    channel().send(BasicConsume{.queue = "r", .consumer_tag = "tag"});
    if (GetParam() == Distance::near) channel().expect<BasicCancel>();
    channel().expect<BasicCancelOk>();
    channel().expect<BasicConsumeOk>();
    channel().expect_nothing();
    other.expect<QueueDeleteOk>();
    channel().publish("", "r", "body");
    EXPECT_EQ(channel().expect_delivery("body").consumer_tag, "tag");
    channel().send(BasicCancel{.consumer_tag = "tag"});
    channel().expect<BasicCancelOk>();
    channel().publish("", "r", "nobody is there");
    channel().expect_nothing();
}

// amqp091 11.16
TEST_P(ProtocolConsuming, ConsumersPerChannelCanBeLimited) {
    settings().consumer_max_per_channel = 2;
    channel().declare("q");
    channel().consume("q", "one");
    channel().consume("q", "two");
    channel().send(BasicCancel{.consumer_tag = "one"});
    channel().expect<BasicCancelOk>();
    channel().consume("q", "three");
    channel().send(BasicConsume{.queue = "q", .consumer_tag = "four"});
    peer().expect_connection_close<BasicConsume>(
        530, "NOT_ALLOWED - reached maximum (2) of consumers per channel");
}

// amqp091 11.17
TEST_P(ProtocolConsuming, AConsumerThatKeepsAMessageTooLongIsCancelled) {
    declare_impatient("q");
    channel().consume("q", "tag");
    publish({"a"});
    channel().expect_delivery("a");
    world().advance(milliseconds(1000));
    EXPECT_EQ(channel().expect<BasicCancel>(), (BasicCancel{"tag", true}));
    channel().send(BasicCancelOk{.consumer_tag = "tag"});
    channel().ack(1);  // too late, but the client could not know
    channel().consume("q", "tag");
    EXPECT_TRUE(channel().expect_delivery("a").redelivered);
    channel().ack(2);
    EXPECT_EQ(channel().count("q"), 0U);
}

// amqp091 11.17: a client without consumer cancellation, a message from basic.get, a server
// configured to close the channel.
TEST_P(ProtocolConsuming, AChannelThatKeepsAMessageTooLongIsClosed) {
    constexpr std::string_view text =
        "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value "
        "used: "
        "1000 ms. This timeout value can be configured, see consumers doc guide to learn more";
    declare_impatient("q");
    publish({"a"});
    auto deaf = open_channel({.capabilities = {"basic.nack"}});
    deaf.consume("q", "tag");
    deaf.expect_delivery("a");
    world().advance(milliseconds(1000));
    deaf.expect_close(406, text, 0, 0);
    auto getter = open_channel();
    getter.send(BasicGet{.queue = "q"});
    getter.expect<BasicGetOk>();
    getter.peer().next(1);
    world().advance(milliseconds(1000));
    getter.expect_close(406, text, 0, 0);
    EXPECT_EQ(channel().count("q"), 1U);
}

// amqp091 11.17: consumer_timeout_response
TEST_P(ProtocolConsuming, AChannelMayBeClosedForATimeoutAtAnyRate) {
    settings().consumer_timeout_closes_channel = true;
    declare_impatient("q");
    channel().consume("q", "tag");
    publish({"a"});
    channel().expect_delivery("a");
    world().advance(milliseconds(1000));
    channel().expect_close(406,
                           "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. "
                           "Timeout value used: 1000 ms. This timeout value can be configured, see "
                           "consumers doc guide to learn more",
                           0, 0);
}

// amqp091 11.18
TEST_P(ProtocolConsuming, NoAckSettlesBySending) {
    channel().declare("q");
    publish({"a"});
    channel().consume({.queue = "q", .no_ack = true});
    channel().expect_delivery("a");
    channel().close();
    channel().open();
    EXPECT_EQ(channel().count("q"), 0U);
}

// amqp091 11.19
TEST_P(ProtocolConsuming, EqualConsumersTakeTurns) {
    channel().declare("q");
    auto consumer = open_channel();
    for (const char* tag : {"a", "b", "c"}) consumer.consume("q", tag);
    publish({"1", "2", "3", "4", "5", "6"});
    for (const char* tag : {"a", "b", "c", "a", "b", "c"}) {
        EXPECT_EQ(consumer.expect_delivery().consumer_tag, tag);
    }
}

// amqp091 13.4: deliveries to a client that does not read are paused, and none is lost.
TEST_P(ProtocolConsuming, AClientThatDoesNotReadIsNotDrowned) {
    auto consumer = open_channel();
    channel().declare("q");
    const std::string body(20000, 'x');
    for (int i = 0; i < 200; ++i) channel().publish("", "q", body);
    channel().expect_nothing();
    consumer.peer().expect_nothing();
    world().read(consumer.peer().index(), false);
    consumer.send(BasicConsume{.queue = "q"});
    world().carry();
    EXPECT_LT(consumer.peer().wire().connection().output().unsent_bytes(), 2'000'000U);
    EXPECT_GT(world().engine().state().find_queue("q")->ready_count(), 80U);
    world().read(consumer.peer().index(), true);
    consumer.expect<BasicConsumeOk>();
    for (int i = 0; i < 200; ++i) EXPECT_EQ(consumer.expect_delivery().body.size(), body.size());
}

}  // namespace
}  // namespace revenant::amqp091
