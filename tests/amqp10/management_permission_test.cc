// Link pairs to /management and their permissions (amqp10, 7.1, 7.2, 7.12).
#include "tests/support/management10.h"

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;

class ManagementPairs10 : public ManagementTest {};
INSTANTIATE_TEST_SUITE_P(Wire, ManagementPairs10, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp10 7.1
TEST_P(ManagementPairs10, BothHalvesAreAnsweredAsAPairAndStandOnce) {
    for (const bool receives : {false, true}) {
        send_attach(session(), receives);
        EXPECT_EQ(text_in(session().expect<Attach>().properties), "{'paired': true}");
        if (!receives) session().expect<Flow>();
    }
    Attach twin{.name = "management-link-pair", .handle = 7, .role = true};
    const std::string source = source_of("/management");
    const std::string target = target_of("$me");
    const std::string paired =
        encoded(Datum::map({{Datum::symbol("paired"), Datum::boolean(true)}}));
    twin.source = source;
    twin.target = target;
    twin.properties = paired;
    session().send(twin);
    session().expect_refused_attach(
        7, "amqp:precondition-failed",
        "the session already has a link 'management-link-pair' in this direction");
}

// amqp10 7.1
TEST_P(ManagementPairs10, APairIsDeclaredToBeOne) {
    const std::string text = "Link property 'paired' is not set to boolean value 'true'";
    for (const bool receives : {false, true}) {
        const std::uint32_t handle = receives ? responses : requests;
        send_attach(session(), receives, "$me", std::nullopt);
        session().expect_refused_attach(handle, "amqp:invalid-field", text);
        send_attach(session(), receives, "$me", Datum::boolean(false));
        session().expect_refused_attach(handle, "amqp:invalid-field", text);
        send_attach(session(), receives, "$me", Datum::string("true"));
        session().expect_refused_attach(handle, "amqp:invalid-field", text);
    }
}

// amqp10 7.1
TEST_P(ManagementPairs10, BothHalvesHaveOneAddress) {
    send_attach(session(), false, "$me");
    session().expect<Attach>();
    session().expect<Flow>();
    send_attach(session(), true, "$you");
    session().expect_refused_attach(responses, "amqp:precondition-failed",
                                    "the two links of the management link pair "
                                    "'management-link-pair' have different addresses at the "
                                    "client");
    send_attach(session(), true, "$me");
    EXPECT_FALSE(is_absent(session().expect<Attach>().source));
}

// amqp10 7.2
TEST_P(ManagementPairs10, HalfAPairAnswersNothing) {
    send_attach(session(), false);
    session().expect<Attach>();
    session().expect<Flow>();
    session().transfer(requests, 0, request("GET", "/queues/q"), true);
    session().expect_end("amqp:precondition-failed",
                         "received transfer on half open management link pair");
}

// amqp10 7.2
TEST_P(ManagementPairs10, AnswersNeedCredit) {
    attach_pair(session(), 0);
    session().transfer(requests, 0, request("GET", "/queues/q"), true);
    session().expect_end("amqp:precondition-failed",
                         "insufficient credit (0) for management link from RabbitMQ to client");
}

// amqp10 7.2
TEST_P(ManagementPairs10, ARequestIsSettledAndWhole) {
    PeerSession unsettled = peer10().begin(1);
    attach_pair(unsettled);
    unsettled.transfer(requests, 0, request("GET", "/queues/q"), false);
    unsettled.expect_end("amqp:not-implemented", "a management request must be settled");
    PeerSession parts = peer10().begin(2);
    attach_pair(parts);
    parts.send(Transfer{.handle = requests, .delivery_id = 0, .settled = true, .more = true},
               "half");
    parts.expect_end("amqp:not-implemented", "a management request must fit in one transfer");
}

// amqp10 7.2: credit is renewed at one half.
TEST_P(ManagementPairs10, CreditForRequestsIsRenewed) {
    attach_pair(session());
    std::string bytes;
    for (std::uint32_t i = 0; i < 3; ++i) {
        session().transfer(requests, i, request("GET", "/queues/q"), true);
        session().expect_message_bytes(bytes);
    }
    session().expect_nothing();
    session().transfer(requests, 3, request("GET", "/queues/q"), true);
    std::size_t renewed = 0;
    for (int i = 0; i < 2; ++i) {
        const Arrival* const arrival = peer10().next(0);
        ASSERT_NE(arrival, nullptr);
        if (arrival->code() != Flow::descriptor_code) continue;
        renewed += 1;
        EXPECT_EQ(Flow::decode(arrival->items())->link_credit, 8U);
    }
    EXPECT_EQ(renewed, 1U);
    depends_on_distance();
}

// amqp10 7.2: on another reactor, outstanding responses delay the credit.
TEST_P(ManagementPairs10, TooManyRequestsEndTheSession) {
    depends_on_distance();
    attach_pair(session());
    peer10().hold();
    for (std::uint32_t i = 0; i < 20; ++i) {
        session().transfer(requests, i, request("GET", "/queues/q"), true);
    }
    peer10().release();
    std::size_t answers = 0;
    ErrorText error;
    while (const Arrival* const arrival = peer10().next(0)) {
        if (arrival->code() == Transfer::descriptor_code) answers += 1;
        if (arrival->code() != End::descriptor_code) continue;
        error = error_in(End::decode(arrival->items())->error);
    }
    if (GetParam() == Distance::near) {
        EXPECT_EQ(answers, 20U);
        EXPECT_EQ(error.condition, "");
    } else {
        EXPECT_EQ(error.condition, "amqp:link:transfer-limit-exceeded");
        EXPECT_EQ(error.description,
                  "insufficient credit (0) for management link from client to RabbitMQ");
    }
}

// amqp10 7.2: outstanding responses count.
TEST_P(ManagementPairs10, AnswersUnderWayNeedCreditAsWell) {
    depends_on_distance();
    attach_pair(session(), 1);
    peer10().hold();
    for (std::uint32_t i = 0; i < 2; ++i) {
        session().transfer(requests, i, request("GET", "/queues/q"), true);
    }
    peer10().release();
    if (GetParam() == Distance::near) {
        std::string bytes;
        session().expect_message_bytes(bytes);
    }
    session().expect_end("amqp:precondition-failed",
                         "insufficient credit (0) for management link from RabbitMQ to client");
}

// amqp10 7.12: a missing permission ends the session.
TEST_P(ManagementPairs10, WithoutPermissionTheSessionEnds) {
    declare("q");
    add_user("user", {"^mine", "^mine", "^mine"});
    Peer& user = connect10({.user = "user", .password = "secret"});
    std::uint16_t channel = 0;
    const auto refused = [&](std::string_view verb, std::string_view to, const Datum& body,
                             std::string_view what) {
        PeerSession own = user.begin(channel++);
        attach_pair(own);
        own.transfer(requests, 0, request(verb, to, body), true);
        own.expect_end("amqp:unauthorized-access",
                       std::string(what) + " in vhost '/' refused for user 'user'");
    };
    refused("PUT", "/queues/other", Datum::null(), "configure access to queue 'other'");
    refused("DELETE", "/queues/q", Datum::null(), "configure access to queue 'q'");
    refused("DELETE", "/queues/q/messages", Datum::null(), "read access to queue 'q'");
    refused("PUT", "/exchanges/other", Datum::null(), "configure access to exchange 'other'");
    refused("DELETE", "/exchanges/other", Datum::null(), "configure access to exchange 'other'");
    refused("POST", "/bindings", binding("mine.x", "q", "k"), "write access to queue 'q'");
    refused("POST", "/bindings", binding("amq.direct", "mine", "k"),
            "read access to exchange 'amq.direct'");
    refused("DELETE", "/bindings/src=amq.direct;dstq=mine;key=k;args=", Datum::null(),
            "read access to exchange 'amq.direct'");
    // Listing bindings needs the same permissions as creating them.
    refused("GET", "/bindings?src=mine.x&dstq=q&key=k", Datum::null(), "write access to queue 'q'");
    refused("GET", "/bindings?src=mine.x&dste=other&key=k", Datum::null(),
            "write access to exchange 'other'");
    refused("GET", "/bindings?src=amq.direct&dstq=mine&key=k", Datum::null(),
            "read access to exchange 'amq.direct'");
}

// amqp10 7.12: routing keys of a topic exchange have separate permissions.
TEST_P(ManagementPairs10, ListingBindingsOfATopicNeedsItsKey) {
    add_user("user", {".*", ".*", ".*"});
    world().change(SetTopicPermissions{"user", "/", "amq.topic", {"^mine", "^mine"}});
    declare("q");
    Peer& user = connect10({.user = "user", .password = "secret"});
    PeerSession granted = user.begin(0);
    attach_pair(granted);
    granted.transfer(requests, 0, request("GET", "/bindings?src=amq.topic&dstq=q&key=mine.x"),
                     true);
    std::string bytes;
    granted.expect_message_bytes(bytes);
    PeerSession refused = user.begin(1);
    attach_pair(refused);
    refused.transfer(requests, 0, request("GET", "/bindings?src=amq.topic&dstq=q&key=other"), true);
    EXPECT_EQ(error_in(refused.expect<End>().error).condition, "amqp:unauthorized-access");
    refused.end_ok();
}

// DL-33, DL-34, DL-39: needs write permission on the dead-letter exchange and read permission on
// the queue.
TEST_P(ManagementPairs10, ADeadLetterExchangeNeedsPermissions) {
    add_user("user", {".*", "^allowed$", "^q"});
    Peer& user = connect10({.user = "user", .password = "secret"});
    std::uint16_t channel = 0;
    const auto declare_with = [&](std::string_view queue, const Datum& exchange) {
        PeerSession own = user.begin(channel++);
        attach_pair(own);
        own.transfer(requests, 0,
                     request("PUT", "/queues/" + std::string(queue),
                             with_arguments({{Datum::string("x-dead-letter-exchange"), exchange}})),
                     true);
        return own;
    };
    const auto status_of = [](PeerSession& own) {
        std::string bytes;
        own.expect_message_bytes(bytes);
        const auto sections = split_message(bytes);
        return std::string(composite_in<Properties>(sections->properties)->subject.value_or(""));
    };
    PeerSession granted = declare_with("q1", Datum::string("allowed"));
    EXPECT_EQ(status_of(granted), "201");
    PeerSession not_a_name = declare_with("q2", Datum::uint(7));
    EXPECT_EQ(status_of(not_a_name), "409");
    PeerSession unwritten = declare_with("q3", Datum::string("other"));
    unwritten.expect_end("amqp:unauthorized-access",
                         "write access to exchange 'other' in vhost '/' refused for user 'user'");
    PeerSession unread = declare_with("r", Datum::string("other"));
    unread.expect_end("amqp:unauthorized-access",
                      "read access to queue 'r' in vhost '/' refused for user 'user'");
}

// DL-33: other arguments are not checked.
TEST_P(ManagementPairs10, WithoutADeadLetterExchangeNothingIsChecked) {
    add_user("user", {".*", "", ""});
    PeerSession own = connect10({.user = "user", .password = "secret"}).begin();
    attach_pair(own);
    std::string bytes;
    for (const Datum& body :
         {Datum::null(), with_arguments({{Datum::string("x-max-length"), Datum::int32(5)}})}) {
        own.transfer(requests, 0,
                     request("PUT", body.is_null() ? "/queues/plain" : "/queues/short", body),
                     true);
        own.expect_message_bytes(bytes);
        const auto sections = split_message(bytes);
        EXPECT_EQ(composite_in<Properties>(sections->properties)->subject, "201");
    }
}

}  // namespace
}  // namespace revenant::amqp10
