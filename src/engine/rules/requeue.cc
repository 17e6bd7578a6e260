#include "engine/rules/requeue.h"

#include "base/probe.h"

#include <algorithm>

namespace revenant::engine {
namespace {

// DL-147, DL-150: RabbitMQ 3.12 counts every requeue in a quorum queue, and none in a classic one.
DeliveryCounts counts_after_requeue(Turn& turn, const Queue& queue, const Entry& entry,
                                    bool delivery_failed) {
    const bool counts =
        turn.state().compatibility() == Compatibility::v4_3 ? delivery_failed : queue.is_quorum();
    return {counts ? one_more(entry.delivery_count) : entry.delivery_count,
            entry.acquired_count + 1U};
}

// DL-161
std::optional<Duration> retry_delay(const QueueSettings& settings, bool delivery_failed,
                                    std::uint32_t delivery_count) {
    switch (settings.delayed_retry) {
        case DelayedRetry::disabled:
            return std::nullopt;
        case DelayedRetry::failed:
            if (!delivery_failed) return std::nullopt;
            break;
        case DelayedRetry::returned:
            if (delivery_failed) return std::nullopt;
            break;
        case DelayedRetry::all:
            break;
    }
    const std::int64_t attempts = std::max<std::int64_t>(1, delivery_count);
    return milliseconds(
        std::min(saturated_product(settings.retry_min_ms, attempts), settings.retry_max_ms));
}

// When the message can be delivered again; absent: immediately.
std::optional<Timestamp> retry_at(Turn& turn, const QueueSettings& settings,
                                  const RequeueDetails& returned, DeliveryCounts counts) {
    if (returned.delivery_time) {
        if (*returned.delivery_time <= turn.now()) return std::nullopt;
        return returned.delivery_time;
    }
    const auto delay = retry_delay(settings, returned.delivery_failed, counts.delivery);
    if (!delay) return std::nullopt;
    return turn.now() + *delay;
}

void requeue_to_quorum_queue(Turn& turn, Queue& queue, Position position,
                             const RequeueDetails& returned, DeliveryCounts counts) {
    if (const auto until = retry_at(turn, queue.settings, returned, counts)) {
        PROBE("returning.delayed");
        turn.emit(Delayed{queue.id(), position, queue.next_in(delayed_level), *until, counts});
        return;
    }
    // Without a delivery limit, a message that did not fail goes to the end (DL-156).
    const bool to_the_back = !queue.settings.delivery_limit && !returned.delivery_failed;
    const std::size_t level = to_the_back ? queue.level_for(std::nullopt) : requeued_level;
    turn.requeue_entry(queue, position, queue.next_in(level), counts);
}

}  // namespace

std::optional<DeathReason> requeue_delivery(Turn& turn, Queue& queue, Position position,
                                            const RequeueDetails& returned) {
    Entry& entry = queue.at(position);
    const DeliveryCounts counts =
        counts_after_requeue(turn, queue, entry, returned.delivery_failed);
    const auto record_death = [&](DeathReason reason) {
        entry.set_counts(counts);
        return reason;
    };
    // The limit is checked first (DL-162).
    if (queue.settings.delivery_limit && counts.delivery > *queue.settings.delivery_limit) {
        PROBE("returning.delivery_limit");
        return record_death(DeathReason::delivery_limit);
    }
    // A message that expired while it was unacked is not delivered again (DL-132).
    if (queue.settings.ttl_mode == TtlMode::exact && queue.deadline(position) <= turn.now()) {
        PROBE("returning.too_late");
        return record_death(DeathReason::expired);
    }
    if (queue.is_quorum()) {
        requeue_to_quorum_queue(turn, queue, position, returned, counts);
    } else {
        turn.requeue_entry(queue, position, position, counts);
    }
    turn.add_to_worklist(queue);
    return std::nullopt;
}

}  // namespace revenant::engine
