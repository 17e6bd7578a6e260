#include "engine/rules/credit.h"

#include "base/probe.h"
#include "engine/rules/consumers.h"

#include <vector>

namespace revenant::engine {
namespace {

Consumer* find_consumer(Turn& turn, ChannelId id, std::uint32_t number) {
    Channel* const channel = turn.attached().find_channel(id);
    if (channel == nullptr) return nullptr;
    const auto found = channel->consumers.find(number);
    return found == channel->consumers.end() ? nullptr : found->second.get();
}

bool is_active(const Consumer& consumer) {
    const Queue& queue = *consumer.queue;
    return !queue.settings.single_active_consumer || queue.consumers.all.front() == &consumer;
}

// The credit state, with `active` if it differs from the last report.
CreditState credit_state_of(Turn& turn, Consumer& consumer) {
    CreditState state;
    state.channel = consumer.channel->id;
    state.consumer = consumer.number;
    state.delivered = consumer.delivered;
    state.until = consumer.credit_until;
    state.available = turn.ready_count(*consumer.queue);
    const bool active = is_active(consumer);
    if (consumer.queue->is_quorum() && consumer.reported_active != active) {
        state.active = consumer.reported_active = active;
    }
    return state;
}

}  // namespace

void report_active(Turn& turn, Consumer& consumer) {
    if (consumer.reported_active && *consumer.reported_active != is_active(consumer)) {
        turn.effects().request(credit_state_of(turn, consumer));
    }
}

void set_credit(Turn& turn, const SetCredit& command) {
    Consumer* const consumer = find_consumer(turn, command.channel, command.consumer);
    if (consumer == nullptr) return;  // its queue was deleted in the meantime
    consumer->credit_until = command.until;
    // A drain is answered later. The first credit of a quorum queue's consumer also reports
    // `active`.
    const bool news = consumer->queue->is_quorum() && !consumer->reported_active;
    if ((news || command.echo) && !command.drain)
        turn.effects().request(credit_state_of(turn, *consumer));
    if (command.drain && !consumer->draining) {
        turn.attached().draining().push_back({command.channel, command.consumer});
    }
    consumer->draining = command.drain;
    if (consumer->delivered < consumer->credit_until) reactivate(turn, *consumer);
}

void complete_drains(Turn& turn) {
    auto& draining = turn.attached().draining();
    if (draining.empty()) return;
    std::vector<Attached::Draining> waiting;
    for (const auto& [channel, number] : draining) {
        Consumer* const consumer = find_consumer(turn, channel, number);
        if (consumer == nullptr || !consumer->draining) continue;
        if (consumer->queue->awaits_work()) {
            waiting.push_back({channel, number});
            continue;
        }
        if (!consumer->channel->takes_deliveries()) {
            PROBE("credit.drain_waits_for_socket");
            waiting.push_back({channel, number});
            continue;
        }
        consumer->draining = false;
        CreditState state = credit_state_of(turn, *consumer);
        state.drained = true;
        turn.effects().request(std::move(state));
        consumer->credit_until = consumer->delivered;
    }
    draining = std::move(waiting);
}

}  // namespace revenant::engine
