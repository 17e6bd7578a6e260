// Requests to /management and their responses, as clients write and compare them (amqp10, section
// 7).
#include "tests/support/management10.h"

#include <set>

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;

class ManagementRequests10 : public ManagementTest {};
INSTANTIATE_TEST_SUITE_P(Wire, ManagementRequests10, testing::Values(Distance::near, Distance::far),
                         distance_name);

// A client writes its sections in an order that messages cannot have.
TEST_P(ManagementRequests10, TheSectionsOfARequestComeInAnyOrder) {
    declare("q");
    Properties properties;
    const std::string id = encoded(Datum::string("id of it"));
    properties.message_id = id;
    properties.to = "/queues/q";
    properties.subject = "GET";
    properties.reply_to = "$me";
    const std::string body = section(descriptor::value, Datum::null());
    const std::string header = encoded(Header{.durable = true});
    for (const std::string& bytes :
         {body + encoded(properties), body + header + encoded(properties),
          application_properties({}) + body + encoded(properties) + header}) {
        pair().transfer(requests, 0, bytes, true);
        const Answer answer = expect_answer();
        EXPECT_EQ(answer.status, "200") << answer.body;
        EXPECT_EQ(answer.correlation, "id of it");
    }
}

// The readable part of an invalid request is sufficient to correlate the response.
TEST_P(ManagementRequests10, ABadRequestIsAnsweredUnderItsId) {
    Properties properties;
    const std::string id = encoded(Datum::string("id of it"));
    properties.message_id = id;
    const std::string properties_only = encoded(properties);
    for (const std::string& bytes : {properties_only, properties_only + data("no value"),
                                     properties_only + "garbage", request("PUT", "/queues/%zz")}) {
        pair().transfer(requests, 0, bytes, true);
        const Answer answer = expect_answer();
        EXPECT_EQ(answer.status, "400");
        EXPECT_EQ(answer.correlation, "id of it") << answer.body;
    }
}

// The requester is informed of the deletion before its links to the queue are detached.
TEST_P(ManagementRequests10, ADeletionIsAnsweredBeforeTheLinksEnd) {
    for (const char* type : {"classic", "quorum"}) {
        if (type == "quorum"s) {
            declare_quorum("q");
        } else {
            declare("q");
        }
        pair().attach_receiver(2, "/queues/q");
        pair().attach_sender(3, "/queues/q");
        const Answer deleted = ask("DELETE", "/queues/q");
        EXPECT_EQ(deleted.status, "200");
        std::set<std::uint32_t> ended;
        for (int i = 0; i < 2; ++i) {
            const auto detach = pair().expect<Detach>();
            EXPECT_EQ(error_in(detach.error).condition, "amqp:resource-deleted");
            ended.insert(detach.handle);
            pair().detach_ok(detach.handle);
        }
        EXPECT_EQ(ended, (std::set<std::uint32_t>{2, 3}));
        expect_status("404", "GET", "/queues/q");
    }
}

// A refused deletion does not delay detaching permanently.
TEST_P(ManagementRequests10, LinksEndAsEverAfterARefusedDeletion) {
    channel().send(amqp091::QueueDeclare{.queue = "mine", .exclusive = true});
    channel().expect<amqp091::QueueDeclareOk>();
    declare("q");
    pair().attach_receiver(2, "/queues/q");
    expect_status("400", "DELETE", "/queues/mine");
    channel().send(amqp091::QueueDelete{.queue = "q"});
    channel().expect<amqp091::QueueDeleteOk>();
    EXPECT_EQ(error_in(pair().expect<Detach>().error).condition, "amqp:resource-deleted");
    pair().detach_ok(2);
}

// Clients may compare the octet, so booleans are encoded as type and octet, also in arguments.
TEST_P(ManagementRequests10, BooleansAreTypeAndOctet) {
    pair().transfer(requests, 0,
                    request("PUT", "/queues/q",
                            Datum::map({{Datum::string("arguments"),
                                         Datum::map({{Datum::string("x-single-active-consumer"),
                                                      Datum::boolean(true)}})}})),
                    true);
    std::string bytes;
    pair().expect_message_bytes(bytes);
    const auto told = [&](std::string_view name, char octet) {
        const std::string entry =
            "\xa1"s + static_cast<char>(name.size()) + std::string(name) + "\x56"s + octet;
        EXPECT_NE(bytes.find(entry), std::string::npos) << name;
    };
    told("durable", '\1');
    told("exclusive", '\0');
    told("auto_delete", '\0');
    told("x-single-active-consumer", '\1');
}

// The response shows the declared properties, although the queue is deleted with the connection.
TEST_P(ManagementRequests10, AnExclusiveQueueIsShownAsItWasDeclared) {
    const Datum exclusive = Datum::map({{Datum::string("exclusive"), Datum::boolean(true)}});
    const Answer made = ask("PUT", "/queues/mine", exclusive);
    EXPECT_EQ(made.status, "201");
    EXPECT_NE(made.body.find("'durable': true, 'auto_delete': false, 'exclusive': true"),
              std::string::npos)
        << made.body;
    EXPECT_NE(ask("GET", "/queues/mine").body.find("'durable': true"), std::string::npos);
    expect_status("200", "PUT", "/queues/mine", exclusive);
    const Datum transient = Datum::map({{Datum::string("exclusive"), Datum::boolean(true)},
                                        {Datum::string("durable"), Datum::boolean(false)}});
    EXPECT_EQ(ask("PUT", "/queues/mine", transient).status, "409");
    EXPECT_NE(ask("PUT", "/queues/transient", transient).body.find("'durable': false"),
              std::string::npos);
    peer10().close();
    EXPECT_FALSE(channel().exists("mine"));
}

// amqp10 4.6: a reply queue can be described while its requester is connected.
TEST_P(ManagementRequests10, APlaceForRepliesIsShown) {
    PeerSession requester = connect10().begin();
    const std::string address = requester.attach_reply_receiver(0);
    const Answer shown = ask("GET", address);
    EXPECT_EQ(shown.status, "200");
    EXPECT_NE(shown.body.find("'durable': false, 'auto_delete': true, 'exclusive': false, 'type': "
                              "'rabbit_volatile_queue', 'arguments': {}, 'message_count': 0, "
                              "'consumer_count': 1"),
              std::string::npos)
        << shown.body;
    requester.detach(0);
    expect_refusal("404", "queue '" + address.substr(8) + "' in vhost '/' not found", "GET",
                   address);
    expect_status("404", "GET", "/queues/amq.rabbitmq.reply-to.none");
}

// amqp10 7.11: after new credentials, permissions are checked again.
TEST_P(ManagementRequests10, ATokenHasPermissionsCheckedAgain) {
    declare("q");
    add_user("user", {".*", ".*", ".*"});
    Peer& user = connect10({.user = "user", .password = "secret"});
    PeerSession pair = user.begin(0);
    attach_pair(pair);
    PeerSession reading = user.begin(1);
    reading.attach_receiver(0, "/queues/q");
    PeerSession writing = user.begin(2);
    writing.attach_sender(0, "/exchanges/amq.fanout");
    PeerSession anonymous = user.begin(3);
    anonymous.attach_sender(0, std::nullopt);
    const auto renew = [&](std::uint32_t id) {
        pair.transfer(requests, id, request("PUT", "/auth/tokens", Datum::binary("token")), true);
        std::string bytes;
        pair.expect_message_bytes(bytes);
    };
    renew(0);
    reading.expect_nothing();
    world().change(SetPermissions{"user", "/", {".*", ".*", "^other"}});
    reading.expect_nothing();
    renew(1);
    reading.expect_end("amqp:unauthorized-access",
                       "read access to queue 'q' in vhost '/' refused for user 'user'");
    reading.end_ok();
    world().change(SetPermissions{"user", "/", {".*", "^other", ".*"}});
    renew(2);
    writing.expect_end("amqp:unauthorized-access",
                       "write access to exchange 'amq.fanout' in vhost '/' refused for user "
                       "'user'");
    writing.end_ok();
    anonymous.expect_nothing();
    world().change(ClearPermissions{"user", "/"});
    pair.transfer(requests, 3, request("PUT", "/auth/tokens", Datum::binary("token")), true);
    pair.expect<Flow>();  // credit for requests is renewed
    std::string bytes;
    pair.expect_message_bytes(bytes);
    const ErrorText error = error_in(user.expect<Close>().error);
    EXPECT_EQ(error.condition, "amqp:unauthorized-access");
    EXPECT_TRUE(error.description.starts_with("access to vhost / failed for new credential: "))
        << error.description;
}

}  // namespace
}  // namespace revenant::amqp10
