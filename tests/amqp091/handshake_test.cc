// Greeting, start, tune, open, heartbeats (amqp091, section 2).
#include "amqp091/codec/table.h"
#include "tests/support/hex.h"
#include "tests/support/peer.h"

namespace revenant::amqp091 {
namespace {

using namespace std::string_literals;

class ProtocolHandshake : public WireTest {
  protected:
    // The reply to an unsupported protocol header, after which the server closes the socket.
    void expect_refused_with(std::string_view greeting, std::string_view answer,
                             Where where = Where::here()) {
        const testing::ScopedTrace trace(where.file, where.line, "the greeting");
        Peer& refused = new_peer();
        refused.send(greeting);
        EXPECT_EQ(refused.take_raw(), answer);
        refused.expect_end();
    }
};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolHandshake, testing::Values(Distance::near, Distance::far),
                         distance_name);

const std::string greeting_091 = "AMQP\x00\x00\x09\x01"s;
const std::string greeting_10_sasl = "AMQP\x03\x01\x00\x00"s;

// amqp091 2.1
TEST_P(ProtocolHandshake, BothGreetingsOfTheProtocolAreWelcome) {
    for (const std::string& greeting : {greeting_091, "AMQP\x01\x01\x00\x09"s}) {
        Peer& welcome = new_peer();
        welcome.send(greeting);
        const auto start = welcome.expect<ConnectionStart>();
        EXPECT_EQ(start.version_major, 0);
        EXPECT_EQ(start.version_minor, 9);
    }
}

// amqp091 2.2
TEST_P(ProtocolHandshake, ANewerVersionIsToldTheOneWeSpeak) {
    expect_refused_with("AMQP\x00\x00\x09\x02"s, greeting_091);
    expect_refused_with("AMQP\x00\x00\x0a\x00"s, greeting_091);
    expect_refused_with("AMQP\x00\x00\xff\x00"s, greeting_091);
}

// amqp091 2.2
TEST_P(ProtocolHandshake, AnyOtherGreetingIsToldOfSasl) {
    expect_refused_with("AMQP\x00\x01\x00\x00"s, greeting_10_sasl);
    expect_refused_with("AMQP\x01\x01\x08\x00"s, greeting_10_sasl);
    expect_refused_with("AMQP\x00\x00\x08\x00"s, greeting_10_sasl);
    expect_refused_with("12345678"s, greeting_10_sasl);
}

// amqp091 2.3
TEST_P(ProtocolHandshake, HttpAndTlsClientsAreToldOfSaslToo) {
    expect_refused_with("GET / HTTP/1.1\r\n\r\n", greeting_10_sasl);
    expect_refused_with("\x16\x03\x01\x02\x00\x01\x00\x01\xfc"s, greeting_10_sasl);
}

// amqp091 2.4
TEST_P(ProtocolHandshake, AProbeThatSaysNothingLeavesNoTrace) {
    Peer& probe = new_peer();
    probe.disconnect();
    probe.expect_end();
    EXPECT_TRUE(probe.wire().notes().empty());
}

// amqp091 2.4: the timeout applies in every state.
TEST_P(ProtocolHandshake, AHandshakeMustBeOverInTenSeconds) {
    Peer& silent = new_peer();
    Peer& greeted = new_peer();
    greeted.greet();
    greeted.expect<ConnectionStart>();
    Peer& logged_in = new_peer();
    logged_in.log_in();
    Peer& connected = connect();
    world().advance(milliseconds(9500));
    EXPECT_TRUE(silent.is_open() && greeted.is_open() && logged_in.is_open());
    world().advance(milliseconds(1000));
    silent.expect_end();
    greeted.expect_end();
    logged_in.expect_end();
    EXPECT_TRUE(connected.is_open());
}

// amqp091 2.4: bytes that arrive slowly do not extend the timeout.
TEST_P(ProtocolHandshake, ASlowHandshakeIsNotForgiven) {
    Peer& slow = new_peer();
    slow.greet();
    slow.expect<ConnectionStart>();
    for (const char byte : from_hex("01 0000 000010")) {
        slow.send({&byte, 1});
        world().advance(milliseconds(1500));
    }
    EXPECT_TRUE(slow.is_open());
    world().advance(milliseconds(1500));
    slow.expect_end();
}

// amqp091 2.5, 2.8
TEST_P(ProtocolHandshake, StartOffersMechanismsAndLocale) {
    Peer& greeted = new_peer();
    greeted.greet();
    const auto start = greeted.expect<ConnectionStart>();
    EXPECT_EQ(start.mechanisms, "PLAIN AMQPLAIN ANONYMOUS");
    EXPECT_EQ(start.locales, "en_US");
}

// amqp091 2.8
TEST_P(ProtocolHandshake, AnonymousIsOfferedOnlyIfItHasAUser) {
    settings().anonymous_login_user = "";
    Peer& greeted = new_peer();
    greeted.greet();
    EXPECT_EQ(greeted.expect<ConnectionStart>().mechanisms, "PLAIN AMQPLAIN");
}

// amqp091 2.6, 19.4: clients compare the version component by component.
TEST_P(ProtocolHandshake, ServerPropertiesSayWhoWeAre) {
    Peer& greeted = new_peer();
    greeted.greet();
    const auto properties = decode_table(greeted.expect<ConnectionStart>().server_properties);
    ASSERT_TRUE(properties);
    for (const char* name : {"cluster_name", "copyright", "information", "platform", "product",
                             "version", "product_name", "product_version"}) {
        const Value* const value = find(*properties, name);
        ASSERT_NE(value, nullptr) << name;
        ASSERT_NE(value->as_string(), nullptr) << name;
        EXPECT_FALSE(value->as_string()->empty()) << name;
    }
    EXPECT_EQ(*find(*properties, "product")->as_string(), "RabbitMQ");
    EXPECT_EQ(*find(*properties, "product_name")->as_string(), "Revenant");
    int major = 0;
    int minor = 0;
    int patch = 0;
    char end = 0;
    EXPECT_EQ(std::sscanf(find(*properties, "version")->as_string()->c_str(), "%d.%d.%d%c", &major,
                          &minor, &patch, &end),
              3);
    EXPECT_GE(major, 4);
}

// amqp091 2.6: all of them can be configured.
TEST_P(ProtocolHandshake, ProductAndVersionCanBeConfigured) {
    settings().product = "Other";
    settings().version = "4.2.1";
    settings().product_name = "Ours";
    settings().product_version = "7";
    Peer& greeted = new_peer();
    greeted.greet();
    const auto properties = decode_table(greeted.expect<ConnectionStart>().server_properties);
    EXPECT_EQ(*find(*properties, "product")->as_string(), "Other");
    EXPECT_EQ(*find(*properties, "version")->as_string(), "4.2.1");
    EXPECT_EQ(*find(*properties, "product_name")->as_string(), "Ours");
    EXPECT_EQ(*find(*properties, "product_version")->as_string(), "7");
}

// amqp091 2.7
TEST_P(ProtocolHandshake, EveryCapabilityIsAnnounced) {
    Peer& greeted = new_peer();
    greeted.greet();
    const auto properties = decode_table(greeted.expect<ConnectionStart>().server_properties);
    const Value* const capabilities = find(*properties, "capabilities");
    ASSERT_NE(capabilities, nullptr);
    ASSERT_NE(capabilities->as_table(), nullptr);
    for (const char* name :
         {"publisher_confirms", "exchange_exchange_bindings", "basic.nack",
          "consumer_cancel_notify", "connection.blocked", "consumer_priorities",
          "authentication_failure_close", "per_consumer_qos", "direct_reply_to"}) {
        const Value* const flag = find(*capabilities->as_table(), name);
        ASSERT_NE(flag, nullptr) << name;
        EXPECT_EQ(*flag, Value::boolean(true)) << name;
    }
}

// amqp091 2.9
TEST_P(ProtocolHandshake, ClientPropertiesAreRemembered) {
    Peer& named = new_peer();
    named.greet();
    named.expect<ConnectionStart>();
    const std::string properties = table({{"connection_name", "the till"}, {"product", "shop"}});
    named.send(0, ConnectionStartOk{.client_properties = properties,
                                    .mechanism = "PLAIN",
                                    .response = "\0guest\0guest"s,
                                    .locale = "en_US"});
    named.expect<ConnectionTune>();
    EXPECT_EQ(named.wire().connection().info().client_properties,
              engine::arguments({{"connection_name", "the till"}, {"product", "shop"}}));
    EXPECT_EQ(named.wire().connection().info().mechanism, "PLAIN");
}

// amqp091 2.9: methods that need a capability are not sent to clients without it.
TEST_P(ProtocolHandshake, ClientCapabilitiesAreHeeded) {
    auto modern = open_channel();
    auto old = open_channel({.capabilities = {}});
    modern.declare("q");
    modern.consume("q", "m");
    old.consume("q", "o");
    auto third = open_channel();
    third.send(QueueDelete{.queue = "q"});
    third.expect<QueueDeleteOk>();
    EXPECT_EQ(modern.expect<BasicCancel>().consumer_tag, "m");
    old.expect_nothing();
}

// amqp091 2.13: no supported mechanism uses a challenge, so secure-ok is never expected.
TEST_P(ProtocolHandshake, NothingIsSecureOk) {
    Peer& odd = new_peer();
    odd.greet();
    odd.expect<ConnectionStart>();
    odd.send(0, ConnectionSecureOk{.response = "guest"});
    odd.expect_nothing();
    world().advance(milliseconds(3500));
    odd.expect_end();
}

// amqp091 2.14
TEST_P(ProtocolHandshake, TuneTellsOurLimits) {
    Peer& plain = new_peer();
    plain.greet();
    plain.expect<ConnectionStart>();
    plain.send_start_ok({});
    EXPECT_EQ(plain.expect<ConnectionTune>(), (ConnectionTune{2047, 131072, 60}));
}

// amqp091 2.14
TEST_P(ProtocolHandshake, TheLimitsCanBeConfigured) {
    settings().channel_max = 7;
    settings().frame_max = 65536;
    settings().heartbeat_seconds = 5;
    Peer& plain = new_peer();
    plain.greet();
    plain.expect<ConnectionStart>();
    plain.send_start_ok({});
    EXPECT_EQ(plain.expect<ConnectionTune>(), (ConnectionTune{7, 65536, 5}));
}

// amqp091 2.15
TEST_P(ProtocolHandshake, AFrameMaxBeyondTheLimitsIsRefused) {
    const std::vector<std::pair<std::uint32_t, std::string>> faults = {
        {4096,
         "NOT_ALLOWED - negotiated frame_max = 4096 is lower than the minimum allowed value "
         "(8192)"},
        {8191,
         "NOT_ALLOWED - negotiated frame_max = 8191 is lower than the minimum allowed value "
         "(8192)"},
        {131073,
         "NOT_ALLOWED - negotiated frame_max = 131073 is higher than the maximum allowed "
         "value (131072)"},
        {0,
         "NOT_ALLOWED - negotiated frame_max = 0 (no limit) is higher than the maximum allowed "
         "value (131072)"},
    };
    for (const auto& [frame_max, text] : faults) {
        Peer& odd = new_peer();
        odd.log_in();
        odd.send_tune_ok_and_open({.frame_max = frame_max});
        odd.expect_connection_close<ConnectionTune>(530, text);
        odd.send(0, ConnectionCloseOk{});
        odd.expect_end();
    }
}

// RabbitMQ 3 accepted frames of 4096 bytes. A node can be configured to do the same.
TEST_P(ProtocolHandshake, ASmallerFrameMaxIsTakenWhereTheNodeAllowsIt) {
    settings().frame_max_min = 4096;
    Peer& small = new_peer();
    small.log_in();
    small.send_tune_ok_and_open({.frame_max = 4096});
    small.expect<ConnectionOpenOk>();
    Peer& smaller = new_peer();
    smaller.log_in();
    smaller.send_tune_ok_and_open({.frame_max = 4095});
    smaller.expect_connection_close<ConnectionTune>(
        530,
        "NOT_ALLOWED - negotiated frame_max = 4095 is lower than the minimum allowed value (4096)");
}

// amqp091 2.15
TEST_P(ProtocolHandshake, AChannelMaxBeyondTheLimitsIsRefused) {
    for (const auto& [channel_max, shown] :
         std::vector<std::pair<std::uint16_t, std::string>>{{0, "0 (no limit)"}, {2048, "2048"}}) {
        Peer& odd = new_peer();
        odd.log_in();
        odd.send_tune_ok_and_open({.channel_max = channel_max});
        odd.expect_connection_close<ConnectionTune>(
            530, "NOT_ALLOWED - negotiated channel_max = " + shown +
                     " is higher than the maximum allowed value (2047)");
    }
}

// amqp091 2.15
TEST_P(ProtocolHandshake, TheEndsOfTheRangesAreAllowed) {
    connect({.channel_max = 1, .frame_max = 8192});
    connect({.channel_max = 2047, .frame_max = 131072});
}

// amqp091 2.15: a server without limits accepts any value.
TEST_P(ProtocolHandshake, WithoutLimitsOfOurOwnAnythingGoes) {
    settings().channel_max = 0;
    settings().frame_max = 0;
    connect({.channel_max = 0, .frame_max = 0});
    connect({.channel_max = 65535, .frame_max = 0xFFFFFFFF});
    Peer& small = new_peer();
    small.log_in();
    small.send_tune_ok_and_open({.frame_max = 100});
    small.expect_connection_close<ConnectionTune>(
        530,
        "NOT_ALLOWED - negotiated frame_max = 100 is lower than the minimum allowed value (8192)");
}

// amqp091 2.16: a heartbeat is sent after half an interval without output.
TEST_P(ProtocolHandshake, HeartbeatsAreSentWhileNothingElseIs) {
    Peer& quiet = connect({.heartbeat = 10});
    world().advance(milliseconds(4500));
    EXPECT_EQ(quiet.take_heartbeats(), 0U);
    world().advance(milliseconds(1000));
    EXPECT_EQ(quiet.take_heartbeats(), 1U);
    world().advance(seconds(10));
    EXPECT_EQ(quiet.take_heartbeats(), 2U);
    EXPECT_TRUE(quiet.wire().received().ends_with(from_hex("08 0000 00000000 ce")));
}

// amqp091 2.16: any other output replaces a heartbeat.
TEST_P(ProtocolHandshake, OutputIsAsGoodAsAHeartbeat) {
    Peer& busy = connect({.heartbeat = 10});
    auto talking = busy.open_channel();
    for (int i = 0; i < 10; ++i) {
        world().advance(seconds(4));
        talking.qos(1);
    }
    EXPECT_EQ(busy.take_heartbeats(), 0U);
}

// amqp091 2.16
TEST_P(ProtocolHandshake, TwoSilentIntervalsEndTheConnection) {
    Peer& silent = connect({.heartbeat = 10});
    silent.open_channel().send(QueueDeclare{.queue = "mine", .exclusive = true});
    silent.expect<QueueDeclareOk>(1);
    world().advance(milliseconds(19500));
    EXPECT_TRUE(silent.is_open());
    world().advance(milliseconds(1000));
    silent.expect_end();
    EXPECT_FALSE(channel().exists("mine"));
}

// amqp091 2.16: even an incomplete frame counts as traffic.
TEST_P(ProtocolHandshake, AnyByteIsASignOfLife) {
    Peer& slow = connect({.heartbeat = 10});
    for (const char byte : from_hex("08 0000 00000000 ce")) {
        world().advance(seconds(15));
        slow.send({&byte, 1});
    }
    EXPECT_TRUE(slow.is_open());
}

// amqp091 2.16: the client decides, whether higher or lower.
TEST_P(ProtocolHandshake, TheIntervalIsTheOneOfTheClient) {
    Peer& patient = connect({.heartbeat = 1000});
    Peer& none = connect({.heartbeat = 0});
    world().advance(seconds(1500));
    EXPECT_EQ(patient.take_heartbeats(), 3U);
    EXPECT_TRUE(patient.is_open());
    EXPECT_EQ(none.take_heartbeats(), 0U);
    EXPECT_TRUE(none.is_open());
    world().advance(seconds(600));
    patient.expect_end();
    EXPECT_TRUE(none.is_open());
}

// amqp091 2.17, 19.1
TEST_P(ProtocolHandshake, OpenFollowsTuneOkWithoutWaiting) {
    Peer& eager = new_peer();
    eager.log_in();
    eager.send(method_frame(0, ConnectionTuneOk{2047, 131072, 0}) +
               method_frame(0, ConnectionOpen{.virtual_host = "/"}) +
               method_frame(1, ChannelOpen{}) + method_frame(1, QueueDeclare{.queue = "q"}));
    eager.expect<ConnectionOpenOk>();
    eager.expect<ChannelOpenOk>(1);
    eager.expect<QueueDeclareOk>(1);
}

// amqp091 2.17: reserved fields may have any content.
TEST_P(ProtocolHandshake, ReservedFieldsOfOpenAreIgnored) {
    Peer& odd = new_peer();
    odd.log_in();
    odd.send(0, ConnectionTuneOk{2047, 131072, 0});
    odd.send(raw_frame(1, 0, from_hex("000a0028 01 2f 03 616263 01")));
    odd.expect<ConnectionOpenOk>();
    EXPECT_TRUE(odd.wire().received().ends_with(from_hex("01 0000 00000005 000a0029 00 ce")));
}

// amqp091 2.18
TEST_P(ProtocolHandshake, AnUnexpectedMethodIsToldWhereItCanBe) {
    Peer& tuning = new_peer();
    tuning.log_in();
    tuning.send(0, ConnectionOpen{.virtual_host = "/"});
    tuning.expect_connection_close<ConnectionOpen>(
        504, "CHANNEL_ERROR - unexpected method in connection state tuning");

    Peer& running = connect();
    running.send(0, ConnectionTuneOk{1, 8192, 0});
    running.expect_connection_close<ConnectionTuneOk>(
        504, "CHANNEL_ERROR - unexpected method in connection state running");
}

// amqp091 2.18: before the login no error is sent.
TEST_P(ProtocolHandshake, AStrangerIsDroppedAfterThreeSeconds) {
    Peer& stranger = new_peer();
    stranger.greet();
    stranger.expect<ConnectionStart>();
    stranger.send(0, ConnectionOpen{.virtual_host = "/"});
    world().advance(milliseconds(2500));
    EXPECT_TRUE(stranger.is_open());
    world().advance(milliseconds(1000));
    stranger.expect_end();
}

// amqp091 2.18: a channel is opened before the connection is.
TEST_P(ProtocolHandshake, AChannelBeforeOpenIsDropped) {
    Peer& hasty = new_peer();
    hasty.log_in();
    hasty.send(1, ChannelOpen{});
    world().advance(milliseconds(3500));
    hasty.expect_end();
}

}  // namespace
}  // namespace revenant::amqp091
