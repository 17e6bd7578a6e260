#include "engine/query.h"

#include "tests/support/scenario.h"

#include <gtest/gtest.h>

namespace revenant::engine {
namespace {

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

TEST(Query, ListsAreSortedByName) {
    Scenario scenario;
    ScenarioChannel& ch = scenario.open_channel();
    for (const char* name : {"b", "c", "a"}) ch.declare_queue(name);
    std::string names;
    for (const QueueView& queue : list_queues(scenario.engine())) names += queue.name;
    EXPECT_EQ(names, "abc");
    EXPECT_EQ(list_exchanges(scenario.engine()).front().name, "");
    EXPECT_EQ(find_exchange(scenario.engine(), "amq.topic")->type, "topic");
}

TEST(Query, BindingsIncludeTheImplicitOnes) {
    Scenario scenario;
    ScenarioChannel& ch = scenario.open_channel();
    ch.declare_queue("q");
    ch.declare_queue("other");
    ch.bind("amq.topic", "q", "a.#");
    ch.bind("amq.topic", "q", "a.#", {.arguments = arguments({{"k", 1}})});
    ch.bind("amq.fanout", "amq.topic", "x", {.to = DestinationKind::exchange});
    EXPECT_EQ(list_bindings(scenario.engine()).size(), 5U);
    const auto of_queue = list_bindings_of_queue(scenario.engine(), "q");
    ASSERT_EQ(of_queue.size(), 3U);
    EXPECT_EQ(of_queue[0].source, "");
    EXPECT_EQ(of_queue[0].routing_key, "q");
    EXPECT_EQ(of_queue[1].routing_key, "a.#");
    EXPECT_EQ(list_bindings_from(scenario.engine(), "amq.topic").size(), 2U);
    EXPECT_EQ(list_bindings_from(scenario.engine(), "").size(), 2U);
    const auto to = list_bindings_to(scenario.engine(), "amq.topic");
    ASSERT_EQ(to.size(), 1U);
    EXPECT_EQ(to[0].destination_kind, DestinationKind::exchange);
    EXPECT_EQ(to[0].source, "amq.fanout");
    EXPECT_TRUE(list_bindings_of_queue(scenario.engine(), "nosuch").empty());
}

TEST(Query, OneOfManyConsumersIsActiveWhereOnlyOneMayBe) {
    Scenario scenario;
    ScenarioChannel& first = scenario.open_channel();
    ScenarioChannel& second = scenario.open_channel();
    first.declare_queue("q", {{"x-single-active-consumer", true}});
    first.qos(7);
    first.consume("q");
    second.consume("q", {.no_ack = true});
    const auto consumers = list_consumers(scenario.engine());
    ASSERT_EQ(consumers.size(), 2U);
    EXPECT_TRUE(consumers[0].active && consumers[0].single_active);
    EXPECT_EQ(consumers[0].channel, first.id());
    EXPECT_EQ(consumers[0].prefetch, 7U);
    EXPECT_FALSE(consumers[1].active);
    EXPECT_TRUE(consumers[1].no_ack);
    EXPECT_EQ(list_consumers_of_queue(scenario.engine(), "q").size(), 2U);
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
    const auto channels = list_channels(scenario.engine());
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
    const auto lasting = [&](const char* queue) {
        return find_queue(scenario.engine(), queue)->lasting;
    };
    EXPECT_EQ(lasting("lasting").count, 2U);
    EXPECT_EQ(lasting("passing"), Amount{});
    EXPECT_EQ(lasting("quorum").count, 3U);
    EXPECT_EQ(lasting("quorum").bytes, find_queue(scenario.engine(), "quorum")->ready_bytes);
    EXPECT_EQ(sum_up(scenario.engine()).lasting.count, 5U);
    const std::uint64_t tag = ch.get("lasting")->tag;
    EXPECT_EQ(lasting("lasting").count, 2U);
    ch.purge("lasting");
    EXPECT_EQ(lasting("lasting").count, 1U) << "what a client has is not purged";
    ch.ack(tag);
    EXPECT_EQ(lasting("lasting"), Amount{});
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
    EXPECT_EQ(queue->passage.published, 4U);
    EXPECT_EQ(queue->passage.consumed.got_manual_ack, 2U);
    EXPECT_EQ(queue->passage.consumed.acknowledged, 1U);
    EXPECT_EQ(queue->passage.consumed.delivered_manual_ack, 0U);
    const auto exchange = find_exchange(scenario.engine(), "");
    EXPECT_EQ(exchange->published_in, 4U);
    EXPECT_EQ(exchange->published_out, 4U);
    const auto channels = list_channels(scenario.engine());
    ASSERT_EQ(channels.size(), 1U);
    EXPECT_EQ(channels[0].passage.published, 4U);
    EXPECT_EQ(channels[0].passage.consumed.acknowledged, 1U);
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
