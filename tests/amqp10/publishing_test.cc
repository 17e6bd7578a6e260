// Messages from the client: transfers, outcomes and refusals (amqp10, 5.11 to 5.20).
#include "amqp10/codec/raw_fields.h"
#include "tests/support/peer10.h"

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;

class Publishing10 : public Wire10Test {
  protected:
    // A link to queue q in a separate session, so that errors do not affect the others.
    PeerSession fresh_link(std::uint8_t settle_mode = mixed_mode,
                           std::optional<std::string> address = "/queues/q") {
        PeerSession fresh = peer10().begin(next_++);
        fresh.attach_sender(0, std::move(address), settle_mode);
        return fresh;
    }

  private:
    std::uint16_t next_ = 10;
};
INSTANTIATE_TEST_SUITE_P(Wire, Publishing10, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp10 C.2, 5.14
TEST_P(Publishing10, AMessageThatIsInItsQueueIsAccepted) {
    declare("q");
    session().attach_sender(0, "/queues/q");
    session().publish<Accepted>(0, 0, MessageBytes("one"));
    EXPECT_EQ(channel().drain("q"), std::vector<std::string>{"one"});
}

// amqp10 C.3, 5.14
TEST_P(Publishing10, AMessageWithoutARouteIsReleased) {
    session().attach_sender(0, "/exchanges/amq.direct/nokey");
    session().publish<Released>(0, 0, MessageBytes());
    session().transfer(0, 1, MessageBytes(), true);
    session().expect_nothing();
}

// amqp10 5.14: consecutive deliveries share a disposition.
TEST_P(Publishing10, OutcomesOfNeighboursAreOneDisposition) {
    declare("q");
    session().attach_sender(0, "/queues/q");
    peer10().hold();
    for (std::uint32_t i = 0; i < 5; ++i) session().transfer(0, i, MessageBytes());
    peer10().release();
    session().expect_outcome<Accepted>(0, 4);
}

// amqp10 5.14
TEST_P(Publishing10, SettledDeliveriesGetNoDisposition) {
    declare("q");
    session().attach_sender(0, "/queues/q");
    session().transfer(0, 0, MessageBytes("settled"), true);
    session().expect_nothing();
    EXPECT_EQ(channel().drain("q"), std::vector<std::string>{"settled"});
}

// amqp10 5.14, DL-140, DL-144: a full queue.
TEST_P(Publishing10, AFullQueueRejectsAndIsNamed) {
    declare("q", {{"x-max-length", 1}, {"x-overflow", "reject-publish"}});
    session().attach_sender(0, "/queues/q");
    session().publish<Accepted>(0, 0, MessageBytes("fits"));
    const auto rejected = session().publish<Rejected>(0, 1, MessageBytes("too much"));
    const ErrorText error = error_in(rejected.error);
    EXPECT_EQ(error.condition, "amqp:resource-limit-exceeded");
    EXPECT_EQ(error.description, "queue 'q' exceeded maximum length");
    EXPECT_EQ(error.info, "{'queue': 'q', 'reason': 'maxlen'}");
    session().transfer(0, 2, MessageBytes("settled"), true);
    session().expect_nothing();
    EXPECT_EQ(channel().drain("q"), std::vector<std::string>{"fits"});
    session().publish<Accepted>(0, 3, MessageBytes("again"));
}

// amqp10 5.12, C.8: a message in many transfers.
TEST_P(Publishing10, AMessageMayComeInManyTransfers) {
    declare("q");
    session().attach_sender(0, "/queues/q");
    const std::string body(3000, 'b');
    const std::string whole = MessageBytes(body);
    for (std::size_t at = 0; at < whole.size(); at += 100) {
        const bool more = at + 100 < whole.size();
        Transfer transfer{.handle = 0, .more = more};
        if (at == 0) transfer.delivery_id = 9;
        if (at == 100) transfer.delivery_id = 9;  // may be repeated
        session().send(transfer, std::string_view(whole).substr(at, 100));
    }
    session().expect_outcome<Accepted>(9);
    EXPECT_EQ(channel().drain("q"), std::vector<std::string>{body});
}

// amqp10 C.8: in both directions, with the smallest frames.
TEST_P(Publishing10, ALargeMessageComesThroughSmallFramesWhole) {
    declare("q");
    Peer& client = connect10({.max_frame_size = 512});
    PeerSession small = client.begin();
    small.attach_sender(0, "/queues/q");
    std::string body;
    for (int i = 0; i < 20000; ++i) body += static_cast<char>(i * 7 + i / 256);
    const std::string whole = MessageBytes(body).property("key", Datum::string("value")).bytes();
    for (std::size_t at = 0; at < whole.size(); at += 4000) {
        const bool more = at + 4000 < whole.size();
        small.send(Transfer{.handle = 0, .delivery_id = 0, .more = more},
                   std::string_view(whole).substr(at, 4000));
    }
    small.expect_outcome<Accepted>(0);
    small.attach_receiver(1, "/queues/q", 1);
    const auto came = small.expect_message(body);
    EXPECT_GT(came.frames, 39U);
    // The bare message is unchanged, byte by byte.
    EXPECT_EQ(std::string(came.parts->sections.application_properties) +
                  std::string(came.parts->sections.body),
              whole);
}

// amqp10 5.12: the links of a session may alternate.
TEST_P(Publishing10, TransfersOfTwoLinksMayBeMixed) {
    declare("q");
    session().attach_sender(0, "/queues/q");
    session().attach_sender(1, "/queues/q");
    const std::string first = MessageBytes("first");
    const std::string second = MessageBytes("second");
    session().send(Transfer{.handle = 0, .delivery_id = 0, .more = true}, first.substr(0, 4));
    session().send(Transfer{.handle = 1, .delivery_id = 1, .more = true}, second.substr(0, 5));
    session().send(Transfer{.handle = 0}, first.substr(4));
    session().expect_outcome<Accepted>(0);
    session().send(Transfer{.handle = 1}, second.substr(5));
    session().expect_outcome<Accepted>(1);
    EXPECT_EQ(channel().drain("q"), (std::vector<std::string>{"first", "second"}));
}

// The standard's 2.6.14: the transfers of an aborted message are discarded.
TEST_P(Publishing10, AnAbortedMessageIsForgotten) {
    declare("q");
    session().attach_sender(0, "/queues/q");
    session().send(Transfer{.handle = 0, .delivery_id = 0, .more = true}, "half");
    session().send(Transfer{.handle = 0, .delivery_id = 0, .more = false, .aborted = true});
    session().expect_nothing();
    session().publish<Accepted>(0, 1, MessageBytes("whole"));
    EXPECT_EQ(channel().drain("q"), std::vector<std::string>{"whole"});
}

// A message is discarded if its link is detached in the middle of it.
TEST_P(Publishing10, HalfAMessageGoesWithItsLink) {
    declare("q");
    session().attach_sender(0, "/queues/q");
    session().send(Transfer{.handle = 0, .delivery_id = 0, .more = true}, "half");
    session().detach(0);
    session().attach_sender(0, "/queues/q");
    session().publish<Accepted>(0, 1, MessageBytes("whole"));
    EXPECT_EQ(channel().drain("q"), std::vector<std::string>{"whole"});
}

// amqp10 5.12
TEST_P(Publishing10, ADeliveryIdIsRequiredAndStays) {
    declare("q");
    PeerSession without = fresh_link();
    without.send(Transfer{.handle = 0}, MessageBytes().bytes());
    without.expect_detach(0, "amqp:invalid-field", "first transfer has no delivery-id");
    PeerSession other = fresh_link();
    other.send(Transfer{.handle = 0, .delivery_id = 4, .more = true}, "half");
    other.send(Transfer{.handle = 0, .delivery_id = 5}, "other half");
    other.expect_detach(0, "amqp:invalid-field",
                        "delivery-id of continuation transfer ({uint,5}) differs from delivery-id "
                        "on first transfer (4)");
    EXPECT_EQ(channel().count("q"), 0U);
}

// amqp10 5.8, 5.12
TEST_P(Publishing10, TheSettleModeIsEnforced) {
    declare("q");
    PeerSession settled = fresh_link(settled_mode);
    settled.transfer(0, 0, MessageBytes(), false);
    settled.expect_detach(0, "amqp:invalid-field",
                          "sender settle mode is 'settled' but transfer settled flag is "
                          "interpreted as being 'false'");
    PeerSession unsettled = fresh_link(unsettled_mode);
    unsettled.transfer(0, 0, MessageBytes(), true);
    unsettled.expect_detach(0, "amqp:invalid-field",
                            "sender settle mode is 'unsettled' but transfer settled flag is "
                            "interpreted as being 'true'");
    EXPECT_EQ(channel().count("q"), 0U);
}

// amqp10 5.12: the first transfer determines whether the message is settled.
TEST_P(Publishing10, TheFirstTransferRules) {
    declare("q");
    session().attach_sender(0, "/queues/q");
    const std::string whole = MessageBytes("whole");
    session().send(Transfer{.handle = 0, .delivery_id = 0, .settled = true, .more = true},
                   whole.substr(0, 3));
    session().send(Transfer{.handle = 0}, whole.substr(3));
    session().expect_nothing();
    EXPECT_EQ(channel().drain("q"), std::vector<std::string>{"whole"});
    session().send(Transfer{.handle = 0, .delivery_id = 1, .settled = true, .more = true},
                   whole.substr(0, 3));
    session().send(Transfer{.handle = 0, .settled = false}, whole.substr(3));
    session().expect_detach(0, "amqp:invalid-field",
                            "field 'settled' of continuation transfer (false) differs from "
                            "(interpreted) field 'settled' on first transfer (true)");
}

// amqp10 5.13
TEST_P(Publishing10, ATooLargeMessageEndsTheSession) {
    settings().max_message_size = 1000;
    declare("q");
    PeerSession at_once = fresh_link();
    const std::string large = MessageBytes(std::string(1000, 'x'));
    const std::string text = "message size (" + std::to_string(large.size()) +
                             " bytes) > maximum message size (1000 bytes)";
    at_once.transfer(0, 0, large);
    at_once.expect_end("amqp:link:message-size-exceeded", text);
    PeerSession in_parts = fresh_link();
    in_parts.send(Transfer{.handle = 0, .delivery_id = 0, .more = true}, std::string(1000, 'x'));
    in_parts.expect_nothing();
    in_parts.send(Transfer{.handle = 0, .more = true}, "x");
    in_parts.expect_end("amqp:link:message-size-exceeded",
                        "message size (1001 bytes) > maximum message size (1000 bytes)");
    EXPECT_EQ(channel().count("q"), 0U);
}

// amqp10 5.8, 5.19
TEST_P(Publishing10, WhatIsNoMessageDetachesTheLink) {
    declare("q");
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"", "missing_amqp_message_body"},
        {encoded(Header{.durable = true}), "missing_amqp_message_body"},
        {section(descriptor::message_annotations,
                 Datum::map({{Datum::symbol("no-x"), Datum::uint(1)}})) +
             data("b"),
         "{reserved_annotation_key,{symbol,<<\"no-x\">>}}"},
        {section(descriptor::delivery_annotations,
                 Datum::map({{Datum::ulong(7), Datum::uint(1)}})) +
             data("b"),
         "{reserved_annotation_key,{ulong,7}}"},
        {data("b") +
             section(descriptor::footer, Datum::map({{Datum::symbol("sum"), Datum::uint(1)}})),
         "{reserved_annotation_key,{symbol,<<\"sum\">>}}"},
        {section(descriptor::data, Datum::string("no binary")), "malformed_body"},
    };
    for (const auto& [bytes, word] : cases) {
        for (const bool settled : {false, true}) {
            PeerSession link = fresh_link();
            link.transfer(0, 0, bytes, settled);
            link.expect_detach(0, "amqp:decode-error", "failed to parse message: " + word);
            link.detach_ok(0);
            link.end();
        }
    }
    PeerSession link = fresh_link();
    link.transfer(0, 0, "\x01\x02garbage");
    EXPECT_EQ(error_in(link.expect<Detach>().error).condition, "amqp:decode-error");
    EXPECT_EQ(channel().count("q"), 0U);
}

// amqp10 C.9, 5.15
TEST_P(Publishing10, AnAnonymousTerminusGoesWhereEachMessageSays) {
    declare("q");
    channel().bind("q", "amq.topic", "a.*");
    session().attach_sender(0, std::nullopt);
    session().publish<Accepted>(0, 0, MessageBytes("topic").to("/exchanges/amq.topic/a.b"));
    session().publish<Accepted>(0, 1, MessageBytes("queue").to("/queues/q"));
    session().publish<Released>(0, 2, MessageBytes("nowhere").to("/queues/missing"));
    session().publish<Released>(0, 3, MessageBytes("no route").to("/exchanges/amq.topic"));
    session().transfer(0, 4, MessageBytes());
    session().expect_rejected(4, "amqp:precondition-failed",
                              "anonymous terminus requires 'to' address to be set");
    session().transfer(0, 5, MessageBytes().to("q"));
    session().expect_rejected(5, "amqp:precondition-failed", "bad 'to' address string: q");
    session().transfer(0, 6, MessageBytes().to("/exchanges/missing/k"));
    session().expect_rejected(6, "amqp:not-found", "no exchange 'missing' in vhost '/'");
    session().publish<Accepted>(0, 7, MessageBytes("still here").to("/queues/q"));
    EXPECT_EQ(channel().drain("q"), (std::vector<std::string>{"topic", "queue", "still here"}));
}

// All messages that the credit allowed are unsettled, and none is accepted.
TEST_P(Publishing10, WhoseMessagesAreRefusedGetsCreditAgain) {
    depends_on_distance();
    session().attach_sender(0, std::nullopt);
    const std::uint32_t count = 85 + 170;  // half of the first credit and all of the second
    peer10().hold();
    for (std::uint32_t i = 0; i < count; ++i) {
        session().transfer(0, i, MessageBytes().to("/exchanges/missing/k"));
    }
    peer10().release();
    std::uint32_t credit = 0;
    while (const Arrival* const arrival = peer10().next(session().channel())) {
        const auto flow = Flow::decode(arrival->items());
        if (arrival->code() == Flow::descriptor_code && flow)
            credit = flow->link_credit.value_or(0);
    }
    EXPECT_GT(credit, 0U);
    session().transfer(0, count, MessageBytes().to("/exchanges/missing/k"));
    session().expect_rejected(count, "amqp:not-found", "no exchange 'missing' in vhost '/'");
}

// amqp10 5.15: a settled message has no outcome, so the link is detached.
TEST_P(Publishing10, SettledMessagesOfAnAnonymousTerminusDetachIt) {
    PeerSession without = fresh_link(mixed_mode, std::nullopt);
    without.transfer(0, 0, MessageBytes(), true);
    without.expect_detach(0, "amqp:precondition-failed",
                          "anonymous terminus requires 'to' address to be set");
    PeerSession missing = fresh_link(mixed_mode, std::nullopt);
    missing.transfer(0, 0, MessageBytes().to("/exchanges/missing/k"), true);
    missing.expect_detach(0, "amqp:not-found", "no exchange 'missing' in vhost '/'");
}

// amqp10 5.16
TEST_P(Publishing10, AnExchangeThatVanishedDetachesItsLink) {
    channel().declare_exchange("e", "fanout");
    PeerSession unsettled = fresh_link(mixed_mode, "/exchanges/e");
    PeerSession settled = fresh_link(mixed_mode, "/exchanges/e");
    channel().send(amqp091::ExchangeDelete{.exchange = "e"});
    channel().expect<amqp091::ExchangeDeleteOk>();
    unsettled.publish<Released>(0, 0, MessageBytes());
    unsettled.expect_detach(0, "amqp:not-found", "no exchange 'e' in vhost '/'");
    settled.transfer(0, 0, MessageBytes(), true);
    settled.expect_detach(0, "amqp:not-found", "no exchange 'e' in vhost '/'");
}

// amqp10 5.17, DL-61
TEST_P(Publishing10, FurtherKeysAddRoutes) {
    declare("q");
    declare("r");
    session().attach_sender(0, "/queues/q");
    session().publish<Accepted>(
        0, 0, MessageBytes("both").annotation("x-cc", Datum::list({Datum::string("r")})));
    EXPECT_EQ(channel().drain("q"), std::vector<std::string>{"both"});
    EXPECT_EQ(channel().drain("r"), std::vector<std::string>{"both"});
}

// amqp10 5.17
TEST_P(Publishing10, FurtherKeysAreAListOfStrings) {
    declare("q");
    const std::string bad = "bad value for 'x-cc' message-annotation: ";
    PeerSession link = fresh_link();
    link.publish<Released>(0, 0, MessageBytes().annotation("x-cc", Datum::string("r")));
    link.expect_detach(0, "amqp:invalid-field", bad + "{utf8,<<\"r\">>}");
    PeerSession settled = fresh_link();
    settled.transfer(0, 0, MessageBytes().annotation("x-cc", Datum::string("r")), true);
    settled.expect_detach(0, "amqp:invalid-field", bad + "{utf8,<<\"r\">>}");
    PeerSession anonymous = fresh_link(mixed_mode, std::nullopt);
    anonymous.transfer(
        0, 0, MessageBytes().to("/queues/q").annotation("x-cc", Datum::list({Datum::uint(1)})));
    anonymous.expect_rejected(0, "amqp:invalid-field", bad + "{list,[{uint,1}]}");
    anonymous.publish<Accepted>(0, 1, MessageBytes().to("/queues/q"));
}

// amqp10 4.3: the same error as for an attach.
TEST_P(Publishing10, AnInternalExchangeEndsAnAnonymousLink) {
    declare("q");
    channel().send(
        amqp091::ExchangeDeclare{.exchange = "inner", .type = "fanout", .internal = true});
    channel().expect<amqp091::ExchangeDeclareOk>();
    for (const bool settled : {false, true}) {
        PeerSession link = fresh_link(mixed_mode, std::nullopt);
        link.transfer(0, 0, MessageBytes().to("/exchanges/inner"), settled);
        link.expect_detach(0, "amqp:unauthorized-access",
                           "forbidden to publish to internal exchange 'inner' in vhost '/'");
        link.detach_ok(0);
        link.attach_sender(1, "/queues/q");
        link.publish<Accepted>(1, 1, MessageBytes());
    }
}

// amqp10 5.18
TEST_P(Publishing10, AUserIdIsThatOfTheLogin) {
    declare("q");
    Properties mine;
    mine.user_id = "guest";
    Properties other;
    other.user_id = "somebody";
    PeerSession link = fresh_link();
    link.publish<Accepted>(0, 0, MessageBytes().properties(mine));
    link.transfer(0, 1, MessageBytes().properties(other));
    link.expect_detach(0, "amqp:unauthorized-access",
                       "user_id property set to 'somebody' but authenticated user was 'guest'");
    add_user("actor", {".*", ".*", ".*"}, {"impersonator"});
    PeerSession actor = connect10({.user = "actor", .password = "secret"}).begin();
    actor.attach_sender(0, "/queues/q");
    actor.publish<Accepted>(0, 0, MessageBytes().properties(other));
}

// amqp10 3.5, 4.4, 5.15: a missing permission ends the session.
TEST_P(Publishing10, WithoutPermissionTheSessionEnds) {
    declare("q");
    add_user("reader", {"", "^allowed$", ".*"});
    Peer& reader = connect10({.user = "reader", .password = "secret"});
    PeerSession named = reader.begin(0);
    named.send_attach_sender(0, "/exchanges/amq.direct/k");
    named.expect_end("amqp:unauthorized-access",
                     "write access to exchange 'amq.direct' in vhost '/' refused for user "
                     "'reader'");
    PeerSession queue = reader.begin(1);
    queue.send_attach_sender(0, "/queues/q");
    queue.expect_end("amqp:unauthorized-access",
                     "write access to exchange 'amq.default' in vhost '/' refused for user "
                     "'reader'");
    PeerSession anonymous = reader.begin(2);
    anonymous.attach_sender(0, std::nullopt);
    anonymous.transfer(0, 0, MessageBytes().to("/exchanges/amq.fanout"));
    anonymous.expect_end("amqp:unauthorized-access",
                         "write access to exchange 'amq.fanout' in vhost '/' refused for user "
                         "'reader'");
    reader.begin(3).end();
}

// amqp10 3.5: the permissions at the time of the message apply.
TEST_P(Publishing10, APermissionThatIsTakenAwayEndsTheSession) {
    declare("q");
    add_user("writer", {"", ".*", ""});
    PeerSession link = connect10({.user = "writer", .password = "secret"}).begin();
    link.attach_sender(0, "/queues/q");
    link.publish<Accepted>(0, 0, MessageBytes());
    world().change(SetPermissions{"writer", "/", {"", "", ""}});
    link.transfer(0, 1, MessageBytes());
    link.expect_end("amqp:unauthorized-access",
                    "write access to exchange 'amq.default' in vhost '/' refused for user "
                    "'writer'");
    EXPECT_EQ(channel().count("q"), 1U);
}

// amqp10 5.20
TEST_P(Publishing10, TheBareMessageComesOutAsItWentIn) {
    declare("q");
    Properties properties;
    const std::string id = encoded(Datum::ulong(12345678901));
    properties.message_id = id;
    properties.subject = "subject";
    properties.to = "/queues/elsewhere";
    properties.creation_time = 1234567890123;
    const std::string bare =
        encoded(properties) +
        application_properties({{Datum::string("a"), Datum::long_int(-5)},
                                {Datum::string("b"), Datum::binary("\x00\xff"s)}}) +
        section(descriptor::sequence, Datum::list({Datum::uint(1), Datum::string("x")})) +
        section(descriptor::footer, Datum::map({{Datum::symbol("x-sum"), Datum::uint(9)}}));
    session().attach_sender(0, "/queues/q");
    session().publish<Accepted>(0, 0, encoded(Header{.durable = true}) + bare);
    session().attach_receiver(1, "/queues/q", 1);
    const auto came = session().expect_message();
    const Sections& sections = came.parts->sections;
    EXPECT_EQ(std::string(sections.properties) + std::string(sections.application_properties) +
                  std::string(sections.body) + std::string(sections.footer),
              bare);
    EXPECT_EQ(came.annotated_text("x-exchange"), "");
    EXPECT_EQ(came.annotated_text("x-routing-key"), "q");
}

}  // namespace
}  // namespace revenant::amqp10
