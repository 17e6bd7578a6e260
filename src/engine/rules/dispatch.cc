#include "engine/rules/dispatch.h"

#include "base/check.h"
#include "base/probe.h"
#include "engine/rules/consumer_timeout.h"
#include "engine/rules/consumers.h"
#include "engine/rules/expiry.h"
#include "engine/rules/overflow.h"
#include "engine/rules/topology.h"

#include <iterator>
#include <optional>
#include <utility>

namespace revenant::engine {
namespace {

// The next consumer to be served. Those that cannot take a message leave the line until they can.
Consumer* next_consumer(Queue& queue) {
    // A few empty lines are kept: their consumers will be added again.
    constexpr std::size_t lines_kept = 4;
    auto& lines = queue.consumers.lines;
    for (auto line = lines.begin(); line != lines.end();) {
        ActiveList& active = line->second;
        while (!active.empty()) {
            Consumer& candidate = active.front();
            if (can_take(candidate)) return &candidate;
            candidate.unlink();
        }
        line = lines.size() > lines_kept ? lines.erase(line) : std::next(line);
    }
    return nullptr;
}

void move_to_back(Queue& queue, Consumer& consumer) {
    ActiveList& active = queue.consumers.line_of(consumer);
    if (&active.back() == &consumer) return;
    consumer.unlink();
    active.push_back(consumer);
}

// Expired messages are not delivered, even if a backlog of expiry has left them in the queue.
bool is_held(Turn& turn, Queue& queue, Position head) {
    return turn.is_behind() && queue.deadline(head) <= turn.now();
}

ShownCounts shown_counts(Turn& turn, const Queue& queue, const Entry& entry) {
    if (!queue.is_quorum()) return {};
    const bool both = turn.state().compatibility() == Compatibility::v4_3;
    return {entry.delivery_count, both ? std::uint32_t{entry.acquired_count} : 0};
}

// The redelivered flag (DL-154). A dead letter with failed attempts is redelivered, unless it goes
// directly to a consumer of a classic queue (DL-155).
bool is_redelivered(const Turn& turn, const Queue& queue, const Entry& entry, Position position) {
    if (!entry.is_redelivered()) return false;
    return entry.returned || !queue.arrivals ||
           !queue.arrivals->contains(turn.worklist().turn, position);
}

void deliver(Turn& turn, Queue& queue, Consumer& consumer, Position position) {
    Channel& channel = *consumer.channel;
    Deliver delivery;
    delivery.channel = channel.id;
    delivery.consumer = consumer.number;
    if (consumer.no_ack) {
        Entry entry = turn.remove(queue, position, Ending::auto_acknowledged);
        delivery.delivery = channel.unsettled.skip();
        delivery.message = std::move(entry.message);
        delivery.envelope = std::move(entry.envelope);
        delivery.redelivered = is_redelivered(turn, queue, entry, position);
        delivery.counts = shown_counts(turn, queue, entry);
        delivery.failed_deliveries = entry.delivery_count;
        turn.count_consumed(queue, channel, &Consumption::delivered_auto_ack);
    } else {
        const Entry& entry = queue.at(position);
        delivery.message = entry.message;
        delivery.envelope = entry.envelope;
        delivery.redelivered = is_redelivered(turn, queue, entry, position);
        delivery.counts = shown_counts(turn, queue, entry);
        delivery.failed_deliveries = entry.delivery_count;
        queue.mark_unacked(position);
        queue.unsettled_deliveries += 1;
        consumer.unsettled += 1;
        channel.consumer_unsettled += 1;
        delivery.delivery = channel.unsettled.add(
            {&queue, &consumer, position.packed, turn.now(), Unsettled::State::waiting});
        start_delivery_timeout(turn, channel, queue, &consumer);
        turn.count_consumed(queue, channel, &Consumption::delivered_manual_ack);
    }
    consumer.delivered += 1;
    if (delivery.redelivered) {
        turn.count_consumed(queue, channel, &Consumption::redelivered);
    }
    if (!turn.effects().deliver(std::move(delivery))) channel.connection->paused = true;
}

// The maximum number of deliveries from one queue before other queues are served.
constexpr std::size_t deliveries_at_once = 1'000;

enum class Held : std::uint8_t { stays, goes };

// True if a message was delivered, or was unreadable and has been parked.
bool dispatch_one(Turn& turn, Queue& queue, Held held = Held::stays) {
    if (queue.ready_count() == 0) return false;
    Consumer* const consumer = next_consumer(queue);
    if (consumer == nullptr) return false;
    const std::optional<Position> head = queue.head();
    if (!head) {
        if (queue.ready_count() > 0) turn.touch_later(queue);
        return false;
    }
    if (held == Held::stays && is_held(turn, queue, *head)) return false;
    if (!queue.load_message(*head)) return true;
    move_to_back(queue, *consumer);
    deliver(turn, queue, *consumer, *head);
    update_refusing(queue);
    return true;
}

}  // namespace

void serve(Turn& turn, Queue& queue) {
    if (queue.settings.ttl_mode == TtlMode::exact) {
        dispatch(turn, queue);
        return;
    }
    for (std::size_t count = 0; count < deliveries_at_once; ++count) {
        expire_heads(turn, queue);
        if (!dispatch_one(turn, queue)) return;
    }
    turn.touch_later(queue);
}

void dispatch(Turn& turn, Queue& queue) {
    for (std::size_t count = 0; count < deliveries_at_once; ++count) {
        if (!dispatch_one(turn, queue)) return;
    }
    turn.portion().spend(deliveries_at_once / 2);
    if (queue.ready_count() == 0) return;
    PROBE("dispatch.in_portions");
    turn.touch_later(queue);
}

void dispatch_zero_ttl(Turn& turn, Queue& queue) {
    if (queue.is_quorum()) return;
    // Where messages expire at any depth, the end of the turn is early enough, unless expiry has a
    // backlog.
    if (queue.settings.ttl_mode == TtlMode::exact && !turn.is_behind()) return;
    while (const auto head = queue.head()) {
        if (queue.deadline(*head) < turn.now() || !dispatch_one(turn, queue, Held::goes)) return;
    }
}

namespace {

// Loaded and not expired. Absent if too many in a row are unreadable: the next call continues.
std::optional<Position> head_to_get(Turn& turn, Queue& queue) {
    for (std::size_t count = 0; count < deliveries_at_once; ++count) {
        if (queue.settings.ttl_mode == TtlMode::head) expire_heads(turn, queue);
        const std::optional<Position> head = queue.head();
        if (!head || is_held(turn, queue, *head)) return std::nullopt;
        if (queue.load_message(*head)) return head;
    }
    return std::nullopt;
}

}  // namespace

Result<GetAnswer, Refusal> get(Turn& turn, const Get& command) {
    Channel& channel = *turn.attached().find_channel(command.channel);
    if (command.queue.starts_with("amq.rabbitmq.reply-to")) {
        return Unexpected{Refusal{RefusalKind::not_implemented,
                                  "basic.get is not supported by direct reply-to queues"}};
    }
    REVENANT_TRY(Queue* const queue, usable_queue(turn, channel.connection->id, command.queue));
    if (queue->is_quorum() && queue->settings.single_active_consumer) {
        return Unexpected{
            Refusal{RefusalKind::resource_locked,
                    "cannot obtain access to locked " + turn.queue_phrase(command.queue) +
                        ". basic.get operations are not supported by quorum queues with single "
                        "active consumer"}};
    }
    restart_expiry(turn, *queue);
    const std::optional<Position> position = head_to_get(turn, *queue);
    GetAnswer answer;
    if (!position) {
        turn.count_consumed(*queue, channel, &Consumption::get_empty);
        return answer;
    }
    answer.redelivered = queue->at(*position).is_redelivered();
    answer.counts = shown_counts(turn, *queue, queue->at(*position));
    if (answer.redelivered) {
        turn.count_consumed(*queue, channel, &Consumption::redelivered);
    }
    if (command.no_ack) {
        Entry entry = turn.remove(*queue, *position, Ending::auto_acknowledged);
        answer.delivery = channel.unsettled.skip();
        answer.message = std::move(entry.message);
        answer.envelope = std::move(entry.envelope);
        turn.count_consumed(*queue, channel, &Consumption::got_auto_ack);
    } else {
        const Entry& entry = queue->at(*position);
        answer.message = entry.message;
        answer.envelope = entry.envelope;
        queue->mark_unacked(*position);
        queue->unsettled_deliveries += 1;
        answer.delivery = channel.unsettled.add(
            {queue, nullptr, position->packed, turn.now(), Unsettled::State::waiting});
        start_delivery_timeout(turn, channel, *queue, nullptr);
        turn.count_consumed(*queue, channel, &Consumption::got_manual_ack);
    }
    update_refusing(*queue);
    answer.messages_left = turn.ready_count(*queue);
    if (queue->settings.ttl_mode == TtlMode::head) {
        // The message now at the head may be expired. It is removed after the reply, but a classic
        // queue no longer counts it (DL-131).
        if (!queue->is_quorum() && !turn.is_behind()) {
            answer.messages_left -= due_at_heads(turn, *queue);
        }
        turn.add_to_worklist(*queue);
    }
    return answer;
}

}  // namespace revenant::engine
