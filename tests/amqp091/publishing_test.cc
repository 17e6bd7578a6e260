// Publishing (amqp091, section 9).
#include "tests/support/peer.h"

namespace revenant::amqp091 {
namespace {

using namespace std::string_literals;
using Bodies = std::vector<std::string>;

class ProtocolPublishing : public WireTest {};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolPublishing, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp091 9.1
TEST_P(ProtocolPublishing, ImmediateIsNotImplemented) {
    channel().declare("q");
    channel().publish({.routing_key = "q", .immediate = true}, "body");
    peer().expect_connection_close<BasicPublish>(540, "NOT_IMPLEMENTED - immediate=true");
}

// amqp091 9.2: starts with all errors and removes one at a time, so that the next is reported.
TEST_P(ProtocolPublishing, FaultsAreToldInTheirOrder) {
    settings().max_message_size = 10;
    add_user("bob", {".*", "^(missing|inner|topic|amq\\.default)$", ".*"});
    world().change(SetTopicPermissions{"bob", "/", "topic", {"^good$", ".*"}});
    channel().send(ExchangeDeclare{.exchange = "inner", .type = "fanout", .internal = true});
    channel().expect<ExchangeDeclareOk>();
    channel().declare_exchange("topic", "topic");
    auto bob = open_channel({.user = "bob", .password = "secret"});
    const Properties everything_wrong = Properties()
                                            .reply_to("amq.rabbitmq.reply-to")
                                            .expiration("soon")
                                            .headers({{"CC", "no array"}})
                                            .user_id("alice");
    const std::string body = "body";
    const auto expect_next = [&](std::uint16_t code, std::string_view text,
                                 Where where = Where::here()) {
        bob.expect_close<BasicPublish>(code, text, where);
        bob.reopen(where);
    };
    bob.publish("forbidden", "bad", "a long, long body", everything_wrong);
    expect_next(406, "PRECONDITION_FAILED - message size 17 is larger than configured max size 10");
    bob.publish("forbidden", "bad", body, everything_wrong);
    expect_next(403,
                "ACCESS_REFUSED - write access to exchange 'forbidden' in vhost '/' refused for "
                "user 'bob'");
    bob.publish("missing", "bad", body, everything_wrong);
    expect_next(404, "NOT_FOUND - no exchange 'missing' in vhost '/'");
    bob.publish("inner", "bad", body, everything_wrong);
    expect_next(403, "ACCESS_REFUSED - cannot publish to internal exchange 'inner' in vhost '/'");
    bob.publish("topic", "bad", body, everything_wrong);
    expect_next(406, "PRECONDITION_FAILED - fast reply consumer does not exist");
    bob.publish("topic", "bad", body,
                Properties().expiration("soon").headers({{"CC", "no array"}}).user_id("alice"));
    expect_next(406, "PRECONDITION_FAILED - invalid expiration 'soon': no_integer");
    bob.publish("topic", "bad", body, Properties().headers({{"CC", "no array"}}).user_id("alice"));
    expect_next(
        406, "PRECONDITION_FAILED - invalid message: {unacceptable_type_in_header,\"CC\",longstr}");
    bob.publish("topic", "bad", body, Properties().user_id("alice"));
    expect_next(403,
                "ACCESS_REFUSED - write access to topic 'bad' in exchange 'topic' in vhost '/' "
                "refused for user 'bob'");
    bob.publish("topic", "good", body, Properties().user_id("alice"));
    expect_next(406,
                "PRECONDITION_FAILED - user_id property set to 'alice' but authenticated user was "
                "'bob'");
    bob.publish({.exchange = "topic", .routing_key = "good", .mandatory = true}, body,
                Properties().user_id("bob"));
    EXPECT_EQ(bob.expect_return().reply_text, "NO_ROUTE");
}

// amqp091 9.3
TEST_P(ProtocolPublishing, AMessageMayBeAsLargeAsConfigured) {
    settings().max_message_size = 1000;
    channel().declare("q");
    channel().publish("", "q", std::string(1000, 'x'));
    EXPECT_EQ(channel().count("q"), 1U);
    channel().publish("", "q", std::string(1001, 'x'));
    channel().expect_close<BasicPublish>(
        406, "PRECONDITION_FAILED - message size 1001 is larger than configured max size 1000");
}

// amqp091 9.3: clients do not read while they write, so the close is sent after the last byte.
TEST_P(ProtocolPublishing, ATooLargeMessageIsRefusedBehindItsLastByte) {
    settings().max_message_size = 1000;
    channel().send(BasicPublish{.routing_key = "q"});
    peer().send(header_frame(1, 1001, "\0\0"s));
    peer().send(body_frame(1, std::string(1000, 'x')));
    channel().expect_nothing();
    peer().send(body_frame(1, "x"));
    channel().expect_close<BasicPublish>(
        406, "PRECONDITION_FAILED - message size 1001 is larger than configured max size 1000");
}

// amqp091 9.3: the error text does not call the maximum a configured limit.
TEST_P(ProtocolPublishing, TheCeilingOfSizesIsNotConfigured) {
    settings().max_message_size = 536870912;
    channel().send(BasicPublish{.routing_key = "q"});
    peer().send(header_frame(1, 536870913, "\0\0"s));
    peer().expect_connection_close<BasicPublish>(
        501, "FRAME_ERROR - content body size 536870913 exceeds maximum allowed size 536870912");
}

// amqp091 9.3: a declared body takes no memory until it arrives.
TEST_P(ProtocolPublishing, AnAnnouncedBodyTakesNoMemory) {
    settings().max_message_size = 536870912;
    for (std::uint16_t number = 1; number <= 50; ++number) {
        peer().open_channel(number).send(BasicPublish{.routing_key = "q"});
        peer().send(header_frame(number, 536870912, "\0\0"s));
    }
    EXPECT_TRUE(peer().is_open());
}

// amqp091 9.3: 16 MiB, the default limit.
TEST_P(ProtocolPublishing, ALargeMessageGoesThroughWhole) {
    std::string body(16777216, '\0');
    for (std::size_t i = 0; i < body.size(); ++i)
        body[i] = static_cast<char>(i * 2654435761U >> 24);
    auto consumer = open_channel();
    channel().declare("q");
    consumer.consume("q");
    channel().publish("", "q", body);
    EXPECT_TRUE(consumer.expect_delivery().body == body);
}

// amqp091 9.4
TEST_P(ProtocolPublishing, AMandatoryMessageWithoutAQueueComesBack) {
    const Properties properties = Properties().headers({{"h", 1}}).priority(3);
    channel().publish({.exchange = "amq.direct", .routing_key = "nowhere", .mandatory = true},
                      "body", properties);
    const auto returned = channel().expect_return();
    EXPECT_EQ(returned.reply_code, 312);
    EXPECT_EQ(returned.reply_text, "NO_ROUTE");
    EXPECT_EQ(returned.exchange, "amq.direct");
    EXPECT_EQ(returned.routing_key, "nowhere");
    EXPECT_EQ(returned.properties, properties.encode());
    EXPECT_EQ(returned.body, "body");
}

// amqp091 9.4, 19.2
TEST_P(ProtocolPublishing, AReturnPrecedesItsConfirm) {
    channel().select_confirms();
    peer().hold();
    channel().publish({.routing_key = "nowhere", .mandatory = true}, "one");
    channel().publish({.routing_key = "nowhere", .mandatory = true}, "");
    peer().release();
    EXPECT_EQ(channel().expect_return().body, "one");
    EXPECT_EQ(channel().expect_return().body, "");
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{2, true}));
}

// amqp091 9.4: a large body is returned completely.
TEST_P(ProtocolPublishing, ALargeReturnIsWhole) {
    const std::string body(300000, 'x');
    channel().publish({.routing_key = "nowhere", .mandatory = true}, body);
    EXPECT_EQ(channel().expect_return().body, body);
}

// amqp091 9.5
TEST_P(ProtocolPublishing, AnUnroutableMessageIsDroppedAndConfirmed) {
    channel().select_confirms();
    channel().publish("", "nowhere", "body");
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{1, false}));
    channel().expect_nothing();
}

// amqp091 9.6
TEST_P(ProtocolPublishing, TheUserIdIsTheUser) {
    channel().declare("q");
    channel().publish("", "q", "mine", Properties().user_id("guest"));
    EXPECT_EQ(channel().get("q").decoded().user_id, "guest");
    channel().publish("", "q", "forged", Properties().user_id("alice"));
    channel().expect_close<BasicPublish>(
        406,
        "PRECONDITION_FAILED - user_id property set to 'alice' but authenticated user was "
        "'guest'");
}

// amqp091 9.6
TEST_P(ProtocolPublishing, AnImpersonatorMayBeAnybody) {
    add_user("actor", {".*", ".*", ".*"}, {"impersonator"});
    auto actor = open_channel({.user = "actor", .password = "secret"});
    actor.declare("q");
    actor.publish("", "q", "as alice", Properties().user_id("alice"));
    EXPECT_EQ(actor.get("q").decoded().user_id, "alice");
}

// amqp091 9.7: only 2 is persistent; the client's value is kept.
TEST_P(ProtocolPublishing, TheDeliveryModeIsKept) {
    channel().declare("q");
    for (const std::uint8_t mode : std::initializer_list<std::uint8_t>{0, 1, 2, 3, 255}) {
        channel().publish("", "q", "body", Properties().delivery_mode(mode));
        world().carry();
        bool persistent = false;
        auto* const queue = world().engine().state().find_queue("q");
        queue->level(0).for_each([&](std::uint64_t, const engine::Entry& entry) {
            persistent = entry.message->persistent();
        });
        EXPECT_EQ(persistent, mode == 2) << int{mode};
        EXPECT_EQ(channel().get("q", true).decoded().delivery_mode, mode);
    }
}

// amqp091 9.8
TEST_P(ProtocolPublishing, AnXDeathOfTheClientIsAnOrdinaryHeader) {
    channel().declare("q");
    const Properties forged = Properties().headers({{"x-death", "forged"}}).timestamp(7);
    channel().publish("", "q", "body", forged);
    const auto got = channel().get("q");
    EXPECT_EQ(got.properties, forged.encode());
}

// amqp091 9.9
TEST_P(ProtocolPublishing, OrderIsKept) {
    channel().declare("q");
    channel().declare_exchange("e", "fanout");
    channel().bind("q", "e");
    Bodies sent;
    for (int i = 0; i < 600; ++i) {
        sent.push_back(std::to_string(i));
        channel().publish(i % 2 == 0 ? "" : "e", "q", sent.back());
    }
    EXPECT_EQ(channel().drain("q"), sent);
}

// amqp091 9.10
TEST_P(ProtocolPublishing, AFailureLosesTheOffendingMessageOnly) {
    channel().declare("q");
    peer().hold();
    channel().publish("", "q", "before");
    channel().publish("missing", "q", "lost");
    channel().publish("", "q", "behind");
    peer().release();
    channel().expect_close<BasicPublish>(404, "NOT_FOUND - no exchange 'missing' in vhost '/'");
    channel().reopen();
    EXPECT_EQ(channel().drain("q"), Bodies{"before"});
}

// amqp091 9.2: a body may be split into more frames than necessary.
TEST_P(ProtocolPublishing, ABodyMayComeInAnyNumberOfFrames) {
    channel().declare("q");
    channel().send(BasicPublish{.routing_key = "q"});
    peer().send(header_frame(1, 6, "\0\0"s));
    for (const char* part : {"a", "", "bcd", "", "ef"}) peer().send(body_frame(1, part));
    EXPECT_EQ(channel().drain("q"), Bodies{"abcdef"});
}

}  // namespace
}  // namespace revenant::amqp091
