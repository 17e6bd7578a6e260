#include "engine/view/query.h"
#include "tests/support/scenario.h"

#include <gtest/gtest.h>

namespace revenant::engine {
namespace {

// The targets of the queue's dead letters by its key, or "any" if the key does not determine them.
std::string targets_of(Engine& engine, std::string_view queue) {
    const auto source = find_dead_letter_source(engine, queue);
    if (!source) return "no queue";
    const std::vector<DeadLetterAddress> addresses{{*source->exchange, source->routing_key}};
    const auto reaches = find_dead_letter_reaches(engine, addresses);
    if (reaches.front().any_behind) return reaches.front().exchange_type + " any";
    std::string text;
    for (const std::string& name : find_queue_names(engine, reaches.front().queues)) {
        text += name + " ";
    }
    return text;
}

class DeadLetterPaths : public testing::Test {
  protected:
    void SetUp() override {
        for (const char* name : {"dead", "late", "other"}) ch_.declare_queue(name);
        ch_.bind("amq.direct", "dead", "k");
        ch_.bind("amq.direct", "other", "o");
        ch_.bind("amq.topic", "late", "a.#");
        ch_.bind("amq.direct", "amq.topic", "a.b", {.to = DestinationKind::exchange});
    }
    void declare(const char* name, const char* exchange, const char* key = nullptr) {
        auto given = arguments({{"x-dead-letter-exchange", exchange}});
        if (key != nullptr) {
            given = arguments(
                {{"x-dead-letter-exchange", exchange}, {"x-dead-letter-routing-key", key}});
        }
        ch_.declare_queue(name, {.arguments = given});
    }

    Scenario scenario_;
    ScenarioChannel& ch_ = scenario_.open_channel();
};

TEST_F(DeadLetterPaths, LeadWhereTheKeyLeads) {
    declare("direct", "amq.direct", "k");
    declare("through", "amq.direct", "a.b");
    declare("topic", "amq.topic", "a.x.y");
    declare("named", "", "other");
    EXPECT_EQ(targets_of(scenario_.engine(), "direct"), "dead ");
    EXPECT_EQ(targets_of(scenario_.engine(), "through"), "late ");
    EXPECT_EQ(targets_of(scenario_.engine(), "topic"), "late ");
    EXPECT_EQ(targets_of(scenario_.engine(), "named"), "other ");
    EXPECT_EQ(targets_of(scenario_.engine(), "nosuch"), "no queue");
}

TEST_F(DeadLetterPaths, LeadAnywhereWhenMessagesKeepTheirKeys) {
    declare("any", "amq.direct");
    EXPECT_EQ(targets_of(scenario_.engine(), "any"), "direct any");
    declare("by-headers", "amq.headers", "k");
    EXPECT_EQ(targets_of(scenario_.engine(), "by-headers"), "headers any");
}

TEST_F(DeadLetterPaths, EndWhereThereIsNoExchangeOrNoBinding) {
    const std::vector<DeadLetterAddress> addresses{{"nosuch", "k"}, {"amq.direct", "nothing"}};
    const auto reaches = find_dead_letter_reaches(scenario_.engine(), addresses);
    ASSERT_EQ(reaches.size(), 2U);
    EXPECT_EQ(reaches[0].exchange_type, "");
    EXPECT_FALSE(reaches[0].any_behind);
    EXPECT_EQ(reaches[1].exchange_type, "direct");
    EXPECT_TRUE(reaches[1].queues.empty());
}

TEST_F(DeadLetterPaths, AreListedForQueuesThatNameAnExchangeOrSawADeath) {
    declare("work", "amq.direct", "k");
    ch_.declare_queue("short", {.arguments = arguments({{"x-max-length", 1}})});
    ch_.publish("short", "one");
    ch_.publish("short", "two");
    std::string names;
    for (const DeadLetterSource& source : next_dead_letter_sources(scenario_.engine(), 0).items) {
        names += source.queue + " ";
    }
    EXPECT_EQ(names, "work short ");
    const auto source = find_dead_letter_source(scenario_.engine(), "short");
    EXPECT_EQ(source->deaths.of(DeathReason::maxlen, DeathOutcome::no_dlx), 1U);
    EXPECT_FALSE(source->exchange);
}

// No turn visits more than its limit, and together they cover all.
TEST_F(DeadLetterPaths, ComeInPortions) {
    scenario_.keep_in_memory();
    constexpr std::size_t count = 1'300;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string name = std::to_string(i);
        ch_.declare_queue("plain" + name);
        ch_.bind("amq.fanout", "plain" + name, "");
        declare(("work" + name).c_str(), "amq.direct", "k");
    }
    Engine& engine = scenario_.engine();
    const auto sources = whole_list([&](std::uint64_t after) {
        auto part = next_dead_letter_sources(engine, after);
        EXPECT_LE(part.items.size(), part_items_max);
        return part;
    });
    EXPECT_EQ(sources.size(), count);
    // With few queues per address a turn resolves a full part; with many, fewer.
    std::vector<DeadLetterAddress> addresses(count, {"amq.direct", "k"});
    EXPECT_EQ(find_dead_letter_reaches(engine, addresses).size(), part_items_max);
    addresses.assign(count, {"amq.fanout", "k"});
    const auto reaches = find_dead_letter_reaches(engine, addresses);
    ASSERT_EQ(reaches.size(), 1U);
    EXPECT_EQ(reaches.front().queues.size(), count);
}

TEST_F(DeadLetterPaths, EndInQueuesThatKnowTheOldestDeath) {
    scenario_.keep_in_memory();
    ch_.declare_queue("full", {.arguments = arguments({{"x-max-length", 1},
                                                       {"x-dead-letter-exchange", "amq.direct"},
                                                       {"x-dead-letter-routing-key", "k"}})});
    EXPECT_FALSE(find_dead_letter_rest(scenario_.engine(), "dead")->oldest);
    ch_.publish("full", "one");
    const Timestamp before = scenario_.now();
    ch_.publish("full", "two");
    const auto rest = find_dead_letter_rest(scenario_.engine(), "dead");
    EXPECT_EQ(rest->messages, 1U);
    EXPECT_EQ(rest->bytes, 3U);
    EXPECT_FALSE(rest->goes_on);
    ASSERT_TRUE(rest->oldest);
    EXPECT_GE(*rest->oldest, before);
    EXPECT_TRUE(find_dead_letter_rest(scenario_.engine(), "full")->goes_on);
    EXPECT_FALSE(find_dead_letter_rest(scenario_.engine(), "nosuch"));
}

}  // namespace
}  // namespace revenant::engine
