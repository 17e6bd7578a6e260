// Errors and closing of connections (amqp10, 2.11, 2.12 and section 8).
#include "amqp10/codec/raw_fields.h"
#include "tests/support/peer10.h"

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;

class Closing10 : public Wire10Test {};
INSTANTIATE_TEST_SUITE_P(Wire, Closing10, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp10 2.12
TEST_P(Closing10, ACloseIsAnsweredAndTheSocketCloses) {
    declare("q");
    channel().publish("", "q", "m");
    session().attach_receiver(0, "/queues/q", 1);
    session().expect_message("m");
    peer10().close();
    peer10().expect_socket_closed();
    EXPECT_EQ(channel().count("q"), 1U);
}

TEST_P(Closing10, ACloseWithAnErrorIsAnsweredTheSame) {
    const std::string error = encode_fault({condition::internal_error, "I am confused", {}});
    peer10().send(0, Close{.error = error});
    EXPECT_TRUE(is_absent(peer10().expect<Close>().error));
    peer10().expect_socket_closed();
}

// Outcomes of messages settled before the close are sent.
TEST_P(Closing10, OutcomesAreToldBeforeTheClose) {
    declare("q");
    session().attach_sender(0, "/queues/q");
    peer10().hold();
    session().transfer(0, 0, MessageBytes("kept"));
    peer10().send(0, Close{});
    peer10().release();
    if (GetParam() == Distance::near) session().expect_outcome<Accepted>(0);
    depends_on_distance();
    peer10().expect<Close>();
    peer10().expect_socket_closed();
    EXPECT_EQ(channel().drain("q"), std::vector<std::string>{"kept"});
}

TEST_P(Closing10, NothingCountsBehindAClose) {
    declare("q");
    session().attach_sender(0, "/queues/q");
    peer10().hold();
    peer10().send(0, Close{});
    session().transfer(0, 0, MessageBytes("late"), true);
    peer10().send("garbage");
    peer10().release();
    peer10().expect<Close>();
    peer10().expect_socket_closed();
    EXPECT_EQ(channel().count("q"), 0U);
}

// amqp10 2.12
TEST_P(Closing10, AnOperatorMayForceIt) {
    declare("q");
    channel().publish("", "q", "m");
    session().attach_receiver(0, "/queues/q", 1);
    session().expect_message("m");
    world().close_forced(peer10().index(), "maintenance");
    peer10().expect_close("amqp:internal-error", "Connection forced: \"maintenance\"");
    EXPECT_EQ(channel().count("q"), 1U);
    peer10().send(0, Close{});
    peer10().expect_socket_closed();
}

TEST_P(Closing10, AForcedCloseDuringTheHandshakeDropsTheSocket) {
    Peer& client = new_peer10();
    client.greet();
    world().close_forced(client.index(), "maintenance");
    client.expect_socket_closed();
}

// An auto-delete queue that is deleted with the connection is not reported to its other links.
TEST_P(Closing10, NothingIsSaidOfQueuesThatGoWithTheConnection) {
    const auto attach_both = [&](Peer& client) {
        channel().send(amqp091::QueueDeclare{.queue = "auto", .auto_delete = true});
        channel().expect<amqp091::QueueDeclareOk>();
        PeerSession links = client.begin();
        links.attach_sender(0, "/queues/auto");
        links.attach_receiver(1, "/queues/auto");
        links.attach_sender(2, "/queues/auto");
    };
    Peer& by_client = connect10();
    attach_both(by_client);
    by_client.close();
    by_client.expect_socket_closed();
    EXPECT_FALSE(channel().exists("auto"));
    Peer& by_operator = connect10();
    attach_both(by_operator);
    world().close_forced(by_operator.index(), "maintenance");
    by_operator.expect_close("amqp:internal-error", "Connection forced: \"maintenance\"");
    by_operator.send(0, Close{});
    by_operator.expect_socket_closed();
    Peer& by_error = connect10();
    attach_both(by_error);
    by_error.send(99, Begin{});
    by_error.expect_close("amqp:connection:framing-error",
                          "channel number (99) exceeds maximum channel number (63)");
}

// The consumer of an auto-delete queue is closed first, and its senders are not notified.
TEST_P(Closing10, ANodeThatStopsSaysNothingButClose) {
    channel().send(amqp091::QueueDeclare{.queue = "auto", .auto_delete = true});
    channel().expect<amqp091::QueueDeclareOk>();
    Peer& consumer = connect10();
    consumer.begin().attach_receiver(0, "/queues/auto");
    Peer& sender = connect10();
    sender.begin().attach_sender(0, "/queues/auto");
    world().shut_down("shutdown");
    for (Peer* const client : {&consumer, &sender}) {
        client->expect_close("amqp:internal-error", "Connection forced: \"shutdown\"");
        client->send(0, Close{});
        client->expect_socket_closed();
    }
    channel().peer().ignore_rest();
}

// A client that does not reply to the broker's close is disconnected after a timeout.
TEST_P(Closing10, ACloseThatIsNotAnsweredTimesOut) {
    world().close_forced(peer10().index(), "maintenance");
    peer10().expect_close("amqp:internal-error", "Connection forced: \"maintenance\"");
    peer10().send(0, Begin{});
    peer10().expect_nothing();
    world().advance(milliseconds(9500));
    EXPECT_TRUE(peer10().is_open());
    world().advance(milliseconds(1000));
    peer10().expect_socket_closed();
}

// amqp10 2.11: later bytes cannot be trusted, so the socket is closed soon.
TEST_P(Closing10, FramingErrorsCloseTheConnection) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"\0\2\0\1\2\0\0\0"s, "frame size (131073 bytes) > maximum frame size (131072 bytes)"},
        {"\0\0\0\7\2\0\0\0"s, "frame size (7 bytes) < minimum frame size (8 bytes)"},
        {"\0\0\0\x0a\1\0\0\0"s, "data offset (1) < minimum data offset (2)"},
        {"\0\0\0\x0a\3\0\0\0"s, "data offset (12 bytes) > frame size (10 bytes)"},
        {"\0\0\0\x0a\2\1\0\0"s, "unexpected frame type 1 in amqp mode (expected 0)"},
        {"\0\0\0\x0a\2\7\0\0"s, "unexpected frame type 7 in amqp mode (expected 0)"},
    };
    for (const auto& [bytes, text] : cases) {
        Peer& client = connect10();
        client.send(bytes + frame10(0, Begin{}) + frame10(0, Close{}));
        const auto close = client.expect<Close>();
        EXPECT_EQ(error_in(close.error).condition, "amqp:connection:framing-error");
        EXPECT_EQ(error_in(close.error).description, text);
        world().advance(milliseconds(2500));
        EXPECT_TRUE(client.is_open());
        world().advance(milliseconds(1000));
        client.expect_socket_closed();
    }
}

// amqp10 1.1: an extended header is skipped.
TEST_P(Closing10, AnExtendedHeaderIsNoError) {
    const std::string begin = frame10(0, Begin{.incoming_window = 1, .outgoing_window = 1});
    std::string wide = begin;
    wide.insert(8, "????");
    wide[3] = static_cast<char>(wide.size());
    wide[4] = 3;
    peer10().send(wide);
    peer10().expect<Begin>();
}

TEST_P(Closing10, AHeartbeatMayComeOnAnyChannel) {
    peer10().send(frame10(FrameType::amqp, 0, "") + frame10(FrameType::amqp, 999, ""));
    peer10().expect_nothing();
    EXPECT_TRUE(peer10().is_open());
}

// A frame with an unreadable performative.
TEST_P(Closing10, AFrameWithoutAPerformativeClosesTheConnection) {
    for (const std::string& body :
         {"\x40"s, "\x00"s, "garbage"s, "\x00\x53\x11"s, "\x00\x53\x11\xc0\x05\x01"s,
          "\x00\x53\x11\x40"s, "\x00\xa3\x03odd\x45"s, "\x00\x40\x45"s,
          "\x00\x53\x11\xd0\xff\xff\xff\xff\xff\xff\xff\xff"s}) {
        Peer& client = connect10();
        client.send(frame10(FrameType::amqp, 0, body));
        client.expect_close("amqp:decode-error", "cannot decode performative");
        client.send(0, Close{});
        client.expect_socket_closed();
    }
}

TEST_P(Closing10, CrossingClosesEndTheConnection) {
    peer10();
    world().close_forced(peer10().index(), "maintenance");
    peer10().send(0, Close{});
    peer10().expect_close("amqp:internal-error", "Connection forced: \"maintenance\"");
    peer10().expect_socket_closed();
}

TEST_P(Closing10, AnErrorOfTheConnectionPutsMessagesBack) {
    declare_quorum("q");
    channel().publish("", "q", "m");
    session().attach_receiver(0, "/queues/q", 1);
    session().expect_message("m");
    peer10().send(99, Begin{});
    peer10().expect_close("amqp:connection:framing-error",
                          "channel number (99) exceeds maximum channel number (63)");
    EXPECT_EQ(channel().count("q"), 1U);
}

TEST_P(Closing10, ALostConnectionTakesItsExclusiveQueuesAlong) {
    const std::string target = temporary_queue<Target>();
    session().send(Attach{.name = "n", .handle = 0, .target = target, .initial_delivery_count = 0});
    const std::string address =
        string_of(composite_in<Target>(session().expect<Attach>().target)->address).value_or("");
    session().expect<Flow>();
    peer10().disconnect();
    PeerSession other = connect10().begin();
    other.attach_sender(0, std::nullopt);
    other.publish<Released>(0, 0, MessageBytes().to(address));
}

}  // namespace
}  // namespace revenant::amqp10
