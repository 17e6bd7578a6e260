// Errors and closing of channels and connections, and the methods that are still allowed (amqp091,
// section 4).
#include "tests/support/peer.h"

namespace revenant::amqp091 {
namespace {

using namespace std::string_literals;

class ProtocolClosing : public WireTest {
  protected:
    // Declares the exclusive queue "mine" and takes the only message of the queue "q" without
    // settling it.
    void own_and_take(Peer& leaving, PeerChannel& other) {
        auto owner = leaving.open_channel();
        owner.send(QueueDeclare{.queue = "mine", .exclusive = true});
        owner.expect<QueueDeclareOk>();
        other.declare("q");
        other.publish("", "q", "one");
        owner.consume("q");
        owner.expect_delivery("one");
    }
};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolClosing, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp091 4.1
TEST_P(ProtocolClosing, ASoftErrorClosesTheChannelOnly) {
    auto other = peer().open_channel(2);
    channel().send(QueueDeclare{.queue = "missing", .passive = true});
    channel().expect_close<QueueDeclare>(404, "NOT_FOUND - no queue 'missing' in vhost '/'");
    other.declare("q");
    EXPECT_TRUE(peer().is_open());
}

// amqp091 4.2
TEST_P(ProtocolClosing, AHardErrorClosesTheConnection) {
    auto other = peer().open_channel(2);
    channel().send(BasicQos{.prefetch_size = 1});
    peer().expect_connection_close<BasicQos>(540, "NOT_IMPLEMENTED - prefetch_size!=0 (1)");
    other.send(QueueDeclare{.queue = "q"});
    peer().expect_nothing();
    peer().send(0, ConnectionCloseOk{});
    peer().expect_end();
}

// amqp091 4.2: every error on channel 0 is hard.
TEST_P(ProtocolClosing, AnyErrorOnChannelZeroClosesTheConnection) {
    peer().send(0, ChannelOpen{});
    peer().expect_connection_close<ChannelOpen>(
        504, "CHANNEL_ERROR - unexpected method in connection state running");
}

// amqp091 4.3
TEST_P(ProtocolClosing, AReplyTextIsCutToAShortString) {
    const std::string name(250, 'n');
    channel().send(QueueDeclare{.queue = name, .passive = true});
    const std::string whole = "NOT_FOUND - no queue '" + name + "' in vhost '/'";
    channel().expect_close<QueueDeclare>(404, whole.substr(0, 252) + "...");
}

// amqp091 4.3: clients decode the text as UTF-8, so it is truncated between characters.
TEST_P(ProtocolClosing, AReplyTextIsCutBetweenCharacters) {
    std::string name(229, 'n');
    name += "éé";
    channel().send(QueueDeclare{.queue = name, .passive = true});
    const auto close = channel().expect<ChannelClose>();
    EXPECT_EQ(close.reply_text, "NOT_FOUND - no queue '" + std::string(229, 'n') + "...");
}

// amqp091 4.4: before close-ok, everything but close and close-ok is ignored.
TEST_P(ProtocolClosing, AClosedChannelIgnoresEverythingButItsEnd) {
    channel().send(QueueDeclare{.queue = "missing", .passive = true});
    channel().expect_close<QueueDeclare>(404, "NOT_FOUND - no queue 'missing' in vhost '/'");
    channel().send(QueueDeclare{.queue = "late"});
    channel().publish("nowhere", "k", "body");
    peer().send(body_frame(1, "stray"));
    channel().send(ChannelOpen{});
    channel().send(BasicAck{99, false});
    peer().expect_nothing();
    EXPECT_TRUE(peer().is_open());
    channel().close_ok();
    channel().open();
    EXPECT_FALSE(channel().exists("late"));
}

// amqp091 4.4
TEST_P(ProtocolClosing, UnackedMessagesAreBackBeforeTheCloseIsRead) {
    auto other = open_channel();
    channel().declare("q");
    channel().publish("", "q", "one");
    channel().consume("q");
    channel().expect_delivery("one");
    EXPECT_EQ(other.count("q"), 0U);
    channel().send(QueueDeclare{.queue = "missing", .passive = true});
    channel().expect_close<QueueDeclare>(404, "NOT_FOUND - no queue 'missing' in vhost '/'");
    other.send(QueueDeclare{.queue = "q", .passive = true});
    const auto ok = other.expect<QueueDeclareOk>();
    EXPECT_EQ(ok.message_count, 1U);
    EXPECT_EQ(ok.consumer_count, 0U);
    EXPECT_TRUE(other.get("q").redelivered);
}

// amqp091 4.4, 19.3: both sides close at the same time.
TEST_P(ProtocolClosing, CrossingClosesOfAChannelAreBothAnswered) {
    channel();
    peer().send(method_frame(1, QueueDeclare{.queue = "missing", .passive = true}) +
                method_frame(1, ChannelClose{200, "bye", 0, 0}));
    channel().expect_close<QueueDeclare>(404, "NOT_FOUND - no queue 'missing' in vhost '/'");
    channel().expect<ChannelCloseOk>();
    channel().close_ok();
    channel().open();
    channel().declare("q");
}

// amqp091 4.4, 19.3: crossing closes after an error that the channel detects itself.
TEST_P(ProtocolClosing, CrossingClosesAfterARefusedPermission) {
    add_user("poor", {"", "", ""});
    Peer& poor = connect({.user = "poor", .password = "secret"});
    auto refused = poor.open_channel();
    poor.send(method_frame(1, QueueDeclare{.queue = "q"}) +
              method_frame(1, ChannelClose{200, "bye", 0, 0}));
    refused.expect_close<QueueDeclare>(
        403, "ACCESS_REFUSED - configure access to queue 'q' in vhost '/' refused for user 'poor'");
    refused.expect<ChannelCloseOk>();
    refused.reopen();
}

// amqp091 4.4: a failed publish is reported even if the client is closing.
TEST_P(ProtocolClosing, AFailedPublishBeforeCloseIsTold) {
    channel();
    peer().hold();
    channel().publish("missing", "k", "body");
    channel().send(ChannelClose{200, "bye", 0, 0});
    peer().release();
    channel().expect_close<BasicPublish>(404, "NOT_FOUND - no exchange 'missing' in vhost '/'");
    channel().expect<ChannelCloseOk>();
    channel().reopen();
}

// amqp091 4.4
TEST_P(ProtocolClosing, AChannelNumberCanBeUsedAgain) {
    for (int i = 0; i < 3; ++i) {
        auto again = peer().open_channel(5);
        again.declare("q");
        again.close();
    }
    auto failing = peer().open_channel(5);
    failing.send(BasicAck{7, false});
    failing.expect_close<BasicAck>(406, "PRECONDITION_FAILED - unknown delivery tag 7");
    failing.reopen();
    failing.declare("q");
}

// amqp091 4.4: a reopened channel has none of the old channel's state.
TEST_P(ProtocolClosing, AReopenedChannelBeginsAfresh) {
    channel().declare("q");
    channel().select_confirms();
    channel().publish("", "q", "one");
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{1, false}));
    channel().consume("q", "tag");
    EXPECT_EQ(channel().expect_delivery("one").delivery_tag, 1U);
    channel().close();
    channel().open();
    channel().select_transaction();
    channel().send(QueuePurge{.queue = ""});
    channel().expect_close<QueuePurge>(404, "NOT_FOUND - no previously declared queue");
    channel().reopen();
    channel().select_confirms();
    channel().publish("", "q", "two");
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{1, false}));
    channel().consume("q", "tag");
    EXPECT_EQ(channel().expect_delivery("one").delivery_tag, 1U);
    channel().expect_delivery("two");
}

// amqp091 4.4: an unexpected close-ok is ignored.
TEST_P(ProtocolClosing, AStrayCloseOkIsIgnored) {
    channel().close_ok();
    peer().send(9, ChannelCloseOk{});
    channel().declare("q");
    channel().close();
    channel().close_ok();
    peer().expect_nothing();
    EXPECT_TRUE(peer().is_open());
}

// amqp091 4.5
TEST_P(ProtocolClosing, AClosingConnectionIgnoresEverythingButItsEnd) {
    channel().send(BasicPublish{.immediate = true});
    peer().expect_connection_close<BasicPublish>(540, "NOT_IMPLEMENTED - immediate=true");
    channel().send(QueueDeclare{.queue = "late"});
    peer().send(0, ConnectionTuneOk{});
    peer().send(raw_frame(8, 0, ""));
    peer().send(3, ChannelOpen{});
    peer().expect_nothing();
    EXPECT_TRUE(peer().is_open());
    peer().send(0, ConnectionCloseOk{});
    peer().expect_end();
    EXPECT_FALSE(open_channel().exists("late"));
}

// amqp091 4.5: a client that never replies is disconnected after thirty seconds at the latest.
TEST_P(ProtocolClosing, CloseOkIsNotAwaitedForEver) {
    const std::vector<std::pair<std::uint16_t, int>> heartbeats_and_patience = {
        {0, 30}, {10, 10}, {600, 30}};
    for (const auto& [heartbeat, patience] : heartbeats_and_patience) {
        Peer& silent = connect({.heartbeat = heartbeat});
        silent.send(0, ChannelOpen{});
        silent.expect<ConnectionClose>();
        world().advance(milliseconds(patience * 1000 - 500));
        EXPECT_TRUE(silent.is_open()) << heartbeat;
        world().advance(milliseconds(1000));
        silent.expect_end();
    }
}

// amqp091 4.5
TEST_P(ProtocolClosing, ExclusiveQueuesAreGoneBeforeTheCloseIsRead) {
    auto other = open_channel();
    auto failing = open_channel();
    failing.send(QueueDeclare{.queue = "mine", .exclusive = true});
    failing.expect<QueueDeclareOk>();
    failing.send(BasicQos{.prefetch_size = 1});
    world().carry();
    EXPECT_EQ(world().engine().state().find_queue("mine"), nullptr);
    EXPECT_FALSE(other.exists("mine"));
    failing.peer().expect_connection_close<BasicQos>(540, "NOT_IMPLEMENTED - prefetch_size!=0 (1)");
}

// amqp091 4.5, 19.3: both sides close at the same time.
TEST_P(ProtocolClosing, CrossingClosesOfAConnectionAreBothAnswered) {
    channel();
    peer().send(method_frame(1, BasicQos{.prefetch_size = 1}) +
                method_frame(0, ConnectionClose{200, "bye", 0, 0}));
    peer().expect_connection_close<BasicQos>(540, "NOT_IMPLEMENTED - prefetch_size!=0 (1)");
    peer().expect<ConnectionCloseOk>();
    peer().send(0, ConnectionCloseOk{});
    peer().expect_end();
}

// amqp091 4.6, 19.3: the client closes the socket.
TEST_P(ProtocolClosing, ACloseOfTheClientIsAnswered) {
    channel().declare("q");
    peer().close();
    world().advance(seconds(20));
    EXPECT_TRUE(peer().is_open());
    peer().disconnect();
    EXPECT_TRUE(open_channel().exists("q"));
}

// amqp091 4.6: a client that does not close the socket is disconnected after a timeout.
TEST_P(ProtocolClosing, AClientThatNeverHangsUpIsLetGo) {
    peer().close();
    peer().send(1, ChannelOpen{});
    world().advance(seconds(31));
    peer().expect_end();
}

// amqp091 4.6
TEST_P(ProtocolClosing, ExclusiveQueuesAreGoneWhenCloseReturns) {
    auto other = open_channel();
    Peer& leaving = connect();
    own_and_take(leaving, other);
    leaving.close();
    EXPECT_EQ(world().engine().state().find_queue("mine"), nullptr);
    EXPECT_EQ(other.count("q"), 1U);
}

// amqp091 4.6: frames before the close are processed, frames after it are ignored.
TEST_P(ProtocolClosing, WhatComesBehindACloseIsIgnored) {
    auto other = open_channel();
    Peer& leaving = connect();
    leaving.open_channel();
    leaving.send(method_frame(1, QueueDeclare{.queue = "before"}) +
                 method_frame(0, ConnectionClose{200, "bye", 0, 0}) +
                 method_frame(1, QueueDeclare{.queue = "behind"}) + "garbage that is no frame");
    leaving.expect<QueueDeclareOk>(1);
    leaving.expect<ConnectionCloseOk>();
    EXPECT_TRUE(other.exists("before"));
    EXPECT_FALSE(other.exists("behind"));
}

// amqp091 4.6: a client may also close during the handshake, after the login.
TEST_P(ProtocolClosing, AClientMayChangeItsMindDuringTheHandshake) {
    Peer& tuning = new_peer();
    tuning.log_in();
    tuning.send(0, ConnectionClose{200, "bye", 0, 0});
    tuning.expect<ConnectionCloseOk>();
}

// amqp091 4.7
TEST_P(ProtocolClosing, AnOperatorClosesWithAReason) {
    channel().send(QueueDeclare{.queue = "mine", .exclusive = true});
    channel().expect<QueueDeclareOk>();
    world().close_forced(peer().index(), "Closed via management plugin");
    peer().expect_connection_close(320, "CONNECTION_FORCED - Closed via management plugin", 0, 0);
    EXPECT_FALSE(open_channel().exists("mine"));
    peer().send(0, ConnectionCloseOk{});
    peer().expect_end();
}

// amqp091 4.7
TEST_P(ProtocolClosing, ANodeThatGoesSaysSo) {
    world().close_forced(peer().index(), "broker forced connection closure with reason 'shutdown'");
    peer().expect_connection_close(
        320, "CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'", 0, 0);
    Peer& stranger = new_peer();
    stranger.greet();
    stranger.expect<ConnectionStart>();
    world().close_forced(stranger.index(), "shutdown");
    stranger.expect_end();
}

// amqp091 4.8: malformed properties are the only internal error of this layer.
TEST_P(ProtocolClosing, UnreadablePropertiesAreAnInternalError) {
    channel().send(BasicPublish{.routing_key = "q"});
    peer().send(header_frame(1, 0, "\x80\0"s));
    peer().expect_connection_close<BasicPublish>(541, "INTERNAL_ERROR - truncated");
}

// amqp091 5.6, 4.6: a lost connection has the same effect as a closed one.
TEST_P(ProtocolClosing, AVanishedPeerLeavesNothingBehind) {
    auto other = open_channel();
    Peer& vanishing = connect();
    own_and_take(vanishing, other);
    vanishing.disconnect();
    EXPECT_FALSE(other.exists("mine"));
    EXPECT_TRUE(other.get("q").redelivered);
}

}  // namespace
}  // namespace revenant::amqp091
