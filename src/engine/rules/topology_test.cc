#include "engine/rules/topology.h"

#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using enum RefusalKind;

std::string locked(const std::string& queue) {
    return "cannot obtain exclusive access to locked queue '" + queue +
           "' in vhost '/'. It could be originally declared on another connection or the exclusive "
           "property value does not match that of the original declaration.";
}

// --------------------------------------------------------------------------- exchanges

TEST(Exchanges, EveryVhostStartsWithTheSameSeven) {  // amqp091 6.1
    Scenario s;
    std::vector<std::string> found;
    for (const Exchange* exchange : s.engine().state().exchanges_by_name()) {
        EXPECT_TRUE(exchange->declaration.durable) << exchange->name();
        EXPECT_FALSE(exchange->declaration.auto_delete) << exchange->name();
        found.push_back(exchange->name() + ':' +
                        std::string(to_string(exchange->declaration.type)) +
                        (exchange->declaration.internal ? ":internal" : ""));
    }
    EXPECT_THAT(found, ElementsAre(":direct", "amq.direct:direct", "amq.fanout:fanout",
                                   "amq.headers:headers", "amq.match:headers",
                                   "amq.rabbitmq.trace:topic:internal", "amq.topic:topic"));
}

TEST(Exchanges, TheDefaultOneCannotBeTouched) {  // amqp091 6.3
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.declare_exchange("x", "direct");
    const std::string text = "operation not permitted on the default exchange";
    ch.declare_exchange("", "direct", {.durable = true});
    ch.expect_refused(access_refused, text);
    ch.declare_exchange("", "direct", {.passive = true});
    ch.expect_refused(access_refused, text);
    ch.delete_exchange("");
    ch.expect_refused(access_refused, text);
    ch.bind("", "q", "key");
    ch.expect_refused(access_refused, text);
    ch.unbind("", "q", "q");
    ch.expect_refused(access_refused, text);
    ch.bind("x", "", "key", {.to = DestinationKind::exchange});
    ch.expect_refused(access_refused, text);
    ch.unbind("", "x", "key", {.to = DestinationKind::exchange});
    ch.expect_refused(access_refused, text);
}

TEST(Exchanges, ANewNameMayNotBeginWithTheReservedPrefix) {  // amqp091 6.4
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("amq.foo", "direct");
    ch.expect_refused(access_refused, "exchange name 'amq.foo' contains reserved prefix 'amq.*'");
    ch.declare_exchange("amq.direct", "direct", {.durable = true});
}

TEST(Exchanges, AnUnknownTypeIsRefused) {  // amqp091 6.5
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("x", "foo");
    ch.expect_refused(RefusalKind::unknown_exchange_type, "unknown exchange type 'foo'");
    for (const char* type : {"direct", "fanout", "topic", "headers", "x-consistent-hash",
                             "x-local-random", "x-modulus-hash"}) {
        ch.declare_exchange(std::string("x-") + type, type);
        EXPECT_TRUE(s.has_exchange(std::string("x-") + type));
    }
}

TEST(Exchanges, DeclaredAgainTheSameWayIsFine) {  // amqp091 6.7
    Scenario s;
    auto& ch = s.open_channel();
    const ExchangeOptions options{.durable = true,
                                  .auto_delete = true,
                                  .internal = true,
                                  .arguments = arguments({{"alternate-exchange", "ae"}})};
    ch.declare_exchange("x", "topic", options);
    ch.declare_exchange("x", "topic", options);
    EXPECT_EQ(s.events().size(), 1U);
}

TEST(Exchanges, DeclaredAgainInAnotherWayIsRefused) {  // amqp091 6.7
    Scenario s;
    auto& ch = s.open_channel();
    const std::string start = "inequivalent arg ";
    const std::string of = " for exchange 'x' in vhost '/': ";
    ch.declare_exchange("x", "direct", {.durable = true});
    ch.declare_exchange("x", "fanout", {.durable = true});
    ch.expect_refused(precondition_failed,
                      start + "'type'" + of + "received 'fanout' but current is 'direct'");
    ch.declare_exchange("x", "direct");
    ch.expect_refused(precondition_failed,
                      start + "'durable'" + of + "received 'false' but current is 'true'");
    ch.declare_exchange("x", "direct", {.durable = true, .auto_delete = true});
    ch.expect_refused(precondition_failed,
                      start + "'auto_delete'" + of + "received 'true' but current is 'false'");
    ch.declare_exchange("x", "direct", {.durable = true, .internal = true});
    ch.expect_refused(precondition_failed,
                      start + "'internal'" + of + "received 'true' but current is 'false'");
}

TEST(Exchanges, OnlyTheArgumentsThatMatterAreCompared) {  // amqp091 6.7
    Scenario s;
    auto& ch = s.open_channel();
    const std::string start =
        "inequivalent arg 'alternate-exchange' for exchange 'x' in vhost '/': ";
    ch.declare_exchange("x", "direct",
                        {.arguments = arguments({{"alternate-exchange", "ae1"}, {"x-any", 1}})});
    ch.declare_exchange("x", "direct", {.arguments = arguments({{"alternate-exchange", "ae1"}})});
    ch.declare_exchange("x", "direct");
    ch.expect_refused(precondition_failed,
                      start + "received none but current is the value 'ae1' of type 'longstr'");
    ch.declare_exchange("x", "direct", {.arguments = arguments({{"alternate-exchange", "ae2"}})});
    ch.expect_refused(precondition_failed, start + "received 'ae2' but current is 'ae1'");

    ch.declare_exchange("h", "x-consistent-hash", {.arguments = arguments({{"hash-header", "a"}})});
    ch.declare_exchange("h", "x-consistent-hash", {.arguments = arguments({{"hash-header", "b"}})});
    ch.expect_refused(precondition_failed,
                      "inequivalent arg 'hash-header' for exchange 'h' in vhost '/': received 'b' "
                      "but current is 'a'");
}

TEST(Exchanges, APassiveDeclareAsksForExistenceOnly) {  // amqp091 6.8
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("x", "direct", {.durable = true});
    ch.declare_exchange("x", "no such type", {.passive = true, .internal = true});
    ch.declare_exchange("y", "direct", {.passive = true});
    ch.expect_refused(not_found, "no exchange 'y' in vhost '/'");
    EXPECT_FALSE(s.has_exchange("y"));
}

TEST(Exchanges, DeletingWhatIsNotThereSucceeds) {  // amqp091 6.9
    Scenario s;
    auto& ch = s.open_channel();
    ch.delete_exchange("x");
    ch.delete_exchange("x", /*if_unused=*/true);
    EXPECT_TRUE(ch.is_open());
}

TEST(Exchanges, DeletedOnlyIfUnusedWhenAskedSo) {  // amqp091 6.9
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("x", "direct");
    ch.declare_exchange("y", "direct");
    ch.declare_queue("q");
    ch.bind("x", "q", "k");
    ch.bind("x", "y", "k", {.to = DestinationKind::exchange});
    ch.delete_exchange("x", /*if_unused=*/true);
    ch.expect_refused(precondition_failed, "exchange 'x' in vhost '/' in use");
    ch.delete_exchange("y", /*if_unused=*/true);  // a destination only
    EXPECT_FALSE(s.has_exchange("y"));
    ch.delete_exchange("x");
    EXPECT_FALSE(s.has_exchange("x"));
    EXPECT_THAT(s.queue("q").bindings, IsEmpty());
}

TEST(Exchanges, ASystemExchangeCannotBeDeleted) {  // amqp091 6.9
    Scenario s;
    auto& ch = s.open_channel();
    ch.delete_exchange("amq.direct");
    ch.expect_refused(access_refused,
                      "deletion of system exchange 'amq.direct' in vhost '/' not allowed");
}

TEST(Exchanges, AutoDeleteFollowsTheLastBindingAsSource) {  // amqp091 6.10
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("x", "direct", {.auto_delete = true});
    ch.declare_queue("q");
    EXPECT_TRUE(s.has_exchange("x"));  // it has had none yet
    ch.bind("x", "q", "a");
    ch.bind("x", "q", "b");
    ch.unbind("x", "q", "a");
    EXPECT_TRUE(s.has_exchange("x"));
    ch.unbind("x", "q", "b");
    EXPECT_FALSE(s.has_exchange("x"));
}

TEST(Exchanges, AutoDeleteIgnoresBindingsThatEndThere) {  // amqp091 6.10
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("source", "fanout");
    ch.declare_exchange("x", "fanout", {.auto_delete = true});
    ch.bind("source", "x", "", {.to = DestinationKind::exchange});
    ch.unbind("source", "x", "", {.to = DestinationKind::exchange});
    EXPECT_TRUE(s.has_exchange("x"));
}

TEST(Exchanges, AutoDeleteCascades) {  // amqp091 6.10
    Scenario s;
    auto& ch = s.open_channel();
    const ExchangeOptions fleeting{.auto_delete = true};
    for (const char* name : {"a", "b", "c"}) ch.declare_exchange(name, "fanout", fleeting);
    ch.declare_exchange("stays", "fanout");
    ch.declare_queue("q");
    ch.bind("a", "b", "", {.to = DestinationKind::exchange});
    ch.bind("b", "c", "", {.to = DestinationKind::exchange});
    ch.bind("stays", "c", "", {.to = DestinationKind::exchange});
    ch.bind("c", "q");
    ch.delete_queue("q");
    for (const char* name : {"a", "b", "c"}) EXPECT_FALSE(s.has_exchange(name)) << name;
    EXPECT_TRUE(s.has_exchange("stays"));
}

TEST(Exchanges, AutoDeleteWithABindingToItselfEnds) {  // amqp091 6.10, 6.14
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("x", "fanout", {.auto_delete = true});
    ch.declare_exchange("y", "fanout", {.auto_delete = true});
    ch.bind("x", "x", "", {.to = DestinationKind::exchange});
    ch.bind("x", "y", "", {.to = DestinationKind::exchange});
    ch.bind("y", "x", "", {.to = DestinationKind::exchange});
    ch.delete_exchange("x");
    EXPECT_FALSE(s.has_exchange("x"));
    EXPECT_FALSE(s.has_exchange("y"));
}

TEST(Exchanges, AnInternalOneTakesNoPublish) {  // amqp091 6.11
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("x", "fanout", {.internal = true});
    ch.declare_exchange("y", "fanout");
    ch.declare_queue("q");
    ch.bind("x", "q");
    ch.bind("y", "x", "", {.to = DestinationKind::exchange});
    ch.publish("", "a", {.exchange = "x"});
    ch.expect_refused(access_refused, "cannot publish to internal exchange 'x' in vhost '/'");
    ch.publish("", "b", {.exchange = "y"});
    EXPECT_THAT(s.ready("q"), ElementsAre("b"));
}

TEST(Exchanges, TheAlternateMustBeNamedByAString) {  // amqp091 6.12
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("x", "direct", {.arguments = arguments({{"alternate-exchange", 5}})});
    ch.expect_refused(precondition_failed,
                      "invalid type 'signedint' for arg 'alternate-exchange' in exchange 'x' in "
                      "vhost '/'");
}

TEST(Exchanges, APermissionRefusalCountsOnlyForANewOne) {  // amqp091 6.12, 15.3
    Scenario s;
    auto& ch = s.open_channel();
    const Refusal refusal{RefusalKind::not_permitted, "configure access to exchange 'x' refused"};
    ch.declare_exchange("x", "direct");
    ch.declare_exchange("x", "direct", {.refusal_if_new = refusal});
    ch.declare_exchange("y", "direct", {.refusal_if_new = refusal});
    ch.expect_refused(refusal.kind, refusal.text);
    EXPECT_FALSE(s.has_exchange("y"));
}

// ---------------------------------------------------------------------------- bindings

TEST(Bindings, TheSameOneTwiceIsOne) {  // amqp091 7.12
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.bind("amq.direct", "q", "k", {.arguments = arguments({{"a", 1}, {"b", 2}})});
    ch.bind("amq.direct", "q", "k", {.arguments = arguments({{"b", 2}, {"a", 1}})});
    EXPECT_EQ(binding_count(s.queue("q").bindings), 1U);
    ch.bind("amq.direct", "q", "k", {.arguments = arguments({{"a", 1}})});
    ch.bind("amq.direct", "q", "other");
    EXPECT_EQ(binding_count(s.queue("q").bindings), 3U);
    ch.unbind("amq.direct", "q", "k", {.arguments = arguments({{"a", 1}, {"b", 2}})});
    EXPECT_EQ(binding_count(s.queue("q").bindings), 2U);
    ch.unbind("amq.direct", "q", "k", {.arguments = arguments({{"a", 1}})});
    ch.publish("k", "a", {.exchange = "amq.direct"});
    ch.publish("other", "b", {.exchange = "amq.direct"});
    EXPECT_THAT(s.ready("q"), ElementsAre("b"));
}

TEST(Bindings, BothEndsMustExist) {  // amqp091 7.12
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.bind("amq.direct", "nobody", "k");
    ch.expect_refused(not_found, "no queue 'nobody' in vhost '/'");
    ch.bind("nowhere", "q", "k");
    ch.expect_refused(not_found, "no exchange 'nowhere' in vhost '/'");
    ch.bind("amq.direct", "nowhere", "k", {.to = DestinationKind::exchange});
    ch.expect_refused(not_found, "no exchange 'nowhere' in vhost '/'");
}

TEST(Bindings, RemovingWhatIsNotThereSucceeds) {  // amqp091 7.12
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.unbind("amq.direct", "q", "k");
    ch.unbind("nowhere", "q", "k");
    ch.unbind("amq.direct", "nobody", "k");
    ch.unbind("amq.direct", "nowhere", "k", {.to = DestinationKind::exchange});
    EXPECT_TRUE(ch.is_open());
}

TEST(Bindings, VanishWithTheirQueue) {  // amqp091 7.13
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("x", "direct", {.durable = true});
    ch.declare_queue("q");
    ch.bind("x", "q", "k");
    ch.delete_queue("q");
    ch.declare_queue("q");
    ch.publish("k", "a", {.exchange = "x", .mandatory = true});
    EXPECT_THAT(ch.take_returns(), ElementsAre("a"));
}

TEST(Bindings, ATopicRefusalCountsOnlyForATopicExchange) {  // amqp091 15.4
    Scenario s;
    auto& ch = s.open_channel();
    const Refusal refusal{RefusalKind::not_permitted, "read access to topic 'k' refused"};
    ch.declare_queue("q");
    ch.bind("amq.direct", "q", "k", {.refusal_if_topic = refusal});
    ch.bind("amq.topic", "q", "k", {.refusal_if_topic = refusal});
    ch.expect_refused(refusal.kind, refusal.text);
    EXPECT_EQ(binding_count(s.queue("q").bindings), 1U);
    ch.unbind("amq.topic", "q", "k", {.refusal_if_topic = refusal});
    ch.expect_refused(refusal.kind, refusal.text);
}

// ------------------------------------------------------------------------------ queues

TEST(Queues, TheAnswerCountsReadyMessagesAndConsumers) {  // amqp091 8.1
    Scenario s;
    auto& ch = s.open_channel();
    EXPECT_EQ(ch.declare_queue("q").message_count, 0U);
    for (const char* body : {"a", "b", "c"}) ch.publish("q", body);
    ch.get("q");  // unsettled, so no longer ready
    ch.consume("q");
    ch.take_deliveries();
    ch.requeue_up_to(0);
    ch.cancel(1);
    ch.requeue_up_to(0);
    auto& other = s.open_channel();
    other.qos(1);
    other.consume("q");
    const QueueAnswer answer = ch.declare_queue("q", {.passive = true});
    EXPECT_EQ(answer.message_count, 2U);
    EXPECT_EQ(answer.consumer_count, 1U);
}

TEST(Queues, ANewNameMayNotBeginWithTheReservedPrefix) {  // amqp091 8.2, 8.3
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("amq.x");
    ch.expect_refused(access_refused, "queue name 'amq.x' contains reserved prefix 'amq.*'");
    ch.declare_queue("amq.gen-name", {.server_named = true});
    ch.declare_queue("amq.gen-name");  // an existing one may be declared again
    EXPECT_TRUE(ch.is_open());
}

TEST(Queues, AnExclusiveOneIsLockedForOtherConnections) {  // amqp091 8.4
    Scenario s;
    auto& owner = s.open_channel();
    owner.declare_queue("q", {.exclusive = true});
    owner.declare_queue("q", {.exclusive = true});
    auto& other = s.open_channel(s.connect());
    other.declare_queue("q", {.exclusive = true});
    other.expect_refused(resource_locked, locked("q"));
    other.declare_queue("q", {.passive = true});
    other.expect_refused(resource_locked, locked("q"));
    other.consume("q");
    other.expect_refused(resource_locked, locked("q"));
    other.get("q");
    other.expect_refused(resource_locked, locked("q"));
    other.purge("q");
    other.expect_refused(resource_locked, locked("q"));
    other.delete_queue("q");
    other.expect_refused(resource_locked, locked("q"));
    other.bind("amq.direct", "q", "k");
    other.expect_refused(resource_locked, locked("q"));
    other.unbind("amq.direct", "q", "k");
    other.expect_refused(resource_locked, locked("q"));
    other.publish("q", "anybody may send to it");
    EXPECT_EQ(s.ready("q").size(), 1U);
}

TEST(Queues, TheExclusiveFlagMustBeTheSameAgain) {  // amqp091 8.4
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("exclusive", {.exclusive = true});
    ch.declare_queue("exclusive");
    ch.expect_refused(resource_locked, locked("exclusive"));
    ch.declare_queue("shared");
    ch.declare_queue("shared", {.exclusive = true});
    ch.expect_refused(resource_locked, locked("shared"));
}

TEST(Queues, AnExclusiveOneEndsWithItsConnection) {  // amqp091 8.4
    Scenario s;
    const ConnectionId connection = s.connect();
    auto& owner = s.open_channel(connection);
    owner.declare_queue("q", {.exclusive = true});
    owner.declare_queue("gone already", {.exclusive = true});
    owner.delete_queue("gone already");
    owner.publish("q", "a");
    owner.close();
    EXPECT_TRUE(s.has_queue("q"));
    s.close(connection);
    EXPECT_FALSE(s.has_queue("q"));
    EXPECT_EQ(s.ended(Ending::queue_deleted), 1U);
    auto& other = s.open_channel();
    other.declare_queue("q", {.exclusive = true});  // the name is free
}

TEST(Queues, AnExclusiveOneDoesNotSurviveWhateverItIsShownAs) {
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {.durable = true, .exclusive = true});
    EXPECT_TRUE(s.queue("q").declaration.durable);
    EXPECT_FALSE(s.queue("q").survives_restart());
    ch.declare_queue("q", {.durable = true, .exclusive = true});
    EXPECT_TRUE(ch.is_open());
}

TEST(Queues, AutoDeleteFollowsTheLastConsumer) {  // amqp091 8.6
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {.auto_delete = true});
    ch.publish("q", "a");
    ch.ack(ch.get("q")->tag);
    EXPECT_TRUE(s.has_queue("q"));  // it has had no consumer
    const auto first = ch.consume("q");
    const auto second = ch.consume("q");
    ch.cancel(first);
    EXPECT_TRUE(s.has_queue("q"));
    ch.cancel(second);
    EXPECT_FALSE(s.has_queue("q"));
}

TEST(Queues, AutoDeleteFollowsTheChannelOfTheLastConsumer) {  // amqp091 8.6
    Scenario s;
    auto& declarer = s.open_channel();
    auto& ch = s.open_channel();
    declarer.declare_queue("q", {.auto_delete = true});
    declarer.publish("q", "a");
    declarer.publish("q", "b");
    ch.qos(1);
    ch.consume("q");
    ch.consume("q");
    ch.close();
    EXPECT_FALSE(s.has_queue("q"));
    EXPECT_EQ(s.ended(Ending::queue_deleted), 2U);
}

TEST(Queues, DeclaredAgainInAnotherWayIsRefused) {  // amqp091 8.8
    Scenario s;
    auto& ch = s.open_channel();
    const std::string of = " for queue 'q' in vhost '/': ";
    ch.declare_queue("q", {.durable = true, .arguments = arguments({{"x-message-ttl", 1000}})});
    ch.declare_queue("q", {.durable = false, .arguments = arguments({{"x-message-ttl", 1000}})});
    ch.expect_refused(precondition_failed,
                      "inequivalent arg 'durable'" + of + "received 'false' but current is 'true'");
    ch.declare_queue(
        "q",
        {.durable = true, .auto_delete = true, .arguments = arguments({{"x-message-ttl", 1000}})});
    ch.expect_refused(precondition_failed, "inequivalent arg 'auto_delete'" + of +
                                               "received 'true' but current is 'false'");
    ch.declare_queue("q", {.durable = true});
    ch.expect_refused(precondition_failed,
                      "inequivalent arg 'x-message-ttl'" + of +
                          "received none but current is the value '1000' of type 'signedint'");
    ch.declare_queue("q", {.durable = true, .arguments = arguments({{"x-message-ttl", 2000}})});
    ch.expect_refused(precondition_failed, "inequivalent arg 'x-message-ttl'" + of +
                                               "received '2000' but current is '1000'");
    ch.declare_queue("q", {.durable = true,
                           .arguments = arguments({{"x-message-ttl", 1000}, {"x-max-length", 5}})});
    ch.expect_refused(precondition_failed,
                      "inequivalent arg 'x-max-length'" + of +
                          "received the value '5' of type 'signedint' but current is none");
}

TEST(Queues, TheWidthOfAnIntegerDoesNotMatter) {  // amqp091 1.11, 8.8; DL-44
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-message-ttl", 1000}});
    ch.declare_queue("q", {{"x-message-ttl", 1000L}});
    ch.declare_queue("q", {{"x-message-ttl", Value{ValueType::uint16, std::int64_t{1000}}}});
    EXPECT_TRUE(ch.is_open());
}

TEST(Queues, UnknownArgumentsAreStoredAndNeverCompared) {  // amqp091 8.8
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-mine", "a"}});
    EXPECT_EQ(s.queue("q").declaration.arguments, arguments({{"x-mine", "a"}}));
    ch.declare_queue("q", {{"x-mine", "b"}});
    ch.declare_queue("q");
    EXPECT_TRUE(ch.is_open());
}

TEST(Queues, NoTypeAndClassicAreTheSame) {  // amqp091 8.9
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("without");
    ch.declare_queue("without", {{"x-queue-type", "classic"}});
    ch.declare_queue("with", {{"x-queue-type", "classic"}});
    ch.declare_queue("with");
    EXPECT_TRUE(ch.is_open());
}

TEST(Queues, ATypeThatDiffersIsToldAsItWasGiven) {
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-queue-type", "quorum"}});
    ch.declare_queue("q", {{"x-queue-type", "classic"}});
    ch.expect_refused(precondition_failed,
                      "inequivalent arg 'x-queue-type' for queue 'q' in vhost '/': received "
                      "'classic' but current is 'quorum'");
    ch.declare_queue("q");
    ch.expect_refused(precondition_failed,
                      "inequivalent arg 'x-queue-type' for queue 'q' in vhost '/': received none "
                      "but current is the value 'quorum' of type 'longstr'");
}

TEST(Queues, APassiveDeclareAsksForExistenceOnly) {  // amqp091 8.10
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {.durable = true});
    ch.declare_queue("q", {.passive = true,
                           .exclusive = true,
                           .auto_delete = true,
                           .arguments = arguments({{"x-max-length", "nonsense"}})});
    ch.declare_queue("missing", {.passive = true});
    ch.expect_refused(not_found, "no queue 'missing' in vhost '/'");
}

TEST(Queues, APurgeTakesWhatIsReadyAndLeavesWhatIsUnsettled) {  // amqp091 8.11
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    for (const char* body : {"a", "b", "c"}) ch.publish("q", body);
    const auto first = ch.get("q");
    EXPECT_EQ(ch.purge("q"), 2U);
    EXPECT_EQ(s.ended(Ending::purged), 2U);
    ch.requeue(first->tag);
    EXPECT_THAT(s.ready("q"), ElementsAre("a"));
    EXPECT_EQ(ch.purge("q"), 1U);
    EXPECT_EQ(ch.purge("q"), 0U);
    ch.purge("missing");
    ch.expect_refused(not_found, "no queue 'missing' in vhost '/'");
}

TEST(Queues, ADeletionTellsHowManyWereReady) {  // amqp091 8.12
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    for (const char* body : {"a", "b", "c"}) ch.publish("q", body);
    ch.get("q");
    EXPECT_EQ(ch.delete_queue("q"), 2U);
    EXPECT_EQ(ch.delete_queue("q"), 0U);  // gone already: success
    EXPECT_EQ(s.ended(Ending::queue_deleted), 3U);
    EXPECT_FALSE(s.has_queue("q"));
}

TEST(Queues, DeletedOnlyIfUnusedOrEmptyWhenAskedSo) {  // amqp091 8.12
    Scenario s;
    auto& ch = s.open_channel();
    auto& consumer = s.open_channel();
    ch.declare_queue("used");
    consumer.consume("used");
    ch.delete_queue("used", /*if_unused=*/true);
    ch.expect_refused(precondition_failed, "queue 'used' in vhost '/' in use");
    ch.declare_queue("full");
    ch.publish("full", "a");
    ch.delete_queue("full", false, /*if_empty=*/true);
    ch.expect_refused(precondition_failed, "queue 'full' in vhost '/' not empty");
    ch.declare_queue("neither");
    ch.delete_queue("neither", true, true);
    EXPECT_FALSE(s.has_queue("neither"));
}

TEST(Queues, ADeletionTellsTheConsumers) {  // amqp091 8.12, 11.15
    Scenario s;
    auto& ch = s.open_channel();
    auto& other = s.open_channel(s.connect());
    ch.declare_queue("q");
    const auto first = other.consume("q");
    const auto second = other.consume("q");
    other.take_transcript();
    ch.delete_queue("q");
    EXPECT_THAT(other.take_cancelled(), ElementsAre(first, second));
    other.cancel(first);  // crossed on the wire: success
    EXPECT_TRUE(other.is_open());
}

TEST(Queues, APermissionRefusalCountsOnlyForANewOne) {  // amqp091 8.21; DL-33, DL-37
    Scenario s;
    auto& ch = s.open_channel();
    const Refusal refusal{RefusalKind::not_permitted, "write access to exchange 'dlx' refused"};
    ch.declare_queue("q");
    ch.declare_queue("q", {.refusal_if_new = refusal});
    ch.declare_queue("new", {.refusal_if_new = refusal});
    ch.expect_refused(refusal.kind, refusal.text);
    EXPECT_FALSE(s.has_queue("new"));
}

TEST(Queues, AVhostMayLimitTheirNumber) {  // amqp091 8.19
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("a", {.queues_max = 1});
    ch.declare_queue("a", {.queues_max = 1});  // not a new one
    ch.declare_queue("b", {.queues_max = 1});
    ch.expect_refused(RefusalKind::limit_reached,
                      "cannot declare queue 'b': queue limit in vhost '/' (1) is reached");
    ch.declare_queue("b", {.queues_max = -1});
    EXPECT_TRUE(s.has_queue("b"));
}

struct Others final : OtherVhosts {
    ObjectCounts object_counts() const override { return now; }
    ObjectCounts now;
};

TEST(Queues, AllVhostsTogetherMayHaveALimit) {  // management 7.2: cluster_queue_limit
    Others others;
    others.now = {.queues = 2, .exchanges = 0};
    Scenario s({.node_limits = {.queues_max = 3}, .other_vhosts = &others});
    auto& ch = s.open_channel();
    ch.declare_queue("a");
    ch.declare_queue("a");  // not a new one
    ch.declare_queue("b");
    ch.expect_refused(RefusalKind::limit_reached,
                      "cannot declare queue 'b': queue limit in cluster (3) is reached");
    others.now.queues = 1;
    ch.declare_queue("b");
    EXPECT_TRUE(s.has_queue("b"));
}

TEST(Queues, ThoseThatAreNeitherDurableNorExclusiveMayBeDenied) {  // amqp091 8.7
    Scenario s({.permits_transient_queues = false});
    auto& ch = s.open_channel();
    ch.declare_queue("durable");
    ch.declare_queue("exclusive", {.durable = false, .exclusive = true});
    ch.declare_queue("neither", {.durable = false});
    ch.expect_refused(RefusalKind::feature_denied,
                      "Feature `transient_nonexcl_queues` is deprecated.\nIts use is not permitted "
                      "per the configuration (overriding the default, which is permitted):\n"
                      "    \"deprecated_features.permit.transient_nonexcl_queues = false\"");
    EXPECT_FALSE(s.has_queue("neither"));
}

TEST(Exchanges, AllVhostsTogetherMayHaveALimit) {  // amqp091 6.13
    Others others;
    others.now = {.queues = 0, .exchanges = 7};
    Scenario probe;
    const std::uint64_t own = probe.engine().state().exchange_count();
    Scenario s({.node_limits = {.exchanges_max = own + 8}, .other_vhosts = &others});
    auto& ch = s.open_channel();
    ch.declare_exchange("x", "direct");
    ch.declare_exchange("x", "direct");
    ch.declare_exchange("amq.direct", "direct", {.passive = true});
    ch.declare_exchange("y", "direct");
    ch.expect_refused(RefusalKind::limit_reached,
                      "cannot declare exchange 'y' in vhost '/': exchange limit of " +
                          std::to_string(own + 8) + " is reached");
}

TEST(Queues, TheTypeOfTheDeadLetterExchangeComesBeforeItsPermission) {  // DL-39
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {.arguments = arguments({{"x-dead-letter-exchange", 1}}),
                           .refusal_if_new = Refusal{RefusalKind::not_permitted, "no"}});
    ch.expect_refused(precondition_failed,
                      "invalid type 'signedint' for arg 'x-dead-letter-exchange' in queue 'q' in "
                      "vhost '/'");
}

TEST(Queues, TheDeadLetterExchangeNeedNotExist) {  // DL-36
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-dead-letter-exchange", "nowhere"}});
    EXPECT_TRUE(s.has_queue("q"));
}

}  // namespace
}  // namespace revenant::engine
