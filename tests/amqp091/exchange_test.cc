// Exchanges (amqp091, section 6).
#include "tests/support/peer.h"

namespace revenant::amqp091 {
namespace {

using namespace std::string_literals;

class ProtocolExchanges : public WireTest {
  protected:
    engine::Exchange* find(std::string_view name) {
        world().carry();
        return world().engine().state().find_exchange(name);
    }
};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolExchanges, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp091 6.1
TEST_P(ProtocolExchanges, AVhostBeginsWithSevenExchanges) {
    const std::vector<std::pair<std::string, std::string>> names_and_types = {
        {"amq.direct", "direct"},   {"amq.fanout", "fanout"}, {"amq.topic", "topic"},
        {"amq.headers", "headers"}, {"amq.match", "headers"}, {"amq.rabbitmq.trace", "topic"}};
    for (const auto& [name, type] : names_and_types) {
        const bool internal = name == "amq.rabbitmq.trace";
        channel().send(
            ExchangeDeclare{.exchange = name, .type = type, .durable = true, .internal = internal});
        channel().expect<ExchangeDeclareOk>();
    }
    channel().declare("q");
    channel().publish("", "q", "by the default one");
    EXPECT_EQ(channel().drain("q").size(), 1U);
    EXPECT_EQ(world().engine().state().exchange_count(), 7U);
}

// amqp091 6.2
TEST_P(ProtocolExchanges, NoWaitIsNotAnswered) {
    channel().send(ExchangeDeclare{
        .exchange = "e", .type = "direct", .durable = true, .auto_delete = true, .no_wait = true});
    channel().expect_nothing();
    const auto& declared = find("e")->declaration;
    EXPECT_TRUE(declared.durable && declared.auto_delete && !declared.internal);
    channel().send(ExchangeDelete{.exchange = "e", .no_wait = true});
    channel().expect_nothing();
    EXPECT_EQ(find("e"), nullptr);
}

// amqp091 6.2, 4.1: errors are reported despite no-wait.
TEST_P(ProtocolExchanges, NoWaitIsToldItsErrors) {
    channel().send(ExchangeDeclare{.exchange = "e", .type = "odd", .no_wait = true});
    channel().expect_close<ExchangeDeclare>(406,
                                            "PRECONDITION_FAILED - unknown exchange type 'odd'");
}

// amqp091 6.3
TEST_P(ProtocolExchanges, TheDefaultExchangeIsNotToBeTouched) {
    const std::string text = "ACCESS_REFUSED - operation not permitted on the default exchange";
    channel().declare_exchange("e", "direct");
    channel().declare("q");
    channel().send(ExchangeDeclare{.exchange = "", .type = "direct", .durable = true});
    channel().expect_close<ExchangeDeclare>(403, text);
    channel().reopen();
    channel().send(ExchangeDeclare{.exchange = "", .type = "direct", .passive = true});
    channel().expect_close<ExchangeDeclare>(403, text);
    channel().reopen();
    channel().send(ExchangeDelete{.exchange = ""});
    channel().expect_close<ExchangeDelete>(403, text);
    channel().reopen();
    channel().send(QueueBind{.queue = "q", .exchange = "", .routing_key = "k"});
    channel().expect_close<QueueBind>(403, text);
    channel().reopen();
    channel().send(QueueUnbind{.queue = "q", .exchange = "", .routing_key = "q"});
    channel().expect_close<QueueUnbind>(403, text);
    channel().reopen();
    channel().send(ExchangeBind{.destination = "", .source = "e"});
    channel().expect_close<ExchangeBind>(403, text);
    channel().reopen();
    channel().send(ExchangeBind{.destination = "e", .source = ""});
    channel().expect_close<ExchangeBind>(403, text);
    channel().reopen();
    channel().send(ExchangeUnbind{.destination = "", .source = "e"});
    channel().expect_close<ExchangeUnbind>(403, text);
}

// amqp091 6.4
TEST_P(ProtocolExchanges, AReservedNameIsNotForNewExchanges) {
    channel().send(ExchangeDeclare{.exchange = "amq.direct", .type = "direct", .durable = true});
    channel().expect<ExchangeDeclareOk>();
    channel().send(ExchangeDeclare{.exchange = "amq.foo", .type = "direct"});
    channel().expect_close<ExchangeDeclare>(
        403, "ACCESS_REFUSED - exchange name 'amq.foo' contains reserved prefix 'amq.*'");
    channel().reopen();
    channel().declare_exchange("amqp", "direct");
}

// amqp091 6.5
TEST_P(ProtocolExchanges, AnUnknownTypeIsRefused) {
    channel().send(ExchangeDeclare{.exchange = "e", .type = "foo"});
    channel().expect_close<ExchangeDeclare>(406,
                                            "PRECONDITION_FAILED - unknown exchange type 'foo'");
    channel().reopen();
    channel().send(ExchangeDeclare{.exchange = "e", .type = ""});
    channel().expect_close<ExchangeDeclare>(406, "PRECONDITION_FAILED - unknown exchange type ''");
}

// amqp091 6.6
TEST_P(ProtocolExchanges, LineBreaksInNamesAreRemoved) {
    channel().declare_exchange("e\r\nx", "fanout");
    EXPECT_NE(find("ex"), nullptr);
    channel().declare("q");
    channel().bind("q\n", "e\nx");
    channel().publish("ex", "", "body");
    EXPECT_EQ(channel().drain("\rq"), std::vector<std::string>{"body"});
    channel().send(ExchangeDelete{.exchange = "\ne\rx"});
    channel().expect<ExchangeDeleteOk>();
    EXPECT_EQ(find("ex"), nullptr);
}

// amqp091 6.6
TEST_P(ProtocolExchanges, ANameMayFillAShortString) {
    const std::string name(255, 'n');
    channel().declare_exchange(name, "fanout");
    channel().declare(name);
    channel().bind(name, name, name);
    channel().publish(name, name, "body");
    const auto got = channel().get(name);
    EXPECT_EQ(got.exchange, name);
    EXPECT_EQ(got.routing_key, name);
}

struct Inequivalent {
    ExchangeDeclare declared;
    std::string arguments;
    std::string text;
};

// amqp091 6.7
TEST_P(ProtocolExchanges, ADifferenceIsToldExactly) {
    const std::string none;
    const std::string with_ae = table({{"alternate-exchange", "ae1"}});
    const std::string with_other_ae = table({{"alternate-exchange", "ae2"}});
    const std::string with_integer_ae = table({{"alternate-exchange", 1}});
    channel().send(
        ExchangeDeclare{.exchange = "e", .type = "direct", .durable = true, .arguments = with_ae});
    channel().expect<ExchangeDeclareOk>();
    const std::vector<Inequivalent> cases = {
        {{.type = "fanout", .durable = true},
         with_ae,
         "inequivalent arg 'type' for exchange 'e' in vhost '/': received 'fanout' but current is "
         "'direct'"},
        {{.type = "direct"},
         with_ae,
         "inequivalent arg 'durable' for exchange 'e' in vhost '/': received 'false' but current "
         "is 'true'"},
        {{.type = "direct", .durable = true, .auto_delete = true},
         with_ae,
         "inequivalent arg 'auto_delete' for exchange 'e' in vhost '/': received 'true' but "
         "current is 'false'"},
        {{.type = "direct", .durable = true, .internal = true},
         with_ae,
         "inequivalent arg 'internal' for exchange 'e' in vhost '/': received 'true' but current "
         "is 'false'"},
        {{.type = "direct", .durable = true},
         none,
         "inequivalent arg 'alternate-exchange' for exchange 'e' in vhost '/': received none but "
         "current is the value 'ae1' of type 'longstr'"},
        {{.type = "direct", .durable = true},
         with_other_ae,
         "inequivalent arg 'alternate-exchange' for exchange 'e' in vhost '/': received 'ae2' but "
         "current is 'ae1'"},
    };
    for (const auto& [declared, arguments, text] : cases) {
        ExchangeDeclare again = declared;
        again.exchange = "e";
        again.arguments = arguments;
        channel().send(again);
        channel().expect_close<ExchangeDeclare>(406, "PRECONDITION_FAILED - " + text);
        channel().reopen();
    }
    channel().send(
        ExchangeDeclare{.exchange = "e", .type = "direct", .durable = true, .arguments = with_ae});
    channel().expect<ExchangeDeclareOk>();
}

// amqp091 6.7: other arguments are not compared.
TEST_P(ProtocolExchanges, UnknownArgumentsMayDiffer) {
    channel().declare_exchange("e", "direct", {{"x-colour", "red"}});
    channel().declare_exchange("e", "direct", {{"x-colour", "blue"}});
    channel().declare_exchange("e", "direct");
}

// amqp091 6.7
TEST_P(ProtocolExchanges, AMissingArgumentIsToldEitherWay) {
    channel().declare_exchange("e", "direct");
    const std::string arguments = table({{"alternate-exchange", "ae1"}});
    channel().send(ExchangeDeclare{.exchange = "e", .type = "direct", .arguments = arguments});
    channel().expect_close<ExchangeDeclare>(
        406,
        "PRECONDITION_FAILED - inequivalent arg 'alternate-exchange' for exchange 'e' in vhost "
        "'/': received the value 'ae1' of type 'longstr' but current is none");
}

// amqp091 6.8
TEST_P(ProtocolExchanges, PassiveOnlyAsksForExistence) {
    channel().declare_exchange("e", "direct");
    channel().send(ExchangeDeclare{
        .exchange = "e", .type = "nonsense", .passive = true, .durable = true, .internal = true});
    channel().expect<ExchangeDeclareOk>();
    channel().send(ExchangeDeclare{.exchange = "missing", .type = "direct", .passive = true});
    channel().expect_close<ExchangeDeclare>(404, "NOT_FOUND - no exchange 'missing' in vhost '/'");
}

// amqp091 6.9
TEST_P(ProtocolExchanges, DeletingWhatIsNotThereSucceeds) {
    channel().send(ExchangeDelete{.exchange = "missing"});
    channel().expect<ExchangeDeleteOk>();
    channel().send(ExchangeDelete{.exchange = "missing", .if_unused = true});
    channel().expect<ExchangeDeleteOk>();
}

// amqp091 6.9
TEST_P(ProtocolExchanges, IfUnusedMeansNoBindingAsSource) {
    channel().declare_exchange("source", "fanout");
    channel().declare_exchange("destination", "fanout");
    channel().send(ExchangeBind{.destination = "destination", .source = "source"});
    channel().expect<ExchangeBindOk>();
    channel().send(ExchangeDelete{.exchange = "source", .if_unused = true});
    channel().expect_close<ExchangeDelete>(
        406, "PRECONDITION_FAILED - exchange 'source' in vhost '/' in use");
    channel().reopen();
    channel().send(ExchangeDelete{.exchange = "destination", .if_unused = true});
    channel().expect<ExchangeDeleteOk>();
    channel().send(ExchangeDelete{.exchange = "source", .if_unused = true});
    channel().expect<ExchangeDeleteOk>();
}

// amqp091 6.9
TEST_P(ProtocolExchanges, SystemExchangesCannotBeDeleted) {
    channel().send(ExchangeDelete{.exchange = "amq.topic"});
    channel().expect_close<ExchangeDelete>(
        403, "ACCESS_REFUSED - deletion of system exchange 'amq.topic' in vhost '/' not allowed");
}

// amqp091 6.10
TEST_P(ProtocolExchanges, AutoDeleteGoesWithTheLastBindingAsSource) {
    channel().send(ExchangeDeclare{.exchange = "e", .type = "direct", .auto_delete = true});
    channel().expect<ExchangeDeclareOk>();
    channel().declare("q");
    EXPECT_NE(find("e"), nullptr) << "the exchange never had a binding";
    channel().bind("q", "e", "a");
    channel().bind("q", "e", "b");
    channel().send(QueueUnbind{.queue = "q", .exchange = "e", .routing_key = "a"});
    channel().expect<QueueUnbindOk>();
    EXPECT_NE(find("e"), nullptr);
    channel().send(QueueUnbind{.queue = "q", .exchange = "e", .routing_key = "b"});
    channel().expect<QueueUnbindOk>();
    channel().send(ExchangeDeclare{.exchange = "e", .type = "direct", .passive = true});
    channel().expect_close<ExchangeDeclare>(404, "NOT_FOUND - no exchange 'e' in vhost '/'");
}

// amqp091 6.10: a binding of which the exchange is the destination does not count.
TEST_P(ProtocolExchanges, AutoDeleteCascades) {
    for (const char* name : {"first", "second"}) {
        channel().send(ExchangeDeclare{.exchange = name, .type = "fanout", .auto_delete = true});
        channel().expect<ExchangeDeclareOk>();
    }
    channel().declare("q");
    channel().send(ExchangeBind{.destination = "second", .source = "first"});
    channel().expect<ExchangeBindOk>();
    channel().bind("q", "second");
    channel().send(QueueDelete{.queue = "q"});
    channel().expect<QueueDeleteOk>();
    EXPECT_EQ(find("second"), nullptr);
    EXPECT_EQ(find("first"), nullptr);
}

// amqp091 6.11
TEST_P(ProtocolExchanges, AnInternalExchangeTakesNoPublish) {
    channel().send(ExchangeDeclare{.exchange = "inner", .type = "fanout", .internal = true});
    channel().expect<ExchangeDeclareOk>();
    channel().declare_exchange("outer", "fanout");
    channel().declare("q");
    channel().send(ExchangeBind{.destination = "inner", .source = "outer"});
    channel().expect<ExchangeBindOk>();
    channel().bind("q", "inner");
    channel().publish("outer", "", "body");
    EXPECT_EQ(channel().drain("q"), std::vector<std::string>{"body"});
    channel().publish("inner", "", "body");
    channel().expect_close<BasicPublish>(
        403, "ACCESS_REFUSED - cannot publish to internal exchange 'inner' in vhost '/'");
}

// amqp091 6.12
TEST_P(ProtocolExchanges, AnAlternateMustBeAName) {
    const std::string arguments = table({{"alternate-exchange", 5}});
    channel().send(ExchangeDeclare{.exchange = "e", .type = "direct", .arguments = arguments});
    channel().expect_close<ExchangeDeclare>(
        406,
        "PRECONDITION_FAILED - invalid type 'signedint' for arg 'alternate-exchange' in exchange "
        "'e' in vhost '/'");
}

// amqp091 6.12, 7.8
TEST_P(ProtocolExchanges, TheAlternateTakesWhatFoundNoQueue) {
    channel().declare_exchange("spare", "fanout");
    channel().declare_exchange("e", "direct", {{"alternate-exchange", "spare"}});
    channel().declare("bound");
    channel().declare("rest");
    channel().bind("bound", "e", "k");
    channel().bind("rest", "spare");
    channel().publish({.exchange = "e", .routing_key = "k", .mandatory = true}, "one");
    channel().publish({.exchange = "e", .routing_key = "other", .mandatory = true}, "two");
    channel().expect_nothing();
    EXPECT_EQ(channel().drain("bound"), std::vector<std::string>{"one"});
    EXPECT_EQ(channel().drain("rest"), std::vector<std::string>{"two"});
}

// amqp091 6.12
TEST_P(ProtocolExchanges, AMissingAlternateIsIgnored) {
    channel().declare_exchange("e", "direct", {{"alternate-exchange", "missing"}});
    channel().publish("e", "k", "dropped");
    channel().publish({.exchange = "e", .routing_key = "k", .mandatory = true}, "returned");
    EXPECT_EQ(channel().expect_return().body, "returned");
}

// amqp091 6.12: a new exchange needs permissions on both exchanges.
TEST_P(ProtocolExchanges, AnAlternateNeedsPermissions) {
    add_user("bob", {"^e", "^e|^good$", "^e$|^e3$"});
    auto bob = open_channel({.user = "bob", .password = "secret"});
    const std::string good = table({{"alternate-exchange", "good"}});
    const std::string bad = table({{"alternate-exchange", "bad"}});
    bob.send(ExchangeDeclare{.exchange = "e2", .type = "direct", .arguments = good});
    bob.expect_close<ExchangeDeclare>(
        403, "ACCESS_REFUSED - read access to exchange 'e2' in vhost '/' refused for user 'bob'");
    bob.reopen();
    bob.send(ExchangeDeclare{.exchange = "e3", .type = "direct", .arguments = bad});
    bob.expect_close<ExchangeDeclare>(
        403, "ACCESS_REFUSED - write access to exchange 'bad' in vhost '/' refused for user 'bob'");
    bob.reopen();
    bob.send(ExchangeDeclare{.exchange = "e", .type = "direct", .arguments = good});
    bob.expect<ExchangeDeclareOk>();
}

// amqp091 6.14: unbind-ok has the method id 51.
TEST_P(ProtocolExchanges, ExchangesAreBoundToExchanges) {
    channel().declare_exchange("source", "topic");
    channel().declare_exchange("destination", "direct");
    channel().declare("q");
    channel().bind("q", "destination", "a.b");
    channel().send(
        ExchangeBind{.destination = "destination", .source = "source", .routing_key = "a.#"});
    channel().expect<ExchangeBindOk>();
    channel().publish("source", "a.b", "through");
    channel().publish("source", "a.c", "to nobody");
    channel().publish("source", "b.b", "not bound");
    EXPECT_EQ(channel().drain("q"), std::vector<std::string>{"through"});
    channel().send(
        ExchangeUnbind{.destination = "destination", .source = "source", .routing_key = "a.#"});
    channel().expect<ExchangeUnbindOk>();
    EXPECT_EQ(ExchangeUnbindOk::method_id, 51);
    channel().publish("source", "a.b", "unbound");
    EXPECT_EQ(channel().count("q"), 0U);
}

// amqp091 6.14
TEST_P(ProtocolExchanges, NoWaitBindsAreNotAnswered) {
    channel().declare_exchange("source", "fanout");
    channel().declare_exchange("destination", "fanout");
    channel().declare("q");
    channel().send(QueueBind{.queue = "q", .exchange = "destination", .no_wait = true});
    channel().send(ExchangeBind{.destination = "destination", .source = "source", .no_wait = true});
    channel().publish("source", "", "one");
    EXPECT_EQ(channel().drain("q").size(), 1U);
    channel().send(
        ExchangeUnbind{.destination = "destination", .source = "source", .no_wait = true});
    channel().publish("source", "", "two");
    EXPECT_EQ(channel().drain("q").size(), 0U);
}

// amqp091 6.14, 7.2
TEST_P(ProtocolExchanges, ACircleOfExchangesIsWalkedOnce) {
    for (const char* name : {"a", "b", "c"}) channel().declare_exchange(name, "fanout");
    for (const auto& [from, to] : std::vector<std::pair<const char*, const char*>>{
             {"a", "b"}, {"b", "c"}, {"c", "a"}, {"a", "a"}}) {
        channel().send(ExchangeBind{.destination = to, .source = from});
        channel().expect<ExchangeBindOk>();
    }
    channel().declare("q");
    for (const char* name : {"a", "b", "c"}) channel().bind("q", name);
    channel().publish("b", "", "once");
    EXPECT_EQ(channel().drain("q"), std::vector<std::string>{"once"});
}

// amqp091 6.14, 7.12
TEST_P(ProtocolExchanges, BindingAMissingExchangeFails) {
    channel().declare_exchange("e", "fanout");
    channel().send(ExchangeBind{.destination = "e", .source = "missing"});
    channel().expect_close<ExchangeBind>(404, "NOT_FOUND - no exchange 'missing' in vhost '/'");
    channel().reopen();
    channel().send(ExchangeBind{.destination = "missing", .source = "e"});
    channel().expect_close<ExchangeBind>(404, "NOT_FOUND - no exchange 'missing' in vhost '/'");
}

}  // namespace
}  // namespace revenant::amqp091
