#include "engine/credit.h"

#include "base/probe.h"
#include "engine/consumers.h"

#include <vector>

namespace revenant::engine {
namespace {

Consumer* find_consumer(Turn& turn, ChannelId id, std::uint32_t number) {
    Channel* const channel = turn.attached().find_channel(id);
    if (channel == nullptr) return nullptr;
    const auto found = channel->consumers.find(number);
    return found == channel->consumers.end() ? nullptr : found->second.get();
}

void tell(Turn& turn, const Consumer& consumer, bool drained) {
    turn.effects().request(CreditState{consumer.channel->id, consumer.number, consumer.delivered,
                                       consumer.credit_until, consumer.queue->ready_count(),
                                       drained});
}

}  // namespace

void set_credit(Turn& turn, const SetCredit& command) {
    Consumer* const consumer = find_consumer(turn, command.channel, command.consumer);
    if (consumer == nullptr) return;  // its queue went meanwhile
    consumer->credit_until = command.until;
    if (command.echo && !command.drain) tell(turn, *consumer, /*drained=*/false);
    if (command.drain && !consumer->draining) {
        turn.attached().draining().push_back({command.channel, command.consumer});
    }
    consumer->draining = command.drain;
    if (consumer->delivered < consumer->credit_until) reactivate(turn, *consumer);
}

void answer_drains(Turn& turn) {
    auto& draining = turn.attached().draining();
    if (draining.empty() || !turn.dirty_queues().empty()) return;
    std::vector<Attached::Draining> waiting;
    for (const auto& [channel, number] : draining) {
        Consumer* const consumer = find_consumer(turn, channel, number);
        if (consumer == nullptr || !consumer->draining) continue;
        if (consumer->channel->connection->paused) {
            PROBE("credit.drain_waits_for_socket");
            waiting.push_back({channel, number});
            continue;
        }
        consumer->draining = false;
        tell(turn, *consumer, /*drained=*/true);
        consumer->credit_until = consumer->delivered;
    }
    draining = std::move(waiting);
}

}  // namespace revenant::engine
