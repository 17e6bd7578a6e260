#include "engine/inquiry.h"

#include "engine/topology.h"

#include <algorithm>
#include <vector>

namespace revenant::engine {
namespace {

Unexpected<Refusal> not_found(std::string phrase) {
    return Unexpected{Refusal{RefusalKind::not_found, "no " + std::move(phrase)}};
}

std::string_view name_of(const Destination& destination) {
    return destination.queue != nullptr ? std::string_view(destination.queue->name())
                                        : destination.exchange->name();
}

bool is_asked_for(const Binding& binding, const ListBindings& command) {
    const bool to_queue = binding.destination.queue != nullptr;
    return to_queue == (command.destination_kind == DestinationKind::queue) &&
           binding.routing_key == command.routing_key &&
           name_of(binding.destination) == command.destination;
}

const std::vector<Binding*>* incoming_of(State& state, const ListBindings& command) {
    if (command.destination_kind == DestinationKind::queue) {
        const Queue* const queue = state.find_queue(command.destination);
        return queue == nullptr ? nullptr : &queue->bindings;
    }
    const Exchange* const exchange = state.find_exchange(command.destination);
    return exchange == nullptr ? nullptr : &exchange->incoming;
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
    // A place for replies has no queue, yet clients ask whether it is there (amqp091 14.3).
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
        // Every queue is bound to the default exchange under its name.
        if (command.destination_kind == DestinationKind::queue &&
            command.routing_key == command.destination &&
            turn.state().find_queue(command.destination) != nullptr) {
            answer.bindings.push_back({command.routing_key, {}});
        }
        return answer;
    }
    const Exchange* const source = turn.state().find_exchange(command.source);
    if (source != nullptr && source->declaration.type == ExchangeType::topic &&
        command.refusal_if_topic) {
        return Unexpected{*command.refusal_if_topic};
    }
    const std::vector<Binding*>* const incoming = incoming_of(turn.state(), command);
    if (source == nullptr || incoming == nullptr) return answer;
    const auto add = [&](const Binding& binding) {
        if (binding.source != source || !is_asked_for(binding, command)) return;
        answer.bindings.push_back({binding.routing_key, binding.arguments});
    };
    // Whichever end has fewer.
    if (incoming->size() < source->outgoing.size()) {
        for (const Binding* const binding : *incoming) add(*binding);
    } else {
        for (const auto& [identity, binding] : source->outgoing) add(*binding);
    }
    return answer;
}

}  // namespace revenant::engine
