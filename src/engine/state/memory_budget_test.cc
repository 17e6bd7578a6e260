#include "engine/state/memory_budget.h"

#include "base/probe.h"
#include "engine/recovery/snapshot_codec.h"
#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::engine {
namespace {

using ::testing::Contains;

// A queue with blocks of the usual size, and a budget that a few of them exceed.
struct Deep {
    explicit Deep(std::uint64_t budget_bytes = 64 * 1024) {
        s.engine().state().paging().budget_bytes = budget_bytes;
        s.engine().state().paging().page_bytes_min = 4096;
    }
    Paging& paging() { return s.engine().state().paging(); }
    Chain& chain(const char* queue) { return s.queue(queue).level(0); }
    void fill(const char* queue, int messages, const PublishOptions& options = {}) {
        for (int i = 0; i < messages; ++i) ch.publish(queue, std::to_string(i), options);
    }
    void expect_all(const char* queue, int messages) {
        for (int i = 0; i < messages; ++i) {
            const auto got = ch.get(queue, /*no_ack=*/true);
            ASSERT_TRUE(got) << i;
            ASSERT_EQ(got->body(), std::to_string(i));
        }
        EXPECT_FALSE(ch.get(queue));
    }

    Scenario s;
    ScenarioChannel& ch = s.open_channel();
};

TEST(MemoryBudget, TheMiddleOfADeepQueueLeavesMemoryAndComesBackInOrder) {
    Deep d;
    d.ch.declare_queue("q");
    d.fill("q", 5000);
    EXPECT_LE(d.paging().resident_bytes, 80 * 1024U);
    EXPECT_GT(d.chain("q").cold_blocks(), 10U);
    EXPECT_EQ(d.s.queue("q").ready_count(), 5000U);
    EXPECT_GT(d.s.queue("q").paged_out().count, 4000U);
    EXPECT_LT(d.s.queue("q").paged_out().bytes, d.s.queue("q").ready_bytes());
    EXPECT_LE(d.s.queue("q").memory_bytes(), 100 * 1024U);
    EXPECT_EQ(d.s.queue("q").persistent_messages().count, 5000U);
    d.expect_all("q", 5000);
    EXPECT_EQ(d.chain("q").cold_blocks(), 0U);
    EXPECT_EQ(d.s.queue("q").paged_out(), MessageTotals{});
    EXPECT_EQ(d.s.queue("q").persistent_messages(), MessageTotals{});
    EXPECT_THAT(Probe::reached(), Contains("chain.paged_in"));
}

TEST(MemoryBudget, WhileABlockIsReadTheNextIsLookedFor) {
    Deep d;
    d.ch.declare_queue("q");
    d.fill("q", 5000);
    const std::size_t cold = d.chain("q").cold_blocks();
    ASSERT_GT(cold, 10U);
    d.expect_all("q", 5000);
    EXPECT_EQ(d.s.store().blocks_expected(), cold - 1) << "the first was not prefetched";
}

TEST(MemoryBudget, TransientMessagesLeaveAndLeaveNothingBehind) {
    Deep d;
    d.ch.declare_queue("q", {.durable = false});
    d.fill("q", 5000, {.persistent = false});
    EXPECT_LE(d.paging().resident_bytes, 80 * 1024U);
    EXPECT_GT(d.s.store().transient_pages(), 10U);
    d.expect_all("q", 5000);
    EXPECT_EQ(d.s.store().transient_pages(), 0U);
}

TEST(MemoryBudget, UnackedMessagesLeaveTheirBodiesInTheJournal) {
    Deep d;
    d.ch.declare_queue("q");
    const std::string body(2'000, 'b');
    for (int i = 0; i < 1000; ++i) d.ch.publish("q", body + std::to_string(i));
    auto& consumer = d.s.open_channel();
    consumer.consume("q");
    ASSERT_EQ(d.s.queue("q").unacked_count(), 1000U);
    EXPECT_LT(d.paging().resident_bytes, 400'000U) << "of two megabytes";
    EXPECT_THAT(Probe::reached(), Contains("chain.shed"));
    // Requeued messages are unchanged.
    consumer.close();
    for (int i = 0; i < 1000; ++i) {
        const auto got = d.ch.get("q", /*no_ack=*/true);
        ASSERT_TRUE(got) << i;
        ASSERT_EQ(got->body(), body + std::to_string(i));
        ASSERT_TRUE(got->redelivered);
    }
}

TEST(MemoryBudget, BothKindsInOneBlockComeBackInTheirOrder) {
    Deep d;
    d.ch.declare_queue("q");
    for (int i = 0; i < 3000; ++i) {
        d.ch.publish("q", std::to_string(i), {.persistent = i % 3 == 0});
    }
    EXPECT_GT(d.chain("q").cold_blocks(), 5U);
    d.expect_all("q", 3000);
}

TEST(MemoryBudget, ABlockThatLosesItsFirstEntriesInARestartBeginsWithTheNext) {
    Deep d(0);
    d.ch.declare_queue("q");
    d.fill("q", 300, {.persistent = false});
    d.fill("q", 300);
    State restored;
    restored.paging() = d.paging();
    restored.paging().resident_bytes = 0;
    ASSERT_TRUE(decode_snapshot(encode_snapshot(d.s.engine().state(), Shutdown::none), restored));
    Queue& queue = *restored.find_queue("q");
    EXPECT_EQ(queue.ready_count(), 300U);
    for (int i = 0; i < 300; ++i) {
        const Position head = *queue.head();
        ASSERT_TRUE(queue.load_message(head));
        ASSERT_EQ(queue.at(head).message->body(), std::to_string(i));
        queue.take(head);
    }
}

TEST(MemoryBudget, ManyQueuesWithALittleEachAreSearched) {
    Deep d;
    for (int i = 0; i < 40; ++i) {
        const std::string name = "q" + std::to_string(i);
        d.ch.declare_queue(name);
        for (int k = 0; k < 200; ++k) d.ch.publish(name, std::to_string(k));
    }
    // Each queue keeps the part that is too small for a page.
    EXPECT_LE(d.paging().resident_bytes, 64 * 1024U + 40 * 5000U);
    EXPECT_THAT(Probe::reached(), Contains("memory_budget.searched"));
    d.expect_all("q7", 200);
}

TEST(MemoryBudget, APurgeAndADeletionBringNothingBack) {
    Deep d;
    d.ch.declare_queue("purged");
    d.ch.declare_queue("deleted", {.durable = false});
    d.fill("purged", 3000);
    d.fill("deleted", 3000, {.persistent = false});
    const std::uint64_t brought = Probe::hits("chain.paged_in");
    EXPECT_EQ(d.ch.purge("purged"), 3000U);
    EXPECT_EQ(d.ch.delete_queue("deleted"), 3000U);
    EXPECT_EQ(Probe::hits("chain.paged_in"), brought);
    EXPECT_EQ(d.paging().resident_bytes, 0U);
    EXPECT_EQ(d.s.store().transient_pages(), 0U);
}

TEST(MemoryBudget, ColdMessagesExpireOnTimeAndDieWithoutTheirBodies) {  // DL-128; design 4
    Deep d;
    d.ch.declare_queue("dead");
    d.ch.declare_queue("q", {{"x-dead-letter-exchange", ""},
                             {"x-dead-letter-routing-key", "dead"},
                             {"x-message-ttl", 1000}});
    d.fill("q", 3000);
    const std::uint64_t read = d.s.store().message_reads();
    d.s.advance(seconds(1));
    EXPECT_EQ(d.s.queue("q").message_count(), 0U);
    EXPECT_EQ(d.s.queue("dead").ready_count(), 3000U);
    EXPECT_EQ(d.s.store().message_reads(), read);
    EXPECT_GT(d.chain("dead").cold_blocks(), 5U);
    d.expect_all("dead", 3000);
}

TEST(MemoryBudget, ABlockOfLargeMessagesEndsEarly) {
    Deep d;
    d.ch.declare_queue("q");
    const std::string large(block_bytes_max / 4, 'x');
    for (int i = 0; i < 20; ++i) d.ch.publish("q", large);
    EXPECT_GE(d.chain("q").cold_blocks(), 3U);
    for (int i = 0; i < 20; ++i) ASSERT_EQ(d.ch.get("q", true)->body().size(), large.size());
}

TEST(MemoryBudget, AShortQueueStaysInMemory) {
    Deep d;
    d.ch.declare_queue("q");
    const std::uint64_t brought = Probe::hits("chain.paged_in");
    for (int round = 0; round < 200; ++round) {
        d.fill("q", 20);
        d.expect_all("q", 20);
    }
    EXPECT_EQ(d.chain("q").cold_blocks(), 0U);
    EXPECT_EQ(Probe::hits("chain.paged_in"), brought);
}

TEST(MemoryBudget, WhatIsUnsettledStaysAndMayLeaveWhenItComesBack) {
    Deep d;
    d.ch.declare_queue("q");
    d.fill("q", 2000);
    d.ch.consume("q");
    d.s.advance({0});
    EXPECT_EQ(d.ch.take_deliveries().size(), 2000U);
    EXPECT_EQ(d.chain("q").cold_blocks(), 0U);
    d.ch.requeue_up_to(0);
    d.s.advance({0});
    EXPECT_EQ(d.ch.take_deliveries().size(), 2000U);
    d.ch.close();
    EXPECT_EQ(d.s.queue("q").ready_count(), 2000U);
    EXPECT_GT(d.chain("q").cold_blocks(), 3U);
}

}  // namespace
}  // namespace revenant::engine
