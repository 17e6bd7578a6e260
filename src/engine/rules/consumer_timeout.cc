#include "engine/rules/consumer_timeout.h"

#include "base/probe.h"
#include "engine/rules/consumers.h"
#include "engine/rules/settle.h"

#include <algorithm>
#include <map>
#include <vector>

namespace revenant::engine {
namespace {

// A check visits every unsettled delivery of the channel, so there is at most one per second.
constexpr Duration check_interval = seconds(1);

Refusal timeout_refusal(Duration timeout) {
    return {RefusalKind::precondition_failed,
            "timed out. Timeout value used: " + std::to_string(timeout.us / 1000) +
                " ms. This timeout value can be configured, see consumers doc guide to learn more"};
}

// The result of a check of a channel.
struct Overdue {
    std::vector<DeliveryId> deliveries;
    std::map<std::uint32_t, std::vector<DeliveryId>> by_consumer;  // timed-out deliveries
    std::optional<Refusal> refusal;
    Timestamp next = never;  // when the next of the other deliveries times out
};

Overdue find_overdue(Turn& turn, Channel& channel) {
    Overdue overdue;
    channel.unsettled.for_each([&](DeliveryId delivery, const Unsettled& kept) {
        // Deliveries held in a transaction are settled from the client's view.
        if (kept.state != Unsettled::State::waiting) return;
        if (kept.queue->deleted) return;
        const auto timeout = timeout_of(turn.settings(), *kept.queue, kept.consumer);
        if (!timeout) return;
        const Timestamp due = kept.delivered_at + *timeout;
        if (due > turn.now()) {
            overdue.next = std::min(overdue.next, due);
            return;
        }
        overdue.deliveries.push_back(delivery);
        if (kept.consumer == nullptr ||
            kept.consumer->on_timeout == TimeoutAction::channel_closed) {
            overdue.refusal = timeout_refusal(*timeout);
        } else if (!kept.consumer->cancelled) {
            overdue.by_consumer[kept.consumer->number].push_back(delivery);
        }
    });
    return overdue;
}

}  // namespace

std::optional<Duration> timeout_of(const EngineSettings& settings, const Queue& queue,
                                   const Consumer* consumer) {
    if (!queue.is_quorum()) return std::nullopt;
    std::optional<std::int64_t> timeout_ms;
    if (consumer != nullptr) timeout_ms = consumer->timeout_ms;
    if (!timeout_ms) timeout_ms = queue.settings.consumer_timeout_ms;
    if (!timeout_ms) timeout_ms = settings.consumer_timeout_ms;
    if (!timeout_ms || *timeout_ms <= 0) return std::nullopt;
    return milliseconds(std::min(*timeout_ms, duration_ms_max));
}

void start_delivery_timeout(Turn& turn, Channel& channel, const Queue& queue,
                            const Consumer* consumer) {
    if (const auto timeout = timeout_of(turn.settings(), queue, consumer)) {
        turn.attached().plan_timeout_check(channel, turn.now() + *timeout);
    }
}

std::optional<Refusal> enforce_timeouts(Turn& turn, Channel& channel) {
    Overdue overdue = find_overdue(turn, channel);
    if (overdue.next != never) {
        turn.attached().plan_timeout_check(channel,
                                           std::max(overdue.next, turn.now() + check_interval));
    }
    if (overdue.deliveries.empty()) return std::nullopt;
    requeue_overdue(turn, channel, overdue.deliveries);
    for (auto& [number, deliveries] : overdue.by_consumer) {
        const auto found = channel.consumers.find(number);
        if (found == channel.consumers.end()) continue;  // its queue was deleted in this loop
        Consumer& consumer = *found->second;
        if (consumer.on_timeout == TimeoutAction::consumer_cancelled) {
            PROBE("consumer_timeout.cancelled");
            cancel_for_timeout(turn, consumer);
        } else {
            PROBE("consumer_timeout.suspended");
            suspend(turn, consumer);
            turn.effects().request(DeliveriesTimedOut{channel.id, number, std::move(deliveries)});
        }
    }
    return std::move(overdue.refusal);
}

void recheck_timeouts(Turn& turn) {
    turn.attached().for_each_channel([&](Channel& channel) {
        if (channel.unsettled.count() > 0) {
            turn.attached().plan_timeout_check(channel, turn.now());
        }
    });
}

}  // namespace revenant::engine
