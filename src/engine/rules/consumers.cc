#include "engine/rules/consumers.h"

#include "base/check.h"
#include "base/probe.h"
#include "engine/rules/credit.h"
#include "engine/rules/topology.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <utility>

namespace revenant::engine {
namespace {

constexpr std::string_view reply_queue = "amq.rabbitmq.reply-to";

Refusal invalid_argument(const Turn& turn, const Consume& command, std::string_view name,
                         const std::string& why) {
    return {RefusalKind::precondition_failed, "invalid arg '" + std::string(name) + "' for " +
                                                  turn.queue_phrase(command.queue) + ": " + why};
}

std::optional<Refusal> check_consumer_arguments(const Turn& turn, const Queue& queue,
                                                const Consume& command) {
    if (find(command.arguments, "x-stream-offset") != nullptr) {
        return Refusal{RefusalKind::precondition_failed,
                       "invalid arg 'x-stream-offset' for " + turn.queue_phrase(command.queue) +
                           " of queue type " +
                           (queue.is_quorum() ? "rabbit_quorum_queue" : "rabbit_classic_queue")};
    }
    for (const std::string_view name : {"x-priority", "x-consumer-timeout"}) {
        const bool is_timeout = name == "x-consumer-timeout";
        const Value* const value = find(command.arguments, name);
        if (value == nullptr || (is_timeout && !queue.is_quorum())) continue;
        const auto invalid = [&](const std::string& why) {
            return invalid_argument(turn, command, name, why);
        };
        const std::int64_t* const number = value->as_integer();
        if (number == nullptr) {
            return invalid("\"expected integer, got " + std::string(type_name(value->type)) + "\"");
        }
        if (!is_timeout) continue;
        if (*number < 0) return invalid("{value_negative," + std::to_string(*number) + "}");
        if (*number > duration_ms_max) {
            return invalid("{value_too_large," + std::to_string(*number) + "}");
        }
    }
    return std::nullopt;
}

Result<void, Refusal> consume_replies(Turn& turn, Channel& channel, const Consume& command) {
    if (!command.no_ack) {
        return Unexpected{
            Refusal{RefusalKind::precondition_failed, "reply consumer cannot acknowledge"}};
    }
    if (!channel.reply_name.empty()) {
        return Unexpected{Refusal{RefusalKind::precondition_failed, "reply consumer already set"}};
    }
    turn.attached().set_reply_name(channel, command.reply_name, command.consumer);
    return {};
}

// The first consumer is the active one (amqp091 11.7).
void move_active_to_front(ConsumerList& consumers) {
    const auto importance = [](const Consumer* consumer) {
        return std::pair(!consumer->is_suspended(), consumer->priority);
    };
    const auto best = std::max_element(
        consumers.begin(), consumers.end(),
        [&](const Consumer* a, const Consumer* b) { return importance(a) < importance(b); });
    consumers.splice(consumers.begin(), consumers, best);
}

// Whether another consumer of the quorum queue has to become active.
bool has_more_important(const ConsumerList& consumers, const Consumer& active) {
    return std::any_of(consumers.begin(), consumers.end(), [&](const Consumer* one) {
        return !one->is_suspended() && one->priority > active.priority;
    });
}

// Called when the consumers of a queue with a single active consumer have changed.
void choose_active(Turn& turn, Queue& queue) {
    Consumer& before = *queue.consumers.all.front();
    if (queue.is_quorum()) {
        if (before.yields && before.unsettled > 0 && !before.is_suspended() &&
            has_more_important(queue.consumers.all, before)) {
            return;
        }
        before.yields = false;
    }
    move_active_to_front(queue.consumers.all);
    Consumer& active = *queue.consumers.all.front();
    if (&active != &before) {
        if (before.is_linked()) before.unlink();
        report_active(turn, before);
    }
    reactivate(turn, active);
    report_active(turn, active);
}

// A consumer of higher priority becomes the active one of a quorum queue. The previous one receives
// no more messages, but settles its deliveries first (amqp091 11.7).
void let_take_over(Turn& turn, Queue& queue, const Consumer& added) {
    if (!queue.settings.single_active_consumer || !queue.is_quorum()) return;
    Consumer& active = *queue.consumers.all.front();
    if (added.priority <= active.priority || active.is_suspended()) return;
    if (active.unsettled > 0) {
        PROBE("consumers.active_yields");
        active.yields = true;
        if (active.is_linked()) active.unlink();
        return;
    }
    choose_active(turn, queue);
}

// Called when consumers have left the queue. In a classic queue the active one stays active until
// it leaves.
void note_departure(Turn& turn, Queue& queue, bool active_left) {
    if (queue.deleted) return;
    if (queue.settings.single_active_consumer && !queue.consumers.empty() &&
        (active_left || queue.is_quorum())) {
        choose_active(turn, queue);
    }
    if (queue.consumers.empty()) restart_expiry(turn, queue);
}

// Removes the consumer from its queue; the Consumer exists while it has unsettled deliveries.
void detach_from_queue(Turn& turn, Consumer& consumer) {
    Queue& queue = *consumer.queue;
    const bool was_active = queue.consumers.all.front() == &consumer;
    queue.consumers.remove(consumer);
    note_departure(turn, queue, was_active);
}

void forget(Channel& channel, std::uint32_t number) {
    const auto found = channel.consumers.find(number);
    CHECK(found != channel.consumers.end());
    if (found->second->unsettled > 0) {
        found->second->cancelled = true;
        const Consumer* const key = found->second.get();
        channel.cancelled_consumers.emplace(key, std::move(found->second));
    }
    channel.consumers.erase(found);
}

void remove_if_auto_delete(Turn& turn, Queue& queue) {
    if (queue.deleted || !queue.declaration.auto_delete) return;
    if (queue.consumers.empty() && queue.had_consumer) {
        PROBE("consumers.auto_delete_queue");
        remove_queue(turn, queue);
    }
}

}  // namespace

bool can_take(const Consumer& consumer) {
    const Channel& channel = *consumer.channel;
    if (!channel.takes_deliveries()) return false;
    if (consumer.is_suspended()) return false;
    if (consumer.uses_credit && consumer.delivered >= consumer.credit_until) return false;
    if (consumer.no_ack) return true;
    if (consumer.prefetch != 0 && consumer.unsettled >= consumer.prefetch) return false;
    return channel.global_prefetch == 0 || channel.consumer_unsettled < channel.global_prefetch;
}

void reactivate(Turn& turn, Consumer& consumer) {
    if (consumer.cancelled || consumer.is_linked() || consumer.queue->deleted) return;
    Queue& queue = *consumer.queue;
    if (consumer.yields) {
        if (consumer.unsettled == 0) choose_active(turn, queue);
        return;
    }
    if (queue.settings.single_active_consumer && queue.consumers.all.front() != &consumer) return;
    queue.consumers.line_of(consumer).push_back(consumer);
    if (queue.ready_count() > 0) turn.add_to_worklist(queue);
}

void reactivate_all(Turn& turn, Channel& channel) {
    std::vector<std::uint32_t> numbers;
    for (const auto& [number, consumer] : channel.consumers) numbers.push_back(number);
    std::sort(numbers.begin(), numbers.end());
    for (const std::uint32_t number : numbers) reactivate(turn, *channel.consumers.at(number));
}

void release_if_done(Consumer& consumer) {
    if (!consumer.cancelled || consumer.unsettled > 0) return;
    consumer.channel->cancelled_consumers.erase(&consumer);
}

Result<void, Refusal> consume(Turn& turn, const Consume& command) {
    Channel& channel = *turn.attached().find_channel(command.channel);
    if (command.queue == reply_queue) return consume_replies(turn, channel, command);
    REVENANT_TRY(Queue* const queue, usable_queue(turn, channel.connection->id, command.queue));
    if (auto refusal = check_consumer_arguments(turn, *queue, command)) {
        return Unexpected{std::move(*refusal)};
    }
    if (queue->is_quorum() && channel.global_prefetch != 0) {
        return Unexpected{
            Refusal{RefusalKind::not_implemented,
                    turn.queue_phrase(command.queue) + " does not support global qos"}};
    }
    const auto& others = queue->consumers.all;
    const bool taken = !others.empty() && (command.exclusive || others.front()->exclusive);
    // With a single active consumer, exclusive would be redundant (amqp091 11.4).
    if (taken || (command.exclusive && queue->settings.single_active_consumer)) {
        return Unexpected{Refusal{RefusalKind::access_refused,
                                  turn.queue_phrase(command.queue) + " in exclusive use"}};
    }
    auto consumer = std::make_unique<Consumer>();
    consumer->channel = &channel;
    consumer->queue = queue;
    consumer->number = command.consumer;
    consumer->tag = command.tag;
    consumer->no_ack = command.no_ack;
    consumer->exclusive = command.exclusive;
    consumer->uses_credit = command.uses_credit;
    consumer->prefetch = command.no_ack ? 0 : channel.prefetch;
    consumer->on_timeout = command.on_timeout;
    consumer->arguments = command.arguments;
    if (const Value* priority = find(command.arguments, "x-priority")) {
        consumer->priority = *priority->as_integer();
    }
    if (const Value* timeout = find(command.arguments, "x-consumer-timeout");
        timeout != nullptr && queue->is_quorum()) {
        consumer->timeout_ms = *timeout->as_integer();
    }
    queue->consumers.add(*consumer);
    turn.attached().consumers().enter(*consumer, consumer->roster_place);
    queue->had_consumer = true;
    Consumer& added = *consumer;
    channel.consumers.emplace(command.consumer, std::move(consumer));
    reactivate(turn, added);
    let_take_over(turn, *queue, added);
    return {};
}

void cancel(Turn& turn, const Cancel& command) {
    Channel& channel = *turn.attached().find_channel(command.channel);
    if (!channel.reply_name.empty() && channel.reply_consumer == command.consumer) {
        turn.attached().clear_reply_name(channel);
        return;
    }
    const auto found = channel.consumers.find(command.consumer);
    if (found == channel.consumers.end()) return;  // its queue was deleted in the meantime
    Queue& queue = *found->second->queue;
    detach_from_queue(turn, *found->second);
    forget(channel, command.consumer);
    remove_if_auto_delete(turn, queue);
}

void cancel_for_timeout(Turn& turn, Consumer& consumer) {
    Queue& queue = *consumer.queue;
    Channel& channel = *consumer.channel;
    const std::uint32_t number = consumer.number;
    detach_from_queue(turn, consumer);
    forget(channel, number);
    turn.effects().request(CancelConsumer{channel.id, number});
    remove_if_auto_delete(turn, queue);
}

void suspend(Turn& turn, Consumer& consumer) {
    if (consumer.is_linked()) consumer.unlink();
    Queue& queue = *consumer.queue;
    if (queue.deleted || !queue.settings.single_active_consumer ||
        queue.consumers.all.front() != &consumer)
        return;
    choose_active(turn, queue);
    report_active(turn, consumer);
}

void resume(Turn& turn, Consumer& consumer) {
    if (consumer.cancelled || consumer.channel->closing || consumer.queue->deleted) return;
    Queue& queue = *consumer.queue;
    if (queue.settings.single_active_consumer && queue.consumers.all.front()->is_suspended()) {
        Consumer& before = *queue.consumers.all.front();
        choose_active(turn, queue);
        report_active(turn, before);
    }
    reactivate(turn, consumer);
}

namespace {

// Returns whether all consumers are cancelled.
bool cancel_some(Turn& turn, Queue& queue) {
    while (!queue.consumers.empty()) {
        if (turn.portion().is_used_up()) {
            PROBE("consumers.cancelled_in_portions");
            return false;
        }
        turn.portion().spend(1);
        Consumer& consumer = *queue.consumers.all.front();
        Channel& channel = *consumer.channel;
        const std::uint32_t number = consumer.number;
        queue.consumers.remove(consumer);
        forget(channel, number);
        // RabbitMQ replies to queue.delete before it cancels consumers, and clients rely on this.
        turn.worklist().after_answer.push_back(CancelConsumer{channel.id, number});
    }
    return true;
}

}  // namespace

void cancel_consumers_of(Turn& turn, Queue& queue) {
    if (cancel_some(turn, queue)) return;
    queue.awaits_cancelling = true;
    turn.worklist().cancelling.push_back(&queue);
}

void go_on_cancelling(Turn& turn) {
    auto& cancelling = turn.worklist().cancelling;
    while (!cancelling.empty() && cancel_some(turn, *cancelling.front())) {
        Queue& queue = *cancelling.front();
        cancelling.pop_front();
        queue.awaits_cancelling = false;
        turn.state().release_deleted_queue(queue);
    }
}

bool cancel_some(Turn& turn, Channel& channel) {
    if (channel.consumers.empty()) return true;
    std::vector<std::uint32_t> numbers;
    numbers.reserve(channel.consumers.size());
    for (const auto& [number, consumer] : channel.consumers) numbers.push_back(number);
    const std::size_t count = std::min(numbers.size(), turn.portion().steps_left());
    const auto end = numbers.begin() + static_cast<std::ptrdiff_t>(count);
    std::partial_sort(numbers.begin(), end, numbers.end());
    std::vector<QueueId> left;  // each once, in order
    boost::unordered_flat_map<QueueId, bool> active_left;
    for (auto number = numbers.begin(); number != end; ++number) {
        Consumer& consumer = *channel.consumers.at(*number);
        const bool is_active = consumer.queue->consumers.all.front() == &consumer;
        const auto [known, is_new] = active_left.try_emplace(consumer.queue->id(), is_active);
        if (is_new) left.push_back(consumer.queue->id());
        known->second |= is_active;
        consumer.queue->consumers.remove(consumer);
        forget(channel, *number);
    }
    turn.portion().spend(count);
    for (const QueueId id : left) {
        Queue* const queue = turn.state().find_queue(id);
        if (queue != nullptr) note_departure(turn, *queue, active_left.at(id));
    }
    for (const QueueId id : left) {
        if (Queue* const queue = turn.state().find_queue(id)) remove_if_auto_delete(turn, *queue);
    }
    return channel.consumers.empty();
}

void set_qos(Turn& turn, const SetQos& command) {
    Channel& channel = *turn.attached().find_channel(command.channel);
    if (!command.global) {
        channel.prefetch = command.prefetch_count;
        return;
    }
    channel.global_prefetch = command.prefetch_count;
    reactivate_all(turn, channel);
}

}  // namespace revenant::engine
