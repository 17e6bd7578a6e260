// Overflow: the oldest message is dropped, or the newest refused. tools/dead_letter_cases.txt maps
// the cases of RabbitMQ to tests.
#include "tests/support/dead_letter_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

TEST_P(EveryKind, OverflowKillsTheOldestInOrder) {  // DL-1, DL-7, DL-137
    declare_with_grave({"x-max-length", 1});
    publish({"1", "2", "3"});
    EXPECT_THAT(s.ready("q"), ElementsAre("3"));
    EXPECT_THAT(s.ready("dead"), ElementsAre("1", "2"));
    EXPECT_EQ(died(DeathReason::maxlen), 2U);
    EXPECT_THAT(take("dead").deaths(), ElementsAre("q maxlen 1"));
}

TEST_P(EveryKind, OverflowWithoutAnExchangeIsCounted) {  // DL-11, DL-209
    declare("q", {{"x-max-length", 1}});
    publish(numbers(1, 1000));
    EXPECT_EQ(died(DeathReason::maxlen, DeathStrategy::disabled), 999U);
    EXPECT_EQ(died(DeathReason::maxlen), 0U);
}

TEST_P(EveryKind, TheNewestReplacesTheOlder) {  // DL-137
    declare("q", {{"x-max-length", 1}});
    declare("said", {{"x-max-length", 1}, {"x-overflow", "drop-head"}});
    for (const char* queue : {"q", "said"}) {
        for (const char* body : {"1", "2", "3"}) {
            EXPECT_TRUE(is_taken(body, queue));
            EXPECT_THAT(s.ready(queue), ElementsAre(body));
        }
    }
}

TEST_P(EveryKind, TheNewestReplacesTheOlderInBytes) {  // DL-136, DL-137
    declare("q", {{"x-max-length-bytes", 100}});
    declare("said", {{"x-max-length-bytes", 100}, {"x-overflow", "drop-head"}});
    for (const char* queue : {"q", "said"}) {
        for (const char letter : {'a', 'b', 'c'}) {
            const std::string body(80, letter);
            EXPECT_TRUE(is_taken(body.c_str(), queue));
            EXPECT_THAT(s.ready(queue), ElementsAre(body));
        }
    }
}

TEST_F(QuorumCases, ALargeMessageDiesAfterThoseBeforeIt) {  // DL-137, DL-146
    declare_with_grave({"x-max-length-bytes", 1000});
    const std::string large(1500, 'x');
    publish({"1", "2", large});
    EXPECT_THAT(s.ready("q"), IsEmpty());
    EXPECT_THAT(s.ready("dead"), ElementsAre("1", "2", large));
}

TEST_F(QuorumCases, ALoweredLimitDropsTheSurplus) {  // DL-10
    declare_with_grave();
    publish(numbers(1, 5));
    set_policy({{"max-length", 2}});
    EXPECT_THAT(s.ready("q"), ElementsAre("4", "5"));
    EXPECT_THAT(s.ready("dead"), ElementsAreArray(numbers(1, 3)));
    EXPECT_EQ(died(DeathReason::maxlen), 3U);
}

TEST_F(ClassicCases, OverflowTakesTheHighestPriorityFirst) {  // DL-145
    declare("q", {{"x-max-priority", 3}, {"x-max-length", 4}});
    publish_with_priorities({1, 2, 3, 1, 2, 3, 1, 2, 3});
    EXPECT_THAT(s.ready("q"), ElementsAre("2", "1", "1", "1"));
}

TEST_P(EveryKind, TheOperatorsOverflowWins) {  // DL-199
    declare("q");
    set_policy({{"max-length", 1}, {"overflow", "drop-head"}});
    set_policy({{"overflow", "reject-publish"}}, "^q$", PolicyScope::operator_only);
    EXPECT_EQ(s.queue("q").settings.overflow, Overflow::reject_publish);
    EXPECT_TRUE(refuses_soon("m"));
    EXPECT_EQ(s.ended(Ending::no_dlx), 0U);
}

TEST_P(EveryKind, WithoutItsPolicyTheOverflowDropsTheHeadAgain) {  // DL-23, DL-137
    declare("q", {{"x-max-length", 1}});
    set_policy({{"overflow", "reject-publish"}});
    EXPECT_TRUE(refuses_soon("old"));
    ch.clear_policy("p");
    EXPECT_TRUE(is_taken("new"));
    EXPECT_THAT(s.ready("q"), ElementsAre("new"));
}

// -------------------------------------------------------------------------- refused publishers

TEST_F(ClassicCases, WhatIsRefusedIsALetterOfTheQueueItNeverEntered) {  // DL-8, DL-139
    declare_dlx();
    declare("q", {{"x-dead-letter-exchange", "dlx"},
                  {"x-dead-letter-routing-key", "dead"},
                  {"x-max-length", 1},
                  {"x-overflow", "reject-publish-dlx"}});
    EXPECT_TRUE(is_taken("1"));
    EXPECT_FALSE(is_taken("2"));
    EXPECT_FALSE(is_taken("3"));
    EXPECT_THAT(s.ready("q"), ElementsAre("1"));
    EXPECT_THAT(s.ready("dead"), ElementsAre("2", "3"));
    EXPECT_EQ(died(DeathReason::maxlen), 2U);
    EXPECT_THAT(take("dead").deaths(), ElementsAre("q maxlen 1"));
}

TEST_F(ClassicCases, WithoutConfirmsARefusalIsSilent) {  // DL-18, DL-138
    declare_dlx();
    for (const Argument& limit : {Argument{"x-max-length", 1}, {"x-max-length-bytes", 10}}) {
        declare("q", {{"x-dead-letter-exchange", "dlx"},
                      {"x-dead-letter-routing-key", "dead"},
                      {"x-overflow", "reject-publish"},
                      limit});
        publish({"8 bytes.", "8 bytes!"});
        EXPECT_THAT(s.ready("q"), ElementsAre("8 bytes."));
        ch.ack(get(1).front());
        publish({"room now"});
        EXPECT_THAT(s.ready("q"), ElementsAre("room now"));
        ch.delete_queue("q");
    }
    EXPECT_THAT(ch.take_confirms(), IsEmpty());
    EXPECT_THAT(ch.take_returns(), IsEmpty());
    EXPECT_THAT(s.ready("dead"), IsEmpty());
    EXPECT_EQ(died(DeathReason::maxlen), 0U);
}

TEST_F(ClassicCases, EveryPublishHasOneVerdict) {  // DL-138, DL-139
    declare_dlx();
    for (const char* overflow : {"reject-publish", "reject-publish-dlx"}) {
        declare("q", {{"x-dead-letter-exchange", "dlx"},
                      {"x-dead-letter-routing-key", "dead"},
                      {"x-max-length", 12},
                      {"x-overflow", overflow}});
        std::uint64_t accepted = 0;
        std::uint64_t refused = 0;
        for (int i = 0; i < 3000; ++i) {
            (is_taken("m") ? accepted : refused) += 1;
            if (i % 3 == 0) ch.ack(get(1).front());
        }
        EXPECT_EQ(accepted + refused, 3000U);
        EXPECT_GE(accepted, 1000U);
        EXPECT_GE(refused, 1000U);
        EXPECT_EQ(s.queue("q").ready_count(), accepted - 1000);
        EXPECT_EQ(s.queue("dead").ready_count(),
                  std::string(overflow) == "reject-publish" ? 0U : refused);
        ch.delete_queue("q");
    }
}

TEST_F(ClassicCases, ARefusingQueueKeepsTheFirstOfAnyPriority) {  // DL-145
    for (const char* overflow : {"reject-publish", "reject-publish-dlx"}) {
        declare("q", {{"x-max-priority", 3}, {"x-max-length", 4}, {"x-overflow", overflow}});
        publish_with_priorities({1, 2, 3, 1, 2, 3, 1, 2, 3});
        EXPECT_THAT(s.ready("q"), ElementsAre("3", "2", "1", "1")) << overflow;
        ch.delete_queue("q");
    }
}

TEST_F(QuorumCases, PublishersStopOneBeyondTheLimitAndGoOnWhenItIsEmpty) {  // DL-140
    declare("q", {{"x-max-length", 1}, {"x-overflow", "reject-publish"}});
    EXPECT_TRUE(is_taken("1"));
    EXPECT_TRUE(is_taken("2"));
    EXPECT_FALSE(is_taken("3"));
    ScenarioChannel& another = s.open_channel();
    another.publish("q", "4", {.confirm = true});
    EXPECT_FALSE(another.take_confirms().at(0).accepted) << "a new publisher, too";
    EXPECT_EQ(take("q").body(), "1");
    EXPECT_EQ(take("q").body(), "2");
    EXPECT_TRUE(is_taken("5"));
    EXPECT_THAT(s.ready("q"), ElementsAre("5"));
}

TEST_F(QuorumCases, PublishersGoOnWhenTheLimitIsLifted) {  // DL-140
    declare("q", {{"x-overflow", "reject-publish"}});
    set_policy({{"max-length", 2}});
    for (const char* body : {"1", "2", "3"}) EXPECT_TRUE(is_taken(body));
    EXPECT_FALSE(is_taken("4"));
    ch.clear_policy("p");
    EXPECT_TRUE(is_taken("5"));
}

TEST_F(QuorumCases, PublishersGoOnAfterAPurgeAndStopAtALaterLimit) {  // DL-140
    declare("q", {{"x-overflow", "reject-publish"}});
    for (const char* body : {"1", "2", "3"}) EXPECT_TRUE(is_taken(body));
    set_policy({{"max-length", 2}});
    EXPECT_FALSE(is_taken("4"));
    EXPECT_EQ(ch.purge("q"), 3U);
    EXPECT_TRUE(is_taken("5"));
}

}  // namespace
}  // namespace revenant::engine
