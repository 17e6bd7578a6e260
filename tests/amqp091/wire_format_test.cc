// Frames, methods, tables and contents as bytes (amqp091, section 1).
#include "amqp091/codec/table.h"
#include "tests/support/hex.h"
#include "tests/support/peer.h"

#include <algorithm>
#include <random>

namespace revenant::amqp091 {
namespace {

using namespace std::string_literals;

class ProtocolWireFormat : public WireTest {};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolWireFormat, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp091 1.1, 1.2
TEST_P(ProtocolWireFormat, AnAnswerIsAFrameInNetworkOrder) {
    peer().send(from_hex("01 0102 00000005 0014000a 00 ce"));
    peer().world().carry();
    EXPECT_TRUE(
        peer().wire().received().ends_with(from_hex("01 0102 00000008 0014000b 00000000 ce")));
    peer().expect<ChannelOpenOk>(0x0102);
}

// amqp091 1.2, 1.3: passive is the lowest bit, no-wait the fifth.
TEST_P(ProtocolWireFormat, BitsShareAnOctetFromTheLowestOn) {
    channel();
    // queue.declare: ticket, "q", auto-delete, no arguments.
    peer().send(from_hex("01 0001 0000000d 0032000a 0000 01 71 08 00000000 ce"));
    EXPECT_EQ(channel().expect<QueueDeclareOk>().queue, "q");
    EXPECT_TRUE(world().engine().state().find_queue("q")->declaration.auto_delete);
    EXPECT_FALSE(world().engine().state().find_queue("q")->declaration.durable);
    // exchange.declare: "e", "fanout", durable and internal.
    peer().send(from_hex("01 0001 00000014 0028000a 0000 01 65 06 66616e6f7574 0a 00000000 ce"));
    channel().expect<ExchangeDeclareOk>();
    const auto& declared = world().engine().state().find_exchange("e")->declaration;
    EXPECT_TRUE(declared.durable && declared.internal && !declared.auto_delete);
}

// amqp091 1.3: a table is its length in bytes, then name, type and value of each field.
TEST_P(ProtocolWireFormat, ATableIsReadFieldByField) {
    channel();
    peer().send(
        from_hex("01 0001 0000001f 0032000a 0000 01 71 00"
                 " 00000012 0c 782d6d61782d6c656e677468 49 00000007 ce"));
    channel().expect<QueueDeclareOk>();
    EXPECT_EQ(world().engine().state().find_queue("q")->settings.max_length, 7);
}

// amqp091 1.4, 1.5: all fourteen properties are delivered in order and unchanged.
TEST_P(ProtocolWireFormat, EveryPropertyComesBackAsItWent) {
    const std::string properties = from_hex(
        "fffc"                            // all fourteen flags
        " 04 74657874"                    // content-type
        " 04 677a6970"                    // content-encoding
        " 00000008 01 68 53 00000001 76"  // headers
        " 02"                             // delivery-mode
        " 05"                             // priority
        " 03 636f72"                      // correlation-id
        " 03 722d74"                      // reply-to
        " 05 3630303030"                  // expiration
        " 02 6964"                        // message-id
        " 0000000065000000"               // timestamp
        " 01 74"                          // type
        " 05 6775657374"                  // user-id: guest
        " 03 617070"                      // app-id
        " 02 636c");                      // cluster-id
    channel().declare("q");
    peer().send(method_frame(1, BasicPublish{.routing_key = "q"}) + header_frame(1, 2, properties) +
                body_frame(1, "hi"));
    const auto got = channel().get("q");
    EXPECT_EQ(got.properties, properties);
    EXPECT_EQ(got.decoded().app_id, "app");
    EXPECT_EQ(got.body, "hi");
}

// amqp091 1.4: an empty property differs from an absent one.
TEST_P(ProtocolWireFormat, AnEmptyPropertyIsNotAnAbsentOne) {
    channel().declare("q");
    channel().publish("", "q", "absent");
    channel().publish("", "q", "empty", Properties().text(Property::message_id, ""));
    EXPECT_FALSE(channel().get("q").decoded().has(Property::message_id));
    EXPECT_TRUE(channel().get("q").decoded().has(Property::message_id));
}

// amqp091 1.6
TEST_P(ProtocolWireFormat, ABodyIsCutIntoFramesOfTheNegotiatedSize) {
    auto small = open_channel({.frame_max = 8192});
    channel().declare("q");
    const std::vector<std::pair<std::size_t, std::size_t>> sizes_and_frames = {
        {0, 0},    {1, 1},        {8183, 1},         {8184, 1},
        {8185, 2}, {2 * 8184, 2}, {2 * 8184 + 1, 3}, {100000, 13}};
    for (const auto& [size, frames] : sizes_and_frames) {
        channel().publish("", "q", std::string(size, 'x'));
        channel().expect_nothing();
        const auto got = small.get("q", true);
        EXPECT_EQ(got.body.size(), size);
        EXPECT_EQ(got.body_frames, frames) << size;
    }
}

// amqp091 1.6: deliveries are split in the same way.
TEST_P(ProtocolWireFormat, ADeliveredBodyIsCutLikewise) {
    auto small = open_channel({.frame_max = 8192});
    channel().declare("q");
    small.consume("q");
    for (const std::size_t size : {0, 8184, 8185, 50000}) {
        channel().publish("", "q", std::string(size, 'x'));
        EXPECT_EQ(small.expect_delivery().body.size(), size);
    }
}

// amqp091 1.6: without a limit the complete body is one frame.
TEST_P(ProtocolWireFormat, WithoutFrameMaxABodyIsOneFrame) {
    settings().frame_max = 0;
    auto unlimited = open_channel({.frame_max = 0});
    unlimited.declare("q");
    unlimited.publish("", "q", std::string(300000, 'x'));
    const auto got = unlimited.get("q");
    EXPECT_EQ(got.body_frames, 1U);
    EXPECT_EQ(got.body, std::string(300000, 'x'));
}

// amqp091 1.7: the eight bytes around the payload do not count.
TEST_P(ProtocolWireFormat, APayloadMayBeAsLargeAsFrameMax) {
    auto small = open_channel({.frame_max = 8192});
    small.declare("q");
    small.send(BasicPublish{.routing_key = "q"});
    small.peer().send(header_frame(1, 8192, "\0\0"s) + body_frame(1, std::string(8192, 'x')));
    EXPECT_EQ(small.count("q"), 1U);
}

// amqp091 1.7, 12.1
TEST_P(ProtocolWireFormat, ALargerPayloadEndsTheConnection) {
    auto small = open_channel({.frame_max = 8192});
    small.send(BasicPublish{.routing_key = "q"});
    small.peer().send(header_frame(1, 8193, "\0\0"s));
    small.peer().send(body_frame(1, std::string(8193, 'x')));
    small.peer().expect_connection_close(
        501, "FRAME_ERROR - type 3, all octets = <<>>: {frame_too_large,8193,8192}", 0, 0);
    world().advance(milliseconds(2500));
    EXPECT_TRUE(small.peer().is_open());
    world().advance(milliseconds(1000));
    small.peer().expect_end();
}

// amqp091 1.7: before tune-ok the limit is 8192 bytes, whatever the server offers.
TEST_P(ProtocolWireFormat, BeforeTuneOkFramesAreSmall) {
    Peer& fits = new_peer();
    fits.greet();
    fits.expect<ConnectionStart>();
    const std::string properties = table({{"padding", std::string(8000, 'p')}});
    fits.send(0, ConnectionStartOk{.client_properties = properties,
                                   .mechanism = "PLAIN",
                                   .response = "\0guest\0guest"s,
                                   .locale = "en_US"});
    fits.expect<ConnectionTune>();

    Peer& beyond = new_peer();
    beyond.greet();
    beyond.expect<ConnectionStart>();
    beyond.send(raw_frame(1, 0, std::string(8193, 'x')));
    beyond.expect_connection_close(
        501, "FRAME_ERROR - type 1, all octets = <<>>: {frame_too_large,8193,8192}", 0, 0);
}

// amqp091 1.8
TEST_P(ProtocolWireFormat, ContentsOfTwoChannelsMayInterleave) {
    auto one = channel();
    auto two = peer().open_channel(2);
    one.declare("q");
    peer().send(method_frame(1, BasicPublish{.routing_key = "q"}) +
                method_frame(2, BasicPublish{.routing_key = "q"}) + header_frame(2, 6, "\0\0"s) +
                header_frame(1, 4, "\0\0"s) + body_frame(2, "sec") + body_frame(1, "fi") +
                body_frame(2, "ond") + body_frame(1, "rs"));
    EXPECT_EQ(one.drain("q"), (std::vector<std::string>{"second", "firs"}));
    two.expect_nothing();
}

// amqp091 1.8, 12.3
TEST_P(ProtocolWireFormat, AMethodInsideAContentEndsTheConnection) {
    channel().declare("q");
    channel().send(BasicPublish{.routing_key = "q"});
    channel().send(BasicQos{});
    peer().expect_connection_close<BasicPublish>(
        505,
        "UNEXPECTED_FRAME - expected content header for class 60, got non content header frame "
        "instead");
}

// Name, type and value of one field.
std::string field(std::string_view name, char letter, std::string_view value) {
    std::string encoded(1, static_cast<char>(name.size()));
    encoded += name;
    encoded += letter;
    encoded += value;
    return encoded;
}

// amqp091 1.9: without additions by the broker the headers are delivered byte by byte.
TEST_P(ProtocolWireFormat, EveryTypeOfHeaderComesBackAsItWent) {
    const std::vector<std::pair<char, std::string>> values = {
        {'S', from_hex("00000003 ff00fe")},
        {'I', from_hex("80000000")},
        {'i', from_hex("ffffffff")},
        {'D', from_hex("02 000004d2")},
        {'T', from_hex("0000000065000000")},
        {'F', from_hex("00000004 01 78 74 01")},
        {'A', from_hex("00000006 49 00000001 56")},
        {'b', from_hex("80")},
        {'B', from_hex("ff")},
        {'d', from_hex("400921fb54442d18")},
        {'f', from_hex("40490fdb")},
        {'l', from_hex("8000000000000000")},
        {'L', from_hex("0000000000000001")},
        {'s', from_hex("8000")},
        {'u', from_hex("ffff")},
        {'t', from_hex("01")},
        {'x', from_hex("00000002 00ff")},
        {'V', ""},
    };
    channel().declare("q");
    std::string all;
    for (const auto& [letter, value] : values) {
        const std::string one = field("key", letter, value);
        all += field(std::string("all-") + letter, letter, value);
        channel().publish("", "q", "", Properties().raw_headers(one));
        const auto got = channel().get("q", true);
        EXPECT_EQ(got.decoded().headers, one) << letter;
    }
    channel().publish("", "q", "", Properties().raw_headers(all));
    EXPECT_EQ(channel().get("q", true).decoded().headers, all);
}

// amqp091 1.9: if the broker adds headers, it encodes the others again: L becomes l and every true
// boolean becomes 1; everything else is unchanged.
TEST_P(ProtocolWireFormat, HeadersOfADeadLetterKeepTheirTypes) {
    channel().declare("graves");
    channel().declare("q",
                      {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "graves"}});
    const std::string sent = field("a", 'L', from_hex("ffffffffffffffff")) +
                             field("b", 't', from_hex("07")) + field("c", 'u', from_hex("0102")) +
                             field("d", 'V', "") + field("e", 'x', from_hex("00000001 ff")) +
                             field("f", 'D', from_hex("01 00000007"));
    const std::string kept = field("a", 'l', from_hex("ffffffffffffffff")) +
                             field("b", 't', from_hex("01")) + field("c", 'u', from_hex("0102")) +
                             field("d", 'V', "") + field("e", 'x', from_hex("00000001 ff")) +
                             field("f", 'D', from_hex("01 00000007"));
    channel().publish("", "q", "", Properties().raw_headers(sent));
    channel().reject(channel().get("q").delivery_tag, false);
    const auto dead = channel().get("graves");
    EXPECT_TRUE(dead.decoded().headers.starts_with(kept));
}

// amqp091 1.9: any octet except 0 is true.
TEST_P(ProtocolWireFormat, ABooleanArgumentIsTrueUnlessZero) {
    const std::string arguments = field("x-single-active-consumer", 't', "\x09");
    channel().send(QueueDeclare{.queue = "q", .arguments = arguments});
    channel().expect<QueueDeclareOk>();
    EXPECT_TRUE(world().engine().state().find_queue("q")->settings.single_active_consumer);
}

// amqp091 1.10
TEST_P(ProtocolWireFormat, AnUnknownLetterInArgumentsEndsTheConnection) {
    const std::string arguments = field("k", 'Z', "");
    channel().send(QueueDeclare{.queue = "q", .arguments = arguments});
    peer().expect_connection_close<QueueDeclare>(
        501, "FRAME_ERROR - bad argument table: unknown field type 0x5a 'Z' at offset 0");
}

// amqp091 1.10
TEST_P(ProtocolWireFormat, AnUnknownLetterInHeadersEndsTheConnection) {
    channel().declare("q");
    channel().publish("", "q", "body", Properties().raw_headers(field("k", 'Z', "")));
    peer().expect_connection_close<BasicPublish>(
        541, "INTERNAL_ERROR - unknown field type 0x5a 'Z' at offset 0");
}

// amqp091 1.11
TEST_P(ProtocolWireFormat, IntegersAreEqualWhateverTheirWidth) {
    channel().declare("q", {{"x-message-ttl", 60}});
    const std::vector<std::pair<char, std::string>> sixty = {{'b', from_hex("3c")},
                                                             {'B', from_hex("3c")},
                                                             {'s', from_hex("003c")},
                                                             {'u', from_hex("003c")},
                                                             {'I', from_hex("0000003c")},
                                                             {'i', from_hex("0000003c")},
                                                             {'l', from_hex("000000000000003c")}};
    for (const auto& [letter, value] : sixty) {
        const std::string arguments = field("x-message-ttl", letter, value);
        channel().send(QueueDeclare{.queue = "q", .arguments = arguments});
        channel().expect<QueueDeclareOk>();
    }
    const std::string other = field("x-message-ttl", 'l', from_hex("000000000000003d"));
    channel().send(QueueDeclare{.queue = "q", .arguments = other});
    channel().expect_close<QueueDeclare>(
        406,
        "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': "
        "received '61' but current is '60'");
}

// amqp091 1.12
TEST_P(ProtocolWireFormat, NamesMustBeUtf8) {
    channel().send(QueueDeclare{.queue = "caf\xe9"});
    peer().expect_connection_close<QueueDeclare>(501, "FRAME_ERROR - Malformed UTF-8 in shortstr");
}

// amqp091 1.12
TEST_P(ProtocolWireFormat, NamesMayBeAnyUtf8) {
    EXPECT_EQ(channel().declare("café ☕ \xf0\x9f\x91\xbb").queue, "café ☕ \xf0\x9f\x91\xbb");
}

// amqp091 1.13: RabbitMQ sorts headers. Here, unchanged headers keep their order and duplicates; if
// the broker adds its own, they are sorted too.
TEST_P(ProtocolWireFormat, HeadersAreSortedWhereTheBrokerAddsItsOwn) {
    channel().declare("graves");
    channel().declare("q",
                      {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "graves"}});
    channel().publish("", "q", "", Properties().headers({{"z", 1}, {"a", 2}, {"z", 3}}));
    const auto untouched = channel().get("q");
    EXPECT_EQ(untouched.headers(), engine::arguments({{"z", 1}, {"a", 2}, {"z", 3}}));
    channel().reject(untouched.delivery_tag, false);
    const Table headers = channel().get("graves").headers();
    EXPECT_EQ(headers.front().name, "a");
    EXPECT_EQ(headers.back(), (Field{"z", Value::int32(1)}));
    EXPECT_TRUE(std::is_sorted(headers.begin(), headers.end(),
                               [](const Field& a, const Field& b) { return a.name < b.name; }));
}

}  // namespace
}  // namespace revenant::amqp091
