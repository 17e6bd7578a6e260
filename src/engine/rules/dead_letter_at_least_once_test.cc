// At-least-once dead-lettering of quorum queues. tools/dead_letter_cases.txt maps the cases of
// RabbitMQ to tests.
#include "tests/support/dead_letter_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

class AtLeastOnceCases : public ::testing::Test, protected DeadLetterFixture {
  protected:
    AtLeastOnceCases() : DeadLetterFixture(Group::at_least_once) {}
    void kill(const std::string& body) {
        ch.publish("q", body);
        nack_head();
    }
};

TEST_F(AtLeastOnceCases, WhatExpiredIsForwardedWhole) {  // DL-172, DL-176
    declare_with_grave();
    publish({"1"}, {.ttl_ms = 1});
    s.advance(milliseconds(1));
    const Delivery letter = take("dead");
    const Death expected{"q", DeathReason::expired, 1, s.now(), s.now(), "", {"q"}, 1};
    EXPECT_THAT(letter.envelope->history.deaths, ElementsAre(expected));
    EXPECT_EQ(letter.envelope->history.first, (DeathSummary{"q", DeathReason::expired, ""}));
    EXPECT_EQ(letter.envelope->history.last, (DeathSummary{"q", DeathReason::expired, ""}));
    EXPECT_EQ(died(DeathReason::expired), 1U);
    EXPECT_EQ(confirmed(), 1U);
    EXPECT_EQ(s.queue("q").message_count(), 0U);
}

TEST_F(AtLeastOnceCases, WhatWasRejectedIsForwardedWhole) {  // DL-172
    declare_with_grave();
    kill("1");
    const Death expected{"q", DeathReason::rejected, 1, s.now(), s.now(), "", {"q"}, {}};
    EXPECT_THAT(take("dead").envelope->history.deaths, ElementsAre(expected));
    EXPECT_EQ(died(DeathReason::rejected), 1U);
    EXPECT_EQ(confirmed(), 1U);
}

TEST_F(AtLeastOnceCases, WhatFailedOnceTooOftenIsForwarded) {  // DL-148, DL-150
    declare_with_grave({"x-delivery-limit", 0});
    publish({"1"});
    ScenarioChannel& lost = s.open_channel();
    lost.get("q");
    lost.ack(77);  // an error closes the channel
    EXPECT_TRUE(lost.take_refusal());
    EXPECT_THAT(take("dead").deaths(), ElementsAre("q delivery_limit 1"));
    EXPECT_EQ(died(DeathReason::delivery_limit), 1U);
    EXPECT_EQ(confirmed(), 1U);
}

TEST_F(AtLeastOnceCases, WithoutABindingALetterWaitsAndLosesItsTimeToLive) {  // DL-70, DL-177
    ch.declare_exchange("dlx", "direct");
    declare("dead");
    declare("q", {{"x-dead-letter-exchange", "dlx"}});
    publish({"1"}, {.ttl_ms = 1});
    s.advance(seconds(1));
    EXPECT_EQ(waiting(), 1U);
    EXPECT_EQ(confirmed(), 0U);
    ch.bind("dlx", "dead", "q");
    EXPECT_EQ(waiting(), 0U);
    EXPECT_EQ(confirmed(), 1U);
    s.advance(seconds(1));
    EXPECT_THAT(s.ready("dead"), ElementsAre("1")) << "it does not expire again";
}

TEST_F(AtLeastOnceCases, AClassicQueueMayTakeTheDeletedTargetsPlace) {  // DL-181, DL-182
    declare("dead");
    declare("q", {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "dead"}});
    kill("1");
    EXPECT_THAT(s.ready("dead"), ElementsAre("1"));
    ch.delete_queue("dead");
    kill("2");
    EXPECT_EQ(waiting(), 1U);
    ch.declare_queue("dead", {.durable = true});
    EXPECT_THAT(s.ready("dead"), ElementsAre("2"));
    EXPECT_EQ(confirmed(), 2U);
}

TEST_F(AtLeastOnceCases, ACycleIsKeptUntilAPolicyNamesAnotherKey) {  // DL-116, DL-186, DL-24
    declare("dead");
    declare("q", {{"x-dead-letter-exchange", ""}});
    publish({"1"}, {.ttl_ms = 0});
    s.advance(milliseconds(1));
    EXPECT_EQ(waiting(), 1U);
    EXPECT_EQ(s.ended(Ending::cycle), 0U);
    set_policy({{"dead-letter-routing-key", "dead"}});
    EXPECT_THAT(s.ready("dead"), ElementsAre("1"));
    EXPECT_EQ(waiting(), 0U);
    EXPECT_EQ(confirmed(), 1U);
}

TEST_F(AtLeastOnceCases, WhatWaitsIsCountedInMessagesAndBytes) {  // DL-143, DL-173, DL-211
    ch.declare_exchange("dlx", "direct");
    declare("dead");
    declare("q", {{"x-dead-letter-exchange", "dlx"}});
    for (int i = 0; i < 10; ++i) publish({"ab"}, {.ttl_ms = 0});
    const std::uint64_t bytes = s.queue("q").ready_bytes();
    EXPECT_GE(bytes, 20U);
    s.advance(milliseconds(1));
    EXPECT_EQ(s.queue("q").outbox(), (MessageTotals{10, bytes}));
    EXPECT_EQ(s.queue("q").ready_bytes(), 0U);
    EXPECT_EQ(s.queue("q").message_count(), 10U);
    EXPECT_EQ(confirmed(), 0U);
    ch.bind("dlx", "dead", "q");
    EXPECT_EQ(s.queue("q").outbox(), MessageTotals{});
    EXPECT_EQ(s.queue("q").message_count(), 0U);
    EXPECT_EQ(confirmed(), 10U);
}

TEST_F(AtLeastOnceCases, WithDropHeadItIsAtMostOnce) {  // DL-171
    ch.declare_queue("q", {.durable = true,
                           .arguments = arguments({{"x-queue-type", "quorum"},
                                                   {"x-dead-letter-exchange", "amq.direct"},
                                                   {"x-dead-letter-strategy", "at-least-once"},
                                                   {"x-overflow", "drop-head"}})});
    kill("1");
    EXPECT_EQ(s.queue("q").message_count(), 0U);
    EXPECT_EQ(died(DeathReason::rejected, DeathStrategy::at_most_once), 1U);
    EXPECT_EQ(died(DeathReason::rejected, DeathStrategy::at_least_once), 0U);
}

// RabbitMQ deletes the five when the strategy changes back; here they stay and are delivered.
TEST_F(AtLeastOnceCases, APolicyTurnsItOnAndOff) {  // DL-188, intentionally different
    ch.declare_exchange("dlx", "direct");
    declare("dead");
    ch.declare_queue("q", {.durable = true,
                           .arguments = arguments({{"x-queue-type", "quorum"},
                                                   {"x-dead-letter-exchange", "dlx"},
                                                   {"x-overflow", "reject-publish"}})});
    kill("lost");
    EXPECT_EQ(waiting(), 0U);
    set_policy({{"dead-letter-strategy", "at-least-once"}});
    for (const std::string& body : numbers(1, 5)) kill(body);
    EXPECT_EQ(waiting(), 5U);
    set_policy({{"dead-letter-strategy", "at-most-once"}});
    EXPECT_EQ(waiting(), 5U);
    EXPECT_EQ(confirmed(), 0U);
    ch.bind("dlx", "dead", "q");
    EXPECT_THAT(s.ready("dead"), ElementsAreArray(numbers(1, 5)));
}

TEST_F(AtLeastOnceCases, AFullSourceTakesAgainWhenItsLettersAreGone) {  // DL-136, DL-140
    for (const char* limit : {"x-max-length", "x-max-length-bytes"}) {
        const std::string queue = limit;
        ch.declare_exchange("to " + queue, "fanout");
        declare(limit, {{"x-dead-letter-exchange", "to " + queue},
                        {limit, queue == "x-max-length" ? 1 : 4}});
        for (int i = 0; i < 2; ++i) {
            EXPECT_TRUE(is_taken("abc", limit)) << limit;
            nack_head(limit);
        }
        EXPECT_FALSE(is_taken("abc", limit)) << limit;
        EXPECT_EQ(s.queue(limit).outbox().count, 2U);
        ch.declare_queue("dead " + queue);
        ch.bind("to " + queue, "dead " + queue);
        EXPECT_TRUE(is_taken("abc", limit)) << limit;
    }
}

TEST_F(AtLeastOnceCases, AFullQuorumTargetGetsThemAsItHasRoom) {  // DL-179
    ch.declare_queue("dead", {.durable = true,
                              .arguments = arguments({{"x-queue-type", "quorum"},
                                                      {"x-max-length", 1},
                                                      {"x-overflow", "reject-publish"}})});
    declare("q", {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "dead"}});
    for (const std::string& body : numbers(1, 4)) kill(body);
    EXPECT_GT(waiting(), 0U);
    for (const std::string& body : numbers(1, 4)) {
        const auto letter = ch.get("dead");
        ASSERT_TRUE(letter);
        EXPECT_EQ(letter->body(), body);
        ch.ack(letter->tag);
    }
    EXPECT_EQ(waiting(), 0U);
    EXPECT_EQ(confirmed(), 4U);
}

TEST_F(AtLeastOnceCases, ATargetThatComesAndGoesStopsNothing) {  // DL-182
    declare("q", {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "dead"}});
    for (int i = 0; i < 300; ++i) {
        if (i % 20 == 5) declare("dead");
        if (i % 20 == 15) ch.delete_queue("dead");
        kill(std::to_string(i));
    }
    EXPECT_GT(waiting(), 0U);
    declare("dead");
    EXPECT_EQ(waiting(), 0U);
    EXPECT_EQ(confirmed(), 300U);
}

TEST_F(AtLeastOnceCases, ALetterStaysUntilEveryTargetHasIt) {  // DL-176
    ch.declare_exchange("dlx", "fanout");
    ch.declare_queue("classic", {{"x-max-length", 1}, {"x-overflow", "reject-publish"}});
    declare("quorum");
    for (const char* target : {"classic", "quorum"}) ch.bind("dlx", target);
    declare("q", {{"x-dead-letter-exchange", "dlx"}});
    ch.publish("classic", "in the way");
    kill("1");
    EXPECT_THAT(s.ready("quorum"), ElementsAre("1"));
    EXPECT_EQ(waiting(), 1U);
    EXPECT_EQ(confirmed(), 0U);
    ch.ack(get(1, "classic").front());
    EXPECT_THAT(s.ready("classic"), ElementsAre("1"));
    EXPECT_EQ(waiting(), 0U);
    EXPECT_EQ(confirmed(), 1U);
    EXPECT_THAT(s.ready("quorum"), ElementsAre("1")) << "once each";
}

}  // namespace
}  // namespace revenant::engine
