#include "engine/dispatch.h"

#include "base/check.h"
#include "engine/consumers.h"
#include "engine/expiry.h"
#include "engine/overflow.h"
#include "engine/topology.h"

#include <utility>

namespace revenant::engine {
namespace {

// The consumer whose turn it is. Those found unable to take leave the line until credit returns.
Consumer* next_consumer(Queue& queue) {
    for (const auto& group : queue.consumers.groups) {
        while (!group->active.empty()) {
            Consumer& candidate = group->active.front();
            if (can_take(candidate)) return &candidate;
            candidate.unlink();
        }
    }
    return nullptr;
}

void move_to_back(Queue& queue, Consumer& consumer) {
    ActiveList& active = queue.consumers.group(consumer.priority).active;
    if (&active.back() == &consumer) return;
    consumer.unlink();
    active.push_back(consumer);
}

void deliver(Turn& turn, Queue& queue, Consumer& consumer, Position position) {
    Channel& channel = *consumer.channel;
    Traffic& traffic = turn.state().traffic();
    Deliver delivery;
    delivery.channel = channel.id;
    delivery.consumer = consumer.number;
    if (consumer.no_ack) {
        Entry entry = turn.remove(queue, position, Ending::auto_acknowledged);
        delivery.delivery = channel.unsettled.skip();
        delivery.message = std::move(entry.message);
        delivery.envelope = std::move(entry.envelope);
        delivery.redelivered = entry.redelivered;
        traffic.delivered_auto_ack += 1;
    } else {
        const Entry& entry = queue.at(position);
        delivery.message = entry.message;
        delivery.envelope = entry.envelope;
        delivery.redelivered = entry.redelivered;
        queue.mark_unacked(position);
        queue.unsettled_deliveries += 1;
        consumer.unsettled += 1;
        channel.consumer_unsettled += 1;
        delivery.delivery =
            channel.unsettled.add({&queue, &consumer, position.packed, Unsettled::State::waiting});
        traffic.delivered_manual_ack += 1;
    }
    if (delivery.redelivered) traffic.redelivered += 1;
    if (!turn.effects().deliver(std::move(delivery))) channel.connection->paused = true;
}

}  // namespace

void dispatch(Turn& turn, Queue& queue) {
    while (queue.ready_count() > 0) {
        Consumer* const consumer = next_consumer(queue);
        if (consumer == nullptr) return;
        move_to_back(queue, *consumer);
        deliver(turn, queue, *consumer, *queue.head());
    }
}

void settle_down(Turn& turn) {
    auto& dirty = turn.dirty_queues();
    do {
        // Grows while it is walked: deaths put messages into other queues.
        for (std::size_t i = 0; i < dirty.size(); ++i) {
            Queue& queue = *dirty[i];
            queue.dirty = false;
            dispatch(turn, queue);
            keep_limits(turn, queue);
        }
        dirty.clear();
        // A time-to-live of zero: whoever could not be served at once dies now (DL-126).
        expire_due(turn);
    } while (!dirty.empty());
}

Result<GetAnswer, Refusal> get(Turn& turn, const Get& command) {
    Channel& channel = *turn.attached().find_channel(command.channel);
    if (command.queue.starts_with("amq.rabbitmq.reply-to")) {
        return Unexpected{Refusal{RefusalKind::not_implemented,
                                  "basic.get is not supported by direct reply-to queues"}};
    }
    REVENANT_TRY(Queue* const queue, usable_queue(turn, channel.connection->id, command.queue));
    note_use(turn, *queue);
    Traffic& traffic = turn.state().traffic();
    const std::optional<Position> position = queue->head();
    GetAnswer answer;
    if (!position) {
        traffic.get_empty += 1;
        return answer;
    }
    answer.redelivered = queue->at(*position).redelivered;
    if (answer.redelivered) traffic.redelivered += 1;
    if (command.no_ack) {
        Entry entry = turn.remove(*queue, *position, Ending::auto_acknowledged);
        answer.delivery = channel.unsettled.skip();
        answer.message = std::move(entry.message);
        answer.envelope = std::move(entry.envelope);
        traffic.got_auto_ack += 1;
    } else {
        const Entry& entry = queue->at(*position);
        answer.message = entry.message;
        answer.envelope = entry.envelope;
        queue->mark_unacked(*position);
        queue->unsettled_deliveries += 1;
        answer.delivery =
            channel.unsettled.add({queue, nullptr, position->packed, Unsettled::State::waiting});
        traffic.got_manual_ack += 1;
    }
    answer.messages_left = queue->ready_count();
    return answer;
}

}  // namespace revenant::engine
