#include "engine/rules/worklist.h"

#include "base/probe.h"
#include "engine/view/query.h"
#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace revenant::engine {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A small portion, so that a dozen messages exceed it.
EngineSettings in_small_portions() {
    EngineSettings settings;
    settings.portion = {.steps = 10, .bytes = 1024 * 1024};
    return settings;
}

void publish_many(ScenarioChannel& ch, const std::string& queue, int count,
                  const PublishOptions& options = {}) {
    for (int i = 0; i < count; ++i) ch.publish(queue, std::to_string(i), options);
}

struct Portions {
    Scenario s{in_small_portions()};
    ScenarioChannel& ch{s.open_channel()};
    ScenarioChannel& other{s.open_channel()};

    Portions() { ch.declare_queue("dead"); }
    // Publishes `count` messages to "q", which the other channel receives.
    std::vector<Delivery> deliver_to_other(int count) {
        publish_many(ch, "q", count);
        other.consume("q");
        finish();
        return other.take_deliveries();
    }
    bool has_more() { return s.engine().next_deadline() <= s.now(); }
    std::uint64_t dead() { return s.queue("dead").ready_count(); }
    // The number of Ticks until no work is left.
    int finish() {
        int ticks = 0;
        for (; has_more() && ticks < 10'000; ++ticks) s.tick();
        return ticks;
    }
};

Argument to_dead(const char* name = "x-dead-letter-exchange") { return {name, ""}; }

TEST(Worklist, WhatExpiresAtOnceDiesInPortionsAndIsNeverSeen) {
    Portions p;
    p.ch.declare_queue("q",
                       {{"x-message-ttl", 100}, to_dead(), {"x-dead-letter-routing-key", "dead"}});
    publish_many(p.ch, "q", 300);
    p.s.let_pass(milliseconds(100));
    // The first command finds more due messages than it may expire.
    EXPECT_FALSE(p.ch.get("q", true));
    ASSERT_TRUE(p.has_more());
    EXPECT_LT(p.dead(), 20U);
    EXPECT_EQ(
        p.ch.declare_queue(
                "q", {{"x-message-ttl", 100}, to_dead(), {"x-dead-letter-routing-key", "dead"}})
            .message_count,
        0U);
    EXPECT_EQ(find_queue(p.s.engine(), "q")->ready, 0U);
    // Further commands do not continue this work; only Ticks do.
    const std::uint64_t before = p.dead();
    for (int i = 0; i < 50; ++i) EXPECT_FALSE(p.other.get("q", true));
    EXPECT_EQ(p.dead(), before);
    p.other.consume("q");
    EXPECT_THAT(p.other.take_deliveries(), IsEmpty());
    EXPECT_GT(p.finish(), 20);
    EXPECT_THAT(p.other.take_deliveries(), IsEmpty());
    EXPECT_EQ(p.dead(), 300U);
    EXPECT_EQ(p.s.ready("dead").front(), "0");
    EXPECT_EQ(p.s.ready("dead").back(), "299");
    EXPECT_THAT(Probe::reached(), Contains("expiry.in_portions"));
}

TEST(Worklist, WhatIsAliveBehindTheExpiredComesWhenTheyAreGone) {
    Portions p;
    p.ch.declare_queue("q");
    publish_many(p.ch, "q", 200, {.ttl_ms = 100});
    p.ch.publish("q", "alive");
    p.s.let_pass(milliseconds(100));
    p.other.consume("q");
    EXPECT_THAT(p.other.take_deliveries(), IsEmpty());
    p.finish();
    EXPECT_THAT(p.other.take_bodies(), ElementsAre("alive"));
}

TEST(Worklist, ABystanderIsServedMeanwhile) {
    Portions p;
    p.ch.declare_queue("q");
    p.ch.declare_queue("bystander");
    publish_many(p.ch, "q", 200, {.ttl_ms = 100});
    p.other.consume("bystander");
    p.s.let_pass(milliseconds(100));
    p.ch.publish("bystander", "a");
    ASSERT_TRUE(p.has_more());
    EXPECT_THAT(p.other.take_bodies(), ElementsAre("a"));
    p.ch.publish("bystander", "b");
    EXPECT_THAT(p.other.take_bodies(), ElementsAre("b"));
    p.finish();
}

TEST(Worklist, WhatHasNoTimeToLiveIsOfferedEvenWhenExpiryIsBehind) {  // DL-126
    Portions p;
    p.ch.declare_queue("q");
    p.ch.declare_queue("at once", {{"x-message-ttl", 0}});
    publish_many(p.ch, "q", 200, {.ttl_ms = 100});
    p.other.consume("at once");
    p.s.let_pass(milliseconds(100));
    p.ch.publish("at once", "a");
    ASSERT_TRUE(p.has_more());
    EXPECT_THAT(p.other.take_bodies(), ElementsAre("a"));
    p.finish();
}

TEST(Worklist, HeadsExpireInPortionsWhereMessagesExpireThere) {
    Portions p;
    p.s.be_compatible_with(Compatibility::v3_12);
    p.ch.declare_queue("q", {{"x-message-ttl", 100}});
    publish_many(p.ch, "q", 300);
    p.s.let_pass(milliseconds(100));
    EXPECT_FALSE(p.ch.get("q", true));
    p.ch.publish("q", "alive");
    p.other.consume("q");
    EXPECT_THAT(p.other.take_deliveries(), IsEmpty());
    p.finish();
    EXPECT_THAT(p.other.take_bodies(), ElementsAre("alive"));
    EXPECT_EQ(p.s.ended(Ending::no_dlx), 300U);
    EXPECT_THAT(Probe::reached(), Contains("expiry.heads_in_portions"));
}

TEST(Worklist, AShrunkenLimitIsReachedInPortions) {
    Portions p;
    p.ch.declare_queue("q", {to_dead(), {"x-dead-letter-routing-key", "dead"}});
    publish_many(p.ch, "q", 300);
    p.ch.set_policy(
        {.name = "short", .pattern = "^q$", .definition = arguments({{"max-length", 5}})});
    EXPECT_TRUE(p.has_more());
    EXPECT_GT(p.s.queue("q").ready_count(), 250U);
    p.finish();
    EXPECT_EQ(p.s.queue("q").ready_count(), 5U);
    EXPECT_EQ(p.dead(), 295U);
    EXPECT_EQ(p.s.ready("dead").front(), "0");
    EXPECT_THAT(Probe::reached(), Contains("overflow.in_portions"));
}

TEST(Worklist, APolicyReachesManyQueuesInPortions) {
    Portions p;
    for (int i = 0; i < 100; ++i) p.ch.declare_queue("q" + std::to_string(i));
    p.ch.set_policy({.name = "all", .pattern = ".*", .definition = arguments({{"max-length", 5}})});
    EXPECT_TRUE(p.has_more());
    EXPECT_FALSE(p.s.queue("q99").settings.max_length.has_value());
    p.finish();
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(p.s.queue("q" + std::to_string(i)).settings.max_length, 5);
    }
}

TEST(Worklist, ManyDeliveriesAreSettledInPortionsInTheirOrder) {
    Portions p;
    p.ch.declare_queue("q", {to_dead(), {"x-dead-letter-routing-key", "dead"}});
    ASSERT_EQ(p.deliver_to_other(600).size(), 600U);
    p.other.nack_up_to(598);
    EXPECT_TRUE(p.has_more());
    EXPECT_LT(p.dead(), 300U);
    p.other.nack(599);  // processed after them
    EXPECT_LT(p.dead(), 300U);
    p.finish();
    const auto dead = p.s.ready("dead");
    ASSERT_EQ(dead.size(), 599U);
    for (std::size_t i = 0; i < dead.size(); ++i) ASSERT_EQ(dead[i], std::to_string(i));
    EXPECT_EQ(p.s.queue("q").unacked_count(), 1U);
    EXPECT_THAT(Probe::reached(), Contains("settle.in_portions"));
}

TEST(Worklist, WhatIsBeingSettledCannotBeSettledAgain) {
    Portions p;
    p.ch.declare_queue("q");
    p.deliver_to_other(600);
    p.other.ack_up_to(600);
    ASSERT_TRUE(p.has_more());
    p.other.ack(500);
    p.finish();
    p.other.expect_refused(RefusalKind::precondition_failed, "unknown delivery tag 500");
    EXPECT_EQ(p.s.queue("q").message_count(), 0U) << "settled deliveries stay settled";
}

TEST(Worklist, AChannelIsClosedWhenItsDeliveriesAreBack) {
    Portions p;
    p.ch.declare_queue("q");
    p.deliver_to_other(600);
    p.other.start_closing();
    EXPECT_FALSE(p.other.is_closed());
    ASSERT_TRUE(p.has_more());
    p.finish();
    EXPECT_TRUE(p.other.is_closed());
    EXPECT_EQ(p.s.queue("q").ready_count(), 600U);
    EXPECT_EQ(p.s.ready("q").front(), "0");
    EXPECT_THAT(Probe::reached(), Contains("closing.in_portions"));
}

TEST(Worklist, ManyConsumersLeaveInPortions) {
    Portions p;
    p.ch.declare_queue("q", {.auto_delete = true});
    for (int i = 0; i < 100; ++i) p.other.consume("q");
    p.other.start_closing();
    EXPECT_TRUE(p.s.has_queue("q"));
    p.finish();
    EXPECT_TRUE(p.other.is_closed());
    EXPECT_FALSE(p.s.has_queue("q"));
}

// The queue is deleted immediately; its consumers are cancelled in portions.
TEST(Worklist, ManyConsumersOfADeletedQueueAreCancelledInPortions) {
    Portions p;
    p.ch.declare_queue("q");
    for (int i = 0; i < 100; ++i) p.other.consume("q");
    p.ch.delete_queue("q");
    EXPECT_FALSE(p.s.has_queue("q"));
    EXPECT_TRUE(p.has_more());
    const std::size_t told_first = p.other.take_cancelled().size();
    EXPECT_LT(told_first, 20U);
    p.ch.declare_queue("q");
    p.ch.publish("q", "of the next");
    EXPECT_GT(p.finish(), 2);
    EXPECT_EQ(told_first + p.other.take_cancelled().size(), 100U);
    EXPECT_THAT(p.other.take_deliveries(), IsEmpty());
    EXPECT_THAT(p.s.ready("q"), ElementsAre("of the next"));
    EXPECT_THAT(Probe::reached(), Contains("consumers.cancelled_in_portions"));
}

// Actions of consumers and channels of a deleted queue before they are notified.
TEST(Worklist, ConsumersOfADeletedQueueMayLeaveBeforeTheyAreCancelled) {
    for (const char* kind : {"classic", "quorum"}) {
        SCOPED_TRACE(kind);
        Portions p;
        p.ch.declare_queue("q", {{"x-queue-type", kind}, {"x-single-active-consumer", true}});
        p.ch.publish("q", "m");
        ScenarioChannel& third = p.s.open_channel();
        for (int i = 0; i < 50; ++i) p.other.consume("q");
        for (int i = 0; i < 50; ++i) third.consume("q");
        const auto delivery = p.other.take_deliveries();
        ASSERT_EQ(delivery.size(), 1U);
        p.ch.delete_queue("q");
        ASSERT_TRUE(p.has_more());
        third.start_closing();
        p.other.requeue(delivery.front().tag);
        p.finish();
        EXPECT_TRUE(third.is_closed());
        EXPECT_FALSE(p.s.has_queue("q"));
    }
}

TEST(Worklist, AConnectionThatClosesTakesItsManyQueuesAlongInPortions) {
    Portions p;
    const ConnectionId connection = p.s.connect();
    ScenarioChannel& owner = p.s.open_channel(connection);
    for (int i = 0; i < 50; ++i) {
        owner.declare_queue("x" + std::to_string(i), {.exclusive = true});
    }
    p.s.close(connection);
    EXPECT_TRUE(p.s.has_queue("x0"));
    p.finish();
    for (int i = 0; i < 50; ++i) EXPECT_FALSE(p.s.has_queue("x" + std::to_string(i)));
}

TEST(Worklist, ALongBacklogIsHandedOutInPortions) {
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    publish_many(ch, "q", 5'000);
    ch.consume("q");
    const std::size_t first = ch.take_deliveries().size();
    EXPECT_LT(first, 5'000U);
    s.advance({0});
    EXPECT_EQ(first + ch.take_deliveries().size(), 5'000U);
    EXPECT_THAT(Probe::reached(), Contains("dispatch.in_portions"));
}

// --- record size

TEST(RecordSize, ATransactionBeyondTheLimitIsRefused) {
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {.durable = true});
    ch.select();
    const std::string large(16 * 1024 * 1024, 'x');
    for (int i = 0; i < 3; ++i) ch.publish("q", large, {.persistent = true});
    EXPECT_TRUE(ch.is_open());
    ch.publish("q", large, {.persistent = true});
    ch.expect_refused(RefusalKind::precondition_failed,
                      "transaction exceeds the limit of 67108864 bytes");
    EXPECT_EQ(s.queue("q").message_count(), 0U);
}

std::vector<std::string> keys_of(std::size_t count, std::size_t size) {
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < count; ++i) {
        std::string key = std::to_string(i);
        key.resize(size, 'k');
        keys.push_back(key);
    }
    return keys;
}

TEST(RecordSize, AChainOfQueuesWithoutTimeToLiveAndManyKeysStaysSmall) {
    Scenario s;
    s.keep_in_memory();
    auto& ch = s.open_channel();
    constexpr int hops = 300;
    for (int i = 0; i < hops; ++i) {
        ch.declare_exchange("x" + std::to_string(i), "fanout", {.durable = true});
    }
    for (int i = 0; i < hops; ++i) {
        const std::string name = "q" + std::to_string(i);
        QueueOptions options{.durable = true};
        if (i + 1 < hops) {
            options.arguments = arguments(
                {{"x-message-ttl", 0}, {"x-dead-letter-exchange", "x" + std::to_string(i + 1)}});
        }
        ch.declare_queue(name, options);
        ch.bind("x" + std::to_string(i), name);
    }
    const std::uint64_t before = s.journal_bytes();
    ch.publish("q0", "m", {.persistent = true, .cc = keys_of(235, 250)});
    s.advance({0});
    EXPECT_EQ(s.queue("q299").ready_count(), 1U);
    EXPECT_LE(s.store().largest_record(), 2U * 1024 * 1024);
    EXPECT_LE(s.journal_bytes() - before, 40U * 1024 * 1024);
    const Delivery last = ch.get("q299", true).value();
    ASSERT_EQ(last.envelope->history.deaths.size(), 299U);
    const Death& first = last.envelope->history.deaths.back();
    EXPECT_EQ(first.routing_keys.size() + first.routing_keys_omitted, 236U);
    EXPECT_GT(first.routing_keys_omitted, 200U);
    EXPECT_THAT(last.envelope->history.deaths.front().routing_keys, ElementsAre("q0"));
}

TEST(RecordSize, ManyThatExpireAtOnceWithManyKeysAreManyRecords) {
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("dlx", "fanout", {.durable = true});
    ch.declare_queue("dead", {.durable = true});
    ch.bind("dlx", "dead");
    ch.declare_queue(
        "q",
        {.durable = true,
         .arguments = arguments({{"x-message-ttl", 1000}, {"x-dead-letter-exchange", "dlx"}})});
    const auto keys = keys_of(235, 250);
    for (int i = 0; i < 400; ++i) {
        ch.publish("q", std::to_string(i), {.persistent = true, .cc = keys});
    }
    s.advance(milliseconds(1000));
    EXPECT_EQ(s.queue("dead").ready_count(), 400U);
    EXPECT_LE(s.store().largest_record(), 3U * 1024 * 1024);
    EXPECT_GT(Probe::hits("expiry.in_portions"), 1U);
}

// --- many objects

TEST(ManyOfAKind, DeletingAQueueWithManyBindingsWritesOneFact) {
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("x", "direct", {.durable = true});
    ch.declare_exchange("auto", "headers", {.durable = true, .auto_delete = true});
    ch.declare_queue("q", {.durable = true});
    for (int i = 0; i < 1000; ++i) ch.bind("x", "q", std::to_string(i));
    ch.bind("auto", "q", "k");
    const std::uint64_t before = s.journal_bytes();
    ch.delete_queue("q");
    EXPECT_LT(s.journal_bytes() - before, 200U);
    EXPECT_FALSE(s.has_exchange("auto"));
    EXPECT_THAT(s.engine().state().find_exchange("x")->outgoing, IsEmpty());
}

// A queue and an exchange with more bindings than one portion frees.
struct ManyBindings {
    Portions p;
    Scenario& s = p.s;
    ScenarioChannel& ch = p.ch;

    explicit ManyBindings(const std::string& type) {
        ch.declare_exchange("x", type, {.durable = true});
        ch.declare_queue("q", {.durable = true});
        for (int i = 0; i < 100; ++i) ch.bind("x", "q", std::to_string(i));
    }
    bool has_retired() { return s.engine().state().has_retired_bindings(); }
    bool arrives(const std::string& key, const std::string& queue) {
        const std::uint64_t before = s.queue(queue).ready_count();
        ch.publish(key, "m", {.exchange = "x"});
        return s.queue(queue).ready_count() > before;
    }
};

class BindingsInPortions : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(ByType, BindingsInPortions, ::testing::Values("direct", "topic"));

TEST_P(BindingsInPortions, AQueueOfTheSameNameDoesNotInheritThem) {
    ManyBindings m(GetParam());
    m.ch.declare_queue("other");
    m.ch.bind("x", "other", "1");
    m.ch.delete_queue("q");
    ASSERT_TRUE(m.has_retired());
    EXPECT_EQ(
        m.ch.list_bindings({.source = "x", .destination = "other", .routing_key = "1"}).size(), 1U);
    EXPECT_EQ(m.s.engine().state().find_exchange("x")->outgoing_count, 1U);
    EXPECT_TRUE(m.arrives("1", "other")) << "skips the deleted queue";

    m.ch.declare_queue("q", {.durable = true});
    EXPECT_FALSE(m.arrives("1", "q"));
    m.ch.bind("x", "q", "1");
    EXPECT_TRUE(m.arrives("1", "q")) << "a new binding with the key of an old one";
    EXPECT_FALSE(m.arrives("2", "q"));
    m.ch.unbind("x", "q", "1");
    EXPECT_FALSE(m.arrives("1", "q"));
    m.ch.bind("x", "q", "1");

    EXPECT_GT(m.p.finish(), 5);
    EXPECT_FALSE(m.has_retired());
    EXPECT_TRUE(m.arrives("1", "q")) << "the new binding was not freed";
    EXPECT_TRUE(m.arrives("1", "other"));
    EXPECT_THAT(Probe::reached(), Contains("topology.bindings_in_portions"));
}

TEST_P(BindingsInPortions, AnExchangeOfTheSameNameDoesNotInheritThem) {
    ManyBindings m(GetParam());
    m.ch.declare_exchange("before", "fanout", {});
    m.ch.bind("before", "x", "", {.to = DestinationKind::exchange});
    m.ch.delete_exchange("x");
    ASSERT_TRUE(m.has_retired());
    EXPECT_EQ(binding_count(m.s.queue("q").bindings), 0U);
    m.ch.declare_exchange("x", GetParam(), {.durable = true});
    EXPECT_FALSE(m.arrives("1", "q"));
    m.ch.bind("x", "q", "1");
    EXPECT_TRUE(m.arrives("1", "q"));
    // The other end is deleted before the bindings of the first are freed.
    m.ch.delete_queue("q");
    m.ch.delete_exchange("x");
    EXPECT_GT(m.p.finish(), 5);
    EXPECT_FALSE(m.has_retired());
}

TEST_P(BindingsInPortions, AMessageTakesTheAlternateExchangeAtOnce) {
    ManyBindings m(GetParam());
    m.ch.declare_exchange("rest", "fanout", {});
    m.ch.declare_queue("unrouted");
    m.ch.bind("rest", "unrouted", "");
    m.ch.set_policy(
        {"ae", "^x$", ApplyTo::exchanges, 0, arguments({{"alternate-exchange", "rest"}})});
    m.ch.delete_queue("q");
    ASSERT_TRUE(m.has_retired());
    EXPECT_TRUE(m.arrives("1", "unrouted"));
    m.p.finish();
    EXPECT_TRUE(m.arrives("1", "unrouted"));
}

TEST(ManyOfAKind, AnExchangeTakesItsBindingsAlong) {
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_exchange("from", "topic", {.durable = true, .auto_delete = true});
    ch.declare_exchange("x", "direct", {.durable = true});
    ch.declare_queue("q", {.durable = true});
    ch.bind("from", "x", "#", {.to = DestinationKind::exchange});
    ch.bind("x", "x", "itself", {.to = DestinationKind::exchange});
    for (int i = 0; i < 100; ++i) ch.bind("x", "q", std::to_string(i));
    ch.delete_exchange("x");
    EXPECT_FALSE(s.has_exchange("from")) << "its last binding was deleted";
    EXPECT_THAT(s.queue("q").bindings, IsEmpty());
}

}  // namespace
}  // namespace revenant::engine
