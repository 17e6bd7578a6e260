// Messages to the client: transfers, frames, annotations, limits (amqp10, 5.21 to 5.28 and 6).
#include "amqp10/codec/raw_fields.h"
#include "tests/support/peer10.h"

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;

class Consuming10 : public Wire10Test {};
INSTANTIATE_TEST_SUITE_P(Wire, Consuming10, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp10 C.5, 5.21
TEST_P(Consuming10, NothingComesWithoutCredit) {
    declare("q");
    for (const char* body : {"one", "two"}) channel().publish("", "q", body);
    session().attach_receiver(0, "/queues/q");
    session().expect_nothing();
    session().credit(0, 1);
    const auto one = session().expect_message("one");
    session().settle(one, Accepted{});
    session().expect_nothing();
    session().credit(0, 1);
    session().expect_message("two");
}

// amqp10 5.22
TEST_P(Consuming10, ATransferHasItsNumberAndTag) {
    declare("q");
    declare("r");
    for (int i = 0; i < 3; ++i) channel().publish("", "q", "m");
    channel().publish("", "r", "m");
    session().attach_receiver(0, "/queues/q", 3);
    std::vector<std::string> tags;
    for (std::uint32_t i = 0; i < 3; ++i) {
        const auto came = session().expect_message("m");
        EXPECT_EQ(came.delivery_id, i);
        EXPECT_FALSE(came.settled);
        EXPECT_LE(came.tag.size(), 32U);
        tags.push_back(came.tag);
    }
    EXPECT_NE(tags[0], tags[1]);
    EXPECT_NE(tags[1], tags[2]);
    // Delivery ids are counted per session, not per link.
    session().attach_receiver(1, "/queues/r", 1);
    const auto other = session().expect_message("m");
    EXPECT_EQ(other.delivery_id, 3U);
    EXPECT_EQ(other.handle, 1U);
}

// amqp10 5.25
TEST_P(Consuming10, PresettledMessagesAreGoneWhenTheyAreSent) {
    declare("q");
    channel().publish("", "q", "one");
    session().attach_receiver(0, "/queues/q", 5, settled_mode);
    const auto one = session().expect_message("one");
    EXPECT_TRUE(one.settled);
    session().settle(one, Released{});
    session().expect_nothing();
    peer10().disconnect();
    EXPECT_EQ(channel().count("q"), 0U);
}

// amqp10 5.21: the client's maximum frame size applies.
TEST_P(Consuming10, ALargeMessageIsSplit) {
    declare("q");
    Peer& client = connect10({.max_frame_size = 512});
    PeerSession small = client.begin();
    small.attach_receiver(0, "/queues/q", 10);
    for (const std::size_t size : {0U, 1U, 300U, 400U, 420U, 450U, 512U, 5000U, 70000U}) {
        const std::string body(size, 'b');
        channel().publish("", "q", body);
        const auto came = small.expect_message(body);
        EXPECT_GE(came.frames, size / 512 + (size > 450 ? 1 : 0));
    }
}

// amqp10 5.21: frames are filled completely, so every size around the limit occurs.
TEST_P(Consuming10, EverySizeAroundAFramesEndComesThrough) {
    declare("q");
    Peer& client = connect10({.max_frame_size = 512});
    PeerSession small = client.begin();
    small.attach_receiver(0, "/queues/q", 400, settled_mode);
    for (std::size_t size = 370; size < 470; ++size) {
        const std::string body(size, 'b');
        channel().publish("", "q", body);
        small.expect_message(body);
    }
}

// amqp10 5.28
TEST_P(Consuming10, AMessageTooLargeForTheClientEndsTheSession) {
    declare("q");
    channel().publish("", "q", std::string(2000, 'x'));
    const std::string source = source_of("/queues/q");
    session().send(
        Attach{.name = "n", .handle = 0, .role = true, .source = source, .max_message_size = 100});
    session().expect<Attach>();
    session().credit(0, 1);
    const auto end = session().expect<End>();
    const ErrorText error = error_in(end.error);
    EXPECT_EQ(error.condition, "amqp:link:message-size-exceeded");
    EXPECT_TRUE(error.description.ends_with(" bytes) > maximum message size (100 bytes)"))
        << error.description;
    EXPECT_EQ(channel().count("q"), 1U);
}

// amqp10 6.1, 6.2
TEST_P(Consuming10, TheHeaderIsThatOfThePublisher) {
    declare("q");
    session().attach_sender(0, "/exchanges/amq.direct/key");
    channel().bind("q", "amq.direct", "key");
    const std::string header =
        section(Header::descriptor_code,
                Datum::list({Datum::boolean(false), Datum::ubyte(7), Datum::uint(60000)}));
    session().publish<Accepted>(0, 0, header + MessageBytes("one").bytes());
    session().publish<Accepted>(0, 1, MessageBytes("two"));
    session().attach_receiver(1, "/queues/q", 2);
    const auto one = session().expect_message("one");
    EXPECT_FALSE(one.durable());
    EXPECT_EQ(text_of(*one.header_field(1)), "7");
    EXPECT_EQ(text_of(*one.header_field(2)), "60000");
    EXPECT_TRUE(one.first_acquirer());
    EXPECT_EQ(one.delivery_count(), 0U);
    EXPECT_EQ(one.annotated_text("x-exchange"), "amq.direct");
    EXPECT_EQ(one.annotated_text("x-routing-key"), "key");
    EXPECT_EQ(one.parts->names(), "x-exchange x-routing-key ");
    const auto two = session().expect_message("two");
    EXPECT_FALSE(two.durable()) << "not durable by default";
    EXPECT_TRUE(two.header_field(1)->is_null());
    EXPECT_TRUE(two.header_field(2)->is_null());
}

// amqp10 C.11, 6.10 to 6.12
TEST_P(Consuming10, AMessageOf091IsReadIn10) {
    declare("q");
    channel().publish(
        "", "q", "from afar",
        amqp091::Properties()
            .headers({{"a", 7},
                      {"x-b", "text"},
                      {"x-tables", Value::array({Value::table({{"k", Value::string("v")}})})},
                      {"CC", Value::array({Value::string("k")})}})
            .delivery_mode(2)
            .text(amqp091::Property::message_id, "id"));
    session().attach_receiver(0, "/queues/q", 1);
    const auto came = session().expect_message("from afar");
    EXPECT_TRUE(came.durable());
    ASSERT_NE(came.parts->property("a"), nullptr);
    EXPECT_EQ(text_of(*came.parts->property("a")), "7");
    EXPECT_EQ(came.annotated_text("x-b"), "text");
    EXPECT_EQ(came.annotated_text("x-tables"), "[{'k': 'v'}]");
    EXPECT_EQ(came.annotated_text("x-cc"), "['k']");
    EXPECT_EQ(came.annotated_text("x-exchange"), "");
    EXPECT_EQ(came.annotated_text("x-routing-key"), "q");
    EXPECT_EQ(string_of(came.parts->properties.message_id), "id");
}

// amqp10 C.11, 6.4 to 6.9
TEST_P(Consuming10, AMessageOf10IsReadIn091) {
    declare("q");
    session().attach_sender(0, "/queues/q");
    Properties properties;
    const std::string id = encoded(Datum::string("id"));
    properties.message_id = id;
    properties.content_type = "text/plain";
    session().publish<Accepted>(0, 0,
                                MessageBytes("back")
                                    .header(Header{.durable = true})
                                    .annotation("x-b", Datum::string("text"))
                                    .annotation("x-cc", Datum::list({Datum::string("k")}))
                                    .properties(properties)
                                    .property("a", Datum::int32(7)));
    const auto came = channel().get("q", true);
    EXPECT_EQ(came.body, "back");
    EXPECT_EQ(came.decoded().message_id, "id");
    EXPECT_EQ(came.decoded().content_type, "text/plain");
    EXPECT_EQ(came.decoded().delivery_mode, 2);
    Table expected = {{"CC", Value::array({Value::string("k")})},
                      {"a", Value::int32(7)},
                      {"x-b", Value::string("text")}};
    EXPECT_EQ(came.headers(), expected);
}

// amqp10 3.3: messages wait in the queue, not in the connection's memory.
TEST_P(Consuming10, AClientThatNeverOpensItsWindowCostsNoMoreThanThePauseMark) {
    depends_on_distance();
    declare("q");
    constexpr int count = 64;
    const std::string body(100'000, 'b');
    PeerSession shut = peer10().begin(1, 1);
    shut.attach_receiver(0, "/queues/q");
    shut.credit_behind_closed_window(0, 1000);
    for (int i = 0; i < count; ++i) channel().publish("", "q", body);
    shut.expect_nothing();
    const std::uint32_t waiting = channel().count("q");
    EXPECT_GT(waiting, static_cast<std::uint32_t>(count) - 20);
    // All messages are sent once the window is open.
    shut.send(Flow{.next_incoming_id = 0, .incoming_window = 100000});
    for (int i = 0; i < count; ++i) shut.expect_message();
}

// amqp10 3.3: only this session waits.
TEST_P(Consuming10, AClosedWindowStopsNoOtherSession) {
    depends_on_distance();
    declare("q");
    declare("other");
    const std::string body(100'000, 'b');
    PeerSession shut = peer10().begin(1, 0);
    shut.attach_receiver(0, "/queues/q");
    shut.credit_behind_closed_window(0, 1000);
    for (int i = 0; i < 40; ++i) channel().publish("", "q", body);
    shut.expect_nothing();
    session().attach_receiver(0, "/queues/other", 10);
    for (int i = 0; i < 10; ++i) {
        channel().publish("", "other", "through");
        session().expect_message("through");
    }
    session().credit(0, 0, /*drain=*/true, /*echo=*/true);
    session().expect<Flow>();
    shut.send(Flow{.next_incoming_id = 0, .incoming_window = 100000});
    for (int i = 0; i < 40; ++i) shut.expect_message(body);
}

// The link that filled its session is detached, and the other links of the session continue.
TEST_P(Consuming10, AClogIsGoneWithItsLink) {
    depends_on_distance();
    declare("q");
    declare("other");
    const std::string body(100'000, 'b');
    PeerSession shut = peer10().begin(1, 0);
    shut.attach_receiver(0, "/queues/q");
    shut.attach_receiver(1, "/queues/other");
    for (const std::uint32_t handle : {0U, 1U}) {
        shut.credit_behind_closed_window(handle, 1000);
    }
    for (int i = 0; i < 40; ++i) channel().publish("", "q", body);
    shut.expect_nothing();
    shut.detach(0);
    EXPECT_EQ(channel().count("q"), 40U);
    channel().publish("", "other", "through");
    shut.send(Flow{.next_incoming_id = 0, .incoming_window = 10});
    shut.expect_message("through");
}

// amqp10 3.3: the limit also applies to a client that does not read its socket.
TEST_P(Consuming10, AClientThatDoesNotReadCostsNoMoreThanThePauseMark) {
    depends_on_distance();
    declare("q");
    constexpr int count = 64;
    const std::string body(100'000, 'b');
    session().attach_receiver(0, "/queues/q");
    world().read(peer10().index(), false);
    session().credit(0, 1000);
    for (int i = 0; i < count; ++i) channel().publish("", "q", body);
    EXPECT_GT(channel().count("q"), static_cast<std::uint32_t>(count) - 20);
    EXPECT_LT(peer10().wire().connection().output().unsent_bytes(), 2'000'000U);
    world().read(peer10().index(), true);
    for (int i = 0; i < count; ++i) session().expect_message();
}

// Messages that wait for the window are requeued if their link is detached.
TEST_P(Consuming10, WhatWaitsForTheWindowGoesBackWithItsLink) {
    declare("q");
    for (const char* body : {"one", "two"}) channel().publish("", "q", body);
    PeerSession shut = peer10().begin(1, 0);
    shut.attach_receiver(0, "/queues/q");
    shut.credit_behind_closed_window(0, 5);
    shut.expect_nothing();
    shut.detach(0);
    EXPECT_EQ(channel().count("q"), 2U);
    shut.attach_receiver(0, "/queues/q", 5);
    shut.expect_message("one");
    shut.expect_message("two");
}

// If a link is detached in the middle of a message, the next message starts normally.
TEST_P(Consuming10, ALinkMayGoInTheMiddleOfAMessage) {
    declare("q");
    const std::string body(2000, 'b');
    channel().publish("", "q", body);
    Peer& client = connect10({.max_frame_size = 512});
    PeerSession narrow = client.begin(0, 2);
    narrow.attach_receiver(0, "/queues/q");
    narrow.credit_within_window(0, 5, 2);
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(narrow.expect<Transfer>().more);
    narrow.detach(0);
    EXPECT_EQ(channel().count("q"), 1U);
    narrow.attach_receiver(0, "/queues/q", 5);
    narrow.expect_message(body);
}

// amqp10 4.6: direct reply-to.
TEST_P(Consuming10, RepliesComeWithoutAQueue) {
    const std::string address = session().attach_reply_receiver(0);
    EXPECT_TRUE(address.starts_with("/queues/amq.rabbitmq.reply-to.")) << address;
    session().credit(0, 1);
    PeerSession responder = connect10().begin();
    responder.attach_sender(0, std::nullopt);
    responder.publish<Accepted>(0, 0, MessageBytes("reply").to(address));
    session().expect_message("reply");
    // A reply without credit is dropped.
    responder.transfer(0, 1, MessageBytes("dropped").to(address), true);
    session().expect_nothing();
    session().credit(0, 1);
    session().expect_nothing();
    responder.transfer(0, 2, MessageBytes("second").to(address), true);
    session().expect_message("second");
    // amqp10 5.23
    session().credit(0, 5, /*drain=*/false, /*echo=*/true);
    EXPECT_EQ(session().expect<Flow>().link_credit, 5U);
    session().credit(0, 5, /*drain=*/true);
    const Flow drained = session().expect<Flow>();
    EXPECT_EQ(drained.link_credit, 0U);
    EXPECT_EQ(drained.delivery_count, 7U);
    EXPECT_TRUE(drained.drain);
    responder.transfer(0, 3, MessageBytes("late").to(address), true);
    session().expect_nothing();
}

// amqp10 4.5: consuming replies needs read permission, like a queue.
TEST_P(Consuming10, RepliesNeedReadPermission) {
    add_user("writer", {".*", ".*", "^q"});
    Peer& writer = connect10({.user = "writer", .password = "secret"});
    PeerSession refused = writer.begin();
    refused.send_attach_reply_receiver(0);
    const ErrorText error = error_in(refused.expect<End>().error);
    EXPECT_EQ(error.condition, "amqp:unauthorized-access");
    EXPECT_TRUE(error.description.starts_with("read access to queue 'amq.rabbitmq.reply-to."))
        << error.description;
    refused.end_ok();
}

// amqp10 3.3, 4.6: the number of replies that wait for a closed window is limited.
TEST_P(Consuming10, RepliesDoNotPileUpBehindAClosedWindow) {
    depends_on_distance();
    PeerSession shut = peer10().begin(1, 0);
    const std::string address = shut.attach_reply_receiver(0);
    shut.credit_behind_closed_window(0, 1'000'000);
    const std::string body(1'000'000, 'r');
    for (int i = 0; i < 40; ++i) channel().publish("", address.substr(8), body);
    shut.expect_nothing();
    shut.send(Flow{.next_incoming_id = 0, .incoming_window = 100000});
    int kept = 0;
    while (const Arrival* arrival = peer10().next(1)) {
        const auto transfer = Transfer::decode(arrival->items());
        if (transfer && !transfer->more) kept += 1;
    }
    EXPECT_GE(kept, 16) << "a short pause drops no reply";
    EXPECT_LE(kept, 24);
    channel().publish("", address.substr(8), "again");
    shut.expect_message("again");
}

// amqp10 4.6: the reply address is generated, not chosen.
TEST_P(Consuming10, ThePlaceForRepliesIsNoQueue) {
    session().send_attach_receiver(0, "/queues/amq.rabbitmq.reply-to", settled_mode);
    session().expect_refused_attach(0, "amqp:not-found",
                                    "no queue 'amq.rabbitmq.reply-to' in vhost '/'");
}

// amqp10 C.13, 3.5
TEST_P(Consuming10, WithoutPermissionTheSessionEnds) {
    declare("q");
    add_user("writer", {"", ".*", "^other$"});
    Peer& writer = connect10({.user = "writer", .password = "secret"});
    PeerSession refused = writer.begin();
    refused.send_attach_receiver(0, "/queues/q");
    refused.expect_end("amqp:unauthorized-access",
                       "read access to queue 'q' in vhost '/' refused for user 'writer'");
    EXPECT_TRUE(writer.is_open());
}

// The client is the receiver of this link and cannot send on it.
TEST_P(Consuming10, ATransferOnAReceivingLinkEndsTheSession) {
    declare("q");
    session().attach_receiver(0, "/queues/q");
    session().transfer(0, 0, MessageBytes());
    session().expect_end("amqp:not-allowed",
                         "transfer on a link on which the client is the receiver");
}

}  // namespace
}  // namespace revenant::amqp10
