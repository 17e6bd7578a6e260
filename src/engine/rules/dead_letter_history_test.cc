// The death history of dead letters, and cycle detection. tools/dead_letter_cases.txt maps the
// cases of RabbitMQ to tests.
#include "tests/support/dead_letter_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_P(EveryGroup, EveryDeathAddsARecordInFront) {  // DL-75, DL-80
    declare("dead");
    declare("second", {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "dead"}});
    declare("q", {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "second"}});
    publish({"1"});
    nack_head("q");
    nack_head("second");
    const Delivery letter = take("dead");
    EXPECT_THAT(letter.deaths(), ElementsAre("second rejected 1", "q rejected 1"));
    EXPECT_EQ(letter.envelope->history.first, (DeathSummary{"q", DeathReason::rejected, ""}));
    EXPECT_EQ(letter.envelope->history.last, (DeathSummary{"second", DeathReason::rejected, ""}));
}

TEST_P(EveryGroup, ARecordTellsAllOfARejection) {  // DL-85
    declare_with_grave();
    publish({"1"});
    nack_head();
    const Delivery letter = take("dead");
    const Death expected{"q", DeathReason::rejected, 1, s.now(), s.now(), "", {"q"}, {}};
    EXPECT_THAT(letter.envelope->history.deaths, ElementsAre(expected));
    EXPECT_EQ(letter.exchange(), "dlx");
    EXPECT_EQ(letter.routing_key(), "dead");
}

TEST_P(EveryGroup, ARecordTellsTheMessagesOwnTimeToLiveOnly) {  // DL-6, DL-90
    declare_with_grave({"x-message-ttl", 1});
    publish({"queue's"});
    s.advance(milliseconds(1));
    const Delivery first = take("dead");
    EXPECT_THAT(first.deaths(), ElementsAre("q expired 1"));
    EXPECT_EQ(first.envelope->history.deaths.at(0).ttl_ms, std::nullopt);
    publish({"its own"}, {.ttl_ms = 1});
    s.advance(milliseconds(1));
    EXPECT_EQ(take("dead").envelope->history.deaths.at(0).ttl_ms, 1);
    EXPECT_EQ(died(DeathReason::expired), 2U);
}

// -------------------------------------------------------------------------------------- cycles

TEST_P(EveryGroup, RejectedExpiredExpiredTwiceRoundIsNoCycle) {  // DL-112, DL-117
    // The order of the names must not matter.
    using Names = std::array<const char*, 3>;
    for (const auto& [first, second, third] :
         {Names{"a1", "b1", "c1"}, Names{"c2", "b2", "a2"}, Names{"b3", "c3", "a3"}}) {
        declare(first, {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", second}});
        declare(second, {{"x-dead-letter-exchange", ""},
                         {"x-dead-letter-routing-key", third},
                         {"x-message-ttl", 1}});
        declare(third, {{"x-dead-letter-exchange", ""},
                        {"x-dead-letter-routing-key", first},
                        {"x-message-ttl", 1}});
        ch.publish(first, "m");
        for (int round = 0; round < 2; ++round) {
            nack_head(first);
            s.advance(milliseconds(2));
            ASSERT_THAT(s.ready(first), ElementsAre("m")) << first << second << third;
        }
        EXPECT_THAT(take(first).deaths(), ElementsAre(std::string(third) + " expired 2",
                                                      std::string(second) + " expired 2",
                                                      std::string(first) + " rejected 2"));
    }
}

TEST_P(EveryGroup, ARejectionToItselfComesBack) {  // DL-75, DL-113
    declare("q", {{"x-dead-letter-exchange", ""}});
    publish({"1"});
    nack_head();
    const auto once = ch.get("q");
    EXPECT_THAT(once->deaths(), ElementsAre("q rejected 1"));
    ch.nack(once->tag);
    EXPECT_THAT(take("q").deaths(), ElementsAre("q rejected 2"));
    EXPECT_EQ(died(DeathReason::rejected), 2U);
}

TEST_P(EveryKind, OverflowToItselfIsDroppedAndCounted) {  // DL-113, DL-118, DL-210
    declare("q", {{"x-dead-letter-exchange", ""}, {"x-max-length", 1}});
    publish({"1", "2"});
    EXPECT_THAT(s.ready("q"), ElementsAre("2"));
    EXPECT_EQ(died(DeathReason::maxlen), 1U);
    EXPECT_EQ(s.ended(Ending::cycle), 1U);
}

TEST_P(EveryKind, ExpiryToItselfIsDroppedAndCounted) {  // DL-113, DL-210
    declare("q", {{"x-dead-letter-exchange", ""}, {"x-message-ttl", 1}});
    publish({"1", "2"});
    s.advance(milliseconds(1));
    EXPECT_THAT(s.ready("q"), IsEmpty());
    EXPECT_EQ(died(DeathReason::expired), 2U);
    EXPECT_EQ(s.ended(Ending::cycle), 2U);
}

}  // namespace
}  // namespace revenant::engine
