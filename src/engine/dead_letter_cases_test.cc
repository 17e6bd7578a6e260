// RabbitMQ's own cases about dead letters, as far as one engine can show them.
// tools/dead_letter_cases.txt says which of its cases is which test, here or elsewhere.
#include "engine/engine.h"
#include "engine/policy.h"
#include "engine/queue.h"
#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

// The kinds of source queues that RabbitMQ runs its cases with.
enum class Group { classic, quorum, guarded };

std::string group_name(const ::testing::TestParamInfo<Group>& info) {
    switch (info.param) {
        case Group::classic:
            return "ClassicAtMostOnce";
        case Group::quorum:
            return "QuorumAtMostOnce";
        case Group::guarded:
            break;
    }
    return "QuorumAtLeastOnce";
}

std::vector<std::string> numbers(int first, int last) {
    std::vector<std::string> all;
    for (int i = first; i <= last; ++i) all.push_back(std::to_string(i));
    return all;
}

// An engine with one client, whose queues are all of one group.
class Yard {
  protected:
    explicit Yard(Group group) : group_(group), ch(s.open_channel()) {}

    void declare(const char* name, std::initializer_list<Argument> given = {}) {
        Table table = arguments(given);
        const auto add = [&](const Argument& argument) { table.push_back(argument.field); };
        if (group_ != Group::classic) add({"x-queue-type", "quorum"});
        if (group_ == Group::guarded) {
            add({"x-dead-letter-strategy", "at-least-once"});
            add({"x-overflow", "reject-publish"});
        }
        ch.declare_queue(name, {.durable = true, .arguments = table});
    }
    // The queue of the dead, and the exchange that leads to it.
    void declare_grave() {
        ch.declare_exchange("dlx", "direct");
        declare("dead");
        ch.bind("dlx", "dead", "dead");
    }
    void declare_with_grave() {
        declare_grave();
        declare("q", {{"x-dead-letter-exchange", "dlx"}, {"x-dead-letter-routing-key", "dead"}});
    }
    void declare_with_grave(const Argument& more) {
        declare_grave();
        declare("q",
                {{"x-dead-letter-exchange", "dlx"}, {"x-dead-letter-routing-key", "dead"}, more});
    }
    void publish(const std::vector<std::string>& bodies, const PublishOptions& options = {}) {
        for (const std::string& body : bodies) ch.publish("q", body, options);
    }
    // Whether the publisher is told that the queue has it.
    bool is_taken(const char* body, const char* queue = "q") {
        ch.publish(queue, body, {.confirm = true});
        return ch.take_confirms().at(0).accepted;
    }
    // Unsettled deliveries of so many messages.
    std::vector<std::uint64_t> get(int count, const char* queue = "q") {
        std::vector<std::uint64_t> tags;
        for (int i = 0; i < count; ++i) tags.push_back(ch.get(queue)->tag);
        return tags;
    }
    void nack_head(const char* queue = "q") { ch.nack(ch.get(queue)->tag); }
    Delivery take(const char* queue) { return ch.get(queue, /*no_ack=*/true).value(); }
    void set_policy(std::initializer_list<Argument> definition, const char* pattern = "^q$",
                    PolicyScope scope = PolicyScope::user) {
        ch.set_policy({"p", pattern, ApplyTo::queues, 0, arguments(definition)}, scope);
    }

    DeathStrategy strategy() const {
        return group_ == Group::guarded ? DeathStrategy::at_least_once
                                        : DeathStrategy::at_most_once;
    }
    std::uint64_t died(DeathReason reason) { return died(reason, strategy()); }
    std::uint64_t died(DeathReason reason, DeathStrategy strategy) {
        const QueueKind kind =
            group_ == Group::classic ? QueueKind::classic : QueueKind::quorum;
        return s.engine().state().traffic().deaths.of(kind, strategy, reason);
    }
    std::uint64_t confirmed() { return s.engine().state().traffic().dead_letters_confirmed; }
    std::uint64_t waiting() { return s.queue("q").outbox().count; }
    bool is_guarded() const { return group_ == Group::guarded; }
    bool is_classic() const { return group_ == Group::classic; }

    Group group_;
    Scenario s;
    ScenarioChannel& ch;
};

// ------------------------------------------------------------------ every kind of source

class EveryGroup : public ::testing::TestWithParam<Group>, protected Yard {
  protected:
    EveryGroup() : Yard(GetParam()) {}
};
INSTANTIATE_TEST_SUITE_P(Cases, EveryGroup,
                         ::testing::Values(Group::classic, Group::quorum, Group::guarded),
                         group_name);

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

TEST_P(EveryGroup, ARejectLeavesTheOthersAlone) {  // DL-2
    declare_with_grave();
    publish({"1", "2", "3"});
    ch.reject(get(1).front());
    EXPECT_THAT(s.ready("q"), ElementsAre("2", "3"));
    EXPECT_THAT(s.ready("dead"), ElementsAre("1"));
    EXPECT_EQ(died(DeathReason::rejected), 1U);
}

TEST_P(EveryGroup, RejectedExpiredExpiredTwiceRoundIsNoCycle) {  // DL-112, DL-117
    // The order of the names must not matter.
    for (const auto& [first, second, third] :
         {std::tuple{"a1", "b1", "c1"}, {"c2", "b2", "a2"}, {"b3", "c3", "a3"}}) {
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

TEST_P(EveryGroup, AHundredArriveInTheOrderOfTheirRejection) {  // DL-166
    declare_with_grave();
    publish(numbers(1, 100));
    for (const std::uint64_t tag : get(100)) ch.reject(tag);
    EXPECT_THAT(s.ready("dead"), ElementsAreArray(numbers(1, 100)));
    EXPECT_EQ(died(DeathReason::rejected), 100U);
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

TEST_P(EveryGroup, WithoutARouteALetterIsLostOrWaits) {  // DL-55, DL-63, DL-173
    ch.declare_exchange("dlx", "direct");
    declare("dead");
    declare("q", {{"x-dead-letter-exchange", "dlx"}});
    publish({"1"});
    nack_head();
    EXPECT_EQ(s.queue("q").message_count(), is_guarded() ? 1U : 0U);
    EXPECT_EQ(s.queue("q").ready_count(), 0U);
    EXPECT_EQ(died(DeathReason::rejected), 1U);
    ch.bind("dlx", "dead", "q");
    publish({"2"});
    nack_head();
    EXPECT_THAT(s.ready("dead"),
                ElementsAreArray(is_guarded() ? numbers(1, 2) : numbers(2, 2)));
}

TEST_P(EveryGroup, EveryDeathAddsARecordInFront) {  // DL-75, DL-80
    declare("dead");
    declare("second", {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "dead"}});
    declare("q", {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "second"}});
    publish({"1"});
    nack_head("q");
    nack_head("second");
    const Delivery letter = take("dead");
    EXPECT_THAT(letter.deaths(), ElementsAre("second rejected 1", "q rejected 1"));
    EXPECT_EQ(letter.envelope->history.first, (DeathMark{"q", DeathReason::rejected, ""}));
    EXPECT_EQ(letter.envelope->history.last, (DeathMark{"second", DeathReason::rejected, ""}));
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

TEST_P(EveryGroup, APolicyConcernsWhatIsDeliveredAlready) {  // DL-29
    declare("dead");
    declare("q");
    publish({"1", "2"});
    const auto tags = get(2);
    ch.nack(tags[0]);
    set_policy({{"dead-letter-exchange", ""}, {"dead-letter-routing-key", "dead"}});
    ch.nack(tags[1]);
    EXPECT_THAT(s.ready("dead"), ElementsAre("2"));
    EXPECT_EQ(died(DeathReason::rejected, DeathStrategy::disabled), 1U);
    EXPECT_EQ(died(DeathReason::rejected), 1U);
}

TEST_P(EveryGroup, ArgumentsWinOverAPolicyOfAnyAge) {  // DL-23
    declare("dead");
    declare("wrong");
    const auto declare_source = [&](const char* name) {
        declare(name, {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "dead"}});
    };
    declare_source("q older");
    set_policy({{"dead-letter-exchange", "nowhere"}, {"dead-letter-routing-key", "wrong"}}, "^q ");
    declare_source("q younger");
    for (const char* queue : {"q older", "q younger"}) {
        ch.publish(queue, queue);
        nack_head(queue);
    }
    EXPECT_THAT(s.ready("dead"), ElementsAre("q older", "q younger"));
    EXPECT_THAT(s.ready("wrong"), IsEmpty());
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

TEST_P(EveryGroup, AHeadersExchangeSelectsByTheFirstDeath) {  // DL-52
    ch.declare_exchange("dlx", "headers");
    for (const char* queue : {"all", "any"}) declare(queue);
    ch.bind("dlx", "all", "",
            {.arguments = arguments({{"x-match", "all-with-x"},
                                     {"x-first-death-reason", "rejected"},
                                     {"x-first-death-queue", "q"}})});
    ch.bind("dlx", "any", "",
            {.arguments =
                 arguments({{"x-match", "any-with-x"}, {"x-first-death-reason", "expired"}})});
    for (const char* queue : {"q", "other"}) declare(queue, {{"x-dead-letter-exchange", "dlx"}});
    publish({"rejected"});
    nack_head();
    publish({"expired"}, {.ttl_ms = 1});
    s.advance(milliseconds(1));
    ch.publish("other", "of another queue");
    nack_head("other");
    EXPECT_THAT(s.ready("all"), ElementsAre("rejected"));
    EXPECT_THAT(s.ready("any"), ElementsAre("expired"));
    EXPECT_EQ(s.queue("other").message_count(), is_guarded() ? 1U : 0U);
}

// ------------------------------------------------------------- classic and quorum queues

class EveryKind : public ::testing::TestWithParam<Group>, protected Yard {
  protected:
    EveryKind() : Yard(GetParam()) {}
};
INSTANTIATE_TEST_SUITE_P(Cases, EveryKind, ::testing::Values(Group::classic, Group::quorum),
                         group_name);

TEST_P(EveryKind, OverflowKillsTheOldestInOrder) {  // DL-1, DL-7, DL-137
    declare_with_grave({"x-max-length", 1});
    publish({"1", "2", "3"});
    EXPECT_THAT(s.ready("q"), ElementsAre("3"));
    EXPECT_THAT(s.ready("dead"), ElementsAre("1", "2"));
    EXPECT_EQ(died(DeathReason::maxlen), 2U);
    EXPECT_THAT(take("dead").deaths(), ElementsAre("q maxlen 1"));
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

TEST_P(EveryKind, OverflowWithoutAnExchangeIsCounted) {  // DL-11, DL-209
    declare("q", {{"x-max-length", 1}});
    publish(numbers(1, 1000));
    EXPECT_EQ(died(DeathReason::maxlen, DeathStrategy::disabled), 999U);
    EXPECT_EQ(died(DeathReason::maxlen), 0U);
}

TEST_P(EveryKind, RejectionsWithoutAnExchangeAreCounted) {  // DL-11
    declare("q");
    publish(numbers(1, 1000));
    for (const std::uint64_t tag : get(1000)) ch.reject(tag);
    EXPECT_EQ(died(DeathReason::rejected, DeathStrategy::disabled), 1000U);
    EXPECT_EQ(s.ended(Ending::no_dlx), 1000U);
}

TEST_P(EveryKind, AQueuesTimeToLiveOfZeroIsCountedWithoutAnExchange) {  // DL-11, DL-126
    declare("q", {{"x-message-ttl", 0}});
    publish(numbers(1, 1000));
    s.advance(milliseconds(1));
    EXPECT_EQ(died(DeathReason::expired, DeathStrategy::disabled), 1000U);
}

TEST_P(EveryKind, AMessagesTimeToLiveOfZeroIsCountedWithoutAnExchange) {  // DL-126
    declare("q");
    publish(numbers(1, 1000), {.ttl_ms = 0});
    s.advance(milliseconds(1));
    EXPECT_EQ(died(DeathReason::expired, DeathStrategy::disabled), 1000U);
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

// A classic queue gives every message its place back, a quorum queue keeps the order of returns.
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

TEST_P(EveryKind, AMessageIsTakenInTimeOrGone) {  // DL-122
    declare("q", {{"x-message-ttl", 10}});
    publish({"1", "2"});
    s.advance(milliseconds(9));
    EXPECT_EQ(take("q").body(), "1");
    s.advance(milliseconds(1));
    EXPECT_FALSE(ch.get("q"));
    publish({"3"}, {.ttl_ms = 5});
    s.advance(milliseconds(5));
    EXPECT_FALSE(ch.get("q"));
    EXPECT_EQ(died(DeathReason::expired, DeathStrategy::disabled), 2U);
}

TEST_P(EveryKind, TheSmallerQueueTtlDeletesTheQueue) {  // DL-23, DL-134
    declare("q", {{"x-expires", 1000}});
    set_policy({{"expires", 10'000}});
    s.advance(milliseconds(999));
    EXPECT_TRUE(s.has_queue("q"));
    s.advance(milliseconds(1));
    ch.declare_queue("q", {.passive = true});
    ch.expect_refused(RefusalKind::not_found, "no queue 'q' in vhost '/'");
}

TEST_P(EveryKind, AnExpiredQueueFreesTheLimitOfQueues) {  // DL-134
    QueueOptions limited{.arguments = arguments({{"x-expires", 10}}), .queues_max = 1};
    ch.declare_queue("first", limited);
    ch.declare_queue("second", limited);
    EXPECT_TRUE(ch.take_refusal());
    s.advance(milliseconds(10));
    ch.declare_queue("second", limited);
    EXPECT_TRUE(s.has_queue("second"));
}

TEST_P(EveryKind, TwoMessagesOfOneMomentNeedNotDieTogether) {  // DL-126, DL-128
    declare("q");
    publish({"1"}, {.ttl_ms = 1});
    publish({"2"});
    s.advance(milliseconds(2));
    EXPECT_EQ(take("q").body(), "2");
    EXPECT_EQ(s.queue("q").message_count(), 0U);
}

TEST_P(EveryKind, CountsAreRightWhenTheOnlyMessageExpired) {  // DL-131
    declare("q");
    publish({"1"}, {.ttl_ms = 1});
    s.let_pass(milliseconds(2));  // nobody ticks: the get finds it overdue
    EXPECT_FALSE(ch.get("q"));
    publish({"2", "3"});
    EXPECT_EQ(s.queue("q").ready_count(), 2U);
    EXPECT_EQ(take("q").body(), "2");
    EXPECT_EQ(take("q").body(), "3");
    EXPECT_EQ(s.queue("q").message_count(), 0U);
}

TEST_P(EveryKind, AnExpiredMessageBehindAnotherIsNotDelivered) {  // DL-128
    declare("q");
    publish({"1"}, {.ttl_ms = 100});
    publish({"2"}, {.ttl_ms = 1});
    publish({"3"});
    s.advance(milliseconds(50));
    ch.consume("q", {.no_ack = true});
    EXPECT_THAT(ch.take_bodies(), ElementsAre("1", "3"));
}

// Ours die on time at any depth; with ttl-mode head they wait for the head, as in RabbitMQ.
TEST_P(EveryKind, WhatExpiredBehindTheHeadDiesInOrder) {  // DL-128, DL-133
    declare_with_grave();
    const auto publish_three = [&] {
        publish({"1"});
        publish({"2", "3"}, {.ttl_ms = 1});
        s.advance(milliseconds(2));
    };
    publish_three();
    EXPECT_THAT(s.ready("dead"), ElementsAre("2", "3"));
    EXPECT_EQ(take("q").body(), "1");
    ch.purge("dead");
    set_policy({{"ttl-mode", "head"}});
    publish_three();
    EXPECT_THAT(s.ready("dead"), IsEmpty());
    ch.ack(get(1).front());
    EXPECT_THAT(s.ready("dead"), ElementsAre("2", "3"));
}

TEST_P(EveryKind, AnOperatorsTimeToLiveIsNotRetroactive) {  // DL-123, DL-128, DL-199
    declare("q");
    publish(numbers(1, 50));
    set_policy({{"message-ttl", 1}}, "^q$", PolicyScope::operator_only);
    publish(numbers(51, 75));
    s.advance(milliseconds(10));
    EXPECT_THAT(s.ready("q"), ElementsAreArray(numbers(1, 50))) << "ours die on time";
    set_policy({{"ttl-mode", "head"}});
    publish(numbers(51, 75));
    s.advance(milliseconds(10));
    EXPECT_EQ(s.queue("q").ready_count(), 75U) << "RabbitMQ's wait behind the others";
    for (const std::string& body : numbers(1, 50)) EXPECT_EQ(take("q").body(), body);
    EXPECT_FALSE(ch.get("q"));
}

TEST_P(EveryKind, TheSmallerTimeToLiveOfPolicyAndOperatorHolds) {  // DL-122, DL-199
    declare("q");
    set_policy({{"message-ttl", 20}});
    set_policy({{"message-ttl", 10}}, "^q$", PolicyScope::operator_only);
    publish({"1"});
    s.advance(milliseconds(9));
    EXPECT_THAT(s.ready("q"), ElementsAre("1"));
    s.advance(milliseconds(1));
    EXPECT_THAT(s.ready("q"), IsEmpty());
}

TEST_P(EveryKind, TheOperatorsOverflowWins) {  // DL-199
    declare("q");
    set_policy({{"max-length", 1}, {"overflow", "drop-head"}});
    set_policy({{"overflow", "reject-publish"}}, "^q$", PolicyScope::operator_only);
    EXPECT_EQ(s.queue("q").settings.overflow, Overflow::reject_publish);
    while (is_taken("m")) ASSERT_LT(s.queue("q").ready_count(), 3U);
    EXPECT_EQ(s.ended(Ending::no_dlx), 0U);
}

TEST_P(EveryKind, WithoutItsPolicyTheOverflowDropsTheHeadAgain) {  // DL-23, DL-137
    declare("q", {{"x-max-length", 1}});
    set_policy({{"overflow", "reject-publish"}});
    while (is_taken("old")) ASSERT_LT(s.queue("q").ready_count(), 3U);
    ch.clear_policy("p");
    EXPECT_TRUE(is_taken("new"));
    EXPECT_THAT(s.ready("q"), ElementsAre("new"));
}

TEST_P(EveryKind, APolicyItDoesNotKnowIsNotApplied) {  // DL-194
    const auto set_half_known = [&] { set_policy({{"max-length", 1}, {"max-age", "1h"}}, "^q"); };
    set_half_known();
    declare("q");
    declare("q2");
    set_half_known();
    for (const char* queue : {"q", "q2"}) {
        EXPECT_EQ(s.queue(queue).policy.policy, "");
        for (const char* body : {"1", "2"}) ch.publish(queue, body);
        EXPECT_EQ(s.queue(queue).ready_count(), 2U);
    }
}
