// Behaviour that real clients rely on (amqp091, section 19), with several peers.
#include "tests/support/peer.h"

namespace revenant::amqp091 {
namespace {

using namespace std::string_literals;
using Bodies = std::vector<std::string>;

class ProtocolClientHabits : public WireTest {};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolClientHabits, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp091 19.1: a complete session is sent without waiting for replies.
TEST_P(ProtocolClientHabits, AWholeSessionMayBePipelined) {
    Peer& eager = new_peer();
    eager.hold();
    eager.greet();
    eager.send_start_ok({});
    eager.send_tune_ok_and_open({});
    auto one = eager.channel(1);
    auto two = eager.channel(2);
    one.send(ChannelOpen{});
    one.send(QueueDeclare{.queue = "q"});
    one.publish("", "q", "one");
    two.send(ChannelOpen{});
    two.send(BasicQos{0, 10, false});
    two.send(BasicConsume{.queue = "q", .consumer_tag = "tag"});
    one.publish("", "q", "two");
    one.send(ChannelClose{200, "bye", 0, 0});
    two.send(BasicAck{1, false});
    two.send(BasicCancel{.consumer_tag = "tag"});
    eager.send(0, ConnectionClose{200, "bye", 0, 0});
    eager.release();
    eager.expect<ConnectionStart>();
    eager.expect<ConnectionTune>();
    eager.expect<ConnectionOpenOk>();
    one.expect<ChannelOpenOk>();
    one.expect<QueueDeclareOk>();
    one.expect<ChannelCloseOk>();
    two.expect<ChannelOpenOk>();
    two.expect<BasicQosOk>();
    two.expect<BasicConsumeOk>();
    two.expect_delivery("one");
    two.expect_delivery("two");
    two.expect<BasicCancelOk>();
    eager.expect<ConnectionCloseOk>();
    eager.expect_nothing();
    EXPECT_EQ(channel().drain("q"), Bodies{"two"});
}

// amqp091 19.2: contents on a channel are never interleaved.
TEST_P(ProtocolClientHabits, DeliveriesReturnsAndGetsDoNotMix) {
    channel().declare("q");
    channel().declare("r");
    channel().consume({.queue = "q", .no_ack = true});
    const std::string large(9000, 'l');  // small enough not to pause deliveries
    peer().hold();
    for (int i = 0; i < 20; ++i) {
        channel().publish("", "q", i % 2 == 0 ? large : "small");
        channel().publish({.routing_key = "nowhere", .mandatory = true}, i % 3 == 0 ? large : "");
        channel().publish("", "r", large);
        channel().send(BasicGet{.queue = "r", .no_ack = true});
    }
    peer().release();
    int deliveries = 0;
    int returns = 0;
    int gets = 0;
    for (int i = 0; i < 60; ++i) {
        const Arrival* const arrival = peer().next(1);
        ASSERT_NE(arrival, nullptr);
        if (arrival->key() == BasicDeliver::key) {
            EXPECT_EQ(arrival->body, deliveries++ % 2 == 0 ? large : "small");
        } else if (arrival->key() == BasicReturn::key) {
            EXPECT_EQ(arrival->body, returns++ % 3 == 0 ? large : "");
        } else {
            EXPECT_EQ(arrival->key(), BasicGetOk::key);
            EXPECT_EQ(arrival->body, large);
            gets += 1;
        }
    }
    EXPECT_EQ(deliveries + returns + gets, 60);
    EXPECT_EQ(deliveries, 20);
    EXPECT_EQ(returns, 20);
}

// amqp091 19.3: a channel close is answered in every state of the channel.
TEST_P(ProtocolClientHabits, ACloseIsAnsweredInTheMiddleOfAContent) {
    channel().declare("q");
    channel().send(BasicPublish{.routing_key = "q"});
    peer().send(header_frame(1, 100, "\0\0"s) + body_frame(1, "part"));
    peer().close();
    EXPECT_EQ(open_channel().count("q"), 0U);
}

// amqp091 19.3: a client sends several closes.
TEST_P(ProtocolClientHabits, EveryCloseIsAnswered) {
    for (std::uint16_t number = 1; number <= 10; ++number) peer().open_channel(number);
    peer().hold();
    for (std::uint16_t number = 1; number <= 10; ++number) {
        peer().send(number, ChannelClose{200, "bye", 0, 0});
    }
    peer().send(0, ConnectionClose{200, "bye", 0, 0});
    peer().release();
    for (std::uint16_t number = 1; number <= 10; ++number) peer().expect<ChannelCloseOk>(number);
    peer().expect<ConnectionCloseOk>();
}

// amqp091 19.5: a client that lost its connection declares everything again.
TEST_P(ProtocolClientHabits, ARecoveringClientFindsItsNamesFree) {
    auto before = open_channel();
    const std::string name(before.declare("", {}).queue);
    before.send(QueueDeclare{.queue = "mine", .exclusive = true});
    before.expect<QueueDeclareOk>();
    before.peer().disconnect();
    auto after = open_channel();
    after.send(QueueDeclare{.queue = "mine", .exclusive = true});
    after.expect<QueueDeclareOk>();
    EXPECT_EQ(after.declare(name).queue, name);
    after.send(QueueDelete{.queue = name});
    after.expect<QueueDeleteOk>();
    after.send(QueueDeclare{.queue = name, .passive = true});
    after.expect_close<QueueDeclare>(404, "NOT_FOUND - no queue '" + name + "' in vhost '/'");
}

// amqp091 19.6: the commands that Celery sends at startup.
TEST_P(ProtocolClientHabits, CeleryCanStart) {
    Peer& worker = new_peer();
    worker.greet();
    worker.expect<ConnectionStart>();
    const std::string properties = worker.client_properties({});
    const std::string response = table({{"LOGIN", "guest"}, {"PASSWORD", "guest"}});
    worker.send(0, ConnectionStartOk{.client_properties = properties,
                                     .mechanism = "AMQPLAIN",
                                     .response = response,
                                     .locale = "en_US"});
    worker.expect<ConnectionTune>();
    worker.send_tune_ok_and_open({});
    worker.expect<ConnectionOpenOk>();
    auto one = worker.open_channel();
    one.qos(4, /*global=*/true);
    one.send(ExchangeDeclare{.exchange = "celery.pidbox", .type = "fanout"});
    one.expect<ExchangeDeclareOk>();
    const std::string arguments = table({{"x-expires", 10000}, {"x-message-ttl", 300000}});
    one.send(QueueDeclare{
        .queue = "celery@host.celery.pidbox", .auto_delete = true, .arguments = arguments});
    one.expect<QueueDeclareOk>();
    one.bind("celery@host.celery.pidbox", "celery.pidbox");
    one.consume({.queue = "celery@host.celery.pidbox", .no_ack = true});
}

// Peers on the home reactor and on another reactor share an engine and see the same state.
TEST_P(ProtocolClientHabits, NearAndFarPeersMeetInOneEngine) {
    Peer near(world(), Connect{Distance::near, PeerLocation::loopback});
    Peer far(world(), Connect{Distance::far, PeerLocation::loopback});
    near.connect();
    far.connect();
    auto here = near.open_channel();
    auto there = far.open_channel();
    here.declare("q");
    there.consume("q", "there");
    here.consume("q", "here");
    for (const char* body : {"1", "2", "3", "4"}) here.publish("", "q", body);
    there.expect_delivery("1");
    here.expect_delivery("2");
    there.expect_delivery("3");
    here.expect_delivery("4");
    there.nack(0, /*multiple=*/true, /*requeue=*/true);
    there.expect_delivery("1");
    here.expect_delivery("3");
}

}  // namespace
}  // namespace revenant::amqp091
