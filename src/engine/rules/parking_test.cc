#include "engine/rules/parking.h"

#include "base/probe.h"
#include "engine/recovery/snapshot_codec.h"
#include "engine/view/query.h"
#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace revenant::engine {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A backlog that is paged out, and a disk on which part of it is damaged.
struct Damaged {
    Damaged() {
        s.engine().state().paging().budget_bytes = 64 * 1024;
        s.engine().state().paging().page_bytes_min = 4096;
    }
    void fill(const PublishOptions& options = {}) {
        for (int i = 0; i < messages; ++i) ch.publish("q", std::to_string(i), options);
    }
    Chain& chain() { return s.queue("q").level(0); }
    const ColdBlock* cold(std::uint64_t number) {
        const ColdBlock* const found = chain().view(number).cold;
        EXPECT_NE(found, nullptr) << "block " << number << " is in memory";
        return found;
    }
    // The position of the block's first message.
    Lsn message() { return cold(block)->journal_ranges.front().first; }
    std::vector<std::string> drain() {
        std::vector<std::string> bodies;
        while (const auto got = ch.get("q", /*no_ack=*/true)) bodies.push_back(got->body());
        return bodies;
    }
    static std::vector<std::string> all_but(std::uint64_t from, std::uint64_t to) {
        std::vector<std::string> bodies;
        for (std::uint64_t i = 0; i < messages; ++i) {
            if (i < from || i >= to) bodies.push_back(std::to_string(i));
        }
        return bodies;
    }
    std::vector<ParkedView> parked() { return *list_parked(s.engine(), "q"); }

    static constexpr int messages = 3000;
    static constexpr std::uint64_t block = 5;
    static constexpr std::uint64_t first = block * block_entries;
    static constexpr std::uint64_t behind = first + block_entries;
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
};

TEST(Parking, ADamagedMessageIsSkippedAndTheOthersAreDelivered) {
    Damaged d;
    d.ch.declare_queue("q");
    d.fill();
    const Lsn at{d.message().value + 20};
    d.s.store().flip(at);
    EXPECT_EQ(d.drain(), Damaged::all_but(Damaged::first, Damaged::first + 1));
    Queue& queue = d.s.queue("q");
    EXPECT_EQ(queue.ready_count(), 0U);
    EXPECT_EQ(queue.parked().count, 1U);
    EXPECT_EQ(queue.message_count(), 1U);
    ASSERT_EQ(d.parked().size(), 1U);
    EXPECT_EQ(d.parked()[0].sequence, Damaged::first);
    EXPECT_EQ(d.parked()[0].bytes, 4U);
    EXPECT_THAT(d.parked()[0].why, HasSubstr("damaged at"));
    EXPECT_THAT(Probe::reached(), Contains("queue.message_parked"));
    EXPECT_THAT(d.s.notices(), ElementsAre(AllOf(HasSubstr("queue 'q'"), HasSubstr("parked"))));
    d.s.check();
    d.s.store().flip(at);  // undo the damage for the restart that follows
}

TEST(Parking, ConsumersGetWhatStandsBehindADamagedMessage) {
    Damaged d;
    d.ch.declare_queue("q");
    d.fill();
    const Lsn at{d.message().value + 20};
    d.s.store().flip(at);
    d.ch.consume("q");
    d.s.advance({0});
    EXPECT_EQ(d.ch.take_deliveries().size(), 2999U);
    EXPECT_EQ(d.s.queue("q").parked().count, 1U);
    d.ch.requeue_up_to(0);
    d.s.advance({0});
    EXPECT_EQ(d.ch.take_deliveries().size(), 2999U);
    d.ch.ack_up_to(0);
    EXPECT_EQ(d.s.queue("q").message_count(), 1U);
    EXPECT_EQ(d.ch.discard_parked("q"), 1U);
    EXPECT_EQ(d.s.queue("q").message_count(), 0U);
    EXPECT_EQ(d.s.queue("q").persistent_messages(), MessageTotals{});
    EXPECT_EQ(d.ch.discard_parked("q"), 0U);
    d.s.store().flip(at);
}

TEST(Parking, AMessageThatCouldNotBeReadIsReadAgainAfterARestart) {
    Damaged d;
    d.ch.declare_queue("q");
    d.fill();
    d.s.store().fail_reads_of(Lsn{d.message().value + 20});
    EXPECT_EQ(d.drain().size(), 2999U);
    EXPECT_THAT(d.parked()[0].why, HasSubstr("cannot read at"));
    d.s.store().fail_reads_of(std::nullopt);
    State restored;
    restored.paging() = d.s.engine().state().paging();
    ASSERT_TRUE(decode_snapshot(encode_snapshot(d.s.engine().state(), Shutdown::none), restored));
    Queue& queue = *restored.find_queue("q");
    EXPECT_EQ(queue.ready_count(), 1U);
    ASSERT_TRUE(queue.load_message(*queue.head()));
    EXPECT_EQ(queue.at(*queue.head()).message->body(), std::to_string(Damaged::first));
}

TEST(Parking, ADamagedPageIsParkedAsOneWithTheNumberOfItsMessages) {
    Damaged d;
    d.ch.declare_queue("q");
    d.fill();
    const Lsn at{d.cold(Damaged::block)->durable_page.at.value + 7};
    d.s.store().flip(at);
    EXPECT_EQ(d.drain(), Damaged::all_but(Damaged::first, Damaged::behind));
    EXPECT_EQ(d.s.queue("q").parked().count, block_entries);
    ASSERT_EQ(d.parked().size(), 1U);
    EXPECT_TRUE(d.parked()[0].is_page);
    EXPECT_EQ(d.parked()[0].messages, block_entries);
    EXPECT_THAT(Probe::reached(), Contains("chain.page_parked"));
    EXPECT_EQ(d.s.notices().size(), 1U);
    d.s.check();
    // A restart may be able to read the page, so everything that it refers to is kept.
    const auto used = journal_ranges_in_use(d.s.engine().state(), {0}, d.s.store().position());
    EXPECT_FALSE(used.somewhere.empty());
    State restored;
    restored.paging() = d.s.engine().state().paging();
    ASSERT_TRUE(decode_snapshot(encode_snapshot(d.s.engine().state(), Shutdown::none), restored));
    EXPECT_EQ(restored.find_queue("q")->ready_count(), block_entries);
    d.s.store().flip(at);
    ASSERT_TRUE(restored.find_queue("q")->head());
    // A replay of this event finds the messages and removes them.
    EXPECT_EQ(d.ch.discard_parked("q"), block_entries);
    EXPECT_EQ(d.s.queue("q").message_count(), 0U);
    EXPECT_EQ(d.s.queue("q").persistent_messages(), MessageTotals{});
    EXPECT_THAT(d.parked(), IsEmpty());
}

TEST(Parking, OfTwoPagesOfABlockTheGoodOneIsServed) {
    Damaged d;
    d.ch.declare_queue("q");
    for (int i = 0; i < Damaged::messages; ++i) {
        d.ch.publish("q", std::to_string(i), {.persistent = i % 2 == 0});
    }
    d.s.store().flip_passing(d.cold(3)->transient_page);
    const Lsn at{d.cold(5)->durable_page.at.value + 7};
    d.s.store().flip(at);
    const std::vector<std::string> bodies = d.drain();
    EXPECT_EQ(bodies.size(), 3000U - block_entries);
    EXPECT_THAT(bodies, Contains(std::to_string(3 * block_entries)));
    EXPECT_THAT(bodies, Contains(std::to_string(5 * block_entries + 1)));
    EXPECT_EQ(d.s.queue("q").parked().count, block_entries);
    d.s.check();
    EXPECT_EQ(d.ch.purge("q"), block_entries);
    EXPECT_EQ(d.s.store().transient_pages(), 0U);
    d.s.store().flip(at);
}

TEST(Parking, APurgeAndADeletionRemoveWhatIsParked) {
    Damaged d;
    d.ch.declare_queue("q");
    d.fill();
    const Lsn at{d.message().value + 20};
    const Lsn page{d.cold(Damaged::block + 1)->durable_page.at.value + 7};
    d.s.store().flip(at);
    d.s.store().flip(page);
    EXPECT_EQ(d.drain().size(), 2999U - block_entries);
    EXPECT_EQ(d.s.queue("q").parked().count, block_entries + 1);
    EXPECT_EQ(d.ch.purge("q"), block_entries + 1);
    EXPECT_EQ(d.s.queue("q").message_count(), 0U);
    d.fill();
    d.s.store().flip(Lsn{d.cold(Damaged::block + 12)->durable_page.at.value + 7});
    d.drain();
    EXPECT_EQ(d.s.queue("q").parked().count, block_entries);
    EXPECT_EQ(d.s.notices().size(), 2U) << "it had none in between";
    d.ch.delete_queue("q");
    d.s.store().flip(at);
    d.s.store().flip(page);
}

TEST(Parking, WhatIsParkedNeitherExpiresNorCountsForTheLimits) {
    Damaged d;
    d.ch.declare_queue("q", {{"x-message-ttl", 1000}, {"x-max-length", 3000}});
    d.fill();
    const Lsn at{d.message().value + 20};
    const Lsn page{d.cold(Damaged::block + 1)->durable_page.at.value + 7};
    d.s.store().flip(at);
    d.s.store().flip(page);
    for (std::uint64_t i = 0; i <= Damaged::first; ++i) d.ch.get("q", /*no_ack=*/true);
    EXPECT_EQ(d.s.queue("q").parked().count, 1U);
    d.s.advance(seconds(2));
    EXPECT_EQ(d.s.queue("q").ready_count(), 0U);
    EXPECT_EQ(d.s.queue("q").parked().count, block_entries + 1);
    EXPECT_EQ(d.s.queue("q").totals_for_limits(), MessageTotals{});
    d.ch.purge("q");
    d.s.store().flip(at);
    d.s.store().flip(page);
}

TEST(Parking, AMessageWhoseHeadersDecideWhereItGoesDoesNotDieUnread) {  // DL-52
    Damaged d;
    d.ch.declare_exchange("dlx", "headers");
    d.ch.declare_queue("dead");
    d.ch.bind("dlx", "dead", "", {.arguments = {{"kind", Value::string("a")}}});
    d.ch.declare_queue("q", {{"x-dead-letter-exchange", "dlx"}, {"x-message-ttl", 1000}});
    d.fill({.headers = {{"kind", Value::string("a")}}});
    const Lsn at{d.message().value + 20};
    d.s.store().flip(at);
    d.s.advance(seconds(2));
    EXPECT_EQ(d.s.queue("q").ready_count(), 0U);
    EXPECT_EQ(d.s.queue("q").parked().count, 1U);
    EXPECT_EQ(d.s.queue("dead").ready_count(), 2999U);
    EXPECT_EQ(d.s.ended(Ending::unroutable), 0U);
    d.ch.discard_parked("q");
    d.s.store().flip(at);
}

TEST(Parking, ManyDamagedPagesAreSkippedInPortions) {
    Damaged d;
    d.ch.declare_queue("q");
    for (int i = 0; i < 40'000; ++i) d.ch.publish("q", std::to_string(i));
    std::vector<Lsn> flipped;
    for (std::uint64_t number = 10; number < 140; ++number) {
        flipped.push_back({d.cold(number)->durable_page.at.value + 7});
        d.s.store().flip(flipped.back());
    }
    d.ch.consume("q", {.no_ack = true});
    d.s.advance({0});
    EXPECT_EQ(d.s.queue("q").parked().count, 130 * block_entries);
    EXPECT_EQ(d.s.queue("q").ready_count(), 0U);
    EXPECT_EQ(d.ch.take_deliveries().size(), 40'000 - 130 * block_entries);
    EXPECT_EQ(d.s.notices().size(), 1U);
    EXPECT_EQ(d.ch.discard_parked("q"), 130 * block_entries);
    for (const Lsn at : flipped) d.s.store().flip(at);
}

}  // namespace
}  // namespace revenant::engine
