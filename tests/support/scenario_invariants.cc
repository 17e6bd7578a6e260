// Scenario: the invariants that hold between commands and after a restart.
#include "engine/recovery/snapshot_codec.h"
#include "engine/rules/consumers.h"
#include "engine/view/describe.h"
#include "tests/support/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace revenant::engine {

namespace {

struct Recount {
    std::uint64_t ready = 0;
    std::uint64_t unacked = 0;
    std::uint64_t ready_bytes = 0;
    std::uint64_t unacked_bytes = 0;
    MessageTotals delayed{};
    MessageTotals outbox{};
    MessageTotals persistent_messages{};
    MessageTotals parked{};
    friend bool operator==(const Recount&, const Recount&) = default;

    void add(const Queue& queue, std::size_t level, const Entry& entry) {
        const std::uint64_t bytes = queue.bytes_of(*entry.message);
        if (queue.persists(*entry.message)) persistent_messages.add(bytes);
        if (entry.state == EntryState::parked) return parked.add(bytes);
        if (level >= queue.served_levels()) {
            EXPECT_EQ(entry.state, EntryState::ready) << queue.name();
            (level == delayed_level ? delayed : outbox).add(bytes);
            return;
        }
        const bool is_ready = entry.state == EntryState::ready;
        (is_ready ? ready : unacked) += 1;
        (is_ready ? ready_bytes : unacked_bytes) += bytes;
    }
    void add_parked_pages(const Queue& queue, const Chain& chain) {
        for (std::uint64_t block = chain.first_block(); block < chain.end_block(); ++block) {
            const ColdBlock* const pages = chain.view(block).parked;
            if (pages == nullptr) continue;
            parked.add({pages->all.live, queue.bytes_of(pages->all)});
            persistent_messages.add({pages->durable.live, queue.bytes_of(pages->durable)});
        }
    }
};

Recount counters_of(const Queue& queue) {
    return {queue.ready_count(),         queue.unacked_count(), queue.ready_bytes(),
            queue.unacked_bytes(),       queue.delayed(),       queue.outbox(),
            queue.persistent_messages(), queue.parked()};
}

Recount recount(const Queue& queue, Timestamp now, Timestamp next_deadline) {
    Recount counted;
    for (std::size_t level = 0; level < queue.level_count(); ++level) {
        const Chain& chain = queue.level(level);
        std::uint64_t ready = 0;
        std::uint64_t live = 0;
        chain.for_each([&](std::uint64_t sequence, const Entry& entry) {
            counted.add(queue, level, entry);
            live += 1;
            if (entry.state != EntryState::ready) return;
            ready += 1;
            if (queue.settings.ttl_mode == TtlMode::head) return;
            EXPECT_GT(chain.deadline(sequence), now)
                << queue.name() << " contains an expired message";
            EXPECT_LE(next_deadline, chain.deadline(sequence)) << "no timer for " << queue.name();
        });
        EXPECT_EQ(chain.ready_count(), ready) << queue.name();
        const std::uint64_t parked = counted.parked.count;
        counted.add_parked_pages(queue, chain);
        live += counted.parked.count - parked;
        EXPECT_EQ(chain.live_count(), live) << queue.name();
        EXPECT_EQ(chain.paged_out().live, 0U) << "all of " << queue.name() << " was paged in";
    }
    return counted;
}

void check_consumers_of(const Queue& queue) {
    const auto& all = queue.consumers.all;
    for (const Consumer* consumer : all) {
        EXPECT_EQ(consumer->queue, &queue);
        EXPECT_FALSE(consumer->cancelled);
        const bool eligible = !queue.settings.single_active_consumer || all.front() == consumer;
        if (queue.ready_count() > 0 && eligible) {
            EXPECT_FALSE(can_take(*consumer)) << "a message of " << queue.name() << " is stuck";
        }
    }
    for (const auto& [priority, active] : queue.consumers.lines) {
        for (const Consumer& consumer : active) {
            EXPECT_EQ(consumer.priority, priority);
            EXPECT_NE(std::find(all.begin(), all.end(), &consumer), all.end());
        }
    }
}

}  // namespace

void Scenario::check_queues() {
    for (Queue* const queue : engine_.state().queues_by_name()) {
        const Recount counted = recount(*queue, now_, engine_.next_deadline());
        EXPECT_EQ(counted, counters_of(*queue)) << queue->name();
        EXPECT_EQ(queue->outbox_entries.size(), queue->outbox().count) << queue->name();
        EXPECT_EQ(queue->outbox_progress != nullptr, !queue->outbox_entries.empty())
            << queue->name();
        EXPECT_EQ(queue->unsettled_deliveries, queue->unacked_count()) << queue->name();
        EXPECT_FALSE(queue->awaits_work() || queue->deleted) << queue->name();
        if (queue->settings.overflow == Overflow::drop_head && queue->ready_count() > 0) {
            EXPECT_LE(queue->totals_for_limits().count,
                      static_cast<std::uint64_t>(queue->settings.max_length.value_or(INT64_MAX)));
            EXPECT_LE(
                queue->totals_for_limits().bytes,
                static_cast<std::uint64_t>(queue->settings.max_length_bytes.value_or(INT64_MAX)));
        }
        check_consumers_of(*queue);
    }
}

void Scenario::check_channels() {
    std::map<const Queue*, std::uint64_t> by_queue;
    std::set<std::pair<const Queue*, std::uint64_t>> places;
    engine_.attached().for_each_channel([&](Channel& channel) {
        std::map<const Consumer*, std::uint32_t> by_consumer;
        std::map<const Consumer*, std::uint32_t> overdue_by_consumer;
        std::uint64_t of_consumers = 0;
        std::vector<DeliveryId> deliveries;
        channel.unsettled.collect_up_to(channel.unsettled.newest(), deliveries);
        EXPECT_EQ(deliveries.size(), channel.unsettled.count());
        EXPECT_TRUE(std::is_sorted(deliveries.begin(), deliveries.end()));
        for (const DeliveryId delivery : deliveries) {
            const Unsettled& unsettled = *channel.unsettled.find(delivery);
            if (unsettled.consumer != nullptr) {
                by_consumer[unsettled.consumer] += 1;
                of_consumers += 1;
            }
            if (unsettled.state == Unsettled::State::timed_out) {
                overdue_by_consumer[unsettled.consumer] += 1;
                continue;
            }
            by_queue[unsettled.queue] += 1;
            if (unsettled.queue->deleted) continue;
            const Position position{unsettled.position};
            ASSERT_TRUE(unsettled.queue->contains(position));
            EXPECT_EQ(unsettled.queue->at(position).state, EntryState::unacked);
            EXPECT_TRUE(places.emplace(unsettled.queue, unsettled.position).second)
                << "one message is unacked by two consumers";
        }
        EXPECT_EQ(channel.consumer_unsettled, of_consumers);
        for (const auto& [number, consumer] : channel.consumers) {
            EXPECT_EQ(consumer->unsettled, by_consumer[consumer.get()]);
            EXPECT_EQ(consumer->timed_out, overdue_by_consumer[consumer.get()]);
            const auto& all = consumer->queue->consumers.all;
            EXPECT_EQ(std::count(all.begin(), all.end(), consumer.get()), 1);
        }
        for (const auto& [key, consumer] : channel.cancelled_consumers) {
            EXPECT_GT(consumer->unsettled, 0U) << "a cancelled consumer outlives its deliveries";
            EXPECT_EQ(consumer->unsettled, by_consumer[consumer.get()]);
        }
    });
    for (const auto& [queue, count] : by_queue) EXPECT_EQ(queue->unsettled_deliveries, count);
    for (Queue* const queue : engine_.state().queues_by_name()) {
        EXPECT_EQ(queue->unsettled_deliveries, by_queue[queue]) << queue->name();
    }
}

// Every entry that was added was removed with an ending or is still there (design, promise 3).
void Scenario::check_accounts() {
    std::uint64_t here = 0;
    for (const Queue* queue : engine_.state().queues_by_name()) {
        here += queue->message_count();
    }
    const EntryCounters& accounts = engine_.state().accounts();
    EXPECT_EQ(accounts.entered, accounts.ended_total() + here);
}

void Scenario::check_replay() {
    State replayed;
    replayed.paging().store = &store_;  // some messages in it are stubs
    replayed.paging().formats = {&test_message_format()};
    for (const Event& event : events_) replayed.apply(event);
    replayed.configure_rest();
    EXPECT_EQ(describe(replayed), describe(engine_.state())) << "the replayed state differs";
    // After a restart everything is ready, and a timer is set for messages that have expired.
    for (const Queue* queue : replayed.queues_by_name()) {
        const Recount counted = recount(*queue, Timestamp{INT64_MIN}, replayed.deadlines_next());
        EXPECT_EQ(counted, counters_of(*queue)) << queue->name();
        EXPECT_EQ(queue->unacked_count(), 0U) << queue->name();
    }
}

void Scenario::check_restart() {
    const std::string life = describe(engine_.state(), DescribeScope::durable);
    const MessageFormats formats{&test_message_format()};
    State journaled;
    journaled.paging().store = &store_;
    journaled.paging().formats = formats;
    ASSERT_TRUE(store_.replay(journaled, formats));
    EXPECT_EQ(describe(journaled, DescribeScope::durable), life)
        << "the state from the journal differs";
    State restored;
    restored.paging().store = &store_;
    restored.paging().formats = formats;
    ASSERT_TRUE(decode_snapshot(encode_snapshot(engine_.state(), Shutdown::none), restored));
    EXPECT_EQ(describe(restored, DescribeScope::durable), life)
        << "the state from the snapshot differs";
    for (const Queue* queue : restored.queues_by_name()) {
        EXPECT_EQ(recount(*queue, Timestamp{INT64_MIN}, restored.deadlines_next()),
                  counters_of(*queue))
            << queue->name();
    }
}

void Scenario::check() {
    check_queues();
    check_channels();
    check_accounts();
}

void Scenario::finish() {
    if (finished_) return;
    for (const auto& channel : channels_) {
        EXPECT_FALSE(channel->refusal_) << "unexpected refusal: " << channel->refusal_->text;
    }
    check();
    check_replay();
    check_restart();
    finished_ = true;
}

}  // namespace revenant::engine
