// RabbitMQ's own cases about dead letters, as far as one engine can show them.
// tools/dead_letter_cases.txt says which of its cases is which test, here or elsewhere.
#include "engine/engine.h"
#include "engine/policy.h"
#include "engine/queue.h"
#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
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
    // A quorum queue takes one beyond its limit before it refuses (DL-140).
    bool refuses_soon(const char* body) {
        return !is_taken(body) || !is_taken(body) || !is_taken(body);
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
        const QueueKind kind = group_ == Group::classic ? QueueKind::classic : QueueKind::quorum;
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
    EXPECT_THAT(s.ready("dead"), ElementsAreArray(is_guarded() ? numbers(1, 2) : numbers(2, 2)));
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
    const char* const type = is_classic() ? "classic" : "quorum";
    const QueueOptions limited{.durable = true,
                               .arguments = arguments({{"x-expires", 10}, {"x-queue-type", type}}),
                               .queues_max = 1};
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

// ------------------------------------------------------------------------- at least once

class AtLeastOnceCases : public ::testing::Test, protected Yard {
  protected:
    AtLeastOnceCases() : Yard(Group::guarded) {}
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
    EXPECT_EQ(letter.envelope->history.first, (DeathMark{"q", DeathReason::expired, ""}));
    EXPECT_EQ(letter.envelope->history.last, (DeathMark{"q", DeathReason::expired, ""}));
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
    lost.ack(77);  // an error ends the channel
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
    EXPECT_EQ(s.queue("q").outbox(), (Amount{10, bytes}));
    EXPECT_EQ(s.queue("q").ready_bytes(), 0U);
    EXPECT_EQ(s.queue("q").message_count(), 10U);
    EXPECT_EQ(confirmed(), 0U);
    ch.bind("dlx", "dead", "q");
    EXPECT_EQ(s.queue("q").outbox(), Amount{});
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

// RabbitMQ deletes the five when the strategy changes back; ours stay and are delivered.
TEST_F(AtLeastOnceCases, APolicyTurnsItOnAndOff) {  // DL-188, decided otherwise
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

// ------------------------------------------------------------------------- quorum queues

class QuorumCases : public ::testing::Test, protected Yard {
  protected:
    QuorumCases() : Yard(Group::quorum) {}

    // A consumer with this prefetch takes what it can get and is lost with its connection.
    std::vector<std::string> crash(std::uint16_t prefetch = 0) {
        const ConnectionId connection = s.connect();
        ScenarioChannel& lost = s.open_channel(connection);
        lost.qos(prefetch);
        lost.consume("q");
        auto bodies = lost.take_bodies();
        s.close(connection);
        return bodies;
    }
    // How many failures a message survives, and one.
    int failures_until_death() {
        publish({"m"});
        int failures = 0;
        while (s.queue("q").ready_count() > 0 && failures < 100) {
            ch.fail(get(1).front());
            ++failures;
        }
        return failures;
    }
};

TEST_F(QuorumCases, ALimitOfMemoryChangesNothing) {  // DL-57
    declare_with_grave({"x-max-in-memory-length", 0});
    publish({"1"});
    nack_head();
    EXPECT_THAT(s.ready("dead"), ElementsAre("1"));
}

TEST_F(QuorumCases, ALargeMessageDiesAfterThoseBeforeIt) {  // DL-137, DL-146
    declare_with_grave({"x-max-length-bytes", 1000});
    const std::string large(1500, 'x');
    publish({"1", "2", large});
    EXPECT_THAT(s.ready("q"), IsEmpty());
    EXPECT_THAT(s.ready("dead"), ElementsAre("1", "2", large));
}

TEST_F(QuorumCases, ANackOfAllKeepsTheirOrder) {  // DL-4, DL-208
    declare_with_grave();
    publish({"1", "2"});
    get(2);
    ch.nack_up_to(0);
    EXPECT_THAT(s.ready("dead"), ElementsAre("1", "2"));
}

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

TEST_F(QuorumCases, APolicysTimeToLiveConcernsLaterMessages) {  // DL-122, DL-123
    declare("q");
    publish({"old"});
    set_policy({{"message-ttl", 10}});
    publish({"new"});
    s.advance(milliseconds(10));
    EXPECT_THAT(s.ready("q"), ElementsAre("old"));
}

TEST_F(QuorumCases, AHundredComeAgainInTheOrderOfTheirReturn) {  // DL-156
    declare("q");
    publish(numbers(1, 100));
    ch.requeue_up_to(get(100).back());
    EXPECT_THAT(s.ready("q"), ElementsAreArray(numbers(1, 100)));
    const auto tags = get(100);
    std::vector<std::string> returned;
    for (std::size_t i = 0; i < 100; ++i) {
        const std::size_t index = i * 37 % 100;  // each once, in no order
        ch.requeue(tags[index]);
        returned.push_back(std::to_string(index + 1));
    }
    EXPECT_THAT(s.ready("q"), ElementsAreArray(returned));
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

TEST_F(QuorumCases, ALoweredLimitDropsTheSurplus) {  // DL-10
    declare_with_grave();
    publish(numbers(1, 5));
    set_policy({{"max-length", 2}});
    EXPECT_THAT(s.ready("q"), ElementsAre("4", "5"));
    EXPECT_THAT(s.ready("dead"), ElementsAreArray(numbers(1, 3)));
    EXPECT_EQ(died(DeathReason::maxlen), 3U);
}

TEST_F(QuorumCases, EveryPriorityLosesWhatExpired) {  // DL-129
    declare_with_grave();
    publish({"high, late"}, {.ttl_ms = 1, .priority = 9});
    publish({"high"}, {.priority = 9});
    publish({"low, late"}, {.ttl_ms = 1, .priority = 1});
    publish({"low"}, {.priority = 1});
    s.advance(milliseconds(1));
    EXPECT_THAT(s.ready("q"), ElementsAre("high", "low"));
    EXPECT_THAT(s.ready("dead"), ElementsAre("high, late", "low, late"));
}

TEST_F(QuorumCases, OneActiveConsumerKeepsTheQueueAlive) {  // DL-134
    declare("q", {{"x-single-active-consumer", true}, {"x-expires", 100}});
    s.advance(milliseconds(99));
    const auto consumer = ch.consume("q");
    s.advance(milliseconds(500));
    ASSERT_TRUE(s.has_queue("q"));
    ch.cancel(consumer);
    s.advance(milliseconds(99));
    ASSERT_TRUE(s.has_queue("q"));
    crash();  // its end starts the time anew
    s.advance(milliseconds(99));
    ASSERT_TRUE(s.has_queue("q"));
    s.advance(milliseconds(1));
    EXPECT_FALSE(s.has_queue("q"));
}

// ------------------------------------------------------------------------- delayed retry

// Whether a message waits after a failure, after a plain return, after its consumer was lost.
struct Waits {
    const char* type;
    bool failed;
    bool returned;
    bool lost;
};

class DelayedRetryTypes : public ::testing::TestWithParam<Waits>, protected Yard {
  protected:
    DelayedRetryTypes() : Yard(Group::quorum) {}
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

// ------------------------------------------------------------------------------ policies

TEST(PolicyCases, EachTypeHasItsOwnForTheSamePattern) {  // DL-191
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("q classic");
    ch.declare_queue("q quorum",
                     {.durable = true, .arguments = arguments({{"x-queue-type", "quorum"}})});
    const auto set = [&](const char* name, ApplyTo apply_to, int limit) {
        ch.set_policy({name, "^q", apply_to, 1, arguments({{"max-length", limit}})});
    };
    ch.set_policy({"weak", "^q", ApplyTo::queues, 0, arguments({{"max-length", 1}})});
    set("c", ApplyTo::classic_queues, 2);
    set("q", ApplyTo::quorum_queues, 3);
    EXPECT_EQ(s.queue("q classic").settings.max_length, 2);
    EXPECT_EQ(s.queue("q quorum").settings.max_length, 3);
    ch.clear_policy("c");
    EXPECT_EQ(s.queue("q classic").settings.max_length, 1);
    EXPECT_EQ(s.queue("q quorum").settings.max_length, 3);
}

TEST(PolicyCases, AnOperatorsKeyCountsWhereTheTypeKnowsIt) {  // DL-194, DL-198
    const auto types = [](const Argument& argument) {
        PolicyBook book;
        const Policy policy{"p", ".*", ApplyTo::queues, 0, {argument.field}};
        EXPECT_EQ(check_policy(PolicyScope::operator_only, policy), std::nullopt);
        book.set(PolicyScope::operator_only, policy);
        std::string known;
        if (!book.for_queue(QueueKind::classic, "q").operator_policy.empty()) known += "classic ";
        if (!book.for_queue(QueueKind::quorum, "q").operator_policy.empty()) known += "quorum";
        return known;
    };
    EXPECT_EQ(types({"expires", 1}), "classic quorum");
    EXPECT_EQ(types({"message-ttl", 1}), "classic quorum");
    EXPECT_EQ(types({"max-length", 1}), "classic quorum");
    EXPECT_EQ(types({"max-in-memory-length", 1}), "quorum");
    EXPECT_EQ(types({"max-in-memory-bytes", 1}), "quorum");
    EXPECT_EQ(types({"delivery-limit", 1}), "quorum");
    EXPECT_EQ(types({"target-group-size", 1}), "quorum");
    EXPECT_EQ(types({"overflow", "reject-publish"}), "classic quorum");
}

TEST(PolicyCases, ValuesHaveTheirRanges) {  // DL-195
    const auto is_accepted = [](const Argument& argument) {
        return !check_policy(PolicyScope::user, {"p", ".*", ApplyTo::all, 0, {argument.field}});
    };
    for (const char* name :
         {"dead-letter-exchange", "dead-letter-routing-key", "alternate-exchange"}) {
        EXPECT_TRUE(is_accepted({name, "text"})) << name;
        EXPECT_TRUE(is_accepted({name, ""})) << name;
        EXPECT_FALSE(is_accepted({name, 1})) << name;
    }
    for (const char* value : {"at-most-once", "at-least-once"}) {
        EXPECT_TRUE(is_accepted({"dead-letter-strategy", value}));
    }
    EXPECT_FALSE(is_accepted({"dead-letter-strategy", "unknown"}));
    for (const char* value : {"drop-head", "reject-publish", "reject-publish-dlx"}) {
        EXPECT_TRUE(is_accepted({"overflow", value}));
    }
    EXPECT_FALSE(is_accepted({"overflow", "unknown"}));
    for (const char* name :
         {"message-ttl", "max-length", "max-length-bytes", "max-in-memory-length"}) {
        EXPECT_TRUE(is_accepted({name, 0})) << name;
        EXPECT_FALSE(is_accepted({name, -1})) << name;
        EXPECT_FALSE(is_accepted({name, "1"})) << name;
    }
    EXPECT_TRUE(is_accepted({"expires", 1}));
    EXPECT_FALSE(is_accepted({"expires", 0}));
    EXPECT_TRUE(is_accepted({"delivery-limit", -1}));
    EXPECT_FALSE(is_accepted({"delivery-limit", "1"}));
}

TEST(PolicyCases, RetriesHaveTheirRanges) {  // DL-196
    const auto is_accepted = [](std::initializer_list<Argument> definition) {
        return !check_policy(PolicyScope::user,
                             {"p", ".*", ApplyTo::all, 0, arguments(definition)});
    };
    for (const char* type : {"all", "failed", "returned"}) {
        EXPECT_TRUE(is_accepted({{"delayed-retry-type", type}, {"delayed-retry-min", 1}}));
        EXPECT_FALSE(is_accepted({{"delayed-retry-type", type}})) << "min is needed";
    }
    EXPECT_TRUE(is_accepted({{"delayed-retry-type", "disabled"}}));
    EXPECT_FALSE(is_accepted({{"delayed-retry-type", "unknown"}, {"delayed-retry-min", 1}}));
    EXPECT_FALSE(is_accepted({{"delayed-retry-min", 0}}));
    EXPECT_FALSE(is_accepted({{"delayed-retry-max", 0}}));
    EXPECT_TRUE(is_accepted({{"delayed-retry-min", 5}, {"delayed-retry-max", 5}}));
    EXPECT_FALSE(is_accepted({{"delayed-retry-min", 5}, {"delayed-retry-max", 4}}));
}

TEST(PolicyCases, TheSmallestDeliveryLimitThatIsOneHolds) {  // DL-149
    using Limit = std::optional<int>;
    const auto limit_of = [](Limit argument, Limit policy, Limit of_operator) {
        QueueDeclaration declaration;
        declaration.kind = QueueKind::quorum;
        if (argument) declaration.arguments = arguments({{"x-delivery-limit", *argument}});
        PolicyBook book;
        const auto set = [&](PolicyScope scope, Limit limit) {
            if (limit) {
                book.set(scope,
                         {"p", ".*", ApplyTo::all, 0, arguments({{"delivery-limit", *limit}})});
            }
        };
        set(PolicyScope::user, policy);
        set(PolicyScope::operator_only, of_operator);
        const auto found = settings_in_force(declaration, book.for_queue(QueueKind::quorum, "q"),
                                             Compatibility::v4_3);
        return found.delivery_limit ? Limit(static_cast<int>(*found.delivery_limit)) : Limit();
    };
    const Limit none;
    EXPECT_EQ(limit_of(none, none, none), Limit(20));
    for (const Limit only : {Limit(0), Limit(5)}) {
        EXPECT_EQ(limit_of(only, none, none), only);
        EXPECT_EQ(limit_of(none, only, none), only);
        EXPECT_EQ(limit_of(none, none, only), only);
    }
    EXPECT_EQ(limit_of(3, 2, 1), Limit(1));
    EXPECT_EQ(limit_of(1, 2, 3), Limit(1));
    EXPECT_EQ(limit_of(2, 1, 3), Limit(1));
    EXPECT_EQ(limit_of(-1, none, none), Limit());
    EXPECT_EQ(limit_of(-1, -2, -3), Limit());
    EXPECT_EQ(limit_of(-1, 50, none), Limit(50));
    EXPECT_EQ(limit_of(-1, -1, 50), Limit(50));
    EXPECT_EQ(limit_of(50, -1, -1), Limit(50));
    EXPECT_EQ(limit_of(50, -1, 40), Limit(40));
}

// -------------------------------------------------------------- classic queues and routing

class ClassicCases : public ::testing::Test, protected Yard {
  protected:
    ClassicCases() : Yard(Group::classic) {}
    void publish_with_priorities(std::initializer_list<int> priorities) {
        for (const int priority : priorities) {
            ch.publish("q", std::to_string(priority),
                       {.priority = static_cast<std::uint8_t>(priority)});
        }
    }
};

TEST_F(ClassicCases, WhatIsRefusedIsALetterOfTheQueueItNeverEntered) {  // DL-8, DL-139
    declare_grave();
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
    declare_grave();
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
    declare_grave();
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

TEST_F(ClassicCases, TimeToLiveEmptiesAllPriorities) {  // DL-130
    declare("dead");
    declare("q", {{"x-max-priority", 3}, {"x-message-ttl", 10}});
    publish_with_priorities({1, 2, 3, 1, 2, 3, 1, 2, 3});
    s.advance(milliseconds(10));
    EXPECT_THAT(s.ready("q"), IsEmpty());
    set_policy({{"dead-letter-exchange", ""}, {"dead-letter-routing-key", "dead"}});
    publish_with_priorities({1, 2, 3, 1, 2, 3, 1, 2, 3});
    s.advance(milliseconds(10));
    EXPECT_THAT(s.ready("q"), IsEmpty());
    EXPECT_EQ(s.queue("dead").ready_count(), 9U);
}

TEST_F(ClassicCases, NackedTogetherTheyDieInTheOrderOfDelivery) {  // DL-4
    declare_grave();
    declare("q", {{"x-max-priority", 3},
                  {"x-dead-letter-exchange", "dlx"},
                  {"x-dead-letter-routing-key", "dead"}});
    publish_with_priorities({1, 2, 3});
    ch.consume("q");
    EXPECT_THAT(ch.take_bodies(), ElementsAre("3", "2", "1"));
    ch.nack_up_to(0);
    EXPECT_THAT(s.ready("dead"), ElementsAre("3", "2", "1"));
}

TEST_F(ClassicCases, RequeuedTheyComeByPriorityAgain) {  // DL-156
    declare("q", {{"x-max-priority", 3}});
    publish_with_priorities({1, 2, 3});
    const auto tags = get(3);
    for (const std::size_t index : {1, 2, 0}) ch.requeue(tags[index]);
    EXPECT_THAT(s.ready("q"), ElementsAre("3", "2", "1"));
}

TEST_F(ClassicCases, OverflowTakesTheHighestPriorityFirst) {  // DL-145
    declare("q", {{"x-max-priority", 3}, {"x-max-length", 4}});
    publish_with_priorities({1, 2, 3, 1, 2, 3, 1, 2, 3});
    EXPECT_THAT(s.ready("q"), ElementsAre("2", "1", "1", "1"));
}

TEST_F(ClassicCases, ARefusingQueueKeepsTheFirstOfAnyPriority) {  // DL-145
    for (const char* overflow : {"reject-publish", "reject-publish-dlx"}) {
        declare("q", {{"x-max-priority", 3}, {"x-max-length", 4}, {"x-overflow", overflow}});
        publish_with_priorities({1, 2, 3, 1, 2, 3, 1, 2, 3});
        EXPECT_THAT(s.ready("q"), ElementsAre("3", "2", "1", "1")) << overflow;
        ch.delete_queue("q");
    }
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

// ------------------------------------------------------------------------------ declaring

TEST_F(QuorumCases, KnowItsTypeAndItsLimits) {  // DL-40
    declare("q", {{"x-max-length", 5}, {"x-max-length-bytes", 50}});
    EXPECT_TRUE(s.queue("q").is_quorum());
    EXPECT_EQ(s.queue("q").settings.max_length, 5);
    EXPECT_EQ(s.queue("q").settings.max_length_bytes, 50);
    ch.declare_queue("plain");
    EXPECT_FALSE(s.queue("plain").is_quorum());
    declare("negative", {{"x-max-length", -5}});
    ch.expect_refused(RefusalKind::precondition_failed,
                      "invalid arg 'x-max-length' for queue 'negative' in vhost '/': "
                      "{value_negative,-5}");
}

// What an engine answers that was configured by hand.
struct Answers : EffectSink {
    bool deliver(Deliver&& /*effect*/) override { return true; }
    void confirm(const Confirm& /*effect*/) override {}
    void request(Effect&& effect) override {
        if (const auto* const refused = std::get_if<Refuse>(&effect)) {
            texts.push_back(refused->refusal.text);
        } else if (std::holds_alternative<Done>(effect)) {
            texts.emplace_back("done");
        }
    }
    std::vector<std::string> texts;
};

TEST(RelaxedChecks, LetAQuorumQueueBeDeclaredAgainAsAClassicOne) {  // DL-46
    Answers answers;
    Engine engine({.relaxed_checks_on_redeclaration = true}, answers, nullptr);
    const Timestamp now{1'700'000'000'000'000};
    const auto declare_queue = [&](std::uint64_t channel, std::initializer_list<Argument> given) {
        engine.handle(OpenChannel{ConnectionId{1}, ChannelId{channel}}, now);
        engine.handle(DeclareQueue{.channel = ChannelId{channel},
                                   .name = "q",
                                   .durable = true,
                                   .arguments = arguments(given)},
                      now);
        const std::string text = answers.texts.back();
        answers.texts.clear();
        return text;
    };
    engine.handle(OpenConnection{ConnectionId{1}, "guest"}, now);
    EXPECT_EQ(declare_queue(1, {{"x-queue-type", "quorum"}, {"x-delivery-limit", 3}}), "done");
    EXPECT_EQ(declare_queue(2, {{"x-queue-type", "classic"}}), "done");
    EXPECT_EQ(declare_queue(3, {{"x-queue-type", "classic"}, {"x-message-ttl", 5}}),
              "inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received the value "
              "'5' of type 'signedint' but current is none");
}

}  // namespace
}  // namespace revenant::engine
