// Blocked connections, secrets, direct replies and priorities (amqp091, sections 13, 14 and 16).
#include "tests/support/peer.h"

#include <algorithm>

namespace revenant::amqp091 {
namespace {

using namespace std::string_literals;
using Bodies = std::vector<std::string>;

class ProtocolAlarms : public WireTest {};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolAlarms, testing::Values(Distance::near, Distance::far),
                         distance_name);
class ProtocolDirectReply : public WireTest {
  protected:
    static constexpr std::string_view pseudo_queue = "amq.rabbitmq.reply-to";
    // Sends a request on the channel and returns the reply address that the responder sees.
    std::string request(PeerChannel& on, PeerChannel& responder) {
        on.publish("", "requests", "question", Properties().reply_to(std::string(pseudo_queue)));
        on.expect_nothing();
        return std::string(responder.get("requests", true).decoded().reply_to);
    }
};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolDirectReply, testing::Values(Distance::near, Distance::far),
                         distance_name);
class ProtocolPriorities : public WireTest {};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolPriorities, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp091 13.1
TEST_P(ProtocolAlarms, APublisherIsBlockedAndToldSo) {
    channel().declare("q");
    channel().publish("", "q", "before");
    world().raise_alarm("low on memory");
    EXPECT_EQ(peer().expect<ConnectionBlocked>().reason, "low on memory");
    channel().publish("", "q", "held back");
    auto other = open_channel();
    EXPECT_EQ(other.count("q"), 1U) << "nothing is read from a blocked connection";
    world().raise_alarm("");
    peer().expect<ConnectionUnblocked>();
    EXPECT_EQ(other.count("q"), 2U);
}

// amqp091 13.1: the first publish blocks. Connections that do not publish are not blocked.
TEST_P(ProtocolAlarms, WhoDoesNotPublishIsNotBlocked) {
    for (const char* reason : {"low on memory", "low on disk", "low on memory & disk"}) {
        world().raise_alarm(reason);
        auto consumer = open_channel();
        consumer.declare("q");
        consumer.peer().expect_nothing();
        consumer.publish("", "q", "body");
        EXPECT_EQ(consumer.peer().expect<ConnectionBlocked>().reason, reason);
        world().raise_alarm("");
        consumer.peer().expect<ConnectionUnblocked>();
        consumer.peer().close();
    }
}

// amqp091 13.1: overlapping alarms block a connection only once.
TEST_P(ProtocolAlarms, ASecondAlarmIsNotToldAgain) {
    channel().publish("", "nowhere", "body");
    world().raise_alarm("low on memory");
    peer().expect<ConnectionBlocked>();
    world().raise_alarm("low on memory & disk");
    world().raise_alarm("low on disk");
    peer().expect_nothing();
    world().raise_alarm("");
    peer().expect<ConnectionUnblocked>();
    world().raise_alarm("");
    peer().expect_nothing();
}

// amqp091 13.1
TEST_P(ProtocolAlarms, AnOldClientIsBlockedInSilence) {
    auto old = open_channel({.capabilities = {}});
    old.declare("q");
    old.publish("", "q", "one");
    world().raise_alarm("low on memory");
    old.publish("", "q", "two");
    old.peer().expect_nothing();
    EXPECT_EQ(open_channel().count("q"), 1U);
    world().raise_alarm("");
    old.peer().expect_nothing();
    EXPECT_EQ(open_channel().count("q"), 2U);
}

// amqp091 13.1, 2.16: no heartbeat is expected from a connection that is not read.
TEST_P(ProtocolAlarms, ABlockedConnectionNeedsNoHeartbeat) {
    auto publisher = open_channel({.heartbeat = 10});
    publisher.publish("", "nowhere", "body");
    world().raise_alarm("low on memory");
    publisher.peer().expect<ConnectionBlocked>();
    world().advance(seconds(100));
    EXPECT_TRUE(publisher.peer().is_open());
    EXPECT_GE(publisher.peer().take_heartbeats(), 10U);
    world().raise_alarm("");
    publisher.peer().expect<ConnectionUnblocked>();
    world().advance(seconds(19));
    EXPECT_TRUE(publisher.peer().is_open());
    world().advance(seconds(2));
    publisher.peer().expect_end();
}

// amqp091 13.1, 4.7: a blocked connection can still be closed.
TEST_P(ProtocolAlarms, ABlockedConnectionCanBeClosed) {
    channel().publish("", "nowhere", "body");
    world().raise_alarm("low on memory");
    peer().expect<ConnectionBlocked>();
    world().close_forced(peer().index(), "maintenance");
    peer().expect_connection_close(320, "CONNECTION_FORCED - maintenance", 0, 0);
    peer().send(0, ConnectionCloseOk{});
    peer().expect_end();
}

// amqp091 13.1: deliveries continue.
TEST_P(ProtocolAlarms, ABlockedConnectionStillGetsDeliveries) {
    channel().declare("q");
    channel().consume({.queue = "q", .no_ack = true});
    channel().publish("", "q", "own");
    channel().expect_delivery("own");
    auto other = open_channel();
    other.publish("", "q", "first");
    channel().expect_delivery("first");
    world().raise_alarm("low on memory");
    peer().expect<ConnectionBlocked>();
    other.peer().expect<ConnectionBlocked>();
    other.publish("", "q", "second");
    channel().expect_nothing();
    world().raise_alarm("");
    channel().expect_delivery("second");
    peer().expect<ConnectionUnblocked>();
    other.peer().expect<ConnectionUnblocked>();
}

// amqp091 13.2
TEST_P(ProtocolAlarms, ASecretCanBeUpdated) {
    peer().send(0, ConnectionUpdateSecret{.new_secret = "token", .reason = "expired"});
    peer().expect<ConnectionUpdateSecretOk>();
    channel().declare("q");
}

// amqp091 14.1
TEST_P(ProtocolDirectReply, ARoundTripNeedsNoQueue) {
    auto responder = open_channel();
    responder.declare("requests");
    EXPECT_EQ(channel().consume({.queue = pseudo_queue, .consumer_tag = "r", .no_ack = true}), "r");
    const std::string token = request(channel(), responder);
    ASSERT_TRUE(token.starts_with("amq.rabbitmq.reply-to."));
    // The address has two more parts, as in RabbitMQ.
    const std::string rest = token.substr(std::string_view("amq.rabbitmq.reply-to.").size());
    EXPECT_EQ(std::count(rest.begin(), rest.end(), '.'), 1) << token;
    EXPECT_FALSE(rest.starts_with('.') || rest.ends_with('.')) << token;
    responder.publish("", token, "answer");
    const auto answer = channel().expect_delivery("answer");
    EXPECT_EQ(answer.consumer_tag, "r");
    EXPECT_EQ(answer.delivery_tag, 1U);
    EXPECT_EQ(answer.exchange, "");
    EXPECT_EQ(answer.routing_key, token);
    EXPECT_EQ(world().engine().state().queue_count(), 1U);
}

// amqp091 14.1
TEST_P(ProtocolDirectReply, RepliesCannotBeAcknowledged) {
    channel().send(BasicConsume{.queue = pseudo_queue});
    channel().expect_close<BasicConsume>(406,
                                         "PRECONDITION_FAILED - reply consumer cannot acknowledge");
}

// amqp091 14.1
TEST_P(ProtocolDirectReply, AChannelHasOneReplyConsumer) {
    channel().consume({.queue = pseudo_queue, .no_ack = true});
    channel().send(BasicConsume{.queue = pseudo_queue, .no_ack = true});
    channel().expect_close<BasicConsume>(406, "PRECONDITION_FAILED - reply consumer already set");
    channel().reopen();
    channel().consume({.queue = pseudo_queue, .no_ack = true});
}

// amqp091 14.2: the reply consumer must be on the same channel.
TEST_P(ProtocolDirectReply, ARequestNeedsTheConsumer) {
    channel().declare("requests");
    peer().open_channel(2).consume({.queue = pseudo_queue, .no_ack = true});
    channel().publish("", "requests", "question", Properties().reply_to(std::string(pseudo_queue)));
    channel().expect_close<BasicPublish>(
        406, "PRECONDITION_FAILED - fast reply consumer does not exist");
}

// amqp091 14.2: any other reply-to is passed on unchanged.
TEST_P(ProtocolDirectReply, OtherReplyToAddressesAreLeftAlone) {
    channel().declare("requests");
    for (const char* address : {"my-queue", "amq.rabbitmq.reply-to.other", ""}) {
        channel().publish("", "requests", "question", Properties().reply_to(address));
        EXPECT_EQ(channel().get("requests", true).decoded().reply_to, address);
    }
}

// amqp091 14.3
TEST_P(ProtocolDirectReply, AReplyToNobodyIsDroppedOrReturned) {
    auto responder = open_channel();
    responder.declare("requests");
    channel().consume({.queue = pseudo_queue, .no_ack = true});
    const std::string token = request(channel(), responder);
    channel().close();
    responder.publish("", token, "dropped");
    responder.publish({.routing_key = token, .mandatory = true}, "returned");
    const auto returned = responder.expect_return();
    EXPECT_EQ(returned.reply_code, 312);
    EXPECT_EQ(returned.body, "returned");
}

// amqp091 14.3
TEST_P(ProtocolDirectReply, DeclaringATokenAsksWhetherSomebodyIsThere) {
    auto responder = open_channel();
    responder.declare("requests");
    channel().consume({.queue = pseudo_queue, .no_ack = true});
    const std::string token = request(channel(), responder);
    responder.send(QueueDeclare{.queue = token, .passive = true});
    EXPECT_EQ(responder.expect<QueueDeclareOk>(), (QueueDeclareOk{token, 0, 1}));
    responder.send(QueueDeclare{.queue = token, .durable = true, .auto_delete = true});
    EXPECT_EQ(responder.expect<QueueDeclareOk>(), (QueueDeclareOk{token, 0, 1}));
    channel().close();
    responder.send(QueueDeclare{.queue = token, .passive = true});
    responder.expect_close<QueueDeclare>(404, "NOT_FOUND - no queue '" + token + "' in vhost '/'");
}

// amqp091 14.3, 15.3: a responder may check the reply queue without permissions.
TEST_P(ProtocolDirectReply, AResponderNeedsNoPermissionToLook) {
    add_user("bob", {"", "^amq\\.default$", "^requests$"});
    auto responder = open_channel({.user = "bob", .password = "secret"});
    channel().declare("requests");
    channel().consume({.queue = pseudo_queue, .no_ack = true});
    const std::string token = request(channel(), responder);
    responder.send(QueueDeclare{.queue = token, .passive = true});
    EXPECT_EQ(responder.expect<QueueDeclareOk>(), (QueueDeclareOk{token, 0, 1}));
    responder.publish("", token, "answer");
    channel().expect_delivery("answer");
}

// amqp091 14.1: the pseudo-queue need not be declared, but some clients declare it.
TEST_P(ProtocolDirectReply, ThePseudoQueueIsAlwaysThere) {
    channel().send(QueueDeclare{.queue = pseudo_queue, .passive = true});
    EXPECT_EQ(channel().expect<QueueDeclareOk>(), (QueueDeclareOk{pseudo_queue, 0, 1}));
    channel().send(QueueDeclare{.queue = pseudo_queue});
    channel().expect<QueueDeclareOk>();
    EXPECT_EQ(world().engine().state().queue_count(), 0U);
}

// amqp091 14.3
TEST_P(ProtocolDirectReply, APseudoQueueCannotBeBoundOrGot) {
    auto responder = open_channel();
    responder.declare("requests");
    channel().consume({.queue = pseudo_queue, .no_ack = true});
    const std::string token = request(channel(), responder);
    const std::string text =
        "ACCESS_REFUSED - cannot bind or unbind to a volatile (direct reply-to) queue";
    responder.send(QueueBind{.queue = token, .exchange = "amq.fanout"});
    responder.expect_close<QueueBind>(403, text);
    responder.reopen();
    responder.send(QueueUnbind{.queue = token, .exchange = "amq.fanout"});
    responder.expect_close<QueueUnbind>(403, text);
    responder.reopen();
    responder.send(BasicGet{.queue = pseudo_queue});
    const auto close = responder.peer().expect<ConnectionClose>();
    EXPECT_EQ(close.reply_code, 540);
    EXPECT_EQ(close.failing_method_id, BasicGet::method_id);
}

// amqp091 14.4
TEST_P(ProtocolDirectReply, CancellingFreesThePlace) {
    auto responder = open_channel();
    responder.declare("requests");
    channel().consume({.queue = pseudo_queue, .consumer_tag = "first", .no_ack = true});
    const std::string token = request(channel(), responder);
    channel().send(BasicCancel{.consumer_tag = "first"});
    channel().expect<BasicCancelOk>();
    responder.publish({.routing_key = token, .mandatory = true}, "too late");
    responder.expect_return();
    channel().consume({.queue = pseudo_queue, .consumer_tag = "second", .no_ack = true});
    const std::string another = request(channel(), responder);
    EXPECT_NE(another, token);
    responder.publish("", another, "in time");
    EXPECT_EQ(channel().expect_delivery("in time").consumer_tag, "second");
}

// amqp091 14.4: each of many requesters receives its own replies.
TEST_P(ProtocolDirectReply, EveryChannelGetsItsOwnAnswers) {
    auto responder = open_channel();
    responder.declare("requests");
    for (std::uint16_t number = 1; number <= 5; ++number) {
        auto requester = number == 1 ? channel() : peer().open_channel(number);
        requester.consume({.queue = pseudo_queue, .no_ack = true});
        const std::string token = request(requester, responder);
        responder.publish("", token, "for " + std::to_string(number));
        requester.expect_delivery("for " + std::to_string(number));
    }
}

// amqp091 16.1
TEST_P(ProtocolPriorities, HigherPrioritiesComeFirst) {
    channel().declare("q", {{"x-max-priority", 5}});
    const std::vector<std::pair<std::string, int>> sent = {
        {"none", -1}, {"three", 3}, {"beyond", 200},   {"five", 5},
        {"zero", 0},  {"one", 1},   {"three again", 3}};
    for (const auto& [body, priority] : sent) {
        Properties properties;
        if (priority >= 0) properties.priority(static_cast<std::uint8_t>(priority));
        channel().publish("", "q", body, properties);
    }
    EXPECT_EQ(channel().drain("q"),
              (Bodies{"beyond", "five", "three", "three again", "one", "none", "zero"}));
}

// amqp091 16.1: the property is not changed.
TEST_P(ProtocolPriorities, ThePropertyIsKept) {
    channel().declare("q", {{"x-max-priority", 5}});
    channel().publish("", "q", "body", Properties().priority(200));
    EXPECT_EQ(channel().get("q").decoded().priority, 200);
}

// amqp091 16.1
TEST_P(ProtocolPriorities, AMaximumOfZeroIsAccepted) {
    channel().declare("q", {{"x-max-priority", 0}});
    channel().publish("", "q", "low", Properties().priority(0));
    channel().publish("", "q", "high", Properties().priority(9));
    EXPECT_EQ(channel().drain("q"), (Bodies{"high", "low"}));
    channel().declare("most", {{"x-max-priority", 255}});
    channel().publish("", "most", "low");
    channel().publish("", "most", "high", Properties().priority(255));
    EXPECT_EQ(channel().drain("most"), (Bodies{"high", "low"}));
}

// amqp091 16.1: without the argument, priorities have no effect.
TEST_P(ProtocolPriorities, AnOrdinaryQueueIgnoresPriorities) {
    channel().declare("q");
    channel().publish("", "q", "low", Properties().priority(0));
    channel().publish("", "q", "high", Properties().priority(9));
    EXPECT_EQ(channel().drain("q"), (Bodies{"low", "high"}));
}

// amqp091 16.1, 11.12: a requeued message is put at the front of its level.
TEST_P(ProtocolPriorities, ARequeuedMessageKeepsItsLevel) {
    channel().declare("q", {{"x-max-priority", 5}});
    channel().publish("", "q", "low one");
    channel().publish("", "q", "low two");
    channel().get("q");
    channel().publish("", "q", "high", Properties().priority(5));
    channel().reject(1, true);
    EXPECT_EQ(channel().drain("q"), (Bodies{"high", "low one", "low two"}));
}

// amqp091 16.3, DL-145: the head of a queue is the next message to be delivered, so the oldest
// message of the highest level is dropped first.
TEST_P(ProtocolPriorities, LimitsDropTheHead) {
    channel().declare("q", {{"x-max-priority", 5}, {"x-max-length", 3}});
    channel().publish("", "q", "low one");
    channel().publish("", "q", "high one", Properties().priority(5));
    channel().publish("", "q", "high two", Properties().priority(5));
    channel().publish("", "q", "low two");
    EXPECT_EQ(channel().drain("q"), (Bodies{"high two", "low one", "low two"}));
}

// amqp091 16.3
TEST_P(ProtocolPriorities, TimeToLiveActsInEveryLevel) {
    channel().declare("q", {{"x-max-priority", 5}});
    channel().publish("", "q", "low, short", Properties().expiration("100"));
    channel().publish("", "q", "low, long");
    channel().publish("", "q", "high, short", Properties().priority(5).expiration("100"));
    channel().publish("", "q", "high, long", Properties().priority(5));
    world().advance(milliseconds(100));
    EXPECT_EQ(channel().drain("q"), (Bodies{"high, long", "low, long"}));
}

}  // namespace
}  // namespace revenant::amqp091
