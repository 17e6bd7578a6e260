#include "engine/recovery/durable_recorder.h"

#include "base/check.h"
#include "base/probe.h"

#include <utility>
#include <variant>

namespace revenant::engine {

void DurableRecorder::record(const Event& event) {
    std::visit([this](const auto& fact) { project(fact); }, event);
}

void DurableRecorder::turn_ended() {
    if (std::exchange(record_, nullptr) != nullptr) journal_.end_record();
}

EventWriter::Place DurableRecorder::place() {
    if (record_ == nullptr) {
        record_ = &journal_.begin_record();
        record_->push_back(static_cast<char>(RecordKind::events));
    }
    return {*record_, journal_.position(), journal_.batch_position()};
}

// ------------------------------------------------------------------------- topology

void DurableRecorder::project(const ExchangeDeclared& event) {
    if (event.exchange.durable) write(event);
}

void DurableRecorder::project(const ExchangeDeleted& event) {
    if (state_->find_exchange(event.name)->declaration.durable) write(event);
}

void DurableRecorder::project(const QueueDeclared& event) {
    if (event.queue.durable && !event.queue.exclusive) write(event);
}

void DurableRecorder::project(const QueueDeleted& event) {
    if (state_->find_queue(event.queue)->survives_restart()) write(event);
}

void DurableRecorder::project(const Purged& event) {
    const Queue& queue = *state_->find_queue(event.queue);
    if (!queue.survives_restart()) return;
    Purged durable{event.queue, {}};
    for (const Position position : event.unsettled) {
        if (is_durable(event.queue, position)) durable.unsettled.push_back(position);
    }
    write(durable);
}

bool DurableRecorder::survives(std::string_view source, DestinationKind kind,
                               std::string_view destination) {
    if (!state_->find_exchange(source)->declaration.durable) return false;
    if (kind == DestinationKind::queue) return state_->find_queue(destination)->survives_restart();
    return state_->find_exchange(destination)->declaration.durable;
}

void DurableRecorder::project(const Bound& event) {
    if (survives(event.source, event.destination_kind, event.destination)) write(event);
}

void DurableRecorder::project(const Unbound& event) {
    if (survives(event.source, event.destination_kind, event.destination)) write(event);
}

// ------------------------------------------------------------------------- messages

bool DurableRecorder::is_durable(QueueId queue, Position position) {
    return state_->find_queue(queue)->at(position).durable;
}

void DurableRecorder::enqueued(const Queue& queue, const MessageRef& message,
                               const Placement& placement) {
    if (queue.persists(*message)) writer_.enqueued(place(), *message, placement);
}

void DurableRecorder::removed(const Queue& queue, Position position, Ending ending) {
    if (is_durable(queue.id(), position)) writer_.removed(place(), queue.id(), position, ending);
}

void DurableRecorder::project(const Enqueued& event) {
    enqueued(*state_->find_queue(event.placement.queue), event.message, event.placement);
}

void DurableRecorder::project(const Removed& event) {
    removed(*state_->find_queue(event.queue), event.position, event.ending);
}

void DurableRecorder::project(const Requeued& event) {
    if (is_durable(event.queue, event.position)) write(event);
}

void DurableRecorder::project(const Delayed& event) {
    if (is_durable(event.queue, event.position)) write(event);
}

void DurableRecorder::project(const DelayEnded& event) {
    if (is_durable(event.queue, event.position)) write(event);
}

void DurableRecorder::project(const MovedToOutbox& event) {
    if (is_durable(event.queue, event.position)) write(event);
}

void DurableRecorder::project(const Annotated& event) {
    if (is_durable(event.queue, event.position)) write(event);
}

void DurableRecorder::project(const BlockDiscarded& event) {
    const Chain& chain = state_->find_queue(event.queue)->level(event.first.level());
    const ColdBlock* const parked = chain.view(Chain::block_of(event.first.sequence())).parked;
    if (parked != nullptr && parked->durable.live > 0) write(event);
}

// ------------------------------------------------------------------------- deaths

std::vector<Placement> DurableRecorder::durable_targets(const std::vector<Placement>& targets,
                                                        const Message& message) {
    std::vector<Placement> durable;
    for (const Placement& target : targets) {
        if (state_->find_queue(target.queue)->persists(message)) durable.push_back(target);
    }
    return durable;
}

void DurableRecorder::place_letter(const MessageRef& message, const EnvelopeRef& envelope,
                                   std::vector<Placement> targets) {
    if (targets.empty()) return;
    // Its bytes are written now, unless it is a stub, which is in the journal already.
    write(RefusedAndDeadLettered{message, envelope, std::move(targets)});
}

void DurableRecorder::project(const DeadLettered& event) {
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

void DurableRecorder::project(const RefusedAndDeadLettered& event) {
    place_letter(event.message, event.envelope, durable_targets(event.targets, *event.message));
}

void DurableRecorder::project(const ForwardedFromOutbox& event) {
    Queue& queue = *state_->find_queue(event.queue);
    const Entry& entry = queue.at(event.position);
    std::vector<Placement> targets = durable_targets(event.targets, *entry.message);
    if (!entry.durable) return place_letter(entry.message, event.envelope, std::move(targets));
    // Transient targets are left out: after a restart they and their copies no longer exist.
    write(ForwardedFromOutbox{event.queue, event.position, event.envelope, std::move(targets),
                              event.last});
}

}  // namespace revenant::engine
