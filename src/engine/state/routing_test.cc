#include "engine/state/routing.h"

#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using enum RefusalKind;
constexpr BindOptions to_exchange() { return {.to = DestinationKind::exchange}; }

TEST(DefaultExchange, ReachesEveryQueueByItsName) {  // amqp091 7.1
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("a");
    ch.declare_queue("b");
    ch.publish("a", "for a");
    ch.publish("b", "for b");
    ch.publish("c", "for nobody", {.mandatory = true});
    EXPECT_THAT(s.ready("a"), ElementsAre("for a"));
    EXPECT_THAT(s.ready("b"), ElementsAre("for b"));
    EXPECT_THAT(ch.take_returns(), ElementsAre("for nobody"));
}

TEST(DefaultExchange, FollowsAQueueThatGoesAndComes) {  // amqp091 7.1; the route cache
    Scenario s;
    auto& ch = s.open_channel();
    for (int round = 0; round < 3; ++round) {
        ch.declare_queue("q");
        ch.publish("q", "a", {.mandatory = true});
        EXPECT_THAT(s.ready("q"), ElementsAre("a"));
        ch.delete_queue("q");
        ch.publish("q", "lost", {.mandatory = true});
        EXPECT_THAT(ch.take_returns(), ElementsAre("lost"));
    }
}

TEST(Routing, AQueueGetsAMessageOnceHoweverManyBindingsMatch) {  // amqp091 7.2
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    for (const char* key : {"a.b", "a.*", "#", "*.b"}) ch.bind("amq.topic", "q", key);
    ch.bind("amq.topic", "amq.fanout", "#", to_exchange());
    ch.bind("amq.fanout", "q", "x");
    ch.bind("amq.fanout", "q", "y");
    ch.publish("a.b", "m", {.exchange = "amq.topic"});
    EXPECT_THAT(s.ready("q"), ElementsAre("m"));
}

TEST(DirectExchange, TheKeyMustBeEqual) {  // amqp091 7.3
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.bind("amq.direct", "q", "k");
    ch.bind("amq.direct", "q", "");
    for (const char* key : {"k", "K", "k.", "", "*", "#"}) {
        ch.publish(key, std::string("key ") + key, {.exchange = "amq.direct"});
    }
    EXPECT_THAT(s.ready("q"), ElementsAre("key k", "key "));
}

TEST(FanoutExchange, EveryBoundQueueGetsACopy) {  // amqp091 7.3
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("a");
    ch.declare_queue("b");
    ch.bind("amq.fanout", "a", "ignored");
    ch.bind("amq.fanout", "a", "too");
    ch.bind("amq.fanout", "b");
    ch.publish("anything", "1", {.exchange = "amq.fanout"});
    ch.unbind("amq.fanout", "a", "ignored");
    ch.publish("", "2", {.exchange = "amq.fanout"});
    ch.unbind("amq.fanout", "a", "too");
    ch.publish("", "3", {.exchange = "amq.fanout"});
    EXPECT_THAT(s.ready("a"), ElementsAre("1", "2"));
    EXPECT_THAT(s.ready("b"), ElementsAre("1", "2", "3"));
}

TEST(TopicExchange, MatchesWordsStarsAndHashes) {  // amqp091 7.4
    Scenario s;
    auto& ch = s.open_channel();
    const std::vector<std::string> patterns{"#", "*", "a.*.b", "a.#", ""};
    for (const std::string& pattern : patterns) {
        ch.declare_queue("q:" + pattern);
        ch.bind("amq.topic", "q:" + pattern, pattern);
    }
    for (const char* key : {"", "a", "a..b", "a.x.b"}) {
        ch.publish(key, std::string("'") + key + "'", {.exchange = "amq.topic"});
    }
    EXPECT_THAT(s.ready("q:#"), ElementsAre("''", "'a'", "'a..b'", "'a.x.b'"));
    EXPECT_THAT(s.ready("q:*"), ElementsAre("'a'"));
    EXPECT_THAT(s.ready("q:a.*.b"), ElementsAre("'a..b'", "'a.x.b'"));
    EXPECT_THAT(s.ready("q:a.#"), ElementsAre("'a'", "'a..b'", "'a.x.b'"));
    EXPECT_THAT(s.ready("q:"), ElementsAre("''"));
}

// ---------------------------------------------------------------------- headers exchange

// Whether a message with these headers matches a binding with these arguments.
bool passes(std::initializer_list<Argument> binding, std::initializer_list<Argument> headers) {
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.bind("amq.headers", "q", "key", {.arguments = arguments(binding)});
    ch.publish("another key", "m", {.exchange = "amq.headers", .headers = arguments(headers)});
    return !s.ready("q").empty();
}

TEST(HeadersExchange, AllIsTheDefault) {  // amqp091 7.5
    EXPECT_TRUE(passes({{"a", 1}, {"b", "x"}}, {{"b", "x"}, {"a", 1}, {"c", 3}}));
    EXPECT_FALSE(passes({{"a", 1}, {"b", "x"}}, {{"a", 1}}));
    EXPECT_FALSE(passes({{"a", 1}, {"b", "x"}}, {{"a", 1}, {"b", "y"}}));
    EXPECT_TRUE(passes({{"x-match", "all"}, {"a", 1}}, {{"a", 1}}));
    EXPECT_FALSE(passes({{"x-match", "all"}, {"a", 1}}, {}));
}

TEST(HeadersExchange, AnyIsOneOfThem) {  // amqp091 7.5
    EXPECT_TRUE(passes({{"x-match", "any"}, {"a", 1}, {"b", 2}}, {{"b", 2}}));
    EXPECT_FALSE(passes({{"x-match", "any"}, {"a", 1}, {"b", 2}}, {{"a", 2}, {"b", 1}}));
}

TEST(HeadersExchange, ThePlainFormsIgnoreArgumentsThatBeginWithX) {  // amqp091 7.5; DL-52
    EXPECT_TRUE(passes({{"a", 1}, {"x-b", 2}}, {{"a", 1}}));
    EXPECT_FALSE(passes({{"x-match", "any"}, {"x-b", 2}}, {{"x-b", 2}}));
}

TEST(HeadersExchange, TheFormsWithXDoNot) {  // amqp091 7.5; DL-52
    EXPECT_FALSE(passes({{"x-match", "all-with-x"}, {"a", 1}, {"x-b", 2}}, {{"a", 1}}));
    EXPECT_TRUE(passes({{"x-match", "all-with-x"}, {"a", 1}, {"x-b", 2}}, {{"a", 1}, {"x-b", 2}}));
    EXPECT_TRUE(passes({{"x-match", "any-with-x"}, {"x-b", 2}}, {{"x-b", 2}}));
    EXPECT_FALSE(passes({{"x-match", "any-with-x"}, {"x-b", 2}}, {{"x-match", "any-with-x"}}));
}

TEST(HeadersExchange, AVoidArgumentAsksForPresenceOnly) {  // amqp091 7.5
    EXPECT_TRUE(passes({{"a", Value::nothing()}}, {{"a", "whatever"}}));
    EXPECT_TRUE(passes({{"a", Value::nothing()}}, {{"a", Value::nothing()}}));
    EXPECT_FALSE(passes({{"a", Value::nothing()}}, {{"b", 1}}));
}

TEST(HeadersExchange, ValuesCompareByContentNotByWidth) {  // amqp091 7.5
    EXPECT_TRUE(passes({{"a", 1}}, {{"a", 1L}}));
    EXPECT_FALSE(passes({{"a", 1}}, {{"a", real(1.0)}}));
    EXPECT_TRUE(passes({{"a", real(1.5)}}, {{"a", Value{ValueType::float32, 1.5}}}));
    EXPECT_FALSE(passes({{"a", "1"}}, {{"a", 1}}));
    EXPECT_FALSE(passes({{"a", "x"}}, {{"a", "X"}}));
    EXPECT_FALSE(passes({{"a", true}}, {{"a", 1}}));
}

TEST(HeadersExchange, WithoutUsableArgumentsAllMatchesEverythingAndAnyNothing) {  // amqp091 7.5
    EXPECT_TRUE(passes({}, {}));
    EXPECT_TRUE(passes({{"x-ignored", 1}}, {{"a", 1}}));
    EXPECT_FALSE(passes({{"x-match", "any"}}, {{"a", 1}}));
    EXPECT_TRUE(passes({{"x-match", "all-with-x"}}, {}));
    EXPECT_FALSE(passes({{"x-match", "any-with-x"}}, {{"a", 1}}));
}

TEST(HeadersExchange, TheSameKeyWithOtherHeadersGoesAnotherWay) {  // the route cache
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.bind("amq.match", "q", "k", {.arguments = arguments({{"a", 1}})});
    for (int i = 0; i < 4; ++i) {
        ch.publish("k", std::to_string(i),
                   {.exchange = "amq.match", .headers = arguments({{"a", i % 2}})});
    }
    EXPECT_THAT(s.ready("q"), ElementsAre("1", "3"));
}

TEST(HeadersExchange, ABadMatchFormIsRefused) {  // amqp091 7.6
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.bind("amq.headers", "q", "", {.arguments = arguments({{"x-match", "foo"}})});
    ch.expect_refused(precondition_failed,
                      "Invalid x-match field value <<\"foo\">>; expected all, any, all-with-x, or "
                      "any-with-x");
    ch.bind("amq.headers", "q", "", {.arguments = arguments({{"x-match", 5}})});
    ch.expect_refused(precondition_failed,
                      "Invalid x-match field type signedint (value 5); expected longstr");
    ch.bind("amq.direct", "q", "", {.arguments = arguments({{"x-match", "foo"}})});  // not checked
    EXPECT_TRUE(ch.is_open());
}

// -------------------------------------------------------------------------- CC and BCC

TEST(Copies, RoutingUsesTheKeyAndEveryCopy) {  // amqp091 7.7; DL-61
    Scenario s;
    auto& ch = s.open_channel();
    for (const char* queue : {"to", "cc", "bcc", "other"}) ch.declare_queue(queue);
    ch.publish("to", "m", {.cc = {"cc", "to"}, .bcc = {"bcc", "nobody"}});
    for (const char* queue : {"to", "cc", "bcc"}) {
        EXPECT_THAT(s.ready(queue), ElementsAre("m")) << queue;
        EXPECT_EQ(ch.get(queue, true)->routing_key(), "to");
    }
    EXPECT_THAT(s.ready("other"), IsEmpty());
}

TEST(Copies, ACopyReachesThroughDirectAndTopic) {  // amqp091 7.7
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.bind("amq.topic", "q", "a.*");
    ch.bind("amq.direct", "q", "b");
    ch.publish("x", "1", {.exchange = "amq.topic", .cc = {"a.b"}});
    ch.publish("x", "2", {.exchange = "amq.direct", .bcc = {"b"}});
    EXPECT_THAT(s.ready("q"), ElementsAre("1", "2"));
}

TEST(Copies, AMessageWithCopiesDoesNotShapeTheNextOne) {  // the route cache
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("a");
    ch.declare_queue("b");
    ch.publish("a", "1", {.cc = {"b"}});
    ch.publish("a", "2");
    ch.publish("a", "3", {.cc = {"b"}});
    EXPECT_THAT(s.ready("a"), ElementsAre("1", "2", "3"));
    EXPECT_THAT(s.ready("b"), ElementsAre("1", "3"));
}

// ------------------------------------------------------- exchange-to-exchange bindings

TEST(ExchangeBindings, AMessageGoesThroughEveryExchangeOnce) {  // amqp091 6.14
    Scenario s;
    auto& ch = s.open_channel();
    for (const char* name : {"a", "b", "c"}) ch.declare_exchange(name, "fanout");
    ch.declare_queue("q");
    ch.bind("a", "b", "", to_exchange());
    ch.bind("b", "c", "", to_exchange());
    ch.bind("c", "a", "", to_exchange());  // a cycle
    ch.bind("c", "q");
    ch.publish("", "m", {.exchange = "a"});
    EXPECT_THAT(s.ready("q"), ElementsAre("m"));
    ch.unbind("b", "c", "", to_exchange());
    ch.publish("", "n", {.exchange = "a", .mandatory = true});
    EXPECT_THAT(ch.take_returns(), ElementsAre("n"));
}

TEST(AlternateExchange, TakesWhatTheExchangeItselfCannotRoute) {  // amqp091 7.8
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("x", "direct", {.arguments = arguments({{"alternate-exchange", "ae"}})});
    ch.declare_exchange("ae", "fanout");
    ch.declare_queue("bound");
    ch.declare_queue("rest");
    ch.bind("x", "bound", "k");
    ch.bind("ae", "rest");
    ch.publish("k", "1", {.exchange = "x", .mandatory = true});
    ch.publish("other", "2", {.exchange = "x", .mandatory = true});
    EXPECT_THAT(s.ready("bound"), ElementsAre("1"));
    EXPECT_THAT(s.ready("rest"), ElementsAre("2"));
    EXPECT_THAT(ch.take_returns(), IsEmpty());
}

TEST(AlternateExchange, AMissingOneIsIgnored) {  // amqp091 6.12
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("x", "direct", {.arguments = arguments({{"alternate-exchange", "ae"}})});
    ch.publish("k", "1", {.exchange = "x", .mandatory = true});
    EXPECT_THAT(ch.take_returns(), ElementsAre("1"));
    ch.declare_exchange("ae", "fanout");
    ch.declare_queue("q");
    ch.bind("ae", "q");
    ch.publish("k", "2", {.exchange = "x", .mandatory = true});
    EXPECT_THAT(s.ready("q"), ElementsAre("2"));
}

TEST(AlternateExchange, AChainOfThemMayEvenBeACircle) {  // amqp091 7.8
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("a", "direct", {.arguments = arguments({{"alternate-exchange", "b"}})});
    ch.declare_exchange("b", "direct", {.arguments = arguments({{"alternate-exchange", "a"}})});
    ch.publish("k", "1", {.exchange = "a", .mandatory = true});
    EXPECT_THAT(ch.take_returns(), ElementsAre("1"));
    ch.declare_queue("q");
    ch.bind("b", "q", "k");
    ch.publish("k", "2", {.exchange = "a", .mandatory = true});
    EXPECT_THAT(s.ready("q"), ElementsAre("2"));
}

TEST(AlternateExchange, AnExchangeBindingCountsAsARoute) {  // amqp091 7.8
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("x", "fanout", {.arguments = arguments({{"alternate-exchange", "ae"}})});
    ch.declare_exchange("dead end", "fanout");
    ch.declare_exchange("ae", "fanout");
    ch.declare_queue("q");
    ch.bind("x", "dead end", "", to_exchange());
    ch.bind("ae", "q");
    ch.publish("", "m", {.exchange = "x", .mandatory = true});
    EXPECT_THAT(s.ready("q"), IsEmpty());
    EXPECT_THAT(ch.take_returns(), ElementsAre("m"));
}

// -------------------------------------------------------------- consistent-hash exchange

TEST(ConsistentHash, TheBindingKeyIsAWeight) {  // amqp091 7.9
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("h", "x-consistent-hash");
    ch.declare_queue("q");
    ch.bind("h", "q", "abc");
    ch.expect_refused(precondition_failed, "The binding key must be an integer: <<\"abc\">>");
    ch.bind("h", "q", "");
    ch.expect_refused(precondition_failed, "The binding key must be an integer: <<\"\">>");
    ch.bind("h", "q", "1.5");
    ch.expect_refused(precondition_failed, "The binding key must be an integer: <<\"1.5\">>");
    for (const char* weight : {"0", "-3"}) {
        ch.bind("h", "q", weight);
        ch.expect_refused(precondition_failed, "The binding key must be greater than 0");
    }
    ch.bind("h", "q", "10001");
    ch.expect_refused(precondition_failed, "The binding key must not exceed 10000");
    ch.bind("h", "q", "10000");
    ch.publish("any", "m", {.exchange = "h"});
    EXPECT_THAT(s.ready("q"), ElementsAre("m"));
}

TEST(ConsistentHash, ChecksItsOwnArguments) {  // amqp091 7.9
    Scenario s;
    auto& ch = s.open_channel();
    const auto declare = [&](std::initializer_list<Argument> given) {
        ch.declare_exchange("h", "x-consistent-hash", {.arguments = arguments(given)});
    };
    declare({{"hash-header", "a"}, {"hash-property", "message_id"}});
    ch.expect_refused(precondition_failed, "hash-header and hash-property are mutually exclusive");
    declare({{"hash-property", "app_id"}});
    ch.expect_refused(precondition_failed, "Unsupported property: app_id");
    declare({{"hash-property", 5}});
    ch.expect_refused(precondition_failed, "Unsupported property: 5");
    for (const char* property : {"correlation_id", "message_id", "timestamp"}) {
        declare({{"hash-property", property}});
        ch.delete_exchange("h");
    }
}

TEST(ConsistentHash, WithoutABindingNothingIsRouted) {  // amqp091 7.9
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("h", "x-consistent-hash");
    ch.publish("k", "m", {.exchange = "h", .mandatory = true});
    EXPECT_THAT(ch.take_returns(), ElementsAre("m"));
}

// The queue of each of many keys.
class HashRing {
  public:
    HashRing(std::initializer_list<std::pair<const char*, const char*>> weights) {
        channel_.declare_exchange("h", "x-consistent-hash");
        for (const auto& [queue, weight] : weights) add(queue, weight);
    }
    void add(const std::string& queue, const std::string& weight) {
        channel_.declare_queue(queue);
        queues_.push_back(queue);
        channel_.bind("h", queue, weight);
    }
    void remove(const std::string& queue, const std::string& weight) {
        channel_.unbind("h", queue, weight);
    }
    std::map<std::string, std::string> mapping(int keys = 3000) {
        for (int i = 0; i < keys; ++i) {
            const std::string key = "key." + std::to_string(i);
            channel_.publish(key, key, {.exchange = "h"});
        }
        std::map<std::string, std::string> found;
        for (const std::string& queue : queues_) {
            for (const std::string& key : scenario_.ready(queue)) {
                EXPECT_TRUE(found.emplace(key, queue).second) << "two copies of one message";
            }
            channel_.purge(queue);
        }
        return found;
    }

  private:
    Scenario scenario_;
    ScenarioChannel& channel_ = scenario_.open_channel();
    std::vector<std::string> queues_;
};

std::map<std::string, int> shares(const std::map<std::string, std::string>& mapping) {
    std::map<std::string, int> counted;
    for (const auto& [key, queue] : mapping) counted[queue] += 1;
    return counted;
}

TEST(ConsistentHash, SharesAreProportionalToTheWeights) {  // amqp091 7.9
    HashRing ring{{"a", "10"}, {"b", "10"}, {"c", "40"}};
    const auto counted = shares(ring.mapping());
    EXPECT_NEAR(counted.at("a"), 500, 100);
    EXPECT_NEAR(counted.at("b"), 500, 100);
    EXPECT_NEAR(counted.at("c"), 2000, 150);
}

TEST(ConsistentHash, TheSameKeyGoesToTheSameQueue) {  // amqp091 7.9
    HashRing ring{{"a", "1"}, {"b", "2"}, {"c", "3"}};
    EXPECT_EQ(ring.mapping(), ring.mapping());
}

TEST(ConsistentHash, ANewBindingTakesItsShareAndMovesNothingElse) {  // amqp091 7.9
    HashRing ring{{"a", "5"}, {"b", "5"}, {"c", "5"}, {"d", "5"}};
    const auto before = ring.mapping();
    ring.add("e", "5");
    const auto after = ring.mapping();
    int moved = 0;
    for (const auto& [key, queue] : after) {
        if (queue == before.at(key)) continue;
        EXPECT_EQ(queue, "e");
        ++moved;
    }
    EXPECT_NEAR(moved, 600, 120);
}

TEST(ConsistentHash, AQueueBoundTwiceLosesOnlyTheWeightThatIsUnbound) {  // amqp091 7.9
    HashRing ring{{"a", "1"}, {"b", "6"}};
    ring.add("a", "2");
    ring.remove("a", "2");
    const auto counted = shares(ring.mapping());
    EXPECT_NEAR(counted.at("a"), 3000 / 7, 120);
    EXPECT_NEAR(counted.at("b"), 3000 * 6 / 7, 120);
}

TEST(ConsistentHash, MayHashAHeaderOrAPropertyInstead) {  // amqp091 7.9
    for (const bool by_header : {true, false}) {
        Scenario s;
        auto& ch = s.open_channel();
        ch.declare_exchange(
            "h", "x-consistent-hash",
            {.arguments = by_header ? arguments({{"hash-header", "id"}})
                                    : arguments({{"hash-property", "message_id"}})});
        for (const char* queue : {"a", "b", "c", "d"}) {
            ch.declare_queue(queue);
            ch.bind("h", queue, "1");
        }
        for (int i = 0; i < 40; ++i) {  // forty keys, one id
            PublishOptions options{.exchange = "h"};
            (by_header ? options.headers : options.properties) =
                arguments({{by_header ? "id" : "message_id", "the same"}});
            ch.publish("key" + std::to_string(i), "m", options);
        }
        int queues_used = 0;
        for (const char* queue : {"a", "b", "c", "d"}) queues_used += !s.ready(queue).empty();
        EXPECT_EQ(queues_used, 1);
        ch.publish("k", "without the id", {.exchange = "h", .mandatory = true});
        EXPECT_THAT(ch.take_returns(), IsEmpty());
    }
}

}  // namespace
}  // namespace revenant::engine
