// Frames and commands that violate the protocol (amqp091, section 12).
#include "tests/support/hex.h"
#include "tests/support/peer.h"

namespace revenant::amqp091 {
namespace {

using namespace std::string_literals;

class ProtocolFrameErrors : public WireTest {
  protected:
    // A connection with channel 1 open and an incomplete publish on it.
    Peer& publishing() {
        Peer& fresh = connect();
        fresh.open_channel().send(BasicPublish{.routing_key = "q"});
        return fresh;
    }
};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolFrameErrors, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp091 12.1: the error is sent, and the socket is dropped three seconds later.
TEST_P(ProtocolFrameErrors, ABadFrameEndEndsTheConnection) {
    peer().send(raw_frame(1, 0, "payload", 7));
    peer().expect_connection_close(
        501,
        "FRAME_ERROR - type 1, all octets = <<112,97,121,108,111,97,100>>: "
        "{invalid_frame_end_marker,7}",
        0, 0);
    world().advance(milliseconds(2500));
    EXPECT_TRUE(peer().is_open());
    world().advance(milliseconds(1000));
    peer().expect_end();
}

// amqp091 12.1: everything after it is ignored, even close-ok.
TEST_P(ProtocolFrameErrors, NothingCountsBehindABadFrame) {
    auto other = open_channel();
    peer().open_channel();
    peer().send(raw_frame(8, 0, "x") + method_frame(1, QueueDeclare{.queue = "q"}) +
                method_frame(0, ConnectionClose{200, "bye", 0, 0}) +
                method_frame(0, ConnectionCloseOk{}));
    peer().expect_connection_close(501, "FRAME_ERROR - type 8, all octets = <<120>>: unknown_frame",
                                   0, 0);
    EXPECT_TRUE(peer().is_open());
    world().advance(milliseconds(3500));
    peer().expect_end();
    EXPECT_FALSE(other.exists("q"));
}

// amqp091 12.1
TEST_P(ProtocolFrameErrors, AnUnknownTypeEndsTheConnection) {
    peer().send(raw_frame(4, 1, "\x01\x02"));
    peer().expect_connection_close(501, "FRAME_ERROR - type 4, all octets = <<1,2>>: unknown_frame",
                                   0, 0);
    Peer& second = connect();
    second.send(raw_frame(0, 0, ""));
    second.expect_connection_close(501, "FRAME_ERROR - type 0, all octets = <<>>: unknown_frame", 0,
                                   0);
}

// amqp091 12.1: a method too short for its ids, a header too short for its sizes.
TEST_P(ProtocolFrameErrors, ATooShortPayloadEndsTheConnection) {
    peer().send(raw_frame(1, 1, "\0\x14\0"s));
    peer().expect_connection_close(
        501, "FRAME_ERROR - type 1, all octets = <<0,20,0>>: unknown_frame", 0, 0);
    Peer& second = publishing();
    second.send(raw_frame(2, 1, "\0\x3c\0\0"s));
    second.expect_connection_close(
        501, "FRAME_ERROR - type 2, all octets = <<0,60,0,0>>: unknown_frame", 0, 0);
}

// amqp091 12.1: a long payload is truncated in the error.
TEST_P(ProtocolFrameErrors, ALongPayloadIsShownInPart) {
    peer().send(raw_frame(9, 0, std::string(17, '\x01')));
    peer().expect_connection_close(
        501,
        "FRAME_ERROR - type 9, all octets = <<1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,...>>: "
        "unknown_frame",
        0, 0);
}

// amqp091 12.2
TEST_P(ProtocolFrameErrors, AHeartbeatBelongsToChannelZero) {
    peer().send(raw_frame(8, 0, ""));
    EXPECT_TRUE(peer().is_open());
    peer().send(raw_frame(8, 1, ""));
    peer().expect_connection_close(505, "UNEXPECTED_FRAME - type 8, all octets = <<>>", 0, 0);
}

// amqp091 12.2
TEST_P(ProtocolFrameErrors, ChannelZeroHasNoContent) {
    peer().send(body_frame(0, "ab"));
    peer().expect_connection_close(505, "UNEXPECTED_FRAME - type 3, all octets = <<97,98>>", 0, 0);
    Peer& second = connect();
    second.send(header_frame(0, 0, "\0\0"s));
    second.expect_connection_close(
        505, "UNEXPECTED_FRAME - type 2, all octets = <<0,60,0,0,0,0,0,0,0,0,0,0,0,0>>", 0, 0);
}

// amqp091 12.3
TEST_P(ProtocolFrameErrors, ContentBelongsBehindItsMethod) {
    const std::string text =
        "UNEXPECTED_FRAME - expected method frame, got non method frame instead";
    channel();
    peer().send(header_frame(1, 0, "\0\0"s));
    peer().expect_connection_close(505, text, 0, 0);
    Peer& second = connect();
    second.open_channel();
    second.send(body_frame(1, "body"));
    second.expect_connection_close(505, text, 0, 0);
}

// amqp091 12.3
TEST_P(ProtocolFrameErrors, AHeaderBelongsBehindPublish) {
    const std::string text =
        "UNEXPECTED_FRAME - expected content header for class 60, got non content header frame "
        "instead";
    Peer& method = publishing();
    method.send(1, BasicAck{1, false});
    method.expect_connection_close<BasicPublish>(505, text);
    Peer& body = publishing();
    body.send(body_frame(1, "body"));
    body.expect_connection_close<BasicPublish>(505, text);
}

// amqp091 12.3
TEST_P(ProtocolFrameErrors, AHeaderNamesItsClass) {
    Peer& wrong = publishing();
    wrong.send(raw_frame(2, 1, from_hex("0032 0000 0000000000000000 0000")));
    wrong.expect_connection_close<BasicPublish>(
        505,
        "UNEXPECTED_FRAME - expected content header for class 60, got one for class 50 instead");
}

// amqp091 12.3
TEST_P(ProtocolFrameErrors, ABodyBelongsBehindItsHeader) {
    const std::string text =
        "UNEXPECTED_FRAME - expected content body, got non content body frame instead";
    Peer& method = publishing();
    method.send(header_frame(1, 5, "\0\0"s));
    method.send(1, BasicAck{1, false});
    method.expect_connection_close<BasicPublish>(505, text);
    Peer& header = publishing();
    header.send(header_frame(1, 5, "\0\0"s) + header_frame(1, 5, "\0\0"s));
    header.expect_connection_close<BasicPublish>(505, text);
}

// amqp091 12.3
TEST_P(ProtocolFrameErrors, ABodyIsNotLongerThanAnnounced) {
    Peer& longer = publishing();
    longer.send(header_frame(1, 5, "\0\0"s) + body_frame(1, "123") + body_frame(1, "456"));
    longer.expect_connection_close<BasicPublish>(
        501, "FRAME_ERROR - content body frame exceeds remaining content size");
}

// amqp091 12.3, 9.3: this also applies to the body of a message that is refused.
TEST_P(ProtocolFrameErrors, ARefusedBodyIsNotLongerThanAnnouncedEither) {
    settings().max_message_size = 3;
    Peer& longer = publishing();
    longer.send(header_frame(1, 5, "\0\0"s) + body_frame(1, "123456"));
    longer.expect_connection_close<BasicPublish>(
        501, "FRAME_ERROR - content body frame exceeds remaining content size");
}

// amqp091 12.3, 9.3
TEST_P(ProtocolFrameErrors, ABodyHasACeiling) {
    Peer& huge = publishing();
    huge.send(header_frame(1, 536870913, "\0\0"s));
    huge.expect_connection_close<BasicPublish>(
        501, "FRAME_ERROR - content body size 536870913 exceeds maximum allowed size 536870912");
    Peer& huger = publishing();
    huger.send(header_frame(1, 18446744073709551615U, "\0\0"s));
    huger.expect_connection_close<BasicPublish>(
        501,
        "FRAME_ERROR - content body size 18446744073709551615 exceeds maximum allowed size "
        "536870912");
}

// amqp091 12.4
TEST_P(ProtocolFrameErrors, UndecodableArgumentsEndTheConnection) {
    channel();
    peer().send(raw_frame(1, 1, from_hex("0032000a 0000 05 71")));
    peer().expect_connection_close<QueueDeclare>(501, "FRAME_ERROR - cannot decode <<0,0,5,113>>");
}

// amqp091 12.4: bytes after the last argument are an error too.
TEST_P(ProtocolFrameErrors, TrailingBytesEndTheConnection) {
    channel();
    peer().send(raw_frame(1, 1, from_hex("003c000b 00")));
    peer().expect_connection_close(503, "COMMAND_INVALID - unimplemented method", 60, 11);
    Peer& second = connect();
    second.open_channel();
    second.send(raw_frame(1, 1, from_hex("003c0050 0000000000000001 00 ff")));
    second.expect_connection_close<BasicAck>(
        501, "FRAME_ERROR - cannot decode <<0,0,0,0,0,0,0,1,0,255>>");
}

// amqp091 12.4: this also applies to channel 0.
TEST_P(ProtocolFrameErrors, UndecodableMethodsOfTheConnectionAreToldToo) {
    Peer& tuning = new_peer();
    tuning.log_in();
    tuning.send(raw_frame(1, 0, from_hex("000a001f 0001")));
    tuning.expect_connection_close<ConnectionTuneOk>(501, "FRAME_ERROR - cannot decode <<0,1>>");
    Peer& opening = new_peer();
    opening.log_in();
    opening.send(0, ConnectionTuneOk{2047, 131072, 0});
    opening.send(raw_frame(1, 0, from_hex("000a0028 05")));
    opening.expect_connection_close<ConnectionOpen>(501, "FRAME_ERROR - cannot decode <<5>>");
    peer().send(raw_frame(1, 0, from_hex("000a0046 00000005")));
    peer().expect_connection_close<ConnectionUpdateSecret>(
        501, "FRAME_ERROR - cannot decode <<0,0,0,5>>");
}

// amqp091 12.5
TEST_P(ProtocolFrameErrors, AWeightMakesAHeaderAnotherFrame) {
    Peer& heavy = publishing();
    heavy.send(raw_frame(2, 1, from_hex("003c 0001 0000000000000000 0000")));
    heavy.expect_connection_close<BasicPublish>(
        505,
        "UNEXPECTED_FRAME - expected content header for class 60, got non content header frame "
        "instead");
}

}  // namespace
}  // namespace revenant::amqp091
