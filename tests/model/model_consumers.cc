// Model: consumers, deliveries and basic.get.
#include "tests/model/fields.h"
#include "tests/model/model.h"

namespace revenant::model {

// amqp091 11.1
bool Model::can_take(const Consumer& consumer) {
    return consumer.no_ack || consumer.prefetch == 0 || consumer.unsettled < consumer.prefetch;
}

// amqp091 11.19: round robin. A consumer that cannot take a message leaves the line.
ConsumerRef Model::next_consumer(Queue& queue) {
    while (!queue.line.empty()) {
        const ConsumerRef first = queue.line.front();
        queue.line.pop_front();
        if (can_take(*first)) {
            queue.line.push_back(first);
            return first;
        }
        first->in_line = false;
    }
    return nullptr;
}

// Whether new messages expire together with the expired ones before them is open.
void Model::expire_before_serving(const QueueRef& queue) {
    const auto late = expired_in(*queue, now_, Fresh::spared);
    if (late.empty()) return;
    const bool followed = expired_in(*queue, now_, Fresh::included).size() > late.size();
    const bool together = followed && choices_.pick(2) == 1;
    expire_messages(queue, together ? Fresh::included : Fresh::spared);
}

void Model::serve(const QueueRef& queue) {
    while (true) {
        if (queue->settings.expires_at_head_only) expire_before_serving(queue);
        const std::vector<const Entry*> ready = in_order(*queue);
        if (ready.empty()) return;
        const std::uint64_t head = ready.front()->id;
        const ConsumerRef consumer = next_consumer(*queue);
        if (!consumer) return;
        hand_out(consumer->channel, queue, head, consumer, consumer->no_ack,
                 "deliver " + text(consumer->number));
    }
}

// DL-152, DL-154, DL-155: the fields that the consumer sees. DL-17: without acknowledgement the
// message is removed.
void Model::hand_out(std::size_t channel, const QueueRef& queue, std::uint64_t id,
                     const ConsumerRef& consumer, bool no_ack, const std::string& before) {
    Entry& entry = *find(*queue, id);
    Channel& to = channels_[channel];
    Shown shown;
    shown.tag = ++to.last_tag;
    shown.body = entry.message.body;
    // A classic queue does not count a message that goes directly to a consumer.
    const bool straight = consumer && entry.fresh && !queue->quorum;
    shown.redelivered = entry.requeued || (entry.message.failures > 0 && !straight);
    shown.exchange = entry.message.exchange;
    shown.key = entry.message.keys.front();
    shown.failures = queue->quorum ? entry.message.failures : 0;
    shown.acquired = queue->quorum ? entry.acquired : 0;
    shown.history = entry.message.history;
    tell(channel, before + ' ' + describe(shown));
    if (no_ack) {
        remove(*queue, id, Ending::auto_acknowledged);
    } else {
        entry.place = Place::unacked;
        note_room(*queue);
        to.unsettled[shown.tag] = {queue->id, id, consumer};
        if (consumer) consumer->unsettled += 1;
    }
    // There is a new head.
    if (queue->settings.expires_at_head_only) touch(queue);
}

void Model::consume(std::size_t channel, const std::string& name, bool no_ack) {
    begin();
    Channel& from = channels_[channel];
    const auto consumer = std::make_shared<Consumer>();
    consumer->channel = channel;
    consumer->number = ++from.last_consumer;
    consumer->no_ack = no_ack;
    consumer->prefetch = from.prefetch;
    const QueueRef queue = find_queue(name);
    if (!queue) return refuse(channel, RefusalKind::not_found);
    consumer->queue = queue->id;
    from.consumers.push_back(consumer);
    queue->consumers.push_back(consumer);
    queue->line.push_back(consumer);
    touch(queue);
    tell(channel, "done");
    end();
}

// amqp091 11.14: unsettled deliveries stay unsettled. The last consumer to leave starts the queue's
// period (DL-134).
void Model::remove_consumer(const ConsumerRef& consumer) {
    consumer->gone = true;
    std::erase(channels_[consumer->channel].consumers, consumer);
    const QueueRef queue = find_queue(consumer->queue);
    std::erase(queue->consumers, consumer);
    std::erase(queue->line, consumer);
    if (queue->consumers.empty()) queue->last_used = now_;
}

void Model::cancel(std::size_t channel, std::uint32_t number) {
    begin();
    for (const ConsumerRef& consumer : std::vector(channels_[channel].consumers)) {
        if (consumer->number == number) remove_consumer(consumer);
    }
    tell(channel, "done");
    end();
}

void Model::qos(std::size_t channel, std::uint16_t prefetch) {
    begin();
    channels_[channel].prefetch = prefetch;
    tell(channel, "done");
    end();
}

// amqp091 11.10
void Model::get(std::size_t channel, const std::string& name, bool no_ack) {
    begin();
    const QueueRef queue = find_queue(name);
    if (!queue) return refuse(channel, RefusalKind::not_found);
    queue->last_used = now_;
    expire_messages(queue, Fresh::spared);
    const std::vector<const Entry*> ready = in_order(*queue);
    if (ready.empty()) {
        tell(channel, "empty");
    } else {
        hand_out(channel, queue, ready.front()->id, nullptr, no_ack, "got");
        // There is a new head (DL-131). Whether it is counted before it expires is open.
        if (choices_.pick(2) == 0) expire_messages(queue, Fresh::spared);
        tell(channel, "left " + text(static_cast<std::int64_t>(count(*queue, Place::ready))));
    }
    end();
}

}  // namespace revenant::model
