#include "message/death.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace revenant {
namespace {

using ::testing::ElementsAre;

Death death(std::string queue, DeathReason reason, std::int64_t at_ms = 0) {
    Death made;
    made.queue = std::move(queue);
    made.reason = reason;
    made.first_time = {at_ms * 1000};
    made.last_time = {at_ms * 1000};
    made.exchange = "x-" + made.queue;
    made.routing_keys = {"k-" + made.queue};
    return made;
}

DeathHistory after(std::initializer_list<Death> deaths) {
    DeathHistory history;
    for (const Death& one : deaths) {
        history = with_death(history.deaths.empty() ? nullptr : &history, one);
    }
    return history;
}

std::vector<std::string> told(const DeathHistory& history) {
    std::vector<std::string> lines;
    for (const Death& one : history.deaths) {
        lines.push_back(one.queue + ' ' + std::string(to_string(one.reason)) + ' ' +
                        std::to_string(one.count));
    }
    return lines;
}

TEST(Death, HasFourReasonsWithTheirWireSpelling) {  // DL-1
    EXPECT_EQ(to_string(DeathReason::rejected), "rejected");
    EXPECT_EQ(to_string(DeathReason::expired), "expired");
    EXPECT_EQ(to_string(DeathReason::maxlen), "maxlen");
    EXPECT_EQ(to_string(DeathReason::delivery_limit), "delivery_limit");
}

TEST(DeathHistory, ANewPairOfQueueAndReasonComesInFront) {  // DL-75
    EXPECT_THAT(told(after({death("a", DeathReason::rejected), death("b", DeathReason::rejected),
                            death("a", DeathReason::expired)})),
                ElementsAre("a expired 1", "b rejected 1", "a rejected 1"));
}

TEST(DeathHistory, AKnownPairIsCountedAndMovesToTheFront) {  // DL-75
    EXPECT_THAT(told(after({death("a", DeathReason::rejected), death("b", DeathReason::expired),
                            death("c", DeathReason::maxlen), death("a", DeathReason::rejected)})),
                ElementsAre("a rejected 2", "c maxlen 1", "b expired 1"));
}

TEST(DeathHistory, AKnownPairKeepsAllElseOfItsFirstDeath) {  // DL-76
    Death first = death("a", DeathReason::rejected, 100);
    first.ttl_ms = 60'000;
    Death again = death("a", DeathReason::rejected, 200);
    again.exchange = "other";
    again.routing_keys = {"another"};
    const DeathHistory history = after({first, again});
    ASSERT_EQ(history.deaths.size(), 1U);
    const Death& kept = history.deaths.front();
    EXPECT_EQ(kept.count, 2U);
    EXPECT_EQ(kept.exchange, "x-a");
    EXPECT_THAT(kept.routing_keys, ElementsAre("k-a"));
    EXPECT_EQ(kept.ttl_ms, 60'000);
    EXPECT_EQ(kept.first_time.whole_ms(), 100);
    EXPECT_EQ(kept.last_time.whole_ms(), 200);
}

TEST(DeathHistory, TheFirstDeathStaysFirstAndTheLastIsAlwaysTheLatest) {  // DL-80
    const DeathHistory once = after({death("a", DeathReason::rejected)});
    EXPECT_EQ(once.first, once.last);
    const DeathHistory thrice =
        after({death("a", DeathReason::rejected), death("b", DeathReason::expired),
               death("c", DeathReason::maxlen)});
    EXPECT_EQ(thrice.first, (DeathSummary{"a", DeathReason::rejected, "x-a"}));
    EXPECT_EQ(thrice.last, (DeathSummary{"c", DeathReason::maxlen, "x-c"}));
}

TEST(DeathHistory, TheLastDeathIsMarkedThoughItsPairIsKnown) {  // DL-80
    Death again = death("a", DeathReason::rejected);
    again.exchange = "dlx";
    const DeathHistory history =
        after({death("a", DeathReason::rejected), death("b", DeathReason::expired), again});
    EXPECT_EQ(history.last, (DeathSummary{"a", DeathReason::rejected, "dlx"}));
    EXPECT_EQ(history.first, (DeathSummary{"a", DeathReason::rejected, "x-a"}));
}

TEST(DeathHistory, LeavesTheHistoryBeforeItUntouched) {  // shared between entries
    const DeathHistory before = after({death("a", DeathReason::rejected)});
    const DeathHistory copy = before;
    (void)with_death(&before, death("a", DeathReason::rejected));
    EXPECT_EQ(before, copy);
}

TEST(DeathHistory, NothingBoundsTheNumberOfPairs) {  // DL-82
    DeathHistory history;
    for (int i = 0; i < 200; ++i) {
        history = with_death(i == 0 ? nullptr : &history,
                             death("q" + std::to_string(i), DeathReason::expired));
    }
    EXPECT_EQ(history.deaths.size(), 200U);
    EXPECT_EQ(history.deaths.front().queue, "q199");
    EXPECT_EQ(history.first.queue, "q0");
}

TEST(Cycle, AQueueThatExpiresOrOverflowsToItselfIsOneAtOnce) {  // DL-113
    for (const DeathReason reason :
         {DeathReason::expired, DeathReason::maxlen, DeathReason::delivery_limit}) {  // DL-119
        EXPECT_TRUE(closes_cycle(after({death("q", reason)}), reason, "q"));
        EXPECT_FALSE(closes_cycle(after({death("q", reason)}), reason, "other"));
    }
}

TEST(Cycle, AQueueThatRejectsToItselfNeverIs) {  // DL-111, DL-113
    EXPECT_FALSE(
        closes_cycle(after({death("q", DeathReason::rejected)}), DeathReason::rejected, "q"));
    EXPECT_FALSE(
        closes_cycle(after({death("q", DeathReason::expired), death("q", DeathReason::rejected)}),
                     DeathReason::rejected, "q"));
}

TEST(Cycle, ARejectionBreaksItOnlyInFrontOfTheTargetsRecord) {  // DL-112, DL-114
    DeathHistory history =
        after({death("q1", DeathReason::rejected), death("q2", DeathReason::expired),
               death("q3", DeathReason::expired)});
    EXPECT_FALSE(closes_cycle(history, DeathReason::expired, "q1"));
    EXPECT_TRUE(closes_cycle(history, DeathReason::expired, "q2"));
    EXPECT_TRUE(closes_cycle(history, DeathReason::expired, "q3"));

    history = with_death(&history, death("q1", DeathReason::rejected));
    for (const char* queue : {"q1", "q2", "q3"}) {
        EXPECT_FALSE(closes_cycle(history, DeathReason::expired, queue)) << queue;
    }

    history = with_death(&history, death("q2", DeathReason::expired));
    EXPECT_THAT(told(history), ElementsAre("q2 expired 2", "q1 rejected 2", "q3 expired 1"));
    EXPECT_TRUE(closes_cycle(history, DeathReason::expired, "q2"));
    EXPECT_FALSE(closes_cycle(history, DeathReason::expired, "q1"));
    EXPECT_FALSE(closes_cycle(history, DeathReason::expired, "q3"));
}

TEST(Cycle, QueueNamesDoNotInfluenceTheResult) {  // DL-117
    const std::vector<std::string> names{"a", "b", "c"};
    std::vector<std::string> order = names;
    do {
        const DeathHistory history =
            after({death(order[0], DeathReason::rejected), death(order[1], DeathReason::expired),
                   death(order[2], DeathReason::expired)});
        EXPECT_FALSE(closes_cycle(history, DeathReason::expired, order[0]));
        EXPECT_TRUE(closes_cycle(history, DeathReason::expired, order[1]));
        EXPECT_TRUE(closes_cycle(history, DeathReason::expired, order[2]));
    } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace
}  // namespace revenant
