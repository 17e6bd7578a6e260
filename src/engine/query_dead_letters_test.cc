#include "engine/query.h"
#include "tests/support/scenario.h"

#include <gtest/gtest.h>

namespace revenant::engine {
namespace {

std::string targets_of(Engine& engine, std::string_view queue) {
    const auto path = find_dead_letter_path(engine, queue);
    if (!path) return "no queue";
    std::string text;
    for (const std::string& target : path->targets) text += target + " ";
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

TEST_F(DeadLetterPaths, LeadEverywhereWhenMessagesKeepTheirKeys) {
    declare("any", "amq.direct");
    EXPECT_EQ(targets_of(scenario_.engine(), "any"), "dead late other ");
    declare("default", "");
    const auto path = find_dead_letter_path(scenario_.engine(), "default");
    EXPECT_TRUE(path->targets_unknown);
    EXPECT_TRUE(path->targets.empty());
}

TEST_F(DeadLetterPaths, EndWhereThereIsNoExchangeOrNoBinding) {
    declare("lost", "nosuch");
    declare("unbound", "amq.direct", "nothing");
    const auto lost = find_dead_letter_path(scenario_.engine(), "lost");
    EXPECT_EQ(lost->exchange, "nosuch");
    EXPECT_EQ(lost->exchange_type, "");
    const auto unbound = find_dead_letter_path(scenario_.engine(), "unbound");
    EXPECT_EQ(unbound->exchange_type, "direct");
    EXPECT_TRUE(unbound->targets.empty());
    EXPECT_FALSE(unbound->targets_unknown);
}

TEST_F(DeadLetterPaths, AreListedForQueuesThatNameAnExchangeOrSawADeath) {
    declare("work", "amq.direct", "k");
    ch_.declare_queue("short", {.arguments = arguments({{"x-max-length", 1}})});
    ch_.publish("short", "one");
    ch_.publish("short", "two");
    std::string names;
    for (const DeadLetterPath& path : list_dead_letter_paths(scenario_.engine())) {
        names += path.queue + " ";
    }
    EXPECT_EQ(names, "short work ");
    const auto path = find_dead_letter_path(scenario_.engine(), "short");
    EXPECT_EQ(path->deaths.of(DeathReason::maxlen, DeathOutcome::no_dlx), 1U);
    EXPECT_FALSE(path->exchange);
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
