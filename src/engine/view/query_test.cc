#include "engine/view/query.h"

#include "tests/support/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace revenant::engine {
namespace {

std::vector<QueueView> all_queues(Engine& engine) {
    return whole_list([&](std::uint64_t after) { return next_queues(engine, after); });
}

std::vector<BindingView> all_bindings(Engine& engine, const BindingFilter& filter = {}) {
    return whole_list([&](std::uint64_t after) { return next_bindings(engine, after, filter); });
}

std::vector<ConsumerView> all_consumers(Engine& engine, const ConsumerFilter& filter = {}) {
    return whole_list([&](std::uint64_t after) { return next_consumers(engine, after, filter); });
}

std::vector<ChannelView> all_channels(Engine& engine) {
    return whole_list([&](std::uint64_t after) { return next_channels(engine, after); });
}

Totals sum_up(Engine& engine) {
    TotalsWalk walk;
    while (!walk.done) sum_some(engine, walk);
    return walk.totals;
}

ObjectCounters count_objects(Engine& engine) {
    CountersWalk walk;
    ObjectCounters counters;
    while (!walk.done) counters.append(count_some(engine, walk));
    return counters;
}

TEST(Query, AQueueShowsItsDeclarationAndItsCounters) {
    Scenario scenario;
    ScenarioChannel& ch = scenario.open_channel();
    ch.declare_queue("q", {.durable = true, .arguments = arguments({{"x-max-length", 5}})});
    ch.publish("q", "four");
    ch.publish("q", "sixsix");
    ch.get("q");
    const auto queue = find_queue(scenario.engine(), "q");
    ASSERT_TRUE(queue);
    EXPECT_TRUE(queue->durable);
    EXPECT_EQ(queue->arguments, arguments({{"x-max-length", 5}}));
    EXPECT_EQ(queue->settings.max_length, 5);
    EXPECT_EQ(queue->ready, 1U);
    EXPECT_EQ(queue->unacked, 1U);
    EXPECT_EQ(queue->ready_bytes, 6U);
    EXPECT_EQ(queue->unacked_bytes, 4U);
    EXPECT_FALSE(find_queue(scenario.engine(), "nosuch"));
}

TEST(Query, AnExclusiveQueueNamesItsOwner) {
    Scenario scenario;
    ScenarioChannel& ch = scenario.open_channel();
    ch.declare_queue("mine", {.exclusive = true});
    EXPECT_EQ(find_queue(scenario.engine(), "mine")->owner, ch.connection());
}

TEST(Query, ListsAreInTheOrderOfDeclaration) {
    Scenario scenario;
    ScenarioChannel& ch = scenario.open_channel();
    for (const char* name : {"b", "c", "a"}) ch.declare_queue(name);
    std::string names;
    for (const QueueView& queue : all_queues(scenario.engine())) names += queue.name;
    EXPECT_EQ(names, "bca");
    EXPECT_EQ(next_exchanges(scenario.engine(), 0).items.front().name, "");
    EXPECT_EQ(find_exchange(scenario.engine(), "amq.topic")->type, "topic");
}

TEST(Query, BindingsAreListedByEitherEnd) {
    Scenario scenario;
    ScenarioChannel& ch = scenario.open_channel();
    ch.declare_queue("q");
    ch.declare_queue("other");
    ch.bind("amq.topic", "q", "a.#");
    ch.bind("amq.topic", "q", "a.#", {.arguments = arguments({{"k", 1}})});
    ch.bind("amq.fanout", "amq.topic", "x", {.to = DestinationKind::exchange});
    ch.bind("amq.topic", "other", "b");
    Engine& engine = scenario.engine();
    EXPECT_EQ(all_bindings(engine).size(), 4U);
    const auto of_queue = all_bindings(engine, {.destination = "q"});
    ASSERT_EQ(of_queue.size(), 2U);
    EXPECT_EQ(of_queue[0].source, "amq.topic");
    EXPECT_EQ(of_queue[0].routing_key, "a.#");
    EXPECT_EQ(all_bindings(engine, {.source = "amq.topic"}).size(), 3U);
    EXPECT_EQ(all_bindings(engine, {.source = "amq.topic", .destination = "q"}).size(), 2U);
    EXPECT_TRUE(all_bindings(engine, {.source = "amq.fanout", .destination = "q"}).empty());
    const auto to = all_bindings(
        engine, {.destination = "amq.topic", .destination_kind = DestinationKind::exchange});
    ASSERT_EQ(to.size(), 1U);
    EXPECT_EQ(to[0].destination_kind, DestinationKind::exchange);
    EXPECT_EQ(to[0].source, "amq.fanout");
    EXPECT_TRUE(all_bindings(engine, {.destination = "nosuch"}).empty());
    EXPECT_TRUE(all_bindings(engine, {.source = "nosuch"}).empty());
}

// No part exceeds its limit, and together they cover all.
TEST(Query, ListsComeInPortions) {
    Scenario scenario;
    scenario.keep_in_memory();
    ScenarioChannel& ch = scenario.open_channel();
    ch.declare_queue("many");
    constexpr int count = 1'100;
    for (int i = 0; i < count; ++i) {
        const std::string name = std::to_string(i);
        ch.declare_queue("q" + name);
        ch.declare_exchange("x" + name, "fanout");
        ch.bind("amq.topic", "many", "k" + name);
        ch.bind("amq.topic", "q" + name, "one");
        ch.consume("many", {.arguments = arguments({{"number", i}})});
    }
    Engine& engine = scenario.engine();
    const auto checked = [](auto part) {
        EXPECT_LE(part.items.size(), part_items_max);
        return part;
    };
    const auto names = [&](auto next, auto name_of) {
        const auto items =
            whole_list([&](std::uint64_t after) { return checked(next(engine, after)); });
        std::set<std::string> distinct;
        for (const auto& item : items) distinct.insert(name_of(item));
        EXPECT_EQ(distinct.size(), items.size());
        return distinct.size();
    };
    EXPECT_EQ(names(next_queues, [](const auto& queue) { return queue.name; }), count + 1U);
    EXPECT_EQ(names(next_exchanges, [](const auto& exchange) { return exchange.name; }),
              count + 7U);
    const auto bindings_to = [](const BindingFilter& filter) {
        return [filter](Engine& asked, std::uint64_t after) {
            return next_bindings(asked, after, filter);
        };
    };
    const auto both_ends = [](const auto& one) { return one.destination + one.routing_key; };
    EXPECT_EQ(names(bindings_to({}), both_ends), 2U * count);
    EXPECT_EQ(names(bindings_to({.source = "amq.topic"}), both_ends), 2U * count);
    EXPECT_EQ(names(bindings_to({.destination = "many"}), both_ends), 1U * count);
    EXPECT_EQ(names(bindings_to({.source = "amq.topic", .destination = "q7"}), both_ends), 1U);
    const auto consumers_of = [](const ConsumerFilter& filter) {
        return [filter](Engine& asked, std::uint64_t after) {
            return next_consumers(asked, after, filter);
        };
    };
    const auto number = [](const auto& one) { return display(Value::table(one.arguments)); };
    EXPECT_EQ(names(consumers_of({}), number), 1U * count);
    EXPECT_EQ(names(consumers_of({.queue = "many"}), number), 1U * count);
    EXPECT_EQ(names(consumers_of({.channel = ch.id()}), number), 1U * count);
    EXPECT_EQ(names(consumers_of({.queue = "q7"}), number), 0U);
    EXPECT_EQ(
        whole_list([&](std::uint64_t after) { return next_queue_names(engine, after); }).size(),
        count + 1U);
    TotalsWalk walk;
    sum_some(engine, walk);
    EXPECT_FALSE(walk.done);
    EXPECT_EQ(sum_up(engine).queues, count + 1U);
    EXPECT_EQ(sum_up(engine).consumers(), 1U * count);
    EXPECT_EQ(count_objects(engine).queues.size(), count + 1U);
}

TEST(Query, WhatIsDeletedBetweenTwoPortionsDoesNoHarm) {
    Scenario scenario;
    scenario.keep_in_memory();
    ScenarioChannel& ch = scenario.open_channel();
    for (int i = 0; i < 600; ++i) ch.declare_queue("q" + std::to_string(i));
    Engine& engine = scenario.engine();
    auto part = next_queues(engine, 0);
    std::set<std::string> seen;
    for (const auto& queue : part.items) seen.insert(queue.name);
    const std::string last = part.items.back().name;
    ch.delete_queue(last);  // the current position of the walk
    ch.delete_queue("q0");
    ch.delete_queue("q599");
    ch.declare_queue("new");
    while (!part.all) {
        part = next_queues(engine, part.last);
        for (const auto& queue : part.items) {
            EXPECT_TRUE(seen.insert(queue.name).second) << queue.name;
        }
    }
    EXPECT_EQ(seen.size(), 600U);  // without q599, with the new one
    EXPECT_TRUE(seen.contains("q300") && seen.contains("new"));
    EXPECT_FALSE(seen.contains("q599"));
    const std::vector<QueueId> ids{find_queue(engine, "q1")->id, QueueId{1}, QueueId{9'999}};
    EXPECT_EQ(find_queues(engine, ids).size(), 1U);
}

// Objects created during the walk do not extend it forever.
TEST(Query, AListEndsThoughObjectsComeAllTheTime) {
    Scenario scenario;
    scenario.keep_in_memory();
    ScenarioChannel& ch = scenario.open_channel();
    for (int i = 0; i < 300; ++i) ch.declare_queue("q" + std::to_string(i));
    int made = 0;
    const auto queues = whole_list([&](std::uint64_t after) {
        for (int i = 0; i < 250 && made < 5'000; ++i)
            ch.declare_queue("n" + std::to_string(made++));
        return next_queues(scenario.engine(), after);
    });
    EXPECT_LT(queues.size(), 1'000U);
    EXPECT_LT(made, 5'000);
}

TEST(Query, OneOfManyConsumersIsActiveWhereOnlyOneMayBe) {
    Scenario scenario;
    ScenarioChannel& first = scenario.open_channel();
    ScenarioChannel& second = scenario.open_channel();
    first.declare_queue("q", {{"x-single-active-consumer", true}});
    first.qos(7);
    first.consume("q");
    second.consume("q", {.no_ack = true});
    const auto consumers = all_consumers(scenario.engine());
    ASSERT_EQ(consumers.size(), 2U);
    EXPECT_TRUE(consumers[0].active && consumers[0].single_active);
    EXPECT_EQ(consumers[0].channel, first.id());
    EXPECT_EQ(consumers[0].prefetch, 7U);
    EXPECT_FALSE(consumers[1].active);
    EXPECT_TRUE(consumers[1].no_ack);
    EXPECT_EQ(all_consumers(scenario.engine(), {.queue = "q"}).size(), 2U);
    EXPECT_EQ(find_queue(scenario.engine(), "q")->consumers, 2U);
}

TEST(Query, AChannelShowsWhatItHolds) {
    Scenario scenario;
    ScenarioChannel& ch = scenario.open_channel();
    ch.declare_queue("q");
    ch.publish("q", "1");
    const auto got = ch.get("q");
    ch.select();
    ch.publish("q", "2");
    ch.publish("q", "3");
    ch.ack(got->tag);
    const auto channels = all_channels(scenario.engine());
    ASSERT_EQ(channels.size(), 1U);
    EXPECT_EQ(channels[0].id, ch.id());
    EXPECT_TRUE(channels[0].transactional);
    EXPECT_EQ(channels[0].uncommitted_messages, 2U);
    EXPECT_EQ(channels[0].uncommitted_settlements, 1U);
    ch.commit();
}

TEST(Query, TotalsBalance) {
    Scenario scenario;
    ScenarioChannel& ch = scenario.open_channel();
    ch.declare_queue("a");
    ch.declare_queue("b");
    for (int i = 0; i < 5; ++i) ch.publish("a", "x");
    for (int i = 0; i < 3; ++i) ch.publish("b", "yy");
    ch.ack(ch.get("a")->tag);
    ch.get("b");
    ch.purge("b");
    const Totals totals = sum_up(scenario.engine());
    EXPECT_EQ(totals.queues, 2U);
    EXPECT_EQ(totals.channels, 1U);
    EXPECT_EQ(totals.ready, 4U);
    EXPECT_EQ(totals.unacked, 1U);
    EXPECT_EQ(totals.accounts.entered,
              totals.accounts.ended_total() + totals.ready + totals.unacked);
    Totals twice = totals;
    twice += totals;
    EXPECT_EQ(twice.accounts.entered, 16U);
    EXPECT_EQ(twice.accounts.of(Ending::purged), 4U);
    EXPECT_EQ(totals.traffic.of_all_clients().received, 8U);
    EXPECT_EQ(twice.traffic.of_all_clients().received, 16U);
    EXPECT_EQ(twice.traffic.queues_created, 4U);
    EXPECT_EQ(twice.ready_bytes, 8U);
}

// management 4.19
TEST(Query, TellsWhatARestartWouldBringBack) {
    Scenario scenario;
    ScenarioChannel& ch = scenario.open_channel();
    ch.declare_queue("lasting");
    ch.declare_queue("passing", QueueOptions{.durable = false});
    ch.declare_queue("quorum", {{"x-queue-type", "quorum"}});
    for (const char* queue : {"lasting", "passing", "quorum"}) {
        ch.publish(queue, "12345");
        ch.publish(queue, "123", {.persistent = false});
        ch.publish(queue, "1");
    }
    const auto persistent_messages = [&](const char* queue) {
        return find_queue(scenario.engine(), queue)->persistent_messages;
    };
    EXPECT_EQ(persistent_messages("lasting").count, 2U);
    EXPECT_EQ(persistent_messages("passing"), MessageTotals{});
    EXPECT_EQ(persistent_messages("quorum").count, 3U);
    EXPECT_EQ(persistent_messages("quorum").bytes,
              find_queue(scenario.engine(), "quorum")->ready_bytes);
    EXPECT_EQ(sum_up(scenario.engine()).persistent_messages.count, 5U);
    const std::uint64_t tag = ch.get("lasting")->tag;
    EXPECT_EQ(persistent_messages("lasting").count, 2U);
    ch.purge("lasting");
    EXPECT_EQ(persistent_messages("lasting").count, 1U) << "unacked messages are not purged";
    ch.ack(tag);
    EXPECT_EQ(persistent_messages("lasting"), MessageTotals{});
}

TEST(Query, TellsTheTimestampAtTheHead) {
    Scenario scenario;
    scenario.keep_in_memory();
    ScenarioChannel& ch = scenario.open_channel();
    ch.declare_queue("q");
    const auto head = [&] { return find_queue(scenario.engine(), "q")->head_timestamp; };
    EXPECT_EQ(head(), std::nullopt);
    ch.publish("q", "a", {.properties = arguments({{"timestamp", 1700000000}})});
    ch.publish("q", "b");
    EXPECT_EQ(head(), 1700000000);
    ch.get("q", /*no_ack=*/true);
    EXPECT_EQ(head(), std::nullopt);
}

TEST(Query, AQueueWithMessagesTakesMemory) {
    Scenario scenario;
    scenario.keep_in_memory();
    ScenarioChannel& ch = scenario.open_channel();
    ch.declare_queue("q");
    const auto memory = [&] { return find_queue(scenario.engine(), "q")->memory_bytes; };
    const std::uint64_t empty = memory();
    EXPECT_GT(empty, 0U);
    ch.publish("q", std::string(100'000, 'x'));
    EXPECT_GE(memory(), empty + 100'000);
    ch.purge("q");
    EXPECT_EQ(memory(), empty);
}

TEST(Query, WhatPassesIsCountedWhereItPasses) {  // management 2.7
    Scenario scenario;
    ScenarioChannel& ch = scenario.open_channel();
    ch.declare_queue("a");
    for (int i = 0; i < 4; ++i) ch.publish("a", "x");
    ch.ack(ch.get("a")->tag);
    ch.get("a");
    const auto queue = find_queue(scenario.engine(), "a");
    EXPECT_EQ(queue->stats.published, 4U);
    EXPECT_EQ(queue->stats.consumed.got_manual_ack, 2U);
    EXPECT_EQ(queue->stats.consumed.acknowledged, 1U);
    EXPECT_EQ(queue->stats.consumed.delivered_manual_ack, 0U);
    const auto exchange = find_exchange(scenario.engine(), "");
    EXPECT_EQ(exchange->published_in, 4U);
    EXPECT_EQ(exchange->published_out, 4U);
    const auto channels = all_channels(scenario.engine());
    ASSERT_EQ(channels.size(), 1U);
    EXPECT_EQ(channels[0].stats.published, 4U);
    EXPECT_EQ(channels[0].stats.consumed.acknowledged, 1U);
    const ObjectCounters counters = count_objects(scenario.engine());
    ASSERT_EQ(counters.queues.size(), 1U);
    EXPECT_EQ(counters.queues[0].id, queue->id);
    EXPECT_EQ(counters.queues[0].messages, 3U);
    EXPECT_EQ(counters.queues[0].unacked, 1U);
    ASSERT_EQ(counters.exchanges.size(), 1U);
    EXPECT_EQ(counters.channels.size(), 1U);
    EXPECT_EQ(sum_up(scenario.engine()).traffic.channels_opened, 1U);
}

TEST(Query, PublishersAndConsumersAreCountedByProtocol) {
    Scenario scenario;
    const ConnectionId connection = scenario.connect(ClientProtocol::amqp10);
    ScenarioChannel& old_one = scenario.open_channel();
    ScenarioChannel& new_one = scenario.open_channel(connection);
    old_one.declare_queue("a");
    old_one.declare_queue("b");
    old_one.consume("a");
    new_one.consume("a");
    const std::uint32_t last = new_one.consume("b");
    old_one.publish("nobody", "x");
    old_one.publish("nobody", "x");
    const Totals totals = sum_up(scenario.engine());
    EXPECT_EQ(totals.clients_of(ClientProtocol::amqp091).publishers, 1U);
    EXPECT_EQ(totals.clients_of(ClientProtocol::amqp091).consumers, 1U);
    EXPECT_EQ(totals.clients_of(ClientProtocol::amqp10).publishers, 0U);
    EXPECT_EQ(totals.clients_of(ClientProtocol::amqp10).consumers, 2U);
    EXPECT_EQ(totals.consumers(), 3U);
    new_one.cancel(last);
    old_one.delete_queue("a");
    EXPECT_EQ(sum_up(scenario.engine()).consumers(), 0U);
    old_one.take_cancelled();
    new_one.take_cancelled();
}

TEST(Query, ALinkForPublishingIsAPublisherBeforeItPublishes) {
    Scenario scenario;
    Engine& engine = scenario.engine();
    const ConnectionId connection = scenario.connect(ClientProtocol::amqp10);
    engine.handle(OpenChannel{connection, {900}, ChannelUse::publishing}, scenario.now());
    engine.handle(OpenChannel{connection, {901}}, scenario.now());
    EXPECT_EQ(sum_up(engine).clients_of(ClientProtocol::amqp10).publishers, 1U);
    scenario.close(connection);
    EXPECT_EQ(sum_up(engine).clients_of(ClientProtocol::amqp10).publishers, 0U);
}

}  // namespace
}  // namespace revenant::engine
