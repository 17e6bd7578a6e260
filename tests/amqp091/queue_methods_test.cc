// Queues (amqp091, section 8).
#include "tests/support/peer.h"

namespace revenant::amqp091 {
namespace {

using namespace std::string_literals;
using Bodies = std::vector<std::string>;

class ProtocolQueues : public WireTest {
  protected:
    engine::Queue* find(std::string_view name) {
        world().carry();
        return world().engine().state().find_queue(name);
    }
    static std::string locked(std::string_view name) {
        return "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue '" +
               std::string(name) +
               "' in vhost '/'. It could be originally declared on another connection or the "
               "exclusive property value does not match that of the original declaration.";
    }
    void declare_exclusive(PeerChannel on, std::string_view name, Where where = Where::here()) {
        on.send(QueueDeclare{.queue = name, .exclusive = true});
        on.expect<QueueDeclareOk>(where);
    }
    // Declares a queue with the arguments on a separate channel and expects the refusal.
    void expect_refused(std::initializer_list<Argument> arguments, std::string_view text,
                        Where where = Where::here()) {
        const std::string encoded = table(arguments);
        auto probe = peer().open_channel(77, where);
        probe.send(QueueDeclare{.queue = "odd", .arguments = encoded});
        probe.expect_close<QueueDeclare>(406, "PRECONDITION_FAILED - " + std::string(text), where);
        probe.close_ok();
    }
};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolQueues, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp091 8.1
TEST_P(ProtocolQueues, DeclareOkCountsReadyMessagesAndConsumers) {
    const auto fresh = channel().declare("q");
    EXPECT_EQ(fresh, (QueueDeclareOk{"q", 0, 0}));
    for (const char* body : {"a", "b", "c"}) channel().publish("", "q", body);
    channel().get("q");
    auto consumer = peer().open_channel(2);
    consumer.qos(1);
    consumer.consume("q");
    consumer.expect_delivery("b");
    EXPECT_EQ(channel().declare("q"), (QueueDeclareOk{"q", 1, 1}));
}

// amqp091 8.1
TEST_P(ProtocolQueues, NoWaitIsNotAnswered) {
    channel().send(
        QueueDeclare{.queue = "q", .durable = true, .auto_delete = true, .no_wait = true});
    channel().expect_nothing();
    EXPECT_TRUE(find("q")->declaration.durable);
    EXPECT_TRUE(find("q")->declaration.auto_delete);
    EXPECT_FALSE(find("q")->declaration.exclusive);
    channel().publish("", "q", "body");
    channel().send(QueuePurge{.queue = "q", .no_wait = true});
    channel().expect_nothing();
    EXPECT_EQ(find("q")->ready_count(), 0U);
    channel().send(QueueDelete{.queue = "q", .no_wait = true});
    channel().expect_nothing();
    EXPECT_EQ(find("q"), nullptr);
}

// amqp091 8.2
TEST_P(ProtocolQueues, TheServerNamesAQueueThatHasNoName) {
    const std::string name(channel().declare("").queue);
    EXPECT_TRUE(name.starts_with("amq.gen-"));
    EXPECT_EQ(name.size(), 8U + 22U);
    EXPECT_NE(channel().declare("").queue, name);
    EXPECT_EQ(channel().declare(name).queue, name);
}

// amqp091 8.2
TEST_P(ProtocolQueues, AnEmptyNameMeansTheQueueDeclaredLast) {
    channel().declare("first");
    channel().declare("last");
    channel().bind("", "amq.direct", "");
    channel().publish("amq.direct", "last", "a");
    channel().bind("", "amq.direct", "k");
    channel().publish("amq.direct", "k", "b");
    channel().publish("", "last", "c");
    EXPECT_EQ(channel().get("").body, "a");
    channel().consume("");
    channel().expect_delivery("b");
    channel().expect_delivery("c");
    channel().send(QueuePurge{.queue = ""});
    EXPECT_EQ(channel().expect<QueuePurgeOk>().message_count, 0U);
    channel().send(QueueUnbind{.queue = "", .exchange = "amq.direct", .routing_key = ""});
    channel().expect<QueueUnbindOk>();
    EXPECT_EQ(find("last")->bindings.size(), 1U);
    channel().send(QueueDelete{.queue = ""});
    channel().expect<QueueDeleteOk>();
    channel().expect<BasicCancel>();
    EXPECT_EQ(find("last"), nullptr);
    EXPECT_NE(find("first"), nullptr);
}

// amqp091 8.2
TEST_P(ProtocolQueues, WithoutADeclarationAnEmptyNameMeansNothing) {
    const std::string text = "NOT_FOUND - no previously declared queue";
    channel().send(BasicConsume{});
    channel().expect_close<BasicConsume>(404, text);
    channel().reopen();
    channel().send(BasicGet{});
    channel().expect_close<BasicGet>(404, text);
    channel().reopen();
    channel().send(QueuePurge{});
    channel().expect_close<QueuePurge>(404, text);
    channel().reopen();
    channel().send(QueueDelete{});
    channel().expect_close<QueueDelete>(404, text);
    channel().reopen();
    channel().send(QueueBind{.exchange = "amq.direct"});
    channel().expect_close<QueueBind>(404, text);
    channel().reopen();
    channel().send(QueueUnbind{.exchange = "amq.direct"});
    channel().expect_close<QueueUnbind>(404, text);
}

// amqp091 8.3
TEST_P(ProtocolQueues, AReservedNameIsNotForNewQueues) {
    channel().send(QueueDeclare{.queue = "amq.x"});
    channel().expect_close<QueueDeclare>(
        403, "ACCESS_REFUSED - queue name 'amq.x' contains reserved prefix 'amq.*'");
}

// amqp091 8.4
TEST_P(ProtocolQueues, AnExclusiveQueueIsLockedForOthers) {
    declare_exclusive(channel(), "mine");
    auto other = open_channel();
    const std::string text = locked("mine");
    other.send(QueueDeclare{.queue = "mine", .exclusive = true});
    other.expect_close<QueueDeclare>(405, text);
    other.reopen();
    other.send(QueueDeclare{.queue = "mine", .passive = true});
    other.expect_close<QueueDeclare>(405, text);
    other.reopen();
    other.send(BasicConsume{.queue = "mine"});
    other.expect_close<BasicConsume>(405, text);
    other.reopen();
    other.send(BasicGet{.queue = "mine"});
    other.expect_close<BasicGet>(405, text);
    other.reopen();
    other.send(QueuePurge{.queue = "mine"});
    other.expect_close<QueuePurge>(405, text);
    other.reopen();
    other.send(QueueDelete{.queue = "mine"});
    other.expect_close<QueueDelete>(405, text);
    other.reopen();
    other.send(QueueBind{.queue = "mine", .exchange = "amq.fanout"});
    other.expect_close<QueueBind>(405, text);
    other.reopen();
    other.send(QueueUnbind{.queue = "mine", .exchange = "amq.fanout"});
    other.expect_close<QueueUnbind>(405, text);
    other.reopen();
    other.publish("", "mine", "anybody may publish");
    other.expect_nothing();
    EXPECT_EQ(peer().open_channel(2).drain("mine"), Bodies{"anybody may publish"});
}

// amqp091 8.4
TEST_P(ProtocolQueues, ExclusivenessMustMatchWhoeverAsks) {
    channel().declare("shared");
    channel().send(QueueDeclare{.queue = "shared", .exclusive = true});
    channel().expect_close<QueueDeclare>(405, locked("shared"));
    channel().reopen();
    declare_exclusive(channel(), "mine");
    channel().send(QueueDeclare{.queue = "mine"});
    channel().expect_close<QueueDeclare>(405, locked("mine"));
    channel().reopen();
    declare_exclusive(channel(), "mine");
}

// amqp091 8.4, 19.5: the name is free as soon as the client has read close-ok.
TEST_P(ProtocolQueues, AnExclusiveQueueGoesWithItsConnection) {
    auto owner = open_channel();
    declare_exclusive(owner, "mine");
    owner.close();
    EXPECT_NE(find("mine"), nullptr) << "the queue belongs to the connection, not to the channel";
    owner.peer().close();
    declare_exclusive(channel(), "mine");
}

// amqp091 8.5
TEST_P(ProtocolQueues, AnExclusiveQueueIsNeverDurable) {
    channel().send(QueueDeclare{.queue = "mine", .durable = true, .exclusive = true});
    channel().expect<QueueDeclareOk>();
    EXPECT_FALSE(find("mine")->declaration.durable);
    declare_exclusive(channel(), "mine");
    channel().send(QueueDeclare{.queue = "mine", .durable = true, .exclusive = true});
    channel().expect<QueueDeclareOk>();
}

// amqp091 8.6
TEST_P(ProtocolQueues, AutoDeleteGoesWithTheLastConsumer) {
    channel().send(QueueDeclare{.queue = "q", .auto_delete = true});
    channel().expect<QueueDeclareOk>();
    channel().publish("", "q", "body");
    channel().get("q", true);
    EXPECT_NE(find("q"), nullptr) << "basic.get is not a consumer";
    channel().consume("q", "one");
    channel().consume("q", "two");
    channel().send(BasicCancel{.consumer_tag = "one"});
    channel().expect<BasicCancelOk>();
    EXPECT_NE(find("q"), nullptr);
    channel().send(BasicCancel{.consumer_tag = "two"});
    channel().expect<BasicCancelOk>();
    EXPECT_EQ(find("q"), nullptr);
    channel().send(QueueDeclare{.queue = "q", .passive = true});
    channel().expect_close<QueueDeclare>(404, "NOT_FOUND - no queue 'q' in vhost '/'");
}

// amqp091 8.6
TEST_P(ProtocolQueues, AutoDeleteGoesWithTheChannelOfItsConsumer) {
    for (const bool whole_connection : {false, true}) {
        auto consumer = open_channel();
        consumer.send(QueueDeclare{.queue = "q", .auto_delete = true});
        consumer.expect<QueueDeclareOk>();
        consumer.consume("q");
        if (whole_connection) {
            consumer.peer().close();
        } else {
            consumer.close();
        }
        EXPECT_EQ(find("q"), nullptr);
    }
}

// amqp091 8.7, 19.6: transient queues that are not exclusive are permitted.
TEST_P(ProtocolQueues, ATransientQueueIsPermitted) {
    channel().send(QueueDeclare{.queue = "celery.pidbox", .auto_delete = true});
    channel().expect<QueueDeclareOk>();
}

// amqp091 8.8
TEST_P(ProtocolQueues, ADifferenceIsToldExactly) {
    const std::string ttl = table({{"x-message-ttl", 1000}});
    channel().send(QueueDeclare{.queue = "q", .durable = true, .arguments = ttl});
    channel().expect<QueueDeclareOk>();
    const std::string other_ttl = table({{"x-message-ttl", 2000}});
    const std::string more = table({{"x-message-ttl", 1000}, {"x-max-length", 5L}});
    struct Case {
        QueueDeclare again;
        std::string text;
    };
    const std::vector<Case> cases = {
        {{.arguments = ttl},
         "inequivalent arg 'durable' for queue 'q' in vhost '/': received 'false' but current is "
         "'true'"},
        {{.durable = true, .auto_delete = true, .arguments = ttl},
         "inequivalent arg 'auto_delete' for queue 'q' in vhost '/': received 'true' but current "
         "is 'false'"},
        {{.durable = true},
         "inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received none but current "
         "is the value '1000' of type 'signedint'"},
        {{.durable = true, .arguments = other_ttl},
         "inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received '2000' but current "
         "is '1000'"},
        {{.durable = true, .arguments = more},
         "inequivalent arg 'x-max-length' for queue 'q' in vhost '/': received the value '5' of "
         "type 'long' but current is none"},
    };
    for (const auto& [declare, text] : cases) {
        QueueDeclare again = declare;
        again.queue = "q";
        channel().send(again);
        channel().expect_close<QueueDeclare>(406, "PRECONDITION_FAILED - " + text);
        channel().reopen();
    }
}

// amqp091 8.8
TEST_P(ProtocolQueues, UnknownArgumentsAreKeptAndNotCompared) {
    channel().declare("q", {{"x-colour", "red"}});
    channel().declare("q", {{"x-colour", "blue"}});
    channel().declare("q");
    EXPECT_EQ(find("q")->declaration.arguments, engine::arguments({{"x-colour", "red"}}));
}

// amqp091 8.9
TEST_P(ProtocolQueues, AbsentAndClassicAreTheSameType) {
    channel().declare("q");
    channel().declare("q", {{"x-queue-type", "classic"}});
    channel().declare("r", {{"x-queue-type", "classic"}});
    channel().declare("r");
}

// amqp091 8.10
TEST_P(ProtocolQueues, PassiveOnlyAsksForExistence) {
    channel().declare("q");
    channel().publish("", "q", "body");
    const std::string arguments = table({{"x-max-length", "nonsense"}});
    channel().send(QueueDeclare{.queue = "q",
                                .passive = true,
                                .durable = true,
                                .auto_delete = true,
                                .arguments = arguments});
    EXPECT_EQ(channel().expect<QueueDeclareOk>(), (QueueDeclareOk{"q", 1, 0}));
    channel().send(QueueDeclare{.queue = "missing", .passive = true});
    channel().expect_close<QueueDeclare>(404, "NOT_FOUND - no queue 'missing' in vhost '/'");
}

// amqp091 8.11
TEST_P(ProtocolQueues, PurgeRemovesReadyMessagesOnly) {
    channel().declare("q");
    for (const char* body : {"a", "b", "c"}) channel().publish("", "q", body);
    const auto held = channel().get("q");
    channel().send(QueuePurge{.queue = "q"});
    EXPECT_EQ(channel().expect<QueuePurgeOk>().message_count, 2U);
    channel().reject(held.delivery_tag, true);
    EXPECT_EQ(channel().drain("q"), Bodies{"a"});
    channel().send(QueuePurge{.queue = "missing"});
    channel().expect_close<QueuePurge>(404, "NOT_FOUND - no queue 'missing' in vhost '/'");
}

// amqp091 8.12
TEST_P(ProtocolQueues, DeleteCountsReadyMessages) {
    channel().declare("q");
    for (const char* body : {"a", "b", "c"}) channel().publish("", "q", body);
    channel().get("q");
    channel().send(QueueDelete{.queue = "q"});
    EXPECT_EQ(channel().expect<QueueDeleteOk>().message_count, 2U);
    channel().send(QueueDelete{.queue = "q"});
    EXPECT_EQ(channel().expect<QueueDeleteOk>().message_count, 0U) << "already deleted";
    channel().send(QueueDelete{.queue = "q", .if_unused = true, .if_empty = true});
    channel().expect<QueueDeleteOk>();
}

// amqp091 8.12, 11.11: a delivery can be settled after its queue was deleted.
TEST_P(ProtocolQueues, DeliveriesOfADeletedQueueCanStillBeSettled) {
    channel().declare("q");
    for (const char* body : {"a", "b", "c"}) channel().publish("", "q", body);
    for (int i = 0; i < 3; ++i) channel().get("q");
    channel().send(QueueDelete{.queue = "q"});
    EXPECT_EQ(channel().expect<QueueDeleteOk>().message_count, 0U);
    channel().ack(1);
    channel().reject(2, true);
    channel().nack(3, false, false);
    channel().expect_nothing();
    channel().ack(3);
    channel().expect_close<BasicAck>(406, "PRECONDITION_FAILED - unknown delivery tag 3");
}

// amqp091 8.12
TEST_P(ProtocolQueues, DeleteCanBeConditional) {
    channel().declare("q");
    channel().publish("", "q", "body");
    channel().send(QueueDelete{.queue = "q", .if_empty = true});
    channel().expect_close<QueueDelete>(406,
                                        "PRECONDITION_FAILED - queue 'q' in vhost '/' not empty");
    channel().reopen();
    auto consumer = open_channel();
    consumer.consume("q");
    consumer.expect_delivery("body");
    channel().send(QueueDelete{.queue = "q", .if_unused = true});
    channel().expect_close<QueueDelete>(406, "PRECONDITION_FAILED - queue 'q' in vhost '/' in use");
    channel().reopen();
    consumer.close();
    channel().send(QueueDelete{.queue = "q", .if_unused = true});
    EXPECT_EQ(channel().expect<QueueDeleteOk>().message_count, 1U);
}

// amqp091 8.12, 11.15
TEST_P(ProtocolQueues, ConsumersOfADeletedQueueAreTold) {
    auto consumer = open_channel();
    channel().declare("q");
    consumer.consume("q", "tag");
    channel().send(QueueDelete{.queue = "q"});
    channel().expect<QueueDeleteOk>();
    EXPECT_EQ(consumer.expect<BasicCancel>(), (BasicCancel{"tag", true}));
    consumer.send(BasicCancelOk{"tag"});
    consumer.expect_nothing();
    channel().declare("q");
    consumer.consume("q", "tag");
}

// amqp091 8.13
TEST_P(ProtocolQueues, ArgumentsOfOtherTypesAreRefused) {
    for (const char* name :
         {"x-dead-letter-strategy", "x-delivery-limit", "x-quorum-initial-group-size",
          "x-max-in-memory-length", "x-max-age", "x-stream-max-segment-size-bytes",
          "x-initial-cluster-size", "x-delayed-retry-type", "x-consumer-timeout"}) {
        expect_refused({{name, 1}}, "invalid arg '" + std::string(name) +
                                        "' for queue 'odd' in vhost '/' of queue type "
                                        "rabbit_classic_queue");
    }
}

// amqp091 8.13: the arguments that a classic queue supports.
TEST_P(ProtocolQueues, ClassicArgumentsAreAccepted) {
    channel().declare("q", {{"x-expires", 60000},
                            {"x-message-ttl", 0},
                            {"x-dead-letter-exchange", "dlx"},
                            {"x-dead-letter-routing-key", "k"},
                            {"x-max-length", 10},
                            {"x-max-length-bytes", 1000},
                            {"x-max-priority", 5},
                            {"x-overflow", "reject-publish-dlx"},
                            {"x-queue-mode", "lazy"},
                            {"x-queue-version", 2},
                            {"x-single-active-consumer", true},
                            {"x-queue-type", "classic"},
                            {"x-queue-master-locator", "min-masters"},
                            {"x-queue-leader-locator", "balanced"}});
}

// amqp091 8.14
TEST_P(ProtocolQueues, AWrongValueIsToldExactly) {
    const auto invalid = [](std::string_view name, std::string_view term) {
        return "invalid arg '" + std::string(name) +
               "' for queue 'odd' in vhost '/': " + std::string(term);
    };
    expect_refused({{"x-message-ttl", "1000"}},
                   invalid("x-message-ttl", "\"expected integer, got longstr\""));
    expect_refused({{"x-message-ttl", -1}}, invalid("x-message-ttl", "{value_negative,-1}"));
    expect_refused({{"x-expires", 0}}, invalid("x-expires", "{value_zero,0}"));
    expect_refused({{"x-expires", -5}}, invalid("x-expires", "{value_negative,-5}"));
    expect_refused({{"x-max-length", -1}}, invalid("x-max-length", "{value_negative,-1}"));
    expect_refused({{"x-max-length-bytes", true}},
                   invalid("x-max-length-bytes", "\"expected integer, got bool\""));
    expect_refused({{"x-message-ttl", 315360000001L}},
                   invalid("x-message-ttl", "{value_too_large,315360000001}"));
    expect_refused({{"x-expires", 315360000001L}},
                   invalid("x-expires", "{value_too_large,315360000001}"));
    expect_refused({{"x-queue-type", "quorum"}, {"x-delayed-retry-min", 315360000001L}},
                   invalid("x-delayed-retry-min", "{value_too_large,315360000001}"));
    expect_refused({{"x-queue-type", "quorum"}, {"x-consumer-timeout", INT64_MAX}},
                   invalid("x-consumer-timeout", "{value_too_large,9223372036854775807}"));
    expect_refused({{"x-max-priority", 256}},
                   invalid("x-max-priority", "{max_value_exceeded,256}"));
    expect_refused({{"x-overflow", 1}}, invalid("x-overflow", "{unacceptable_type,signedint}"));
    expect_refused({{"x-overflow", "spill"}}, invalid("x-overflow", "invalid_overflow"));
    expect_refused({{"x-dead-letter-routing-key", "k"}},
                   invalid("x-dead-letter-routing-key", "routing_key_but_no_dlx_defined"));
    expect_refused({{"x-queue-type", "foo"}},
                   invalid("x-queue-type", "\"unsupported queue type 'foo'\""));
    expect_refused({{"x-queue-version", 1}},
                   invalid("x-queue-version", "\"unsupported queue version '1'\""));
    expect_refused({{"x-queue-leader-locator", "nearby"}},
                   invalid("x-queue-leader-locator", "invalid_queue_locator_arg"));
}

// amqp091 8.16
TEST_P(ProtocolQueues, MessagesExpireWithTheSmallerTimeToLive) {
    channel().declare("q", {{"x-message-ttl", 1000}});
    channel().publish("", "q", "of the queue");
    channel().publish("", "q", "of its own", Properties().expiration("400"));
    channel().publish("", "q", "too long", Properties().expiration("90000"));
    world().advance(milliseconds(399));
    EXPECT_EQ(channel().count("q"), 3U);
    world().advance(milliseconds(1));
    EXPECT_EQ(channel().count("q"), 2U);
    world().advance(milliseconds(600));
    EXPECT_EQ(channel().count("q"), 0U);
}

// amqp091 8.16
TEST_P(ProtocolQueues, TimeToLiveZeroIsForWaitingConsumersOnly) {
    channel().declare("q", {{"x-message-ttl", 0}});
    channel().publish("", "q", "nobody waits");
    EXPECT_FALSE(channel().try_get("q"));
    channel().consume("q");
    channel().publish("", "q", "somebody waits");
    channel().expect_delivery("somebody waits");
}

// amqp091 8.16
TEST_P(ProtocolQueues, AnExpirationIsANumberInText) {
    const std::vector<std::pair<std::string, std::string>> faults = {
        {"abc", "no_integer"},
        {"", "no_integer"},
        {"5x", "{leftover_string,\"x\"}"},
        {"1.5", "{leftover_string,\".5\"}"},
        {"-1", "{value_negative,-1}"},
        {"99999999999999999999", "{value_too_large,99999999999999999999}"},
    };
    channel().declare("q");
    for (const auto& [expiration, term] : faults) {
        channel().publish("", "q", "body", Properties().expiration(expiration));
        channel().expect_close<BasicPublish>(
            406, "PRECONDITION_FAILED - invalid expiration '" + expiration + "': " + term);
        channel().reopen();
    }
    channel().publish("", "q", "body", Properties().expiration("+5000"));
    EXPECT_EQ(channel().count("q"), 1U);
}

// amqp091 8.17
TEST_P(ProtocolQueues, AnUnusedQueueExpires) {
    for (const char* name : {"idle", "redeclared", "got", "consumed"}) {
        channel().declare(name, {{"x-expires", 10000}});
    }
    channel().consume("consumed", "tag");
    world().advance(seconds(6));
    channel().declare("redeclared", {{"x-expires", 10000}});
    channel().try_get("got");
    world().advance(seconds(6));
    EXPECT_FALSE(channel().exists("idle"));
    world().advance(seconds(100));
    EXPECT_FALSE(channel().exists("redeclared"));
    EXPECT_FALSE(channel().exists("got"));
    EXPECT_NE(find("consumed"), nullptr);
    channel().send(BasicCancel{.consumer_tag = "tag"});
    channel().expect<BasicCancelOk>();
    world().advance(seconds(11));
    EXPECT_EQ(find("consumed"), nullptr);
}

// amqp091 8.18
TEST_P(ProtocolQueues, AFullQueueDropsItsHead) {
    channel().declare("q", {{"x-max-length", 2}});
    channel().declare("bytes", {{"x-max-length-bytes", 5}});
    for (const char* body : {"a", "b", "c"}) channel().publish("", "q", body);
    for (const char* body : {"aa", "bb", "cc"}) channel().publish("", "bytes", body);
    EXPECT_EQ(channel().drain("q"), (Bodies{"b", "c"}));
    EXPECT_EQ(channel().drain("bytes"), (Bodies{"bb", "cc"}));
}

// amqp091 8.18: only ready messages count.
TEST_P(ProtocolQueues, UnackedMessagesDoNotFillAQueue) {
    channel().declare("q", {{"x-max-length", 1}});
    channel().publish("", "q", "a");
    channel().get("q");
    channel().publish("", "q", "b");
    EXPECT_EQ(channel().count("q"), 1U);
}

// amqp091 8.18, 10.2
TEST_P(ProtocolQueues, AFullQueueRefusesWhenAsked) {
    channel().declare("q", {{"x-max-length", 1}, {"x-overflow", "reject-publish"}});
    channel().publish("", "q", "a");
    channel().publish("", "q", "dropped in silence");
    channel().select_confirms();
    channel().publish("", "q", "refused");
    EXPECT_EQ(channel().expect<BasicNack>(), (BasicNack{1, false, false}));
    EXPECT_EQ(channel().drain("q"), Bodies{"a"});
}

// amqp091 8.18
TEST_P(ProtocolQueues, WhatIsRefusedCanBeDeadLettered) {
    channel().declare("graves");
    channel().declare("q", {{"x-max-length", 1},
                            {"x-overflow", "reject-publish-dlx"},
                            {"x-dead-letter-exchange", ""},
                            {"x-dead-letter-routing-key", "graves"}});
    channel().select_confirms();
    channel().publish("", "q", "a");
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{1, false}));
    channel().publish("", "q", "b");
    EXPECT_EQ(channel().expect<BasicNack>(), (BasicNack{2, false, false}));
    EXPECT_EQ(channel().drain("graves"), Bodies{"b"});
}

// amqp091 8.19: existing queues can still be declared.
TEST_P(ProtocolQueues, AVhostMayLimitItsQueues) {
    world().change(SetVhostLimits{"/", {.max_queues = 2}});
    channel().declare("one");
    channel().declare("two");
    channel().declare("one");
    channel().send(QueueDeclare{.queue = "three"});
    channel().expect_close<QueueDeclare>(
        406,
        "PRECONDITION_FAILED - cannot declare queue 'three': queue limit in vhost '/' (2) is "
        "reached");
    channel().reopen();
    channel().send(QueueDelete{.queue = "one"});
    channel().expect<QueueDeleteOk>();
    channel().declare("three");
}

// amqp091 8.15
TEST_P(ProtocolQueues, OtherTypesAreRefused) {
    expect_refused({{"x-queue-type", "stream"}},
                   "invalid arg 'x-queue-type' for queue 'odd' in vhost '/': \"unsupported "
                   "queue type 'stream'\"");
    expect_refused({{"x-queue-type", "quorum"}},
                   "invalid property 'non-durable' for queue 'odd' in vhost '/'");
}

// amqp091 8.21
TEST_P(ProtocolQueues, ADeadLetterExchangeNeedsPermissions) {
    add_user("bob", {".*", "^good$", "^readable"});
    auto bob = open_channel({.user = "bob", .password = "secret"});
    const std::string good = table({{"x-dead-letter-exchange", "good"}});
    const std::string bad = table({{"x-dead-letter-exchange", "bad"}});
    bob.send(QueueDeclare{.queue = "blind", .arguments = good});
    bob.expect_close<QueueDeclare>(
        403, "ACCESS_REFUSED - read access to queue 'blind' in vhost '/' refused for user 'bob'");
    bob.reopen();
    bob.send(QueueDeclare{.queue = "readable", .arguments = bad});
    bob.expect_close<QueueDeclare>(
        403, "ACCESS_REFUSED - write access to exchange 'bad' in vhost '/' refused for user 'bob'");
    bob.reopen();
    bob.send(QueueDeclare{.queue = "readable", .arguments = good});
    bob.expect<QueueDeclareOk>();
}

// amqp091 8.21
TEST_P(ProtocolQueues, ADeadLetterExchangeMustBeAName) {
    expect_refused({{"x-dead-letter-exchange", 1}},
                   "invalid type 'signedint' for arg 'x-dead-letter-exchange' in queue 'odd' in "
                   "vhost '/'");
}

}  // namespace
}  // namespace revenant::amqp091
