// Exchanges that pick one destination for each message: x-local-random and x-modulus-hash.
#include "tests/support/scenario.h"

#include <gmock/gmock.h>

namespace revenant::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using enum RefusalKind;

// Three queues bound to an exchange "x" of the given type.
struct Three {
    explicit Three(const char* type) {
        ch.declare_exchange("x", type);
        // Not in the order of their names.
        for (const char* queue : {"c", "a", "b"}) {
            ch.declare_queue(queue);
            ch.bind("x", queue, "");
        }
    }
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
};

// -------------------------------------------------------------- x-modulus-hash

// Expected values from Erlang: erlang:phash2([<<"key">>], 1 bsl 27) and so on, modulo three.
TEST(ModulusHash, AKeyGoesToTheQueueItGoesToInRabbitmq) {
    Three t("x-modulus-hash");
    for (const char* key : {"", "a", "a.b.c", "0123456789ab"}) {
        t.ch.publish(key, "of a", {.exchange = "x"});
    }
    t.ch.publish("a rather long routing key of many bytes", "of b", {.exchange = "x"});
    t.ch.publish("key", "of c", {.exchange = "x"});
    EXPECT_THAT(t.s.ready("a"), ElementsAre("of a", "of a", "of a", "of a"));
    EXPECT_THAT(t.s.ready("b"), ElementsAre("of b"));
    EXPECT_THAT(t.s.ready("c"), ElementsAre("of c"));
}

TEST(ModulusHash, AllKeysOfAMessageAreOneHash) {
    Three t("x-modulus-hash");
    t.ch.publish("a", "with b", {.exchange = "x", .cc = {"b"}});
    EXPECT_THAT(t.s.ready("b"), ElementsAre("with b"));
    EXPECT_THAT(t.s.ready("a"), IsEmpty());
}

TEST(ModulusHash, EachBindingCounts) {
    Three t("x-modulus-hash");
    t.ch.unbind("x", "b", "");
    t.ch.unbind("x", "c", "");
    for (const char* key : {"1", "2", "3"}) t.ch.bind("x", "c", key);
    int of_c = 0;
    for (int i = 0; i < 400; ++i) t.ch.publish(std::to_string(i), "m", {.exchange = "x"});
    of_c = static_cast<int>(t.s.ready("c").size());
    EXPECT_GT(of_c, 240);
    EXPECT_LT(of_c, 360);
    t.ch.delete_queue("c");
    for (int i = 0; i < 10; ++i) t.ch.publish(std::to_string(i), "m", {.exchange = "x"});
    EXPECT_EQ(t.s.ready("a").size(), 400U - static_cast<std::size_t>(of_c) + 10);
}

TEST(ModulusHash, WithoutBindingsThereIsTheAlternateExchange) {
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.bind("amq.fanout", "q", "");
    ch.declare_exchange("x", "x-modulus-hash",
                        {.arguments = arguments({{"alternate-exchange", "amq.fanout"}})});
    ch.publish("key", "m", {.exchange = "x"});
    EXPECT_THAT(s.ready("q"), ElementsAre("m"));
}

TEST(ModulusHash, ExchangesMayBeBoundAsWell) {
    Three t("x-modulus-hash");
    t.ch.declare_exchange("z", "fanout");
    t.ch.declare_queue("behind");
    t.ch.bind("z", "behind", "");
    for (const char* queue : {"a", "b", "c"}) t.ch.unbind("x", queue, "");
    t.ch.bind("x", "z", "", {.to = DestinationKind::exchange});
    t.ch.publish("key", "m", {.exchange = "x"});
    EXPECT_THAT(t.s.ready("behind"), ElementsAre("m"));
}

// -------------------------------------------------------------- x-local-random

TEST(LocalRandom, EachMessageGoesToOneQueueWhateverItsKey) {  // amqp091 7.11
    Three t("x-local-random");
    for (int i = 0; i < 300; ++i) t.ch.publish("any", "m", {.exchange = "x"});
    std::size_t all = 0;
    for (const char* queue : {"a", "b", "c"}) {
        const std::size_t count = t.s.ready(queue).size();
        EXPECT_GT(count, 60U) << queue;
        all += count;
    }
    EXPECT_EQ(all, 300U);
}

TEST(LocalRandom, IsBoundToClassicQueuesWithoutAKey) {  // amqp091 7.11
    Three t("x-local-random");
    t.ch.bind("x", "a", "key");
    t.ch.expect_refused(precondition_failed, "Non empty binding 'key' key not permitted");
    t.ch.declare_queue("quorum",
                       {.durable = true, .arguments = arguments({{"x-queue-type", "quorum"}})});
    t.ch.bind("x", "quorum", "");
    t.ch.expect_refused(precondition_failed,
                        "Queue type rabbit_quorum_queue not valid for this exchange type");
    t.ch.declare_exchange("z", "fanout");
    t.ch.bind("x", "z", "", {.to = DestinationKind::exchange});
    t.ch.expect_refused(precondition_failed, "Destination not found");
}

TEST(LocalRandom, ADeletedQueueIsNotPicked) {
    Three t("x-local-random");
    t.ch.delete_queue("a");
    t.ch.delete_queue("b");
    for (int i = 0; i < 20; ++i) t.ch.publish("any", "m", {.exchange = "x"});
    EXPECT_EQ(t.s.ready("c").size(), 20U);
}

// Both survive a restart: the scenario replays its journal and compares.
TEST(PickedRoutes, AreKept) {
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {.durable = true});
    for (const char* type : {"x-local-random", "x-modulus-hash"}) {
        ch.declare_exchange(type, type, {.durable = true});
        ch.bind(type, "q", "");
    }
    EXPECT_EQ(s.events().size(), 5U);
}

}  // namespace
}  // namespace revenant::engine
