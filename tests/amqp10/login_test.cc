// Login by certificate: SASL EXTERNAL (amqp10, 2.2 to 2.4).
#include "amqp10/codec/raw_fields.h"
#include "tests/support/peer10.h"

#include <gmock/gmock.h>

namespace revenant::amqp10 {
namespace {

using protocol::Protocol;

class External10 : public Wire10Test {
  protected:
    void SetUp() override { settings().mechanisms = {Mechanism::plain, Mechanism::external}; }
    void add_bunny() { add_user(bunny, {".*", ".*", ".*"}); }
    Connect showing(std::string_view name, PeerLocation place = PeerLocation::loopback) {
        return {GetParam(), place, Protocol::amqp10, std::string(name)};
    }
    // Selects EXTERNAL, with the identity that the client requests.
    static void send_external(Peer& client, std::string_view identity = "") {
        SaslInit init;
        init.mechanism = "EXTERNAL";
        init.initial_response = identity;
        client.send(sasl_frame(init));
    }
    static std::string mechanisms_for(Peer& client) {
        client.send(sasl_greeting);
        client.expect_header(sasl_greeting);
        return text_in(client.expect<SaslMechanisms>().sasl_server_mechanisms);
    }

    static constexpr std::string_view bunny = "CN=bunny,O=rabbits";
};
INSTANTIATE_TEST_SUITE_P(Wire, External10, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp10 2.2
TEST_P(External10, IsOfferedToClientsWithACertificate) {
    Peer with(world(), showing(bunny));
    EXPECT_EQ(mechanisms_for(with), "array['PLAIN', 'EXTERNAL']");
    EXPECT_EQ(mechanisms_for(new_peer10()), "array['PLAIN']");
}

// amqp10 2.2: a certificate alone is not sufficient.
TEST_P(External10, IsOfferedIfTheSettingsSaySo) {
    settings().mechanisms = {Mechanism::plain};
    add_bunny();
    Peer with(world(), showing(bunny));
    EXPECT_EQ(mechanisms_for(with), "array['PLAIN']");
    send_external(with);
    with.expect_nothing();
    world().advance(milliseconds(3500));
    with.expect_socket_closed();
}

// amqp10 2.3
TEST_P(External10, IsTheUserOfTheCertificate) {
    add_bunny();
    declare("q");
    Peer client(world(), showing(bunny));
    client.connect({.mechanism = "EXTERNAL"});
    EXPECT_EQ(client.wire().connection().info().user, bunny);
    EXPECT_EQ(client.wire().connection().info().mechanism, "EXTERNAL");
    PeerSession begun = client.begin();
    begun.attach_sender(0, "/queues/q");
    begun.publish<Accepted>(0, 0, MessageBytes("by certificate"));
    EXPECT_EQ(channel().drain("q"), std::vector<std::string>{"by certificate"});
}

// amqp10 2.3: the identity in the response is ignored.
TEST_P(External10, IsNobodyElse) {
    add_bunny();
    Peer client(world(), showing(bunny));
    client.greet();
    send_external(client, "guest");
    EXPECT_EQ(client.expect<SaslOutcome>().code, 0);
    EXPECT_EQ(client.wire().connection().info().user, bunny);
}

// amqp10 2.4
TEST_P(External10, ACertificateOfNobodyIsRefused) {
    Peer client(world(), showing("CN=stranger"));
    client.greet();
    send_external(client);
    EXPECT_EQ(client.expect<SaslOutcome>().code, 1);
    client.expect_socket_closed();
    EXPECT_EQ(client.wire().notes(), std::vector<std::string>{"login refused"});
}

// amqp10 2.4
TEST_P(External10, AUserThatWasDeletedIsRefused) {
    add_bunny();
    Peer client(world(), showing(bunny));
    client.greet();
    world().change(DeleteUser{std::string(bunny)});
    send_external(client);
    EXPECT_EQ(client.expect<SaslOutcome>().code, 1);
    client.expect_socket_closed();
}

// amqp10 2.4: the mechanism was not offered, so no outcome is sent.
TEST_P(External10, WithoutACertificateTheSocketIsDropped) {
    Peer& client = new_peer10();
    client.greet();
    send_external(client, bunny);
    client.expect_nothing();
    world().advance(milliseconds(2500));
    EXPECT_TRUE(client.is_open());
    world().advance(milliseconds(1000));
    client.expect_socket_closed();
}

// amqp10 2.3: a client with a certificate may use another mechanism.
TEST_P(External10, AClientWithACertificateMayUseItsPassword) {
    add_bunny();
    Peer client(world(), showing(bunny));
    client.connect({.user = "guest", .password = "guest"});
    EXPECT_EQ(client.wire().connection().info().user, "guest");
}

// amqp10 2.7
TEST_P(External10, GuestComesFromHereOnlyWithACertificateAsWell) {
    Peer client(world(), showing("guest", PeerLocation::remote));
    client.log_in({.mechanism = "EXTERNAL"});
    client.send_open({});
    client.expect_nothing();
    EXPECT_THAT(
        client.wire().notes(),
        testing::Contains(testing::HasSubstr("user 'guest' can only connect via localhost")));
    world().advance(milliseconds(3500));
    client.expect_socket_closed();
}

}  // namespace
}  // namespace revenant::amqp10
