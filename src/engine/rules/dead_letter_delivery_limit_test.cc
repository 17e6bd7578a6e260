// Delivery limit and delayed retry. tools/dead_letter_cases.txt maps the cases of RabbitMQ to
// tests.
#include "tests/support/dead_letter_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

TEST_F(QuorumCases, AFailedRangeDiesInItsOrder) {  // DL-150, DL-158
    declare_with_grave({"x-delivery-limit", 0});
    publish({"1", "2", "3"});
    ch.settle(get(3)[1], {OutcomeKind::released, /*delivery_failed=*/true}, /*multiple=*/true);
    EXPECT_THAT(s.ready("dead"), ElementsAre("1", "2"));
    EXPECT_THAT(take("dead").deaths(), ElementsAre("q delivery_limit 1"));
}

TEST_F(QuorumCases, RejectsAreCountedForConsumersAndGets) {  // DL-152, DL-154
    declare("q");
    const auto check = [&](const Delivery& delivery, std::uint32_t count) {
        EXPECT_EQ(delivery.counts.delivery, count);
        EXPECT_EQ(delivery.redelivered, count > 0);
        count < 2 ? ch.fail(delivery.tag) : ch.ack(delivery.tag);
    };
    publish({"got"});
    for (const std::uint32_t count : {0, 1, 2}) check(ch.get("q").value(), count);
    ch.consume("q");
    publish({"consumed"});
    for (const std::uint32_t count : {0, 1, 2}) check(ch.take_delivery(), count);
}

TEST_F(QuorumCases, TwoLostConsumersAreTooManyForALimitOfOne) {  // DL-148, DL-150
    declare("q", {{"x-delivery-limit", 1}});
    publish({"1"});
    EXPECT_THAT(crash(), ElementsAre("1"));
    EXPECT_EQ(ch.get("q")->counts.delivery, 1U);
    ch.recover();
    EXPECT_THAT(crash(), ElementsAre("1"));
    EXPECT_EQ(s.queue("q").message_count(), 0U);
    EXPECT_EQ(died(DeathReason::delivery_limit, DeathStrategy::disabled), 1U);
}

TEST_F(QuorumCases, ANegativeLimitIsNone) {  // DL-149
    declare("q", {{"x-delivery-limit", -1}});
    publish({"1"});
    for (int i = 0; i < 50; ++i) EXPECT_THAT(crash(), ElementsAre("1"));
    EXPECT_THAT(s.ready("q"), ElementsAre("1"));
}

TEST_F(QuorumCases, PairsDieAfterTwoLostConsumers) {  // DL-151
    declare_with_grave({"x-delivery-limit", 1});
    publish(numbers(1, 5));
    for (int i = 0; i < 2; ++i) EXPECT_THAT(crash(2), ElementsAre("1", "2"));
    EXPECT_THAT(s.ready("dead"), ElementsAre("1", "2"));
    for (int i = 0; i < 2; ++i) EXPECT_THAT(crash(2), ElementsAre("3", "4"));
    for (int i = 0; i < 2; ++i) EXPECT_THAT(crash(2), ElementsAre("5"));
    EXPECT_THAT(s.ready("dead"), ElementsAreArray(numbers(1, 5)));
}

TEST_F(QuorumCases, AConsumersWindowIsFreeAgainAfterADeath) {  // DL-151
    declare_with_grave({"x-delivery-limit", 0});
    publish(numbers(1, 5));
    ch.qos(2);
    ch.consume("q");
    for (const auto& pair : {numbers(1, 2), numbers(3, 4), numbers(5, 5)}) {
        EXPECT_THAT(ch.take_bodies(), ElementsAreArray(pair));
        ch.settle(0, {OutcomeKind::released, /*delivery_failed=*/true}, /*multiple=*/true);
    }
    EXPECT_THAT(s.ready("dead"), ElementsAreArray(numbers(1, 5)));
}

TEST_F(QuorumCases, APolicyMayLimitThem) {  // DL-149
    declare("q");
    set_policy({{"delivery-limit", 1}});
    publish({"1"});
    EXPECT_THAT(crash(), ElementsAre("1"));
    EXPECT_THAT(crash(), ElementsAre("1"));
    EXPECT_EQ(s.queue("q").message_count(), 0U);
}

TEST_F(QuorumCases, TheLimitFollowsItsPolicyWhileTheQueueRuns) {  // DL-148, DL-149
    declare("q");
    EXPECT_EQ(failures_until_death(), 21);
    set_policy({{"delivery-limit", 5}});
    EXPECT_EQ(failures_until_death(), 6);
    set_policy({{"delivery-limit", 10}});
    EXPECT_EQ(failures_until_death(), 11);
    set_policy({{"delivery-limit", -1}});
    EXPECT_EQ(failures_until_death(), 100);
    ch.purge("q");
    ch.clear_policy("p");
    EXPECT_EQ(failures_until_death(), 21);
}

TEST_F(QuorumCases, ACountComesAlongAndMeetsTheLimitOfTheTarget) {  // DL-155
    declare("second", {{"x-delivery-limit", 2},
                       {"x-dead-letter-exchange", ""},
                       {"x-dead-letter-routing-key", "last"}});
    declare("last");
    declare("q", {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "second"}});
    publish({"1"});
    for (int i = 0; i < 2; ++i) ch.fail(get(1).front());
    nack_head();
    EXPECT_EQ(ch.get("second")->counts.delivery, 2U);
    ch.recover();
    EXPECT_THAT(s.ready("second"), ElementsAre("1"));
    ch.fail(get(1, "second").front());
    EXPECT_THAT(take("last").deaths(), ElementsAre("second delivery_limit 1", "q rejected 1"));
}

// ------------------------------------------------------------------------------- delayed retry

// Whether a message is delayed after a failure, after a requeue, after its consumer was lost.
struct Waits {
    const char* type;
    bool failed;
    bool returned;
    bool lost;
};

class DelayedRetryTypes : public ::testing::TestWithParam<Waits>, protected DeadLetterFixture {
  protected:
    DelayedRetryTypes() : DeadLetterFixture(Group::quorum) {}
};
INSTANTIATE_TEST_SUITE_P(Cases, DelayedRetryTypes,
                         ::testing::Values(Waits{"disabled", false, false, false},
                                           Waits{"all", true, true, true},
                                           Waits{"failed", true, false, true},
                                           Waits{"returned", false, true, false}),
                         [](const auto& waits) { return std::string(waits.param.type); });

TEST_P(DelayedRetryTypes, DecideWhichReturnsWait) {  // DL-150, DL-160, DL-161
    declare("q", {{"x-delayed-retry-type", GetParam().type}, {"x-delayed-retry-min", 10}});
    publish({"m"});
    const auto check = [&](bool waits, const char* after) {
        EXPECT_EQ(s.queue("q").delayed().count, waits ? 1U : 0U) << after;
        EXPECT_EQ(s.queue("q").ready_count(), waits ? 0U : 1U) << after;
        s.advance(milliseconds(30));
        EXPECT_EQ(s.queue("q").ready_count(), 1U) << after;
    };
    ch.requeue(get(1).front());
    check(GetParam().returned, "a plain return");
    ch.fail(get(1).front());
    check(GetParam().failed, "a failure");
    const ConnectionId connection = s.connect();
    s.open_channel(connection).get("q");
    s.close(connection);
    check(GetParam().lost, "a lost consumer");
}

TEST_F(QuorumCases, WhatWaitsForARetryFillsTheQueue) {  // DL-163
    declare("q", {{"x-delayed-retry-type", "all"},
                  {"x-delayed-retry-min", 10},
                  {"x-max-length", 1},
                  {"x-overflow", "reject-publish"}});
    for (const char* body : {"1", "2"}) EXPECT_TRUE(is_taken(body));
    for (const std::uint64_t tag : get(2)) ch.requeue(tag);
    EXPECT_EQ(s.queue("q").delayed().count, 2U);
    EXPECT_FALSE(is_taken("3"));
    EXPECT_EQ(ch.purge("q"), 2U);
    EXPECT_TRUE(is_taken("4"));
}

}  // namespace
}  // namespace revenant::engine
