// The fields of each event, in journal order. Event numbers and field orders never change;
// additions need a new version of the record.
#pragma once

#include "engine/codec/archive.h"
#include "engine/words/event.h"

namespace revenant::engine {

constexpr ExchangeType last_of(ExchangeType) { return ExchangeType::modulus_hash; }
constexpr QueueKind last_of(QueueKind) { return QueueKind::quorum; }
constexpr DestinationKind last_of(DestinationKind) { return DestinationKind::exchange; }
constexpr Ending last_of(Ending) { return Ending::queue_deleted; }
constexpr PolicyScope last_of(PolicyScope) { return PolicyScope::operator_only; }
constexpr ApplyTo last_of(ApplyTo) { return ApplyTo::exchanges; }
constexpr Compatibility last_of(Compatibility) { return Compatibility::v3_12; }

template <typename Archive>
void fields(Archive& a, ExchangeDeclaration& exchange) {
    a(exchange.name);
    a(exchange.type);
    a(exchange.durable);
    a(exchange.auto_delete);
    a(exchange.internal);
    a(exchange.arguments);
}
template <typename Archive>
void fields(Archive& a, QueueDeclaration& queue) {
    a(queue.id);
    a(queue.name);
    a(queue.durable);
    a(queue.exclusive);
    a(queue.auto_delete);
    a(queue.arguments);
    a(queue.kind);
}
template <typename Archive>
void fields(Archive& a, Policy& policy) {
    a(policy.name);
    a(policy.pattern);
    a(policy.apply_to);
    a(policy.priority);
    a(policy.definition);
}
template <typename Archive>
void fields(Archive& a, Placement& placement) {
    a(placement.queue);
    a(placement.position);
    a(placement.deadline);
}
template <typename Archive>
void fields(Archive& a, ExchangeDeclared& event) {
    a(event.exchange);
}
template <typename Archive>
void fields(Archive& a, ExchangeDeleted& event) {
    a(event.name);
}
template <typename Archive>
void fields(Archive& a, QueueDeclared& event) {
    a(event.queue);  // the owner of an exclusive queue is ephemeral
}
template <typename Archive>
void fields(Archive& a, QueueDeleted& event) {
    a(event.queue);
}
template <typename Archive>
void fields(Archive& a, Purged& event) {
    a(event.queue);
    a(event.unsettled);
}
template <typename Archive, typename BindingFact>
void binding_fields(Archive& a, BindingFact& event) {
    a(event.source);
    a(event.destination_kind);
    a(event.destination);
    a(event.routing_key);
    a(event.arguments);
}
template <typename Archive>
void fields(Archive& a, Bound& event) {
    binding_fields(a, event);
}
template <typename Archive>
void fields(Archive& a, Unbound& event) {
    binding_fields(a, event);
}
template <typename Archive>
void fields(Archive& a, Enqueued& event) {
    a(event.placement);
    a.message(event.message);
}
template <typename Archive>
void fields(Archive& a, Removed& event) {
    a(event.queue);
    a(event.position);
    a(event.ending);
}
template <typename Archive>
void fields(Archive& a, Requeued& event) {
    a(event.queue);
    a(event.position);
    a(event.to);
    a(event.counts);
}
template <typename Archive>
void fields(Archive& a, Delayed& event) {
    a(event.queue);
    a(event.position);
    a(event.to);
    a(event.until);
    a(event.counts);
}
template <typename Archive>
void fields(Archive& a, DelayEnded& event) {
    a(event.queue);
    a(event.position);
    a(event.to);
}
template <typename Archive>
void fields(Archive& a, DeadLettered& event) {
    a(event.source);
    a(event.position);
    a.envelope(event.envelope);
    a(event.targets);
}
template <typename Archive>
void fields(Archive& a, RefusedAndDeadLettered& event) {
    a.envelope(event.envelope);
    a(event.targets);
    a.message(event.message);
}
template <typename Archive>
void fields(Archive& a, MovedToOutbox& event) {
    a(event.queue);
    a(event.position);
    a(event.to);
    a(event.reason);
    a(event.died_at);
    a(event.counts);
}
template <typename Archive>
void fields(Archive& a, ForwardedFromOutbox& event) {
    a(event.queue);
    a(event.position);
    a.envelope(event.envelope);
    a(event.targets);
    a(event.last);
}
template <typename Archive>
void fields(Archive& a, PolicySet& event) {
    a(event.scope);
    a(event.policy);
}
template <typename Archive>
void fields(Archive& a, PolicyCleared& event) {
    a(event.scope);
    a(event.name);
}
template <typename Archive>
void fields(Archive& a, CompatibilitySet& event) {
    a(event.compatibility);
}
template <typename Archive>
void fields(Archive& a, Annotated& event) {
    a(event.queue);
    a(event.position);
    a.envelope(event.envelope);
}
template <typename Archive>
void fields(Archive& a, BlockDiscarded& event) {
    a(event.queue);
    a(event.first);
}

}  // namespace revenant::engine
