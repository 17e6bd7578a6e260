// Rejected messages are dead-lettered, requeued ones are not. tools/dead_letter_cases.txt maps the
// cases of RabbitMQ to tests.
#include "tests/support/dead_letter_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

TEST_P(EveryGroup, ANackKillsThatMessageOnly) {  // DL-2, DL-209
    declare_with_grave();
    publish({"1", "2", "3"});
    const auto tags = get(3);
    ch.nack(tags[0]);
    EXPECT_THAT(s.ready("dead"), ElementsAre("1"));
    EXPECT_EQ(died(DeathReason::rejected), 1U);
    ch.nack(tags[1]);
    ch.nack(tags[2]);
    EXPECT_THAT(s.ready("dead"), ElementsAre("1", "2", "3"));
    EXPECT_EQ(died(DeathReason::rejected), 3U);
}

TEST_P(EveryGroup, ANackOfManyMovesThemInOrder) {  // DL-2, DL-4
    declare_with_grave();
    publish({"1", "2", "3"});
    ch.nack_up_to(get(3).back());
    EXPECT_THAT(s.ready("dead"), ElementsAre("1", "2", "3"));
    EXPECT_EQ(died(DeathReason::rejected), 3U);
}

TEST_P(EveryGroup, ARejectLeavesTheOthersAlone) {  // DL-2
    declare_with_grave();
    publish({"1", "2", "3"});
    ch.reject(get(1).front());
    EXPECT_THAT(s.ready("q"), ElementsAre("2", "3"));
    EXPECT_THAT(s.ready("dead"), ElementsAre("1"));
    EXPECT_EQ(died(DeathReason::rejected), 1U);
}

TEST_P(EveryGroup, AHundredArriveInTheOrderOfTheirRejection) {  // DL-166
    declare_with_grave();
    publish(numbers(1, 100));
    for (const std::uint64_t tag : get(100)) ch.reject(tag);
    EXPECT_THAT(s.ready("dead"), ElementsAreArray(numbers(1, 100)));
    EXPECT_EQ(died(DeathReason::rejected), 100U);
}

TEST_P(EveryKind, RejectionsWithoutAnExchangeAreCounted) {  // DL-11
    declare("q");
    publish(numbers(1, 1000));
    for (const std::uint64_t tag : get(1000)) ch.reject(tag);
    EXPECT_EQ(died(DeathReason::rejected, DeathStrategy::disabled), 1000U);
    EXPECT_EQ(s.ended(Ending::no_dlx), 1000U);
}

TEST_P(EveryKind, AfterACancelMessagesCanStillBeSettled) {  // DL-2, DL-150
    declare_with_grave();
    publish({"1", "2", "3"});
    const auto consumer = ch.consume("q");
    const auto deliveries = ch.take_deliveries();
    ch.cancel(consumer);
    EXPECT_EQ(s.queue("q").unacked_count(), 3U);
    ch.ack(deliveries.at(0).tag);
    ch.nack(deliveries.at(1).tag);
    ch.requeue(deliveries.at(2).tag);
    EXPECT_THAT(s.ready("dead"), ElementsAre("2"));
    EXPECT_THAT(s.ready("q"), ElementsAre("3"));
}

TEST_F(QuorumCases, ANackOfAllKeepsTheirOrder) {  // DL-4, DL-208
    declare_with_grave();
    publish({"1", "2"});
    get(2);
    ch.nack_up_to(0);
    EXPECT_THAT(s.ready("dead"), ElementsAre("1", "2"));
}

TEST_F(ClassicCases, NackedTogetherTheyDieInTheOrderOfDelivery) {  // DL-4
    declare_dlx();
    declare("q", {{"x-max-priority", 3},
                  {"x-dead-letter-exchange", "dlx"},
                  {"x-dead-letter-routing-key", "dead"}});
    publish_with_priorities({1, 2, 3});
    ch.consume("q");
    EXPECT_THAT(ch.take_bodies(), ElementsAre("3", "2", "1"));
    ch.nack_up_to(0);
    EXPECT_THAT(s.ready("dead"), ElementsAre("3", "2", "1"));
}

TEST_F(QuorumCases, ALimitOfMemoryChangesNothing) {  // DL-57
    declare_with_grave({"x-max-in-memory-length", 0});
    publish({"1"});
    nack_head();
    EXPECT_THAT(s.ready("dead"), ElementsAre("1"));
}

// ------------------------------------------------------------------------------------- requeues

TEST_P(EveryGroup, ANackThatRequeuesIsNoDeath) {  // DL-16
    declare_with_grave();
    publish({"1", "2", "3"});
    const auto tags = get(3);
    ch.requeue(tags[0]);
    EXPECT_THAT(s.ready("q"), ElementsAre("1"));
    ch.requeue(tags[1]);
    ch.requeue(tags[2]);
    EXPECT_THAT(s.ready("q"), ElementsAre("1", "2", "3"));
    EXPECT_THAT(s.ready("dead"), IsEmpty());
    EXPECT_EQ(died(DeathReason::rejected), 0U);
}

TEST_P(EveryGroup, ANackThatRequeuesManyKeepsTheirOrder) {  // DL-16
    declare_with_grave();
    publish({"1", "2", "3"});
    ch.requeue_up_to(get(3).back());
    EXPECT_THAT(s.ready("q"), ElementsAre("1", "2", "3"));
    EXPECT_THAT(s.ready("dead"), IsEmpty());
}

TEST_P(EveryGroup, ARejectThatRequeuesPutsItInFrontAgain) {  // DL-16, DL-156
    declare_with_grave();
    set_policy({{"delivery-limit", 50}});
    publish({"1", "2", "3"});
    ch.fail(get(1).front());
    EXPECT_THAT(s.ready("q"), ElementsAre("1", "2", "3"));
    EXPECT_TRUE(take("q").redelivered);
    EXPECT_THAT(s.ready("dead"), IsEmpty());
}

TEST_P(EveryGroup, RequeuedOnceAndThenRejectedItDiesOnce) {  // DL-2
    declare_with_grave();
    publish({"1"});
    ch.fail(get(1).front());
    ch.reject(get(1).front());
    EXPECT_THAT(s.ready("q"), IsEmpty());
    EXPECT_THAT(s.ready("dead"), ElementsAre("1"));
    EXPECT_EQ(died(DeathReason::rejected), 1U);
}

TEST_P(EveryGroup, RequeuedAndGotAgainTheyDieLast) {  // DL-4
    declare_with_grave();
    publish({"1", "2", "3"});
    ch.requeue_up_to(get(3)[1]);
    get(2);
    ch.nack_up_to(0);
    EXPECT_THAT(s.ready("dead"), ElementsAre("3", "1", "2"));
}

TEST_P(EveryGroup, RequeuedAndConsumedAgainTheyDieLast) {  // DL-4, DL-156
    declare_with_grave();
    publish({"1", "2", "3"});
    ch.consume("q");
    EXPECT_THAT(ch.take_bodies(), ElementsAre("1", "2", "3"));
    ch.requeue_up_to(2);
    EXPECT_THAT(ch.take_bodies(), ElementsAre("1", "2"));
    ch.nack_up_to(0);
    EXPECT_THAT(s.ready("dead"), ElementsAre("3", "1", "2"));
}

// A classic queue restores the position of a message, a quorum queue uses the order of requeues.
TEST_P(EveryKind, RequeuedOnOneChannelTheyComeAgain) {  // DL-156
    declare("q");
    publish(numbers(1, 4));
    const auto tags = get(4);
    for (const std::size_t index : {2, 0, 3, 1}) ch.requeue(tags[index]);
    const std::vector<std::string> returned{"3", "1", "4", "2"};
    EXPECT_THAT(s.ready("q"), ElementsAreArray(is_classic() ? numbers(1, 4) : returned));
}

TEST_P(EveryKind, RequeuedOnTwoChannelsTheyComeAgain) {  // DL-156
    declare("q");
    publish(numbers(1, 4));
    ScenarioChannel& second = s.open_channel();
    get(2);
    second.get("q");
    second.get("q");
    second.requeue_up_to(0);
    ch.requeue_up_to(0);
    const std::vector<std::string> returned{"3", "4", "1", "2"};
    EXPECT_THAT(s.ready("q"), ElementsAreArray(is_classic() ? numbers(1, 4) : returned));
}

TEST_P(EveryKind, AClosedChannelReturnsAllInTheirOrder) {  // DL-150, DL-157
    declare("q");
    publish(numbers(1, 5));
    ScenarioChannel& lost = s.open_channel();
    lost.consume("q");
    EXPECT_THAT(lost.take_bodies(), ElementsAreArray(numbers(1, 5)));
    lost.close();
    EXPECT_THAT(s.ready("q"), ElementsAreArray(numbers(1, 5)));
}

TEST_P(EveryKind, ReturningNothingIsHarmless) {  // DL-16
    declare("q");
    ch.recover();
    ch.requeue_up_to(0);
    publish({"1"});
    ch.ack(get(1).front());
    ch.recover();
    EXPECT_EQ(s.queue("q").message_count(), 0U);
}

TEST_F(QuorumCases, AHundredComeAgainInTheOrderOfTheirReturn) {  // DL-156
    declare("q");
    publish(numbers(1, 100));
    ch.requeue_up_to(get(100).back());
    EXPECT_THAT(s.ready("q"), ElementsAreArray(numbers(1, 100)));
    const auto tags = get(100);
    std::vector<std::string> returned;
    for (std::size_t i = 0; i < 100; ++i) {
        const std::size_t index = i * 37 % 100;  // each once, in mixed order
        ch.requeue(tags[index]);
        returned.push_back(std::to_string(index + 1));
    }
    EXPECT_THAT(s.ready("q"), ElementsAreArray(returned));
}

TEST_F(ClassicCases, RequeuedTheyComeByPriorityAgain) {  // DL-156
    declare("q", {{"x-max-priority", 3}});
    publish_with_priorities({1, 2, 3});
    const auto tags = get(3);
    for (const std::size_t index : {1, 2, 0}) ch.requeue(tags[index]);
    EXPECT_THAT(s.ready("q"), ElementsAre("3", "2", "1"));
}

TEST_F(QuorumCases, BytesAreToldWhereTheMessageIs) {  // DL-143
    declare("q");
    publish({"abc"});
    const std::uint64_t bytes = s.queue("q").ready_bytes();
    EXPECT_GE(bytes, 3U);
    const auto tag = get(1).front();
    EXPECT_EQ(s.queue("q").ready_bytes(), 0U);
    EXPECT_EQ(s.queue("q").unacked_bytes(), bytes);
    ch.requeue(tag);
    EXPECT_EQ(s.queue("q").ready_bytes(), bytes);
    ch.ack(get(1).front());
    EXPECT_EQ(s.queue("q").ready_bytes() + s.queue("q").unacked_bytes(), 0U);
}

TEST_P(EveryKind, APurgeTakesWhatIsReady) {  // DL-15
    declare_with_grave();
    publish({"1", "2", "3"});
    const auto tag = get(1).front();
    EXPECT_EQ(ch.purge("q"), 2U);
    EXPECT_EQ(s.queue("q").unacked_count(), 1U);
    ch.requeue(tag);
    EXPECT_THAT(s.ready("q"), ElementsAre("1"));
    EXPECT_THAT(s.ready("dead"), IsEmpty());
}

}  // namespace
}  // namespace revenant::engine
