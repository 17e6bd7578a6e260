// Login and access to vhosts (amqp091 2.10 to 2.12 and section 3).
#include "tests/support/peer.h"

namespace revenant::amqp091 {
namespace {

using namespace std::string_literals;

class ProtocolLogin : public WireTest {
  protected:
    // A peer that has received connection.start and replies with this mechanism.
    Peer& answer_start(std::string_view mechanism, std::string_view response,
                       const Login& login = {}, PeerLocation place = PeerLocation::loopback) {
        return answer_start(new_peer(place), mechanism, response, login);
    }
    static Peer& answer_start(Peer& one, std::string_view mechanism, std::string_view response,
                              const Login& login = {}) {
        one.greet();
        one.expect<ConnectionStart>();
        const std::string properties = one.client_properties(login);
        one.send(0, ConnectionStartOk{.client_properties = properties,
                                      .mechanism = mechanism,
                                      .response = response,
                                      .locale = "en_US"});
        return one;
    }
    void expect_refused(Peer& refused, std::string_view mechanism, Where where = Where::here()) {
        refused.expect_connection_close(
            403,
            "ACCESS_REFUSED - Login was refused using authentication mechanism " +
                std::string(mechanism) + ". For details see the broker logfile.",
            0, 0, where);
    }
    // Nothing is sent, and the socket is closed after three seconds.
    void expect_dropped(Peer& dropped, Where where = Where::here()) {
        dropped.expect_nothing(where);
        world().advance(milliseconds(2500));
        if (!dropped.is_open()) ADD_FAILURE_AT(where.file, where.line) << "dropped too early";
        world().advance(milliseconds(1000));
        dropped.expect_end(where);
    }
    // A client with a certificate of this name, over TLS.
    Connect showing(std::string_view name, PeerLocation place = PeerLocation::loopback) {
        return {GetParam(), place, protocol::Protocol::amqp091, std::string(name)};
    }
    void offer_external() {
        settings().mechanisms = {Mechanism::plain, Mechanism::external};
        add_user(bunny, {".*", ".*", ".*"});
    }

    static constexpr std::string_view bunny = "CN=bunny,O=rabbits";
};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolLogin, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp091 2.10
TEST_P(ProtocolLogin, PlainIsNulUserNulPassword) {
    answer_start("PLAIN", "\0guest\0guest"s).expect<ConnectionTune>();
}

// amqp091 2.10, 3.4: an authorization identity before the first NUL is not allowed.
TEST_P(ProtocolLogin, AnyOtherPlainIsDropped) {
    expect_dropped(answer_start("PLAIN", "guest\0guest\0guest"s));
    expect_dropped(answer_start("PLAIN", "\0guest"s));
    expect_dropped(answer_start("PLAIN", ""));
    expect_dropped(answer_start("PLAIN", "\0guest\0guest\0"s));
}

// amqp091 2.11: the table has no length prefix; strings may be S or x.
TEST_P(ProtocolLogin, AmqplainIsATableOfLoginAndPassword) {
    answer_start("AMQPLAIN", table({{"LOGIN", "guest"}, {"PASSWORD", "guest"}}))
        .expect<ConnectionTune>();
    answer_start("AMQPLAIN", table({{"PASSWORD", Value{ValueType::binary, "guest"s}},
                                    {"LOGIN", Value{ValueType::binary, "guest"s}}}))
        .expect<ConnectionTune>();
}

// amqp091 2.11, 3.4
TEST_P(ProtocolLogin, AnyOtherAmqplainIsDropped) {
    expect_dropped(answer_start("AMQPLAIN", table({{"LOGIN", "guest"}})));
    expect_dropped(answer_start("AMQPLAIN", table({{"LOGIN", "guest"}, {"PASSWORD", 5}})));
    expect_dropped(answer_start("AMQPLAIN", "\0guest\0guest"s));
}

// amqp091 2.8
TEST_P(ProtocolLogin, AnonymousIsTheConfiguredUser) {
    Peer& somebody = answer_start("ANONYMOUS", "");
    somebody.expect<ConnectionTune>();
    EXPECT_EQ(somebody.wire().connection091().user(), "guest");
}

// amqp091 2.12, 3.4: EXTERNAL requires a certificate and therefore TLS.
TEST_P(ProtocolLogin, ExternalWithoutACertificateIsDropped) {
    offer_external();
    expect_dropped(answer_start("EXTERNAL", bunny));
}

// amqp091 2.8
TEST_P(ProtocolLogin, ExternalIsOfferedToClientsWithACertificate) {
    offer_external();
    Peer with(world(), showing(bunny));
    with.greet();
    EXPECT_EQ(with.expect<ConnectionStart>().mechanisms, "PLAIN EXTERNAL");
    Peer& without = new_peer();
    without.greet();
    EXPECT_EQ(without.expect<ConnectionStart>().mechanisms, "PLAIN");
}

// amqp091 2.8, 3.4: a certificate alone is not sufficient.
TEST_P(ProtocolLogin, ExternalIsNotAmongTheMechanismsByDefault) {
    add_user(bunny, {".*", ".*", ".*"});
    Peer with(world(), showing(bunny));
    expect_dropped(answer_start(with, "EXTERNAL", ""));
}

// amqp091 2.12: the identity in the response is ignored.
TEST_P(ProtocolLogin, ExternalIsTheUserOfTheCertificate) {
    offer_external();
    for (const std::string& response : {""s, "guest"s, "\0guest\0guest"s}) {
        Peer client(world(), showing(bunny));
        answer_start(client, "EXTERNAL", response).expect<ConnectionTune>();
        EXPECT_EQ(client.wire().connection091().user(), bunny);
        client.send_tune_ok_and_open({});
        client.expect<ConnectionOpenOk>();
        client.open_channel().declare("q");
    }
}

// amqp091 2.12, 3.1
TEST_P(ProtocolLogin, ACertificateOfNobodyIsRefused) {
    offer_external();
    Peer stranger(world(), showing("CN=stranger"));
    expect_refused(answer_start(stranger, "EXTERNAL", ""), "EXTERNAL");
}

// amqp091 2.12, 3.3
TEST_P(ProtocolLogin, GuestMayNotComeFromElsewhereWithACertificateEither) {
    offer_external();
    Peer guest(world(), showing("guest", PeerLocation::remote));
    expect_refused(answer_start(guest, "EXTERNAL", ""), "EXTERNAL");
}

// amqp091 3.1
TEST_P(ProtocolLogin, AWrongPasswordIsToldToClientsThatKnowHow) {
    Peer& refused = answer_start("PLAIN", "\0guest\0wrong"s);
    expect_refused(refused, "PLAIN");
    EXPECT_TRUE(refused.is_open());
    refused.send(0, ConnectionCloseOk{});
    refused.expect_end();
}

// amqp091 3.1: the reply does not depend on whether the user exists, nor on the mechanism.
TEST_P(ProtocolLogin, AnUnknownUserIsToldTheSame) {
    expect_refused(answer_start("PLAIN", "\0nobody\0guest"s), "PLAIN");
    expect_refused(answer_start("PLAIN", "\0\0"s), "PLAIN");
    expect_refused(answer_start("AMQPLAIN", table({{"LOGIN", "guest"}, {"PASSWORD", "wrong"}})),
                   "AMQPLAIN");
}

// amqp091 3.1, 2.8
TEST_P(ProtocolLogin, AnonymousFailsWithTheConfiguredUser) {
    settings().anonymous_login_password = "outdated";
    expect_refused(answer_start("ANONYMOUS", ""), "ANONYMOUS");
}

// amqp091 3.2
TEST_P(ProtocolLogin, AWrongPasswordIsSilenceForOldClients) {
    expect_dropped(answer_start("PLAIN", "\0guest\0wrong"s, {.capabilities = {}}));
}

// amqp091 3.3
TEST_P(ProtocolLogin, GuestMayComeFromThisMachineOnly) {
    expect_refused(answer_start("PLAIN", "\0guest\0guest"s, {}, PeerLocation::remote), "PLAIN");
    add_user("traveller", {".*", ".*", ".*"});
    answer_start("PLAIN", "\0traveller\0secret"s, {}, PeerLocation::remote)
        .expect<ConnectionTune>();
}

// amqp091 3.3
TEST_P(ProtocolLogin, LoopbackUsersCanBeConfigured) {
    settings().loopback_users = {};
    answer_start("PLAIN", "\0guest\0guest"s, {}, PeerLocation::remote).expect<ConnectionTune>();
}

// amqp091 3.4
TEST_P(ProtocolLogin, AnUnknownMechanismIsDropped) {
    expect_dropped(answer_start("CRAM-MD5", ""));
    expect_dropped(answer_start("plain", "\0guest\0guest"s));
}

// amqp091 3.4: a malformed start-ok also drops the socket.
TEST_P(ProtocolLogin, AnUnreadableStartOkIsDropped) {
    Peer& odd = new_peer();
    odd.greet();
    odd.expect<ConnectionStart>();
    odd.send(raw_frame(1, 0, "\0\x0a\0\x0b\0\0\0\x09"s));
    expect_dropped(odd);
}

// amqp091 3.5
TEST_P(ProtocolLogin, AnUnknownVhostIsRefused) {
    Peer& lost = new_peer();
    lost.log_in();
    lost.send_tune_ok_and_open({.vhost = "nowhere"});
    lost.expect_connection_close<ConnectionOpen>(530, "NOT_ALLOWED - vhost nowhere not found");
    lost.send(0, ConnectionCloseOk{});
    lost.expect_end();
}

// amqp091 3.6
TEST_P(ProtocolLogin, AVhostWithoutPermissionIsRefused) {
    Peer& stranger = new_peer();
    stranger.log_in();
    stranger.send_tune_ok_and_open({.vhost = "elsewhere"});
    stranger.expect_connection_close<ConnectionOpen>(
        530, "NOT_ALLOWED - access to vhost 'elsewhere' refused for user 'guest'");
}

// amqp091 3.7: the node counts connections, and its text is sent to the client.
TEST_P(ProtocolLogin, ALimitOfTheNodeIsToldToTheClient) {
    world().refuse_entry(
        "access to vhost '/' refused for user 'guest': connection limit (5) is reached");
    Peer& sixth = new_peer();
    sixth.log_in();
    sixth.send_tune_ok_and_open({});
    sixth.expect_connection_close<ConnectionOpen>(
        530,
        "NOT_ALLOWED - access to vhost '/' refused for user 'guest': connection limit (5) is "
        "reached");
}

// amqp091 3.8
TEST_P(ProtocolLogin, EmptyPermissionsAreEnoughToEnter) {
    add_user("poor", {"", "", ""});
    auto poor = open_channel({.user = "poor", .password = "secret"});
    poor.send(QueueDeclare{.queue = "q"});
    poor.expect_close<QueueDeclare>(
        403, "ACCESS_REFUSED - configure access to queue 'q' in vhost '/' refused for user 'poor'");
}

// amqp091 3.6: vhosts are independent of each other.
TEST_P(ProtocolLogin, VhostsShareNothing) {
    world().change(SetPermissions{"guest", "elsewhere", {".*", ".*", ".*"}});
    channel().declare("q");
    auto there = open_channel({.vhost = "elsewhere"});
    EXPECT_TRUE(channel().exists("q"));
    EXPECT_FALSE(there.exists("q"));
    there.send(QueueDeclare{.queue = "q", .passive = true});
    there.expect_close<QueueDeclare>(404, "NOT_FOUND - no queue 'q' in vhost 'elsewhere'");
}

}  // namespace
}  // namespace revenant::amqp091
