#include "engine/rules/topology_query.h"

#include "engine/rules/topology.h"

#include <algorithm>
#include <vector>

namespace revenant::engine {
namespace {

Unexpected<Refusal> not_found(std::string phrase) {
    return Unexpected{Refusal{RefusalKind::not_found, "no " + std::move(phrase)}};
}

}  // namespace

Result<void, Refusal> check_target(Turn& turn, const CheckTarget& command) {
    const Exchange* const exchange = turn.state().find_exchange(command.exchange);
    if (exchange == nullptr) return not_found(turn.exchange_phrase(command.exchange));
    if (exchange->declaration.internal) {
        return Unexpected{
            Refusal{RefusalKind::access_refused,
                    "forbidden to publish to internal " + turn.exchange_phrase(command.exchange)}};
    }
    if (command.queue.empty()) return {};
    if (const Queue* const queue = turn.state().find_queue(command.queue)) {
        turn.attached().set_target(*turn.attached().find_channel(command.channel), queue->id());
        return {};
    }
    if (turn.attached().find_reply_channel(command.queue) != nullptr) return {};
    return not_found(turn.queue_phrase(command.queue));
}

Result<QueueDescription, Refusal> describe_queue(Turn& turn, const DescribeQueue& command) {
    const Channel& channel = *turn.attached().find_channel(command.channel);
    // A reply-to name has no queue, but clients check whether it exists (amqp091 14.3).
    if (turn.attached().find_reply_channel(command.name) != nullptr) {
        QueueDescription replies;
        replies.name = command.name;
        replies.type = "rabbit_volatile_queue";
        replies.auto_delete = true;
        replies.consumer_count = 1;
        return replies;
    }
    REVENANT_TRY(Queue* const queue, usable_queue(turn, channel.connection->id, command.name));
    const QueueDeclaration& declared = queue->declaration;
    return QueueDescription{declared.name,
                            declared.kind == QueueKind::quorum ? "quorum" : "classic",
                            declared.durable,
                            declared.exclusive,
                            declared.auto_delete,
                            declared.arguments,
                            turn.ready_count(*queue),
                            queue->consumers.all.size()};
}

Result<BindingsAnswer, Refusal> list_bindings(Turn& turn, const ListBindings& command) {
    BindingsAnswer answer;
    if (command.source.empty()) {
        // Every queue is bound to the default exchange with its name as key.
        if (command.destination_kind == DestinationKind::queue &&
            command.routing_key == command.destination &&
            turn.state().find_queue(command.destination) != nullptr) {
            answer.bindings.push_back({command.routing_key, {}});
        }
        return answer;
    }
    const Exchange* const source = turn.state().find_exchange(command.source);
    if (source == nullptr) return answer;
    if (source->declaration.type == ExchangeType::topic && command.refusal_if_topic) {
        return Unexpected{*command.refusal_if_topic};
    }
    const auto group = source->outgoing.find(
        turn.state().find_destination(command.destination_kind, command.destination));
    if (group == source->outgoing.end()) return answer;
    const auto& bindings = group->second->bindings;
    for (auto binding = bindings.lower_bound(BindingId{command.routing_key, {}});
         binding != bindings.end() && (*binding)->routing_key == command.routing_key; ++binding) {
        answer.bindings.push_back({(*binding)->routing_key, (*binding)->arguments});
    }
    return answer;
}

}  // namespace revenant::engine
