#include "engine/recovery/durable_facts.h"

#include "base/check.h"
#include "base/probe.h"

#include <utility>
#include <variant>

namespace revenant::engine {

void DurableFacts::record(const Event& event) {
    std::visit([this](const auto& fact) { project(fact); }, event);
}

void DurableFacts::turn_ended() {
    if (std::exchange(record_, nullptr) != nullptr) journal_.end_record();
}

EventWriter::Place DurableFacts::place() {
    if (record_ == nullptr) {
        record_ = &journal_.begin_record();
        record_->push_back(static_cast<char>(RecordKind::facts));
    }
    return {*record_, journal_.position(), journal_.batch_position()};
}

// ------------------------------------------------------------------------- topology

void DurableFacts::project(const ExchangeDeclared& event) {
    if (event.exchange.durable) write(event);
}

void DurableFacts::project(const ExchangeDeleted& event) {
    if (state_->find_exchange(event.name)->declaration.durable) write(event);
}

void DurableFacts::project(const QueueDeclared& event) {
    if (event.queue.durable && !event.queue.exclusive) write(event);
}

void DurableFacts::project(const QueueDeleted& event) {
    if (state_->find_queue(event.queue)->survives()) write(event);
}

void DurableFacts::project(const Purged& event) {
    const Queue& queue = *state_->find_queue(event.queue);
    if (!queue.survives()) return;
    Purged durable{event.queue, {}};
    for (const Position position : event.unsettled) {
        if (is_durable(event.queue, position)) durable.unsettled.push_back(position);
    }
    write(durable);
}

bool DurableFacts::survives(std::string_view source, DestinationKind kind,
                            std::string_view destination) {
    if (!state_->find_exchange(source)->declaration.durable) return false;
    if (kind == DestinationKind::queue) return state_->find_queue(destination)->survives();
    return state_->find_exchange(destination)->declaration.durable;
}

void DurableFacts::project(const Bound& event) {
    if (survives(event.source, event.destination_kind, event.destination)) write(event);
}

void DurableFacts::project(const Unbound& event) {
    if (survives(event.source, event.destination_kind, event.destination)) write(event);
}

// ------------------------------------------------------------------------- messages

bool DurableFacts::is_durable(QueueId queue, Position position) {
    return state_->find_queue(queue)->at(position).durable;
}

void DurableFacts::enqueued(const Queue& queue, const MessageRef& message,
                            const Placement& placement) {
    if (queue.keeps(*message)) writer_.enqueued(place(), *message, placement);
}

void DurableFacts::removed(const Queue& queue, Position position, Ending ending) {
    if (is_durable(queue.id(), position)) writer_.removed(place(), queue.id(), position, ending);
}

void DurableFacts::project(const Enqueued& event) {
    enqueued(*state_->find_queue(event.placement.queue), event.message, event.placement);
}

void DurableFacts::project(const Removed& event) {
    removed(*state_->find_queue(event.queue), event.position, event.ending);
}

void DurableFacts::project(const Returned& event) {
    if (is_durable(event.queue, event.position)) write(event);
}

void DurableFacts::project(const Delayed& event) {
    if (is_durable(event.queue, event.position)) write(event);
}

void DurableFacts::project(const DelayEnded& event) {
    if (is_durable(event.queue, event.position)) write(event);
}

void DurableFacts::project(const LetterKept& event) {
    if (is_durable(event.queue, event.position)) write(event);
}

void DurableFacts::project(const Annotated& event) {
    if (is_durable(event.queue, event.position)) write(event);
}

void DurableFacts::project(const BlockDiscarded& event) {
    const Chain& chain = state_->find_queue(event.queue)->level(event.first.level());
    const ColdBlock* const parked = chain.view(Chain::block_of(event.first.sequence())).parked;
    if (parked != nullptr && parked->durable.live > 0) write(event);
}

// ------------------------------------------------------------------------- deaths

std::vector<Placement> DurableFacts::durable_targets(const std::vector<Placement>& targets,
                                                     const Message& message) {
    std::vector<Placement> durable;
    for (const Placement& target : targets) {
        if (state_->find_queue(target.queue)->keeps(message)) durable.push_back(target);
    }
    return durable;
}

void DurableFacts::place_letter(const MessageRef& message, const EnvelopeRef& envelope,
                                std::vector<Placement> targets) {
    if (targets.empty()) return;
    // Its bytes are written now, if they are not yet: a stub has been written before.
    write(RefusedToDeath{message, envelope, std::move(targets)});
}

void DurableFacts::project(const DeadLettered& event) {
    const Entry& entry = state_->find_queue(event.source)->at(event.position);
    std::vector<Placement> targets = durable_targets(event.targets, *entry.message);
    if (!entry.durable) {
        PROBE("durable_facts.letter_from_a_passing_queue");
        place_letter(entry.message, event.envelope, std::move(targets));
    } else if (targets.empty()) {
        PROBE("durable_facts.letter_into_a_passing_queue");
        write(Removed{event.source, event.position, Ending::dead_lettered});
    } else if (targets.size() == event.targets.size()) {
        write(event);
    } else {
        write(DeadLettered{event.source, event.position, event.envelope, std::move(targets)});
    }
}

void DurableFacts::project(const RefusedToDeath& event) {
    place_letter(event.message, event.envelope, durable_targets(event.targets, *event.message));
}

void DurableFacts::project(const LetterForwarded& event) {
    Queue& queue = *state_->find_queue(event.queue);
    const Entry& entry = queue.at(event.position);
    std::vector<Placement> targets = durable_targets(event.targets, *entry.message);
    if (!entry.durable) return place_letter(entry.message, event.envelope, std::move(targets));
    // Targets that pass are not named: after a restart they are gone, and so is their copy.
    write(LetterForwarded{event.queue, event.position, event.envelope, std::move(targets),
                          event.last});
}

}  // namespace revenant::engine
