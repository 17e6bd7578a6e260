#include "engine/words/counters.h"

#include "engine/view/query.h"
#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace revenant::engine {
namespace {

TEST(EntryCounters, EveryEndingHasANameOfItsOwn) {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < ending_count; ++i) names.insert(to_string(static_cast<Ending>(i)));
    EXPECT_EQ(names.size(), ending_count);
    EXPECT_FALSE(names.contains(""));
    EXPECT_EQ(static_cast<std::size_t>(Ending::queue_deleted) + 1, ending_count);
}

TEST(EntryCounters, TheTotalIsTheSumOfAllEndings) {
    EntryCounters accounts;
    for (std::size_t i = 0; i < ending_count; ++i) accounts.of(static_cast<Ending>(i)) += i;
    EXPECT_EQ(accounts.ended_total(), ending_count * (ending_count - 1) / 2);
}

TEST(EntryCounters, EveryOutcomeOfADeathHasANameOfItsOwn) {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < death_outcome_count; ++i) {
        names.insert(to_string(static_cast<DeathOutcome>(i)));
    }
    EXPECT_EQ(names.size(), death_outcome_count);
    EXPECT_EQ(to_string(outcome_of(Ending::cycle)), "cycle");
    EXPECT_EQ(to_string(outcome_of(Ending::target_refused)), "target_refused");
}

// Maps "rejected no_dlx" to its count, without zeros.
std::map<std::string, std::uint64_t> fates(const DeathOutcomes& deaths) {
    std::map<std::string, std::uint64_t> found;
    for (std::size_t i = 0; i < death_reason_count; ++i) {
        for (std::size_t j = 0; j < death_outcome_count; ++j) {
            const auto reason = static_cast<DeathReason>(i);
            const auto outcome = static_cast<DeathOutcome>(j);
            if (const std::uint64_t count = deaths.of(reason, outcome)) {
                found[std::string(to_string(reason)) + " " + std::string(to_string(outcome))] =
                    count;
            }
        }
    }
    return found;
}

TEST(EntryCounters, DeathsAreCountedByReasonAndOutcome) {
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("dead");
    ch.declare_queue("no_dlx");
    ch.declare_queue("q", {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "dead"}});
    ch.declare_queue("missing", {{"x-dead-letter-exchange", "nowhere"}});
    ch.declare_queue("unroutable",
                     {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "nobody"}});
    ch.declare_queue("waiting", {{"x-queue-type", "quorum"},
                                 {"x-dead-letter-exchange", "not yet"},
                                 {"x-dead-letter-strategy", "at-least-once"},
                                 {"x-overflow", "reject-publish"}});
    for (const char* queue : {"no_dlx", "q", "missing", "unroutable", "waiting"}) {
        ch.publish(queue, "m");
        ch.nack(ch.get(queue)->tag);
    }
    const std::map<std::string, std::uint64_t> wanted{{"rejected no_dlx", 1},
                                                      {"rejected dead_lettered", 1},
                                                      {"rejected dlx_missing", 1},
                                                      {"rejected unroutable", 1},
                                                      {"rejected waiting", 1}};
    EXPECT_EQ(fates(s.engine().state().traffic().death_outcomes), wanted);
    EXPECT_THAT(fates(find_queue(s.engine(), "waiting")->deaths),
                testing::ElementsAre(testing::Pair("rejected waiting", 1U)));
    EXPECT_THAT(fates(find_queue(s.engine(), "dead")->deaths), testing::IsEmpty());
}

TEST(EntryCounters, LatenessIsTheTimeSinceTheDeadline) {
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("q", {{"x-message-ttl", 1000}});
    ch.publish("q", "on time");
    ch.publish("q", "away meanwhile");
    ch.get("q", /*no_ack=*/true);
    const auto away = ch.get("q");
    s.advance(seconds(3));
    ch.requeue(away->tag);
    const Lateness& lateness = s.engine().state().traffic().lateness;
    EXPECT_EQ(lateness.count(), 1U);
    EXPECT_EQ(lateness.sum, 2'000'000U);
}

TEST(EntryCounters, WhatIsConsumedCountsByTypeOfQueue) {
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("classic");
    ch.declare_queue("quorum", {{"x-queue-type", "quorum"}});
    ch.publish("classic", "c");
    ch.publish("quorum", "q");
    ch.publish("quorum", std::string(2000, 'q'));
    ch.ack(ch.get("classic")->tag);
    ch.requeue(ch.get("quorum")->tag);
    ch.get("quorum", /*no_ack=*/true);
    ch.get("classic");
    const Traffic& traffic = s.engine().state().traffic();
    const ClientTraffic& clients = traffic.of(ClientProtocol::amqp091);
    const Consumption& classic = clients.consumed_from(QueueKind::classic);
    const Consumption& quorum = clients.consumed_from(QueueKind::quorum);
    EXPECT_EQ(classic.acknowledged, 1U);
    EXPECT_EQ(quorum.acknowledged, 0U);
    EXPECT_EQ(classic.get_empty, 1U);
    EXPECT_EQ(quorum.get_empty, 0U);
    EXPECT_EQ(quorum.got_manual_ack, 1U);
    EXPECT_EQ(quorum.got_auto_ack, 1U);
    EXPECT_EQ(quorum.redelivered, 1U);
    EXPECT_EQ(classic.redelivered, 0U);
    EXPECT_EQ(clients.consumed().delivered(), 3U);
    EXPECT_EQ(traffic.queue_publishes, 3U);
    EXPECT_EQ(clients.message_sizes.counts[0], 2U);
    EXPECT_EQ(clients.message_sizes.counts[2], 1U);
    EXPECT_EQ(clients.message_sizes.sum, 2002U);
}

// The counter's value for each protocol: "1 0".
template <typename Value>
std::string by_protocol(const Traffic& traffic, Value value) {
    return std::to_string(value(traffic.of(ClientProtocol::amqp091))) + " " +
           std::to_string(value(traffic.of(ClientProtocol::amqp10)));
}

std::string by_protocol(const Traffic& traffic, std::uint64_t ClientTraffic::*counter) {
    return by_protocol(traffic, [&](const ClientTraffic& one) { return one.*counter; });
}

std::string by_protocol(const Traffic& traffic, std::uint64_t Consumption::*counter) {
    return by_protocol(traffic, [&](const ClientTraffic& one) { return one.consumed().*counter; });
}

TEST(EntryCounters, PublishersCountForTheirProtocol) {
    Scenario s;
    ScenarioChannel& old_one = s.open_channel();
    ScenarioChannel& new_one = s.open_channel(s.connect(ClientProtocol::amqp10));
    old_one.declare_queue("q");
    old_one.publish("q", "12345");
    old_one.publish("nobody", "m");
    new_one.publish("q", "m", {.confirm = true});
    new_one.publish("q", std::string(200, 'm'));
    new_one.publish("nobody", "m", {.mandatory = true});
    EXPECT_THAT(new_one.take_returns(), testing::ElementsAre("m"));
    const Traffic& traffic = s.engine().state().traffic();
    EXPECT_EQ(by_protocol(traffic, &ClientTraffic::received), "2 3");
    EXPECT_EQ(by_protocol(traffic, &ClientTraffic::received_confirm), "0 1");
    EXPECT_EQ(by_protocol(traffic, &ClientTraffic::confirmed), "0 1");
    EXPECT_EQ(by_protocol(traffic, &ClientTraffic::routed), "1 2");
    EXPECT_EQ(by_protocol(traffic, &ClientTraffic::unroutable_dropped), "1 0");
    EXPECT_EQ(by_protocol(traffic, &ClientTraffic::unroutable_returned), "0 1");
    const ClientTraffic all = traffic.of_all_clients();
    EXPECT_EQ(all.received, 5U);
    EXPECT_EQ(all.message_sizes.count(), 5U);
    EXPECT_EQ(all.stats().published, 5U);
}

TEST(EntryCounters, AMessageIsRoutedAsOftenAsAQueueGetsIt) {
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    for (const char* queue : {"a", "b", "c"}) {
        ch.declare_queue(queue);
        ch.bind("amq.fanout", queue);
    }
    ch.publish("", "m", {.exchange = "amq.fanout"});
    EXPECT_EQ(by_protocol(s.engine().state().traffic(), &ClientTraffic::routed), "3 0");
}

TEST(EntryCounters, WhatIsRefusedOrReleasedIsNotConfirmed) {
    Scenario s;
    ScenarioChannel& old_one = s.open_channel();
    ScenarioChannel& new_one = s.open_channel(s.connect(ClientProtocol::amqp10));
    old_one.declare_queue("full", {{"x-max-length", 0}, {"x-overflow", "reject-publish"}});
    for (ScenarioChannel* ch : {&old_one, &new_one}) {
        const bool released = ch == &new_one;
        ch->publish("full", "nacked", {.confirm = true, .single_outcome = released});
        ch->publish("nobody", "returned",
                    {.mandatory = true, .confirm = true, .single_outcome = released});
        ch->take_returns();
        ch->take_confirms();
        ch->take_publish_refusals();
    }
    const Traffic& traffic = s.engine().state().traffic();
    EXPECT_EQ(by_protocol(traffic, &ClientTraffic::received_confirm), "2 2");
    EXPECT_EQ(by_protocol(traffic, &ClientTraffic::unroutable_returned), "1 1");
    EXPECT_EQ(by_protocol(traffic, &ClientTraffic::confirmed), "1 0");
}

TEST(EntryCounters, ConsumersCountForTheirProtocolWhoeverPublished) {
    Scenario s;
    ScenarioChannel& old_one = s.open_channel();
    ScenarioChannel& new_one = s.open_channel(s.connect(ClientProtocol::amqp10));
    old_one.declare_queue("q");
    const std::uint32_t consumer = new_one.consume("q");
    for (const char* body : {"accepted", "failed"}) old_one.publish("q", body);
    new_one.ack(new_one.take_delivery().tag);
    new_one.fail(new_one.take_delivery().tag);
    new_one.cancel(consumer);
    new_one.requeue(new_one.take_delivery().tag);
    new_one.publish("q", "by the other");
    old_one.get("q", /*no_ack=*/true);
    old_one.ack(old_one.get("q")->tag);
    old_one.get("q");
    const Traffic& traffic = s.engine().state().traffic();
    EXPECT_EQ(by_protocol(traffic, &Consumption::delivered_manual_ack), "0 3");
    EXPECT_EQ(by_protocol(traffic, &Consumption::got_auto_ack), "1 0");
    EXPECT_EQ(by_protocol(traffic, &Consumption::got_manual_ack), "1 0");
    EXPECT_EQ(by_protocol(traffic, &Consumption::get_empty), "1 0");
    EXPECT_EQ(by_protocol(traffic, &Consumption::redelivered), "1 1");
    EXPECT_EQ(by_protocol(traffic, &Consumption::acknowledged), "1 1");
    EXPECT_EQ(traffic.of_all_clients().consumed().delivered(), 5U);
}

TEST(EntryCounters, AReplyCountsForWhoGetsIt) {  // amqp091 14.3
    Scenario s;
    ScenarioChannel& asking = s.open_channel();
    ScenarioChannel& answering = s.open_channel(s.connect(ClientProtocol::amqp10));
    const std::string reply_name = "amq.rabbitmq.reply-to.asking";
    asking.consume("amq.rabbitmq.reply-to", {.no_ack = true, .reply_name = reply_name});
    answering.publish(reply_name, "answer");
    EXPECT_THAT(asking.take_bodies(), testing::ElementsAre("answer"));
    const Traffic& traffic = s.engine().state().traffic();
    EXPECT_EQ(by_protocol(traffic, &ClientTraffic::routed), "0 1");
    EXPECT_EQ(by_protocol(traffic, &Consumption::delivered_auto_ack), "1 0");
}

}  // namespace
}  // namespace revenant::engine
