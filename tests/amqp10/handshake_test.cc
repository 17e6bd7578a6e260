// Header, SASL and open (amqp10, section 2).
#include "amqp10/codec/raw_fields.h"
#include "base/version.h"
#include "tests/support/peer10.h"

#include <gmock/gmock.h>

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;
using protocol::Protocol;

class Handshake10 : public Wire10Test {
  protected:
    // Nothing is sent, and the socket is closed three seconds later. The log contains the reason.
    void expect_silent_drop(Peer& client, const std::string& reason, Where where = Where::here()) {
        const testing::ScopedTrace trace(where.file, where.line, reason);
        client.expect_nothing(where);
        world().advance(milliseconds(2500));
        EXPECT_TRUE(client.is_open());
        EXPECT_THAT(client.wire().notes(), testing::Contains(testing::HasSubstr(reason)));
        world().advance(milliseconds(1000));
        client.expect_socket_closed(where);
    }
};
INSTANTIATE_TEST_SUITE_P(Wire, Handshake10, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp10 C.1, 2.1, 2.2, 2.4
TEST_P(Handshake10, GoesFromHeaderToOpen) {
    Peer& client = new_peer10();
    client.send(sasl_greeting);
    client.expect_header(sasl_greeting);
    const auto mechanisms = client.expect<SaslMechanisms>();
    EXPECT_EQ(text_in(mechanisms.sasl_server_mechanisms), "array['PLAIN', 'ANONYMOUS']");
    client.send_init({});
    EXPECT_EQ(client.expect<SaslOutcome>().code, 0);
    client.send(amqp_greeting);
    client.expect_header(amqp_greeting);
    client.send_open({.hostname = "vhost:/"});
    client.expect<Open>();
    EXPECT_EQ(client.wire().connection().info().vhost, "/");
    EXPECT_EQ(client.wire().connection().info().user, "guest");
}

// amqp10 2.8
TEST_P(Handshake10, OurOpenSaysWhoWeAreAndWhatWeTake) {
    Peer& client = new_peer10();
    client.log_in({});
    client.send_open({.channel_max = 9});
    const auto open = client.expect<Open>();
    EXPECT_EQ(open.container_id, "rabbit@localhost");
    EXPECT_EQ(open.max_frame_size, 131072U);
    EXPECT_EQ(open.channel_max, 9U);
    EXPECT_EQ(open.idle_time_out, 30000U);
    EXPECT_EQ(text_in(open.offered_capabilities), "array['LINK_PAIR_V1_0', 'ANONYMOUS-RELAY']");
    EXPECT_TRUE(is_absent(open.desired_capabilities));
    const Table properties = table_in(open.properties);
    std::string names;
    for (const Field& field : properties) names += field.name + " ";
    EXPECT_EQ(names,
              "node cluster_name copyright information platform product version product_name "
              "product_version ");
    EXPECT_EQ(*find(properties, "product")->as_string(), "RabbitMQ");
    EXPECT_TRUE(find(properties, "version")->as_string()->starts_with("4.3."));
    EXPECT_EQ(*find(properties, "product_name")->as_string(), "Revenant");
    EXPECT_EQ(*find(properties, "product_version")->as_string(), revenant_version);
}

// amqp10 2.8
TEST_P(Handshake10, AClientWithoutLimitsGetsOurs) {
    Peer& client = new_peer10();
    client.log_in({});
    client.send_open({.max_frame_size = 4294967295});
    EXPECT_EQ(client.expect<Open>().channel_max, 63U);
}

// amqp10 2.8: without heartbeats no idle-time-out is announced.
TEST_P(Handshake10, WithoutHeartbeatsNoIdleTimeOutIsAskedFor) {
    settings().heartbeat_seconds = 0;
    Peer& client = new_peer10();
    client.log_in({});
    client.send_open({});
    EXPECT_EQ(client.expect<Open>().idle_time_out, std::nullopt);
    world().advance(seconds(500));
    EXPECT_TRUE(client.is_open());
}

// amqp10 2.1
TEST_P(Handshake10, WithoutSaslNobodyComesIn) {
    for (const char id : {'\0', '\2', '\1'}) {
        Peer& client = new_peer10();
        client.send("AMQP"s + id + "\1\0\0"s);
        client.expect_header(sasl_greeting);
        client.expect_socket_closed();
    }
}

// amqp10 2.1
TEST_P(Handshake10, TheSecondHeaderIsThatOfAmqp) {
    Peer& client = new_peer10();
    client.greet();
    client.send_init({});
    EXPECT_EQ(client.expect<SaslOutcome>().code, 0);
    client.send(sasl_greeting);
    client.expect_header(sasl_greeting);
    client.expect_socket_closed();
}

// amqp10 2.3
TEST_P(Handshake10, AnonymousIsTheUserOfTheSettings) {
    connect10({.mechanism = "ANONYMOUS"});
    Peer& client = connect10({.mechanism = "ANONYMOUS"});
    EXPECT_EQ(client.wire().connection().info().user, "guest");
    EXPECT_EQ(client.wire().connection().info().mechanism, "ANONYMOUS");
}

// amqp10 2.4
TEST_P(Handshake10, AWrongPasswordIsToldAndTheSocketCloses) {
    Peer& client = new_peer10();
    client.greet();
    client.send_init({.password = "wrong"});
    EXPECT_EQ(client.expect<SaslOutcome>().code, 1);
    client.expect_socket_closed();
}

// amqp10 2.4: nothing is sent, and the socket is closed three seconds later.
TEST_P(Handshake10, WhatIsNoLoginDropsTheSocketInSilence) {
    SaslInit malformed;
    malformed.mechanism = "PLAIN";
    malformed.initial_response = "no zeros";
    SaslInit without;
    without.mechanism = "PLAIN";
    SaslInit unknown;
    unknown.mechanism = "DIGEST-MD5";
    SaslInit amqplain;
    amqplain.mechanism = "AMQPLAIN";
    SaslResponse response;
    response.response = "early";
    for (const std::string& bytes :
         {sasl_frame(malformed), sasl_frame(without), sasl_frame(unknown), sasl_frame(amqplain),
          sasl_frame(response), frame10(FrameType::sasl, 0, "\x01\x02\x03"),
          frame10(FrameType::sasl, 0, described_list(0x41, {Datum::uint(1)})),
          frame10(FrameType::amqp, 0, encoded(unknown)), "\0\0\0\x05\2\1\0\0"s}) {
        Peer& client = new_peer10();
        client.greet();
        client.send(bytes);
        client.expect_nothing();
        world().advance(milliseconds(2500));
        EXPECT_TRUE(client.is_open());
        world().advance(milliseconds(1000));
        client.expect_socket_closed();
    }
}

// amqp10 2.5
TEST_P(Handshake10, FramesBeforeOpenAreSmall) {
    Peer& login = new_peer10();
    login.greet();
    login.send("\0\0\x20\x01\2\1\0\0"s);  // 8193
    login.expect_nothing();
    world().advance(milliseconds(3500));
    login.expect_socket_closed();
    Peer& opening = new_peer10();
    opening.log_in({});
    opening.send("\0\0\x20\x01\2\0\0\0"s);
    expect_silent_drop(opening,
                       "amqp:connection:framing-error frame size (8193 bytes) > maximum frame "
                       "size (8192 bytes)");
}

// amqp10 2.6, 9.2
TEST_P(Handshake10, TheHostnameChoosesTheVhost) {
    world().change(SetPermissions{"guest", "elsewhere", {".*", ".*", ".*"}});
    EXPECT_EQ(connect10({.hostname = "vhost:elsewhere"}).wire().connection().info().vhost,
              "elsewhere");
    EXPECT_EQ(connect10({.hostname = "broker.example"}).wire().connection().info().vhost, "/");
    EXPECT_EQ(connect10({.hostname = ""}).wire().connection().info().vhost, "/");
    EXPECT_EQ(connect10().wire().connection().info().vhost, "/");
}

// amqp10 2.6: an open without a container id, or no open at all.
TEST_P(Handshake10, AnOpenIsExpected) {
    for (const std::string& bytes :
         {frame10(0, Begin{}), frame10(FrameType::amqp, 0, described_list(0x10, {})),
          frame10(FrameType::amqp, 0, described_list(0x10, {Datum::null()})),
          frame10(FrameType::amqp, 0, described_list(0x10, {Datum::uint(1)}))}) {
        Peer& client = new_peer10();
        client.log_in({});
        client.send(bytes);
        expect_silent_drop(client, "amqp:decode-error expected open");
    }
}

// amqp10 2.7, 2.9, 2.10: only the log contains the reason.
TEST_P(Handshake10, ARefusedOpenDropsTheSocketInSilence) {
    world().change(AddUser{"outside", make_hash("secret", Salt{}), {}, {}});
    struct Case {
        Login login;
        std::string reason;
    };
    const std::vector<Case> cases = {
        {{.hostname = "vhost:missing"},
         "amqp:unauthorized-access AMQP 1.0 connection failed: virtual host 'missing' does not "
         "exist"},
        {{.user = "outside", .password = "secret"},
         "amqp:unauthorized-access access to vhost '/' refused for user 'outside'"},
        {{.hostname = "vhost:%2F"},
         "amqp:unauthorized-access AMQP 1.0 connection failed: virtual host '%2F' does not exist"},
        {{.max_frame_size = 511},
         "amqp:frame-size-too-small max_frame_size (511) < minimum maximum frame size (512)"},
        {{.idle_time_out = 999},
         "amqp:not-allowed idle-time-out (999 ms) < minimum idle-time-out (1000 ms)"},
    };
    for (const Case& one : cases) {
        Peer& client = new_peer10();
        client.log_in(one.login);
        client.send_open(one.login);
        expect_silent_drop(client, one.reason);
    }
}

// amqp10 2.7
TEST_P(Handshake10, GuestComesFromHereOnly) {
    Peer& client = new_peer10(PeerLocation::remote);
    client.log_in({});
    client.send_open({});
    expect_silent_drop(client,
                       "amqp:unauthorized-access user 'guest' can only connect via localhost");
}

// amqp10 2.7: connection limits.
TEST_P(Handshake10, ANodeMayRefuseToLetAnybodyEnter) {
    world().refuse_entry("too many connections");
    Peer& client = new_peer10();
    client.log_in({});
    client.send_open({});
    expect_silent_drop(client, "amqp:resource-limit-exceeded too many connections");
}

// A silent client is disconnected after a timeout.
TEST_P(Handshake10, AClientThatDoesNotGoOnIsDropped) {
    Peer& silent = new_peer10();
    Peer& halfway = new_peer10();
    halfway.greet();
    Peer& late = new_peer10();
    late.log_in({});
    world().advance(seconds(11));
    silent.expect_socket_closed();
    halfway.expect_socket_closed();
    late.expect_socket_closed();
}

// amqp10 9.1: all frames are sent together, before any reply.
TEST_P(Handshake10, MayBePipelinedWhole) {
    declare("q");
    Peer& client = new_peer10();
    client.hold();
    client.send(sasl_greeting);
    client.send_init({});
    client.send(amqp_greeting);
    client.send_open({});
    client.send(0, Begin{.incoming_window = 100, .outgoing_window = 100});
    client.session().send_attach_sender(0, "/queues/q");
    client.release();
    client.expect_header(sasl_greeting);
    client.expect<SaslMechanisms>();
    client.expect<SaslOutcome>();
    client.expect_header(amqp_greeting);
    client.expect<Open>();
    client.expect<Begin>();
    client.expect<Attach>();
    client.expect<Flow>();
}

// amqp10 1.2, 1.3: symbolic descriptors and wide encodings.
TEST_P(Handshake10, SymbolicDescriptorsAndWideFormsAreRead) {
    Peer& client = new_peer10();
    client.log_in({});
    const std::string symbol = "amqp:open:list";
    const std::string name = "wide";
    std::string list = "\xb1\0\0\0\4"s + name + "\x40\x70\0\0\x10\0"s;
    const std::string body = "\0\xb3\0\0\0\x0e"s + symbol + "\xd0\0\0\0"s +
                             static_cast<char>(list.size() + 4) + "\0\0\0\3"s + list;
    client.send(frame10(FrameType::amqp, 0, body));
    client.expect<Open>();
    EXPECT_EQ(client.wire().connection().info().container_id, "wide");
    EXPECT_EQ(client.wire().connection().info().frame_max, 4096U);
}

// amqp10 2.10, 9.5
TEST_P(Handshake10, HeartbeatsComeAtHalfTheClientsIdleTime) {
    Peer& client = connect10({.idle_time_out = 4000});
    for (int i = 0; i < 5; ++i) {
        world().advance(milliseconds(2250));
        EXPECT_EQ(client.take_heartbeats(), 1U);
    }
    Peer& without = connect10({.idle_time_out = 0});
    world().advance(seconds(20));
    EXPECT_EQ(without.take_heartbeats(), 0U);
}

// amqp10 2.10
TEST_P(Handshake10, ASilentClientIsClosedAfterTwoHeartbeats) {
    Peer& client = connect10();
    Peer& lively = connect10();
    world().advance(seconds(100));
    lively.send(frame10(FrameType::amqp, 0, ""));
    world().advance(seconds(19));
    EXPECT_TRUE(client.is_open());
    world().advance(seconds(2));
    client.expect_close("amqp:resource-limit-exceeded",
                        "no frame received from client within idle timeout threshold");
    EXPECT_TRUE(lively.is_open());
    lively.expect_nothing();
}

}  // namespace
}  // namespace revenant::amqp10
