#include "engine/rules/settle.h"

#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using enum RefusalKind;

// A queue with these bodies, all delivered to one consumer.
struct Handed {
    explicit Handed(std::initializer_list<const char*> bodies) {
        ch.declare_queue("q");
        ch.consume("q");
        for (const char* body : bodies) ch.publish("q", body);
        ch.take_deliveries();
        ch.take_transcript();
    }
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
};

TEST(Settle, AnAcknowledgedMessageIsGone) {  // amqp091 11.11
    Handed h{"a", "b"};
    h.ch.ack(2);
    EXPECT_EQ(h.s.ended(Ending::acknowledged), 1U);
    EXPECT_EQ(h.s.queue("q").unacked_count(), 1U);
    h.ch.ack(1);
    EXPECT_EQ(h.s.queue("q").unacked_count(), 0U);
    EXPECT_EQ(h.s.engine().state().traffic().of_all_clients().consumed().acknowledged, 2U);
}

TEST(Settle, TheTagMustBeUnsettledOnThisChannel) {  // amqp091 11.11; DL-208
    for (const bool multiple : {false, true}) {
        Handed h{"a", "b"};
        auto& other = h.s.open_channel();
        other.settle(1, {OutcomeKind::accepted}, multiple);
        other.expect_refused(precondition_failed, "unknown delivery tag 1");
        h.ch.settle(99, {OutcomeKind::rejected}, multiple);
        h.ch.expect_refused(precondition_failed, "unknown delivery tag 99");
        EXPECT_THAT(h.s.ready("q"), ElementsAre("a", "b"));  // nothing was dead-lettered
    }
}

TEST(Settle, TwiceIsRefused) {  // amqp091 11.11
    Handed h{"a", "b"};
    h.ch.ack(1);
    h.ch.ack(1);
    h.ch.expect_refused(precondition_failed, "unknown delivery tag 1");
}

TEST(Settle, TagZeroAloneIsRefused) {  // amqp091 11.11
    Handed h{"a"};
    h.ch.ack(0);
    h.ch.expect_refused(precondition_failed, "unknown delivery tag 0");
}

TEST(Settle, MultipleTakesEverythingUpToTheTag) {  // amqp091 11.11
    Handed h{"a", "b", "c", "d"};
    h.ch.ack(2);
    h.ch.ack_up_to(3);
    EXPECT_EQ(h.s.queue("q").unacked_count(), 1U);
    h.ch.ack_up_to(2);  // 2 itself is settled already
    h.ch.expect_refused(precondition_failed, "unknown delivery tag 2");
    EXPECT_THAT(h.s.ready("q"), ElementsAre("d"));
}

TEST(Settle, MultipleWithTagZeroMeansAll) {  // amqp091 11.11; DL-208
    Handed h{"a", "b", "c"};
    h.ch.ack_up_to(0);
    EXPECT_EQ(h.s.queue("q").unacked_count(), 0U);
    h.ch.ack_up_to(0);  // none unsettled: not an error
    EXPECT_TRUE(h.ch.is_open());
}

TEST(Settle, MultipleReachesOverSeveralQueues) {  // amqp091 11.11
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("a");
    ch.declare_queue("b");
    ch.consume("a");
    ch.consume("b");
    for (const char* queue : {"a", "b", "a", "b"}) ch.publish(queue, queue);
    ch.ack_up_to(3);
    EXPECT_EQ(s.queue("a").unacked_count(), 0U);
    EXPECT_EQ(s.queue("b").unacked_count(), 1U);
}

TEST(Requeue, PutsAMessageBackInItsPlace) {  // amqp091 11.12; DL-16
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-dead-letter-exchange", "amq.fanout"}});
    for (const char* body : {"a", "b", "c", "d"}) ch.publish("q", body);
    for (int i = 0; i < 3; ++i) ch.get("q");
    ch.publish("q", "e");
    ch.requeue(3);
    ch.requeue(1);
    EXPECT_THAT(s.ready("q"), ElementsAre("a", "c", "d", "e"));
    const auto again = ch.get("q");
    EXPECT_EQ(again->body(), "a");
    EXPECT_TRUE(again->redelivered);
    EXPECT_THAT(again->deaths(), IsEmpty());
}

TEST(Requeue, MultipleKeepsTheOriginalOrder) {  // amqp091 11.12
    Handed h{"a", "b", "c"};
    h.ch.requeue_up_to(0);
    EXPECT_THAT(h.ch.take_transcript(),
                ElementsAre("redeliver 1 a", "redeliver 1 b", "redeliver 1 c"));
}

TEST(Requeue, OnlyAFailureIsCounted) {  // DL-150
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.publish("q", "a");
    const auto count = [&] { return s.queue("q").at(*s.queue("q").head()).delivery_count; };
    ch.requeue(ch.get("q")->tag);  // basic.nack
    EXPECT_EQ(count(), 0U);
    ch.settle(ch.get("q")->tag, {OutcomeKind::released, /*delivery_failed=*/true});  // basic.reject
    EXPECT_EQ(count(), 1U);
    ch.get("q");
    ch.recover();
    EXPECT_EQ(count(), 1U);
    ch.get("q");
    ch.close();  // a regular close counts, too
    EXPECT_EQ(count(), 2U);
}

TEST(Recover, RequeuesEverythingUnsettled) {  // amqp091 11.13
    Handed h{"a", "b"};
    h.ch.ack(1);
    h.ch.recover();
    EXPECT_THAT(h.ch.take_transcript(), ElementsAre("done", "redeliver 1 b"));
}

TEST(Reject, WithoutADeadLetterExchangeDiscards) {  // amqp091 11.12; DL-11
    Handed h{"a", "b", "c"};
    h.ch.reject(1);
    h.ch.nack_up_to(3);
    EXPECT_EQ(h.s.ended(Ending::no_dlx), 3U);
}

// ----------------------------------------------------------- deleted queues

TEST(DeletedQueue, ItsDeliveriesMayStillBeSettledInEveryWay) {
    Handed h{"a", "b", "c", "d", "e", "f"};
    auto& other = h.s.open_channel();
    other.delete_queue("q");
    EXPECT_EQ(h.s.ended(Ending::queue_deleted), 6U);
    h.ch.ack(1);
    h.ch.requeue(2);
    h.ch.nack(3);
    h.ch.nack_up_to(5);
    h.ch.recover();
    EXPECT_TRUE(h.ch.is_open());
    EXPECT_THAT(h.ch.take_deliveries(), IsEmpty());
    EXPECT_FALSE(h.s.has_queue("q"));
}

TEST(DeletedQueue, ANewOneOfTheNameHasNothingToDoWithIt) {
    Handed h{"a", "b"};
    h.ch.delete_queue("q");
    h.ch.declare_queue("q");
    h.ch.publish("q", "new");
    h.ch.requeue(1);
    h.ch.ack(2);
    EXPECT_THAT(h.s.ready("q"), ElementsAre("new"));
}

TEST(DeletedQueue, AChannelMayCloseAfterIt) {
    Handed h{"a", "b"};
    h.ch.get("q");
    h.ch.delete_queue("q");
    h.ch.close();
    EXPECT_FALSE(h.s.has_queue("q"));
}

}  // namespace
}  // namespace revenant::engine
