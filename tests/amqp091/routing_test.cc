// Routing (amqp091, section 7) from a client's view. The engine's own tests are more detailed.
#include "tests/support/hex.h"
#include "tests/support/peer.h"

#include <set>

namespace revenant::amqp091 {
namespace {

class ProtocolRouting : public WireTest {
  protected:
    // The bodies that reached the queue.
    std::vector<std::string> reached(std::string_view queue) { return channel().drain(queue); }
};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolRouting, testing::Values(Distance::near, Distance::far),
                         distance_name);

using Bodies = std::vector<std::string>;

// amqp091 7.1
TEST_P(ProtocolRouting, TheDefaultExchangeReachesEveryQueueByName) {
    channel().declare("one");
    channel().declare("two");
    channel().publish("", "two", "body");
    EXPECT_EQ(reached("one"), Bodies{});
    EXPECT_EQ(reached("two"), Bodies{"body"});
}

// amqp091 7.2
TEST_P(ProtocolRouting, AQueueGetsAMessageOnce) {
    channel().declare_exchange("e", "topic");
    channel().declare("q");
    channel().bind("q", "e", "a.*");
    channel().bind("q", "e", "#");
    channel().bind("q", "e", "a.b");
    channel().publish("e", "a.b", "once");
    EXPECT_EQ(reached("q"), Bodies{"once"});
}

// amqp091 7.3
TEST_P(ProtocolRouting, DirectComparesKeysAndFanoutIgnoresThem) {
    channel().declare("q");
    channel().bind("q", "amq.direct", "k");
    channel().declare("all");
    channel().bind("all", "amq.fanout", "ignored");
    channel().publish("amq.direct", "k", "direct");
    channel().publish("amq.direct", "K", "another key");
    channel().publish("amq.fanout", "anything", "fanout");
    EXPECT_EQ(reached("q"), Bodies{"direct"});
    EXPECT_EQ(reached("all"), Bodies{"fanout"});
}

// amqp091 7.4
TEST_P(ProtocolRouting, TopicsMatchWordByWord) {
    struct Case {
        std::string pattern;
        std::string key;
        bool matches;
    };
    const std::vector<Case> cases = {
        {"a.*", "a.b", true},   {"a.*", "a", false},      {"a.*", "a.b.c", false},
        {"a.#", "a", true},     {"a.#", "a.b.c", true},   {"#", "", true},
        {"*", "", false},       {"*", "a", true},         {"a.*.b", "a..b", true},
        {"#.b", "b", true},     {"#.a.#", "x.a.y", true}, {"#.#", "a", true},
        {"a.#.b", "a.b", true}, {"a.b", "a.b.", false},   {"", "", true},
    };
    for (const Case& one : cases) {
        channel().send(QueueDeclare{.queue = "q"});
        channel().expect<QueueDeclareOk>();
        channel().bind("q", "amq.topic", one.pattern);
        channel().publish("amq.topic", one.key, "body");
        EXPECT_EQ(reached("q").size(), one.matches ? 1U : 0U) << one.pattern << " and " << one.key;
        channel().send(QueueDelete{.queue = "q"});
        channel().expect<QueueDeleteOk>();
    }
}

// amqp091 7.4
TEST_P(ProtocolRouting, ATopicBindingHasTwoHashesAtMost) {
    channel().declare("q");
    channel().bind("q", "amq.topic", "#.a.#");
    channel().bind("q", "amq.topic", "#.a#.#b.##.#");  // the other words are literal
    const std::string text =
        "PRECONDITION_FAILED - Topic binding key '#.a.#.#' uses 3 '#' wildcards, at most 2 are "
        "allowed";
    channel().send(QueueBind{.queue = "q", .exchange = "amq.topic", .routing_key = "#.a.#.#"});
    channel().expect_close<QueueBind>(406, text);
    channel().reopen();
    channel().send(
        ExchangeBind{.destination = "amq.fanout", .source = "amq.topic", .routing_key = "#.a.#.#"});
    channel().expect_close<ExchangeBind>(406, text);
    channel().reopen();
    channel().bind("q", "amq.direct", "#.#.#");  // no wildcards in a direct exchange
    channel().send(QueueUnbind{.queue = "q", .exchange = "amq.topic", .routing_key = "#.a.#.#"});
    channel().expect<QueueUnbindOk>();  // succeeds whether or not the binding exists
}

// amqp091 7.5
TEST_P(ProtocolRouting, HeadersMatchInFourForms) {
    struct Case {
        std::string form;  // empty: not given
        Table wanted;
        Table sent;
        bool matches;
    };
    const auto of = [](std::initializer_list<Argument> fields) {
        return engine::arguments(fields);
    };
    const std::vector<Case> cases = {
        {"", of({{"a", 1}, {"b", 2}}), of({{"a", 1}, {"b", 2}, {"c", 3}}), true},
        {"", of({{"a", 1}, {"b", 2}}), of({{"a", 1}}), false},
        {"all", of({{"a", 1}, {"b", 2}}), of({{"a", 1}, {"b", 3}}), false},
        {"any", of({{"a", 1}, {"b", 2}}), of({{"a", 9}, {"b", 2}}), true},
        {"any", of({{"a", 1}, {"b", 2}}), of({{"c", 2}}), false},
        {"all", of({{"x-a", 1}, {"b", 2}}), of({{"b", 2}}), true},
        {"all-with-x", of({{"x-a", 1}, {"b", 2}}), of({{"b", 2}}), false},
        {"all-with-x", of({{"x-a", 1}, {"b", 2}}), of({{"x-a", 1}, {"b", 2}}), true},
        {"any", of({{"x-a", 1}}), of({{"x-a", 1}}), false},
        {"any-with-x", of({{"x-a", 1}}), of({{"x-a", 1}}), true},
        {"all", of({{"a", Value::nothing()}}), of({{"a", "anything"}}), true},
        {"all", of({{"a", Value::nothing()}}), of({{"b", 1}}), false},
        {"all", of({{"a", 1}}), of({{"a", 1L}}), true},  // different width
        {"all", of({{"a", 1}}), of({{"a", engine::real(1.0)}}), false},
        {"all", of({{"a", "x"}}), of({{"a", "X"}}), false},
        {"all", {}, {}, true},
        {"any", {}, of({{"a", 1}}), false},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case& one = cases[i];
        channel().declare("q");
        Table arguments = one.wanted;
        if (!one.form.empty()) arguments.push_back({"x-match", Value::string(one.form)});
        const std::string encoded = table(arguments);
        channel().send(QueueBind{.queue = "q", .exchange = "amq.headers", .arguments = encoded});
        channel().expect<QueueBindOk>();
        channel().publish("amq.headers", "ignored", "body", Properties().headers(one.sent));
        EXPECT_EQ(reached("q").size(), one.matches ? 1U : 0U) << "case " << i;
        channel().send(QueueDelete{.queue = "q"});
        channel().expect<QueueDeleteOk>();
    }
}

// amqp091 7.6
TEST_P(ProtocolRouting, ABadMatchIsRefused) {
    channel().declare("q");
    const std::string unknown = table({{"x-match", "foo"}});
    channel().send(QueueBind{.queue = "q", .exchange = "amq.headers", .arguments = unknown});
    channel().expect_close<QueueBind>(
        406,
        "PRECONDITION_FAILED - Invalid x-match field value <<\"foo\">>; expected all, any, "
        "all-with-x, or any-with-x");
    channel().reopen();
    const std::string number = table({{"x-match", 5}});
    channel().send(QueueBind{.queue = "q", .exchange = "amq.headers", .arguments = number});
    channel().expect_close<QueueBind>(
        406,
        "PRECONDITION_FAILED - Invalid x-match field type signedint (value 5); expected longstr");
}

Value keys(std::initializer_list<const char*> names) {
    Array array;
    for (const char* name : names) array.push_back(Value::string(name));
    return Value::array(std::move(array));
}

// amqp091 7.7
TEST_P(ProtocolRouting, CopiesGoWhereTheHeadersSay) {
    for (const char* name : {"to", "cc1", "cc2", "bcc"}) channel().declare(name);
    channel().publish(
        "", "to", "body",
        Properties().headers(
            {{"CC", keys({"cc1", "cc2", "to"})}, {"BCC", keys({"bcc"})}, {"other", "stays"}}));
    for (const char* name : {"to", "cc1", "cc2", "bcc"}) {
        const auto got = channel().get(name, true);
        EXPECT_EQ(got.routing_key, "to");
        EXPECT_EQ(got.headers(),
                  engine::arguments({{"CC", keys({"cc1", "cc2", "to"})}, {"other", "stays"}}));
        EXPECT_EQ(channel().count(name), 0U);
    }
}

// amqp091 7.7
TEST_P(ProtocolRouting, EntriesOfCcThatAreNoStringsAreSkipped) {
    channel().declare("cc");
    const Value mixed = Value::array({Value::int32(1), Value::string("cc"), Value::nothing()});
    channel().publish("", "nowhere", "body", Properties().headers({{"CC", mixed}}));
    EXPECT_EQ(reached("cc"), Bodies{"body"});
}

// amqp091 7.7
TEST_P(ProtocolRouting, CcMustBeAnArray) {
    channel().publish("", "q", "body", Properties().headers({{"CC", "queue"}}));
    channel().expect_close<BasicPublish>(
        406, "PRECONDITION_FAILED - invalid message: {unacceptable_type_in_header,\"CC\",longstr}");
    channel().reopen();
    channel().publish("", "q", "body", Properties().headers({{"BCC", 1}}));
    channel().expect_close<BasicPublish>(
        406,
        "PRECONDITION_FAILED - invalid message: {unacceptable_type_in_header,\"BCC\",signedint}");
}

// amqp091 7.8: alternates are tried before `mandatory` applies, and along a chain.
TEST_P(ProtocolRouting, AlternatesAreTriedInTurn) {
    channel().declare_exchange("first", "direct", {{"alternate-exchange", "second"}});
    channel().declare_exchange("second", "direct", {{"alternate-exchange", "third"}});
    channel().declare_exchange("third", "fanout");
    channel().declare("q");
    channel().bind("q", "third");
    channel().select_confirms();
    channel().publish({.exchange = "first", .routing_key = "k", .mandatory = true}, "body");
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{1, false}));
    EXPECT_EQ(reached("q"), Bodies{"body"});
}

// amqp091 7.9
TEST_P(ProtocolRouting, AConsistentHashKeepsAKeyAtItsQueue) {
    channel().declare_exchange("e", "x-consistent-hash");
    for (const char* name : {"a", "b", "c"}) {
        channel().declare(name);
        channel().bind(name, "e", name[0] == 'c' ? "8" : "1");
    }
    std::map<std::string, std::string> place;
    std::map<std::string, int> share;
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 200; ++i) {
            const std::string key = "key" + std::to_string(i);
            channel().publish("e", key, key);
        }
        for (const char* name : {"a", "b", "c"}) {
            for (const std::string& key : reached(name)) {
                if (round == 0) place[key] = name;
                EXPECT_EQ(place[key], name);
                share[name] += 1;
            }
        }
    }
    EXPECT_EQ(share["a"] + share["b"] + share["c"], 400);
    EXPECT_GT(share["c"], share["a"] + share["b"]);
    EXPECT_GT(share["a"], 0);
    EXPECT_GT(share["b"], 0);
}

// amqp091 7.9
TEST_P(ProtocolRouting, AConsistentHashCanUseAHeaderOrProperty) {
    channel().declare_exchange("by-header", "x-consistent-hash", {{"hash-header", "customer"}});
    channel().declare_exchange("by-property", "x-consistent-hash",
                               {{"hash-property", "correlation_id"}});
    for (const char* name : {"a", "b"}) {
        channel().declare(name);
        channel().bind(name, "by-header", "10");
        channel().bind(name, "by-property", "10");
    }
    for (int i = 0; i < 30; ++i) {
        channel().publish("by-header", std::to_string(i), "header",
                          Properties().headers({{"customer", "same"}}));
        channel().publish("by-property", std::to_string(i), "property",
                          Properties().text(Property::correlation_id, "same"));
    }
    Bodies a = reached("a");
    Bodies b = reached("b");
    EXPECT_EQ(a.size() + b.size(), 60U);
    for (const char* way : {"header", "property"}) {
        const auto in_a = std::count(a.begin(), a.end(), way);
        EXPECT_TRUE(in_a == 0 || in_a == 30) << way;
    }
}

// amqp091 7.9
TEST_P(ProtocolRouting, AWeightIsANumberFromOneToTenThousand) {
    channel().declare_exchange("e", "x-consistent-hash");
    channel().declare("q");
    const std::vector<std::pair<std::string, std::string>> keys_and_texts = {
        {"abc", "The binding key must be an integer: <<\"abc\">>"},
        {"", "The binding key must be an integer: <<\"\">>"},
        {"1.5", "The binding key must be an integer: <<\"1.5\">>"},
        {"0", "The binding key must be greater than 0"},
        {"-1", "The binding key must be greater than 0"},
        {"10001", "The binding key must not exceed 10000"},
    };
    for (const auto& [key, text] : keys_and_texts) {
        channel().send(QueueBind{.queue = "q", .exchange = "e", .routing_key = key});
        channel().expect_close<QueueBind>(406, "PRECONDITION_FAILED - " + text);
        channel().reopen();
    }
    channel().bind("q", "e", "10000");
}

// amqp091 7.9
TEST_P(ProtocolRouting, AHashHasOneSource) {
    const std::string both = table({{"hash-header", "h"}, {"hash-property", "message_id"}});
    channel().send(
        ExchangeDeclare{.exchange = "e", .type = "x-consistent-hash", .arguments = both});
    channel().expect_close<ExchangeDeclare>(
        406, "PRECONDITION_FAILED - hash-header and hash-property are mutually exclusive");
    channel().reopen();
    const std::string odd = table({{"hash-property", "app_id"}});
    channel().send(ExchangeDeclare{.exchange = "e", .type = "x-consistent-hash", .arguments = odd});
    channel().expect_close<ExchangeDeclare>(406,
                                            "PRECONDITION_FAILED - Unsupported property: app_id");
}

// amqp091 7.12
TEST_P(ProtocolRouting, BindingTwiceIsBindingOnce) {
    channel().declare("q");
    channel().bind("q", "amq.direct", "k", {{"a", 1}, {"b", 2}});
    channel().bind("q", "amq.direct", "k", {{"b", 2}, {"a", 1}});
    channel().bind("q", "amq.direct", "k");
    const std::string arguments = table({{"a", 1}, {"b", 2}});
    channel().send(QueueUnbind{
        .queue = "q", .exchange = "amq.direct", .routing_key = "k", .arguments = arguments});
    channel().expect<QueueUnbindOk>();
    channel().publish("amq.direct", "k", "by the other binding");
    EXPECT_EQ(reached("q").size(), 1U);
    channel().send(QueueUnbind{.queue = "q", .exchange = "amq.direct", .routing_key = "k"});
    channel().expect<QueueUnbindOk>();
    channel().publish("amq.direct", "k", "by none");
    EXPECT_EQ(reached("q").size(), 0U);
}

// amqp091 7.12
TEST_P(ProtocolRouting, UnbindingWhatIsNotBoundSucceeds) {
    channel().declare("q");
    channel().send(QueueUnbind{.queue = "q", .exchange = "amq.direct", .routing_key = "k"});
    channel().expect<QueueUnbindOk>();
    channel().send(QueueUnbind{.queue = "missing", .exchange = "amq.direct", .routing_key = "k"});
    channel().expect<QueueUnbindOk>();
    channel().send(QueueUnbind{.queue = "q", .exchange = "missing", .routing_key = "k"});
    channel().expect<QueueUnbindOk>();
    channel().send(ExchangeUnbind{.destination = "missing", .source = "nowhere"});
    channel().expect<ExchangeUnbindOk>();
}

// amqp091 7.12
TEST_P(ProtocolRouting, BindingWhatIsNotThereFails) {
    channel().declare("q");
    channel().send(QueueBind{.queue = "missing", .exchange = "amq.direct", .routing_key = "k"});
    channel().expect_close<QueueBind>(404, "NOT_FOUND - no queue 'missing' in vhost '/'");
    channel().reopen();
    channel().send(QueueBind{.queue = "q", .exchange = "missing", .routing_key = "k"});
    channel().expect_close<QueueBind>(404, "NOT_FOUND - no exchange 'missing' in vhost '/'");
}

// amqp091 7.12: queue.unbind has no no-wait bit and always gets a reply.
TEST_P(ProtocolRouting, QueueUnbindIsAlwaysAnswered) {
    channel().declare("q");
    peer().send(
        raw_frame(1, 1, from_hex("00320032 0000 01 71 0a 616d712e646972656374 01 6b 00000000")));
    channel().expect<QueueUnbindOk>();
}

// amqp091 7.13
TEST_P(ProtocolRouting, ADurableExchangeMayLeadToATransientQueue) {
    channel().declare("transient");
    channel().bind("transient", "amq.direct", "k");
    channel().publish("amq.direct", "k", "body");
    EXPECT_EQ(reached("transient"), Bodies{"body"});
    channel().send(QueueDelete{.queue = "transient"});
    channel().expect<QueueDeleteOk>();
    EXPECT_TRUE(world().engine().state().find_exchange("amq.direct")->outgoing.empty());
}

}  // namespace
}  // namespace revenant::amqp091
