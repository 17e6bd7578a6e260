#include "engine/state/state.h"

#include "base/check.h"
#include "engine/words/policy.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>

namespace revenant::engine {
namespace {

constexpr std::size_t deadlines_sweep_min = 64;

template <typename Map>
auto sorted_by_name(const Map& map, auto value_of) {
    std::vector<decltype(value_of(map.begin()->second))> sorted;
    sorted.reserve(map.size());
    for (const auto& [name, value] : map) sorted.push_back(value_of(value));
    std::sort(sorted.begin(), sorted.end(),
              [](const auto* a, const auto* b) { return a->name() < b->name(); });
    return sorted;
}

}  // namespace

State::State() {
    for (const PredeclaredExchange& exchange : predeclared_exchanges()) {
        apply(ExchangeDeclared{{exchange.name,
                                exchange.type,
                                /*durable=*/true,
                                /*auto_delete=*/false,
                                exchange.internal,
                                {}}});
    }
}

void State::apply(const Event& event) {
    std::visit([this](const auto& fact) { apply_one(fact); }, event);
}

Result<MessageRef, std::string> State::load(const Message& stub) const {
    std::string bytes(stored_size(stub), '\0');
    REVENANT_TRY_VOID(paging_.store->read(*stub.stored_at(), bytes));
    MessageRef whole = decode_message(bytes, paging_.formats, stub.stored_at());
    if (!whole) return Unexpected{paging_.store->fail_damaged(*stub.stored_at())};
    return whole;
}

Exchange* State::find_exchange(std::string_view name) {
    const auto found = exchanges_.find(name);
    return found == exchanges_.end() ? nullptr : found->second.get();
}

Queue* State::find_queue(std::string_view name) {
    const auto found = queues_.find(name);
    return found == queues_.end() ? nullptr : found->second;
}

Queue* State::find_queue(QueueId id) {
    const auto found = queues_by_id_.find(id);
    return found == queues_by_id_.end() ? nullptr : found->second.get();
}

std::vector<Queue*> State::queues_by_name() {
    return sorted_by_name(queues_, [](Queue* queue) { return queue; });
}

std::vector<Exchange*> State::exchanges_by_name() {
    return sorted_by_name(exchanges_, [](const auto& exchange) { return exchange.get(); });
}

// ------------------------------------------------------------------------- topology

void State::apply_one(const ExchangeDeclared& event) {
    auto exchange = std::make_unique<Exchange>(event.exchange);
    configure(*exchange);
    exchange_roster_.enter(*exchange, exchange->roster_place);
    exchanges_.emplace(event.exchange.name, std::move(exchange));
    ++topology_version_;
}

void State::apply_one(const ExchangeDeleted& event) {
    const auto found = exchanges_.find(event.name);
    CHECK(found != exchanges_.end());
    Exchange& exchange = *found->second;
    retire_bindings_to(exchange.incoming);
    retire_bindings_from(exchange);
    exchange.roster_place.leave();
    exchange.deleted = true;
    deleted_exchanges_.push_back(std::move(found->second));
    exchanges_.erase(found);
    ++topology_version_;
    if (!has_retired_bindings()) deleted_exchanges_.clear();
}

void State::apply_one(const QueueDeclared& event) {
    restore_queue(event.queue, compatibility_ == Compatibility::v4_3);
    find_queue(event.queue.id)->owner = event.owner;
}

void State::restore_queue(QueueDeclaration declaration, bool count_properties) {
    auto queue = std::make_unique<Queue>(std::move(declaration), paging_, count_properties);
    configure(*queue);
    last_queue_id_ = std::max(last_queue_id_, queue->id().value);
    queue_roster_.enter(*queue, queue->roster_place);
    queues_.emplace(queue->name(), queue.get());
    queues_by_id_.emplace(queue->id(), std::move(queue));
    ++topology_version_;
}

void State::restore_outbox_entry(Queue& queue, std::uint64_t sequence, OutboxEntry letter) {
    queue.outbox_entries[sequence] = std::move(letter);
    if (!queue.outbox_progress) queue.outbox_progress = std::make_unique<OutboxProgress>();
    queues_with_outbox_.insert(queue.id());
}

void State::mark_all_redelivered() {
    for (const auto& [id, queue] : queues_by_id_) {
        queue->for_each_level([](std::size_t, Chain& chain) { chain.mark_all_redelivered(); });
    }
}

void State::finish_restore(Queue& queue) {
    accounts_.entered += queue.message_count();
    queue.for_each_level([&](std::size_t level, const Chain& chain) {
        for (std::uint64_t number = chain.first_block(); number < chain.end_block(); ++number) {
            schedule_block(queue, Position::of(level, number * block_entries));
        }
    });
}

void State::apply_one(const QueueDeleted& event) {
    const auto found = queues_by_id_.find(event.queue);
    CHECK(found != queues_by_id_.end());
    Queue& queue = *found->second;
    retire_bindings_to(queue.bindings);
    accounts_.of(Ending::queue_deleted) += queue.message_count();
    queue.clear();
    queues_with_outbox_.erase(queue.id());
    queues_.erase(queue.name());
    queue.roster_place.leave();
    queue.deleted = true;
    // Then release_deleted_queue frees it.
    if (queue.is_referred_to()) {
        deleted_queues_.emplace(&queue, std::move(found->second));
    }
    queues_by_id_.erase(found);
    ++topology_version_;
}

void State::apply_one(const Purged& event) {
    Queue* const queue = find_queue(event.queue);
    CHECK(queue != nullptr);
    accounts_.of(Ending::purged) += queue->purge(event.unsettled);
    if (queue->outbox_entries.empty()) queues_with_outbox_.erase(queue->id());
}

void State::apply_one(const BlockDiscarded& event) {
    Queue* const queue = find_queue(event.queue);
    CHECK(queue != nullptr);
    accounts_.of(Ending::purged) += queue->discard_block(event.first);
}

// ------------------------------------------------------------------------- settings

void State::configure(Queue& queue) {
    queue.policy = policies_.for_queue(queue.declaration.kind, queue.name());
    queue.settings = effective_settings(queue.declaration, queue.policy, compatibility_);
}

void State::configure(Exchange& exchange) {
    // The default exchange routes to queues by name and has no alternate (amqp091 7.1).
    if (exchange.name().empty()) return;
    exchange.policy = policies_.for_exchange(exchange.name());
    exchange.alternate =
        effective_alternate_exchange(exchange.declaration.arguments, exchange.policy);
}

void State::configure_all() {
    for (const auto& [name, exchange] : exchanges_) configure(*exchange);
    ++topology_version_;
    // In the order of declaration, reversed: the first one is taken from the end.
    unconfigured_.clear();
    unconfigured_.reserve(queues_by_id_.size());
    for (const auto& [id, queue] : queues_by_id_) unconfigured_.push_back(id);
    std::sort(unconfigured_.begin(), unconfigured_.end(), std::greater<>());
}

Queue* State::configure_next() {
    Queue* const queue = find_queue(unconfigured_.back());
    unconfigured_.pop_back();
    if (queue == nullptr) return nullptr;
    const QueueSettings before = queue->settings;
    configure(*queue);
    if (queue->settings == before) return nullptr;
    ++topology_version_;
    return queue;
}

void State::apply_one(const PolicySet& event) {
    policies_.set(event.scope, event.policy);
    configure_all();
}

void State::apply_one(const PolicyCleared& event) {
    policies_.clear(event.scope, event.name);
    configure_all();
}

void State::apply_one(const CompatibilitySet& event) {
    compatibility_ = event.compatibility;
    configure_all();
}

void State::release_deleted_queue(Queue& queue) {
    CHECK(queue.deleted);
    if (!queue.is_referred_to()) deleted_queues_.erase(&queue);
}

// ------------------------------------------------------------------------- bindings

namespace {

BindingGroups& incoming_of(const Destination& destination) {
    return destination.queue != nullptr ? destination.queue->bindings
                                        : destination.exchange->incoming;
}

}  // namespace

Destination State::find_destination(DestinationKind kind, std::string_view name) {
    Destination found;
    if (kind == DestinationKind::queue) {
        found.queue = find_queue(name);
    } else {
        found.exchange = find_exchange(name);
    }
    return found;
}

void State::apply_one(const Bound& event) {
    Exchange* const source = find_exchange(event.source);
    const Destination destination = find_destination(event.destination_kind, event.destination);
    CHECK(source != nullptr && destination.exists());
    auto& group = source->outgoing[destination];
    if (!group) {
        group = std::make_unique<BindingGroup>();
        group->source = source;
        group->destination = destination;
        group->is_listed = true;
        incoming_of(destination).push_back(group.get());
    }
    auto binding = std::make_unique<Binding>();
    binding->source = source;
    binding->destination = destination;
    binding->routing_key = event.routing_key;
    binding->arguments = event.arguments;
    binding->arguments_id = arguments_id(event.arguments);
    binding_roster_.enter(*binding, binding->roster_place);
    source->add_route(*binding);
    source->outgoing_count += 1;
    group->bindings.insert(std::move(binding));
    ++topology_version_;
}

void State::apply_one(const Unbound& event) {
    Exchange* const source = find_exchange(event.source);
    CHECK(source != nullptr);
    const Destination destination = find_destination(event.destination_kind, event.destination);
    const auto found = source->outgoing.find(destination);
    CHECK(found != source->outgoing.end());
    BindingGroup& group = *found->second;
    const std::string arguments = arguments_id(event.arguments);
    const auto binding = group.bindings.find(BindingId{event.routing_key, arguments});
    CHECK(binding != group.bindings.end());
    source->remove_route(**binding);
    source->outgoing_count -= 1;
    group.bindings.erase(binding);
    if (group.bindings.empty()) {
        std::erase(incoming_of(destination), &group);
        source->outgoing.erase(found);
    }
    ++topology_version_;
}

void State::retire(std::unique_ptr<BindingGroup> group) {
    if (Queue* const queue = group->destination.queue) queue->retired_groups += 1;
    retired_.push_back(std::move(group));
}

void State::retire_bindings_to(BindingGroups& groups) {
    for (BindingGroup* const group : groups) {
        group->is_listed = false;
        Exchange& source = *group->source;
        if (source.deleted) continue;  // retired already
        source.retire_routes_to(group->destination);
        const auto found = source.outgoing.find(group->destination);
        source.outgoing_count -= group->bindings.size();
        retire(std::move(found->second));
        source.outgoing.erase(found);
    }
    groups.clear();
}

void State::retire_bindings_from(Exchange& source) {
    for (auto& [destination, group] : source.outgoing) retire(std::move(group));
    source.outgoing.clear();
    source.outgoing_count = 0;
}

void State::free_retired_binding() {
    BindingGroup& group = *retired_.front();
    const auto first = group.bindings.begin();
    group.source->remove_retired_route(**first);
    group.bindings.erase(first);
    if (!group.bindings.empty()) return;
    if (group.is_listed) std::erase(incoming_of(group.destination), &group);
    Queue* const queue = group.destination.queue;
    retired_.pop_front();
    if (queue != nullptr) {
        queue->retired_groups -= 1;
        if (queue->deleted) release_deleted_queue(*queue);
    }
    if (retired_.empty()) deleted_exchanges_.clear();
}

// ------------------------------------------------------------------------- messages

bool State::is_stale(const Deadlines::Item& item) {
    Queue* const queue = find_queue(item.queue);
    if (queue == nullptr) return true;
    if (item.kind == Deadlines::Kind::queue_expiry) return queue->expiry_timer != item.at;
    return queue->level(item.level).scheduled(item.block) != item.at;
}

// Messages with a TTL of an hour that are consumed immediately leave one timer per block. A sweep
// runs when there are twice as many timers as after the last one, so a timer costs constant time.
void State::add_deadline(const Deadlines::Item& item) {
    deadlines_.add(item);
    if (deadlines_.size() < std::max(deadlines_sweep_at_, deadlines_sweep_min)) return;
    deadlines_.remove_stale([this](const Deadlines::Item& other) { return is_stale(other); });
    deadlines_sweep_at_ = deadlines_.size() * 2;
}

void State::schedule_expiry(Queue& queue) {
    const Timestamp at = queue.last_used + milliseconds(*queue.settings.expires_ms);
    if (queue.expiry_timer <= at) return;
    queue.expiry_timer = at;
    add_deadline({.at = at, .kind = Deadlines::Kind::queue_expiry, .queue = queue.id()});
}

void State::schedule_block(Queue& queue, Position position) {
    Chain& chain = queue.level(position.level());
    const std::uint64_t block = Chain::block_of(position.sequence());
    const Timestamp earliest = chain.earliest_deadline(block);
    if (earliest >= chain.scheduled(block)) return;
    chain.set_scheduled(block, earliest);
    add_deadline({.at = earliest,
                  .kind = Deadlines::Kind::message_block,
                  .queue = queue.id(),
                  .level = static_cast<std::uint32_t>(position.level()),
                  .block = block});
}

namespace {

// A dead letter keeps its number of failed attempts (DL-155). A quorum queue also counts each as an
// acquisition.
void carry_attempts(Entry& entry, const Envelope& envelope, const Queue& queue) {
    const std::uint32_t failed = envelope.delivery_count;
    entry.set_counts({failed, queue.is_quorum() ? failed : 0});
}

}  // namespace

Position State::enqueue(Queue& queue, MessageRef message, EnvelopeRef envelope,
                        Timestamp deadline) {
    Entry entry;
    if (envelope) carry_attempts(entry, *envelope, queue);
    const std::size_t level = queue.level_for(message->priority());
    entry.durable = queue.persists(*message);
    entry.message = std::move(message);
    entry.envelope = std::move(envelope);
    const Position position = queue.push(level, std::move(entry), deadline);
    accounts_.entered += 1;
    if (deadline != never) schedule_block(queue, position);
    return position;
}

Entry State::remove(Queue& queue, Position position, Ending ending) {
    accounts_.of(ending) += 1;
    Entry entry = queue.take(position);
    if (position.level() >= queue.served_levels() && queue.outbox_entries.empty()) {
        queues_with_outbox_.erase(queue.id());
    }
    return entry;
}

namespace {

void count_attempts(Entry& entry, DeliveryCounts counts) {
    entry.returned = true;
    entry.set_counts(counts);
}

}  // namespace

void State::requeue_entry(Queue& queue, Position position, Position to, DeliveryCounts counts) {
    Entry& entry = queue.at(position);
    count_attempts(entry, counts);
    if (to != position) {
        queue.move(position, to);
    } else if (entry.state == EntryState::unacked) {
        queue.mark_ready(position);
    }
    if (queue.deadline(to) != never) schedule_block(queue, to);
}

void State::place(const Placement& placement, MessageRef message, EnvelopeRef envelope) {
    Queue* const queue = find_queue(placement.queue);
    CHECK(queue != nullptr);
    Entry entry;
    if (envelope) carry_attempts(entry, *envelope, *queue);
    entry.durable = queue->persists(*message);
    entry.message = std::move(message);
    entry.envelope = std::move(envelope);
    queue->push_at(placement.position, std::move(entry), placement.deadline);
    accounts_.entered += 1;
    if (placement.deadline != never) schedule_block(*queue, placement.position);
}

void State::apply_one(const Enqueued& event) { place(event.placement, event.message, {}); }

void State::apply_one(const Removed& event) {
    Queue* const queue = find_queue(event.queue);
    CHECK(queue != nullptr);
    remove(*queue, event.position, event.ending);
}

void State::apply_one(const Requeued& event) {
    Queue* const queue = find_queue(event.queue);
    CHECK(queue != nullptr);
    requeue_entry(*queue, event.position, event.to, event.counts);
}

void State::apply_one(const Delayed& event) {
    Queue* const queue = find_queue(event.queue);
    CHECK(queue != nullptr);
    count_attempts(queue->at(event.position), event.counts);
    queue->delay(event.position, event.to, event.until);
    schedule_block(*queue, event.to);
}

void State::apply_one(const DelayEnded& event) {
    Queue* const queue = find_queue(event.queue);
    CHECK(queue != nullptr);
    queue->move(event.position, event.to);
    if (queue->deadline(event.to) != never) schedule_block(*queue, event.to);
}

void State::apply_one(const Annotated& event) {
    Queue* const queue = find_queue(event.queue);
    CHECK(queue != nullptr);
    queue->set_envelope(event.position, event.envelope);
}

void State::apply_one(const DeadLettered& event) {
    Queue* const source = find_queue(event.source);
    CHECK(source != nullptr);
    const Entry entry = remove(*source, event.position, Ending::dead_lettered);
    for (const Placement& target : event.targets) place(target, entry.message, event.envelope);
}

void State::apply_one(const RefusedAndDeadLettered& event) {
    for (const Placement& target : event.targets) place(target, event.message, event.envelope);
}

void State::apply_one(const MovedToOutbox& event) {
    Queue* const queue = find_queue(event.queue);
    CHECK(queue != nullptr);
    count_attempts(queue->at(event.position), event.counts);
    queue->move(event.position, event.to);
    restore_outbox_entry(*queue, event.to.sequence(), {event.reason, event.died_at, {}});
}

void State::apply_one(const ForwardedFromOutbox& event) {
    Queue* const queue = find_queue(event.queue);
    CHECK(queue != nullptr);
    const MessageRef message = queue->at(event.position).message;
    OutboxEntry& letter = queue->outbox_entries.at(event.position.sequence());
    for (const Placement& target : event.targets) letter.reached.push_back(target.queue);
    if (event.last) remove(*queue, event.position, Ending::dead_lettered);
    for (const Placement& target : event.targets) place(target, message, event.envelope);
}

}  // namespace revenant::engine
