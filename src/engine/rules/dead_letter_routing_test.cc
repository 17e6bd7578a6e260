// Routing of dead letters. tools/dead_letter_cases.txt maps the cases of RabbitMQ to tests.
#include "tests/support/dead_letter_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

TEST_P(EveryGroup, WithoutARouteALetterIsLostOrWaits) {  // DL-55, DL-63, DL-173
    ch.declare_exchange("dlx", "direct");
    declare("dead");
    declare("q", {{"x-dead-letter-exchange", "dlx"}});
    publish({"1"});
    nack_head();
    EXPECT_EQ(s.queue("q").message_count(), is_at_least_once() ? 1U : 0U);
    EXPECT_EQ(s.queue("q").ready_count(), 0U);
    EXPECT_EQ(died(DeathReason::rejected), 1U);
    ch.bind("dlx", "dead", "q");
    publish({"2"});
    nack_head();
    EXPECT_THAT(s.ready("dead"),
                ElementsAreArray(is_at_least_once() ? numbers(1, 2) : numbers(2, 2)));
}

TEST_P(EveryKind, AMissingExchangeIsFoundOnceItIsThere) {  // DL-48, DL-210
    declare("dead");
    declare("q", {{"x-dead-letter-exchange", "dlx"}, {"x-dead-letter-routing-key", "dead"}});
    publish({"1", "2"});
    nack_head();
    EXPECT_EQ(died(DeathReason::rejected, DeathStrategy::disabled), 1U);
    ch.declare_exchange("dlx", "direct");
    ch.bind("dlx", "dead", "dead");
    nack_head();
    EXPECT_THAT(s.ready("dead"), ElementsAre("2"));
    EXPECT_EQ(died(DeathReason::rejected, DeathStrategy::at_most_once), 1U);
}

TEST_P(EveryGroup, TheKeysOfCopiesRouteALetter) {  // DL-63
    ch.declare_exchange("dlx", "direct");
    for (const char* grave : {"carbon", "blind"}) {
        declare(grave);
        ch.bind("dlx", grave, grave + std::string(" copy"));
    }
    declare("q", {{"x-dead-letter-exchange", "dlx"}});
    publish({"1"}, {.cc = {"carbon copy"}});
    publish({"2"}, {.bcc = {"blind copy"}});
    nack_head();
    nack_head();
    EXPECT_THAT(s.ready("carbon"), ElementsAre("1"));
    EXPECT_THAT(s.ready("blind"), ElementsAre("2"));
    EXPECT_THAT(take("blind").envelope->history.deaths.at(0).routing_keys, ElementsAre("q"));
}

TEST_P(EveryGroup, AHeadersExchangeSelectsByTheFirstDeath) {  // DL-52
    ch.declare_exchange("dlx", "headers");
    for (const char* queue : {"all", "any"}) declare(queue);
    ch.bind("dlx", "all", "",
            {.arguments = arguments({{"x-match", "all-with-x"},
                                     {"x-first-death-reason", "rejected"},
                                     {"x-first-death-queue", "q"}})});
    ch.bind(
        "dlx", "any", "",
        {.arguments = arguments({{"x-match", "any-with-x"}, {"x-first-death-reason", "expired"}})});
    for (const char* queue : {"q", "other"}) declare(queue, {{"x-dead-letter-exchange", "dlx"}});
    publish({"rejected"});
    nack_head();
    publish({"expired"}, {.ttl_ms = 1});
    s.advance(milliseconds(1));
    ch.publish("other", "of another queue");
    nack_head("other");
    EXPECT_THAT(s.ready("all"), ElementsAre("rejected"));
    EXPECT_THAT(s.ready("any"), ElementsAre("expired"));
    EXPECT_EQ(s.queue("other").message_count(), is_at_least_once() ? 1U : 0U);
}

TEST_F(QuorumCases, AConsistentHashKeepsEqualIdsTogether) {  // DL-49
    ch.declare_exchange("dlx", "x-consistent-hash",
                        {.arguments = arguments({{"hash-property", "correlation_id"}})});
    for (const char* target : {"one", "two"}) {
        declare(target);
        ch.bind("dlx", target, "1");
    }
    declare("q", {{"x-dead-letter-exchange", "dlx"}, {"x-message-ttl", 0}});
    for (int i = 0; i < 200; ++i) {
        const std::string id = std::to_string(i % 40);
        publish({id}, {.properties = arguments({{"correlation_id", id}})});
    }
    s.advance(milliseconds(1));
    std::map<std::string, std::set<std::string>> places;
    for (const char* target : {"one", "two"}) {
        EXPECT_GT(s.queue(target).ready_count(), 0U) << target;
        for (const std::string& id : s.ready(target)) places[id].insert(target);
    }
    EXPECT_EQ(s.queue("one").ready_count() + s.queue("two").ready_count(), 200U);
    ASSERT_EQ(places.size(), 40U);
    for (const auto& [id, targets] : places) EXPECT_EQ(targets.size(), 1U) << id;
}

}  // namespace
}  // namespace revenant::engine
