// Channels (amqp091, section 5).
#include "tests/support/hex.h"
#include "tests/support/peer.h"

namespace revenant::amqp091 {
namespace {

class ProtocolChannels : public WireTest {};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolChannels, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp091 5.1
TEST_P(ProtocolChannels, TheFirstMethodMustBeOpen) {
    peer().send(3, QueueDeclare{.queue = "q"});
    peer().expect_connection_close<QueueDeclare>(504, "CHANNEL_ERROR - expected 'channel.open'");
}

// amqp091 5.1
TEST_P(ProtocolChannels, ContentOnAnUnknownChannelIsNoOpenEither) {
    peer().send(body_frame(3, "body"));
    peer().expect_connection_close(504, "CHANNEL_ERROR - expected 'channel.open'", 0, 0);
}

// amqp091 5.1
TEST_P(ProtocolChannels, AChannelIsOpenedOnce) {
    channel().send(ChannelOpen{});
    peer().expect_connection_close<ChannelOpen>(504, "CHANNEL_ERROR - second 'channel.open' seen");
}

// amqp091 5.2
TEST_P(ProtocolChannels, AsManyChannelsAsNegotiated) {
    Peer& limited = connect({.channel_max = 3});
    limited.open_channel(1);
    limited.open_channel(2);
    limited.open_channel(3);
    limited.send(4, ChannelOpen{});
    limited.expect_connection_close<ChannelOpen>(
        530,
        "NOT_ALLOWED - number of channels opened (3) has reached the negotiated channel_max (3)");
}

// amqp091 5.2: the limit applies to the count of channels, not to their numbers.
TEST_P(ProtocolChannels, ChannelNumbersMayBeBeyondTheMaximum) {
    Peer& limited = connect({.channel_max = 2});
    limited.open_channel(65535).declare("q");
    limited.open_channel(1000).close();
    limited.open_channel(2000).declare("q");
}

// amqp091 5.2: a closed channel does not count, even if its close and the next open arrive
// together.
TEST_P(ProtocolChannels, AClosedChannelMakesRoom) {
    Peer& limited = connect({.channel_max = 1});
    limited.open_channel(1).close();
    limited.open_channel(2);
    limited.send(2, QueueDeclare{.queue = "missing", .passive = true});
    limited.expect<ChannelClose>(2);
    limited.send(method_frame(2, ChannelCloseOk{}) + method_frame(3, ChannelOpen{}));
    limited.expect<ChannelOpenOk>(3);
}

// amqp091 5.3
TEST_P(ProtocolChannels, FlowIsOnAndStaysOn) {
    channel().send(ChannelFlow{.active = true});
    EXPECT_TRUE(channel().expect<ChannelFlowOk>().active);
    channel().send(ChannelFlow{.active = false});
    peer().expect_connection_close<ChannelFlow>(540, "NOT_IMPLEMENTED - active=false");
}

// amqp091 5.4
TEST_P(ProtocolChannels, AccessIsGrantedAsEver) {
    channel().send(AccessRequest{.realm = "/data", .active = true, .write = true});
    EXPECT_EQ(channel().expect<AccessRequestOk>().ticket, 1);
}

// amqp091 5.5
TEST_P(ProtocolChannels, AMethodOfTheServerIsUnimplemented) {
    channel().send(QueueDeclareOk{.queue = "q"});
    peer().expect_connection_close<QueueDeclareOk>(503, "COMMAND_INVALID - unimplemented method");
}

// amqp091 5.5
TEST_P(ProtocolChannels, AnUnknownMethodIsUnimplemented) {
    channel();
    peer().send(raw_frame(1, 1, from_hex("003c 0063")));
    peer().expect_connection_close(503, "COMMAND_INVALID - unimplemented method", 60, 99);
    Peer& second = connect();
    second.open_channel();
    second.send(raw_frame(1, 1, from_hex("0063 0001")));
    second.expect_connection_close(503, "COMMAND_INVALID - unimplemented method", 99, 1);
    Peer& third = connect();
    third.send(raw_frame(1, 0, from_hex("000a 0063")));
    third.expect_connection_close(503, "COMMAND_INVALID - unimplemented method", 10, 99);
}

// amqp091 5.5: connection methods are invalid on a channel.
TEST_P(ProtocolChannels, AMethodOfTheConnectionHasNoPlaceOnAChannel) {
    channel().send(ConnectionClose{200, "bye", 0, 0});
    peer().expect_connection_close<ConnectionClose>(503, "COMMAND_INVALID - unimplemented method");
}

// amqp091 5.6
TEST_P(ProtocolChannels, AClosedChannelGivesItsMessagesBack) {
    auto other = open_channel();
    channel().declare("q");
    for (const char* body : {"one", "two", "three"}) channel().publish("", "q", body);
    channel().consume("q");
    for (const char* body : {"one", "two", "three"}) channel().expect_delivery(body);
    channel().ack(2);
    channel().close();
    other.send(QueueDeclare{.queue = "q", .passive = true});
    const auto ok = other.expect<QueueDeclareOk>();
    EXPECT_EQ(ok.message_count, 2U);
    EXPECT_EQ(ok.consumer_count, 0U);
    const auto first = other.get("q");
    EXPECT_EQ(first.body, "one");
    EXPECT_TRUE(first.redelivered);
    EXPECT_EQ(other.get("q").body, "three");
}

// amqp091 5.6, 10.1: pending confirms are sent before close-ok.
TEST_P(ProtocolChannels, ConfirmsComeBeforeCloseOk) {
    channel().declare("q");
    channel().select_confirms();
    peer().hold();
    channel().publish("", "q", "one");
    channel().publish("", "q", "two");
    channel().send(ChannelClose{200, "bye", 0, 0});
    peer().release();
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{2, true}));
    channel().expect<ChannelCloseOk>();
    EXPECT_EQ(open_channel().count("q"), 2U);
}

// amqp091 5.1: channels do not block each other.
TEST_P(ProtocolChannels, ManyChannelsWorkSideBySide) {
    for (std::uint16_t number = 1; number <= 50; ++number) peer().send(number, ChannelOpen{});
    for (std::uint16_t number = 1; number <= 50; ++number) {
        peer().expect<ChannelOpenOk>(number);
        const std::string name = "q" + std::to_string(number);
        peer().send(number, QueueDeclare{.queue = name});
        EXPECT_EQ(peer().expect<QueueDeclareOk>(number).queue, name);
    }
}

}  // namespace
}  // namespace revenant::amqp091
