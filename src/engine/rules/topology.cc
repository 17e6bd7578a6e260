#include "engine/rules/topology.h"

#include "base/probe.h"
#include "engine/rules/consumers.h"
#include "engine/rules/overflow.h"
#include "engine/words/queue_arguments.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace revenant::engine {
namespace {

Unexpected<Refusal> refuse(RefusalKind kind, std::string text) {
    return Unexpected{Refusal{kind, std::move(text)}};
}

Unexpected<Refusal> no_exchange(const Turn& turn, std::string_view name) {
    return refuse(RefusalKind::not_found, "no " + turn.exchange_phrase(name));
}

Unexpected<Refusal> no_queue(const Turn& turn, std::string_view name) {
    return refuse(RefusalKind::not_found, "no " + turn.queue_phrase(name));
}

Unexpected<Refusal> default_exchange_refused() {
    return refuse(RefusalKind::access_refused, "operation not permitted on the default exchange");
}

ConnectionId connection_of(Turn& turn, ChannelId channel) {
    const Channel* const found = turn.attached().find_channel(channel);
    return found == nullptr ? ConnectionId{} : found->connection->id;
}

// amqp091 6.7: how a mismatch between what is there and what is declared is told.
Refusal inequivalent(std::string_view argument, const std::string& owner,
                     const std::string& received, const std::string& current) {
    return {RefusalKind::precondition_failed, "inequivalent arg '" + std::string(argument) +
                                                  "' for " + owner + ": received " + received +
                                                  " but current is " + current};
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }
std::string quoted(bool flag) { return flag ? "'true'" : "'false'"; }

std::string described(const Value* value) {
    if (value == nullptr) return "none";
    return "the value '" + display(*value) + "' of type '" + std::string(type_name(value->type)) +
           "'";
}

std::optional<Refusal> compare_argument(std::string_view name, const std::string& owner,
                                        const Value* received, const Value* current) {
    if (received == nullptr && current == nullptr) return std::nullopt;
    if (received != nullptr && current != nullptr) {
        if (equivalent(*received, *current)) return std::nullopt;
        return inequivalent(name, owner, quoted(display(*received)), quoted(display(*current)));
    }
    return inequivalent(name, owner, described(received), described(current));
}

std::optional<Refusal> compare_exchange(const std::string& owner,
                                        const ExchangeDeclaration& current,
                                        const DeclareExchange& received) {
    if (to_string(current.type) != received.type) {
        return inequivalent("type", owner, quoted(received.type), quoted(to_string(current.type)));
    }
    if (current.durable != received.durable) {
        return inequivalent("durable", owner, quoted(received.durable), quoted(current.durable));
    }
    if (current.auto_delete != received.auto_delete) {
        return inequivalent("auto_delete", owner, quoted(received.auto_delete),
                            quoted(current.auto_delete));
    }
    if (current.internal != received.internal) {
        return inequivalent("internal", owner, quoted(received.internal), quoted(current.internal));
    }
    for (const char* name : {"alternate-exchange", "hash-header", "hash-property"}) {
        if (auto refusal = compare_argument(name, owner, find(received.arguments, name),
                                            find(current.arguments, name))) {
            return refusal;
        }
    }
    return std::nullopt;
}

// Absent and classic are the same queue type (amqp091 8.9).
const Value* comparable_argument(const Table& arguments, std::string_view name) {
    const Value* const value = find(arguments, name);
    if (name == "x-queue-type" && value != nullptr && value->as_string() != nullptr &&
        *value->as_string() == "classic") {
        return nullptr;
    }
    return value;
}

// What must agree when a quorum queue is declared again as a classic one (DL-46).
bool is_compared_when_relaxed(std::string_view name) {
    constexpr std::string_view compared[] = {
        "x-dead-letter-exchange", "x-dead-letter-routing-key", "x-expires",    "x-max-length",
        "x-max-length-bytes",     "x-single-active-consumer",  "x-message-ttl"};
    return std::find(std::begin(compared), std::end(compared), name) != std::end(compared);
}

std::optional<Refusal> compare_queue(const std::string& owner, const QueueDeclaration& current,
                                     const DeclareQueue& received, bool relaxed_checks) {
    const Value* const type = find(received.arguments, "x-queue-type");
    const bool relaxed = relaxed_checks && current.kind == QueueKind::quorum && type != nullptr &&
                         type->as_string() != nullptr && *type->as_string() == "classic";
    if (current.durable != received.durable) {
        return inequivalent("durable", owner, quoted(received.durable), quoted(current.durable));
    }
    if (current.auto_delete != received.auto_delete) {
        return inequivalent("auto_delete", owner, quoted(received.auto_delete),
                            quoted(current.auto_delete));
    }
    std::vector<std::string> names;
    for (const Table* table : {&received.arguments, &current.arguments}) {
        for (const Field& field : *table) {
            if (relaxed ? is_compared_when_relaxed(field.name)
                        : is_known_queue_argument(current.kind, field.name)) {
                names.push_back(field.name);
            }
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (const std::string& name : names) {
        if (compare_argument(name, owner, comparable_argument(received.arguments, name),
                             comparable_argument(current.arguments, name))) {
            // Told as they were given.
            return compare_argument(name, owner, find(received.arguments, name),
                                    find(current.arguments, name));
        }
    }
    return std::nullopt;
}

Unexpected<Refusal> locked(const Turn& turn, std::string_view name) {
    return refuse(RefusalKind::resource_locked,
                  "cannot obtain exclusive access to locked " + turn.queue_phrase(name) +
                      ". It could be originally declared on another connection or the exclusive "
                      "property value does not match that of the original declaration.");
}

bool is_reserved(std::string_view name) { return name.starts_with("amq."); }

Unbound unbound(const Binding& binding) {
    const bool to_queue = binding.destination.queue != nullptr;
    return {binding.source->name(), to_queue ? DestinationKind::queue : DestinationKind::exchange,
            to_queue ? binding.destination.queue->name() : binding.destination.exchange->name(),
            binding.routing_key, binding.arguments};
}

void remove_if_unused(Turn& turn, const std::string& name);

// An auto-delete exchange goes with its last binding as source (amqp091 6.10).
void remove_binding(Turn& turn, const Binding& binding) {
    const Exchange& source = *binding.source;
    turn.emit(unbound(binding));
    if (source.declaration.auto_delete) remove_if_unused(turn, source.name());
}

// The auto-delete exchanges that these bindings begin at, each once, the last one first.
std::vector<std::string> auto_delete_sources(const BindingGroups& groups) {
    std::vector<std::string> sources;
    for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
        const Exchange& source = *(*group)->source;
        if (source.declaration.auto_delete && !source.deleted) sources.push_back(source.name());
    }
    return sources;
}

// Its bindings go with it, and so do auto-delete exchanges that have none left. A list and no
// recursion: a chain of exchanges may be long.
void remove_exchange(Turn& turn, Exchange& first) {
    std::vector<std::string> waiting{first.name()};
    while (!waiting.empty()) {
        Exchange* const exchange = turn.state().find_exchange(waiting.back());
        waiting.pop_back();
        if (exchange == nullptr) continue;
        const std::vector<std::string> sources = auto_delete_sources(exchange->incoming);
        turn.emit(ExchangeDeleted{exchange->name()});
        for (const std::string& name : sources) {
            const Exchange* const source = turn.state().find_exchange(name);
            if (source != nullptr && source->outgoing.empty()) waiting.push_back(name);
        }
    }
    free_retired_bindings(turn);
}

void remove_if_unused(Turn& turn, const std::string& name) {
    Exchange* const exchange = turn.state().find_exchange(name);
    if (exchange == nullptr || !exchange->outgoing.empty()) return;
    PROBE("topology.auto_delete_exchange");
    remove_exchange(turn, *exchange);
}

// What RabbitMQ says of a deprecated feature that its configuration forbids.
std::string denied_text(const std::string& feature) {
    const std::string key = "    \"deprecated_features.permit." + feature;
    return "Feature `" + feature +
           "` is deprecated.\n"
           "Its use is not permitted per the configuration (overriding the default, which is "
           "permitted):\n" +
           key + " = false\"";
}

ObjectCounts counts_of_other_vhosts(Turn& turn) {
    const OtherVhosts* const other_vhosts = turn.settings().other_vhosts;
    return other_vhosts == nullptr ? ObjectCounts{} : other_vhosts->object_counts();
}

// amqp091 6.13
std::optional<Refusal> exchange_limit_refusal(Turn& turn, const std::string& name) {
    const auto limit = turn.settings().node_limits.exchanges_max;
    if (!limit || counts_of_other_vhosts(turn).exchanges + turn.state().exchange_count() < *limit) {
        return std::nullopt;
    }
    return Refusal{RefusalKind::limit_reached, "cannot declare exchange '" + name + "' in vhost '" +
                                                   turn.settings().vhost + "': exchange limit of " +
                                                   std::to_string(*limit) + " is reached"};
}

// The limit of the virtual host (amqp091 8.19), then that of the node.
std::optional<Refusal> queue_limit_refusal(Turn& turn, const DeclareQueue& command) {
    const std::uint64_t count = turn.state().queue_count();
    const auto refusal = [&](const std::string& where, const std::string& limit) {
        return Refusal{RefusalKind::limit_reached, "cannot declare queue '" + command.name +
                                                       "': queue limit in " + where + " (" + limit +
                                                       ") is reached"};
    };
    if (command.queues_max && *command.queues_max >= 0 &&
        count >= static_cast<std::uint64_t>(*command.queues_max)) {
        return refusal("vhost '" + turn.settings().vhost + "'",
                       std::to_string(*command.queues_max));
    }
    const auto limit = turn.settings().node_limits.queues_max;
    if (limit && counts_of_other_vhosts(turn).queues + count >= *limit) {
        return refusal("cluster", std::to_string(*limit));
    }
    return std::nullopt;
}

}  // namespace

Result<void, Refusal> declare_exchange(Turn& turn, const DeclareExchange& command) {
    if (command.name.empty()) return default_exchange_refused();
    Exchange* const existing = turn.state().find_exchange(command.name);
    if (command.passive) {
        if (existing == nullptr) return no_exchange(turn, command.name);
        return {};
    }
    const std::string owner = turn.exchange_phrase(command.name);
    const auto type = parse_exchange_type(command.type);
    if (!type) {
        return refuse(RefusalKind::unknown_exchange_type,
                      "unknown exchange type '" + command.type + "'");
    }
    if (const Value* alternate = find(command.arguments, "alternate-exchange");
        alternate != nullptr && alternate->as_string() == nullptr) {
        return refuse(RefusalKind::precondition_failed,
                      "invalid type '" + std::string(type_name(alternate->type)) +
                          "' for arg 'alternate-exchange' in " + owner);
    }
    if (existing != nullptr) {
        if (auto refusal = compare_exchange(owner, existing->declaration, command)) {
            return Unexpected{std::move(*refusal)};
        }
        return {};
    }
    if (is_reserved(command.name) && !command.reserved_name_permitted) {
        return refuse(RefusalKind::access_refused,
                      "exchange name '" + command.name + "' contains reserved prefix 'amq.*'");
    }
    if (command.refusal_if_new) return Unexpected{*command.refusal_if_new};
    if (auto refusal = check_exchange_arguments(*type, command.arguments)) {
        return Unexpected{std::move(*refusal)};
    }
    if (auto refusal = exchange_limit_refusal(turn, command.name)) {
        return Unexpected{std::move(*refusal)};
    }
    turn.emit(ExchangeDeclared{{command.name, *type, command.durable, command.auto_delete,
                                command.internal, command.arguments}});
    return {};
}

Result<void, Refusal> delete_exchange(Turn& turn, const DeleteExchange& command) {
    if (command.name.empty()) return default_exchange_refused();
    if (is_reserved(command.name)) {
        return refuse(RefusalKind::access_refused,
                      "deletion of system " + turn.exchange_phrase(command.name) + " not allowed");
    }
    Exchange* const exchange = turn.state().find_exchange(command.name);
    if (exchange == nullptr) return {};
    if (command.if_unused && !exchange->outgoing.empty()) {
        return refuse(RefusalKind::precondition_failed,
                      turn.exchange_phrase(command.name) + " in use");
    }
    remove_exchange(turn, *exchange);
    return {};
}

Result<Queue*, Refusal> usable_queue(Turn& turn, ConnectionId connection, std::string_view name) {
    Queue* const queue = turn.state().find_queue(name);
    if (queue == nullptr) return no_queue(turn, name);
    if (queue->declaration.exclusive && queue->owner != connection) return locked(turn, name);
    return queue;
}

void restart_expiry(Turn& turn, Queue& queue) {
    queue.last_used = turn.now();
    if (!queue.settings.expires_ms || !queue.consumers.empty()) return;
    turn.state().schedule_expiry(queue);
}

namespace {

// Of a quorum queue with a single active consumer the others are not counted, as in RabbitMQ 4.3.
std::size_t consumers_told(const Queue& queue) {
    const std::size_t count = queue.consumers.all.size();
    const bool one_counts = queue.is_quorum() && queue.settings.single_active_consumer;
    return one_counts ? std::min<std::size_t>(count, 1) : count;
}

}  // namespace

Result<QueueAnswer, Refusal> declare_queue(Turn& turn, const DeclareQueue& command) {
    const ConnectionId connection = connection_of(turn, command.channel);
    // Somebody asks whether the consumer behind a reply-to name is still there (amqp091 14.3).
    if (command.name == "amq.rabbitmq.reply-to") return QueueAnswer{0, 1};
    if (command.name.starts_with("amq.rabbitmq.reply-to.")) {
        if (turn.attached().find_reply_channel(command.name) == nullptr) {
            return no_queue(turn, command.name);
        }
        return QueueAnswer{0, 1};
    }
    Queue* existing = turn.state().find_queue(command.name);
    if (existing == nullptr && command.passive) return no_queue(turn, command.name);
    if (existing != nullptr) {
        REVENANT_TRY(existing, usable_queue(turn, connection, command.name));
        if (!command.passive) {
            if (existing->declaration.exclusive != command.exclusive)
                return locked(turn, command.name);
            if (auto refusal =
                    compare_queue(turn.queue_phrase(command.name), existing->declaration, command,
                                  turn.settings().relaxed_checks_on_redeclaration)) {
                return Unexpected{std::move(*refusal)};
            }
        }
        turn.state().traffic().queues_declared += 1;
        // A question does not use a quorum queue, as in RabbitMQ 4.3.
        if (!command.passive || !existing->is_quorum()) restart_expiry(turn, *existing);
        return QueueAnswer{turn.ready_count(*existing), consumers_told(*existing)};
    }
    if (is_reserved(command.name) && !command.server_named) {
        return refuse(RefusalKind::access_refused,
                      "queue name '" + command.name + "' contains reserved prefix 'amq.*'");
    }
    const std::string owner = turn.queue_phrase(command.name);
    REVENANT_TRY(const QueueKind kind, queue_kind(command.arguments, owner));
    if (auto refusal = check_queue_arguments(kind, command.arguments, owner)) {
        return Unexpected{std::move(*refusal)};
    }
    if (command.refusal_if_new) return Unexpected{*command.refusal_if_new};
    if (auto refusal = check_queue_properties(
            kind, {command.server_named, command.durable, command.exclusive, command.auto_delete},
            owner)) {
        return Unexpected{std::move(*refusal)};
    }
    if (!turn.settings().permits_transient_queues && !command.durable && !command.exclusive) {
        return refuse(RefusalKind::feature_denied, denied_text("transient_nonexcl_queues"));
    }
    if (auto refusal = queue_limit_refusal(turn, command)) return Unexpected{std::move(*refusal)};
    const QueueId id = turn.state().next_queue_id();
    turn.emit(QueueDeclared{{id, command.name, command.durable, command.exclusive,
                             command.auto_delete, command.arguments, kind},
                            command.exclusive ? connection : ConnectionId{}});
    if (command.exclusive)
        turn.attached().find_connection(connection)->exclusive_queues.push_back(id);
    turn.state().traffic().queues_declared += 1;
    turn.state().traffic().queues_created += 1;
    restart_expiry(turn, *turn.state().find_queue(id));
    return QueueAnswer{.created = true};
}

void free_retired_bindings(Turn& turn) {
    while (turn.state().has_retired_bindings()) {
        if (turn.portion().is_used_up()) {
            PROBE("topology.bindings_in_portions");
            return;
        }
        turn.state().free_retired_binding();
        turn.portion().spend(1);
    }
}

void remove_queue(Turn& turn, Queue& queue) {
    cancel_consumers_of(turn, queue);
    for (const ChannelId sender : turn.attached().take_channels_targeting(queue.id())) {
        turn.worklist().after_answer.push_back(TargetGone{sender});
    }
    if (queue.awaits_work()) queue.work_hook.unlink();
    if (Connection* const owner = turn.attached().find_connection(queue.owner)) {
        // Mostly the last one: a connection that closes begins there.
        auto& queues = owner->exclusive_queues;
        const auto listed = std::find(queues.rbegin(), queues.rend(), queue.id());
        if (listed != queues.rend()) queues.erase(std::next(listed).base());
    }
    const std::vector<std::string> sources = auto_delete_sources(queue.bindings);
    turn.portion().spend(queue.bindings.size());
    turn.state().traffic().queues_deleted += 1;
    turn.emit(QueueDeleted{queue.id()});
    for (const std::string& source : sources) remove_if_unused(turn, source);
    free_retired_bindings(turn);
}

Result<CountAnswer, Refusal> delete_queue(Turn& turn, const DeleteQueue& command) {
    if (turn.state().find_queue(command.name) == nullptr) return CountAnswer{0};
    REVENANT_TRY(Queue* const queue,
                 usable_queue(turn, connection_of(turn, command.channel), command.name));
    // amqp091 8.12
    if (queue->is_quorum() && (command.if_unused || command.if_empty)) {
        return refuse(RefusalKind::not_implemented,
                      "cannot delete " + turn.queue_phrase(command.name) +
                          ". queue.delete operations with " +
                          (command.if_unused ? "if-unused" : "if-empty") +
                          " flag set are not supported by quorum queues");
    }
    if (command.if_unused && !queue->consumers.empty()) {
        return refuse(RefusalKind::precondition_failed,
                      turn.queue_phrase(command.name) + " in use");
    }
    // Parked messages are not ready, but not gone either.
    if (command.if_empty && turn.ready_count(*queue) + queue->parked().count > 0) {
        return refuse(RefusalKind::precondition_failed,
                      turn.queue_phrase(command.name) + " not empty");
    }
    const CountAnswer answer{turn.ready_count(*queue)};
    remove_queue(turn, *queue);
    return answer;
}

Result<CountAnswer, Refusal> purge_queue(Turn& turn, const PurgeQueue& command) {
    REVENANT_TRY(Queue* const queue,
                 usable_queue(turn, connection_of(turn, command.channel), command.name));
    // What was delayed or waited in the outbox goes as well (DL-15).
    const CountAnswer answer{queue->message_count() - queue->unacked_count()};
    Purged purged{queue->id(), {}};
    queue->for_each_level([&](std::size_t level, const Chain& chain) {
        // What is out of memory is ready.
        chain.for_each_in_memory([&](std::uint64_t sequence, const Entry& entry) {
            if (entry.state != EntryState::unacked) return;
            purged.unsettled.push_back(Position::of(level, sequence));
        });
    });
    turn.portion().spend(queue->message_count() / block_entries);
    turn.emit(purged);
    update_refusing(*queue);
    return answer;
}

namespace {

template <typename Command>  // Bind or Unbind
Result<void, Refusal> check_ends(Turn& turn, const Command& command) {
    const bool to_queue = command.destination_kind == DestinationKind::queue;
    if (command.source.empty() || (!to_queue && command.destination.empty())) {
        return default_exchange_refused();
    }
    if (to_queue && command.destination.starts_with("amq.rabbitmq.reply-to")) {
        return refuse(RefusalKind::access_refused,
                      "cannot bind or unbind to a volatile (direct reply-to) queue");
    }
    if (to_queue && turn.state().find_queue(command.destination) != nullptr) {
        auto usable = usable_queue(turn, connection_of(turn, command.channel), command.destination);
        if (!usable) return Unexpected{std::move(usable).error()};
    }
    const Exchange* const source = turn.state().find_exchange(command.source);
    if (source != nullptr && source->declaration.type == ExchangeType::topic &&
        command.refusal_if_topic) {
        return Unexpected{*command.refusal_if_topic};
    }
    return {};
}

}  // namespace

Result<void, Refusal> bind(Turn& turn, const Bind& command) {
    REVENANT_TRY_VOID(check_ends(turn, command));
    const bool to_queue = command.destination_kind == DestinationKind::queue;
    Exchange* const source = turn.state().find_exchange(command.source);
    if (to_queue && turn.state().find_queue(command.destination) == nullptr) {
        return no_queue(turn, command.destination);
    }
    if (source == nullptr) return no_exchange(turn, command.source);
    if (!to_queue && turn.state().find_exchange(command.destination) == nullptr) {
        return no_exchange(turn, command.destination);
    }
    if (auto refusal = check_binding(*source, command.routing_key, command.arguments)) {
        return Unexpected{std::move(*refusal)};
    }
    const Destination to =
        turn.state().find_destination(command.destination_kind, command.destination);
    if (auto refusal = check_destination(*source, to)) return Unexpected{std::move(*refusal)};
    if (source->find_binding(to, command.routing_key, command.arguments) != nullptr) return {};
    if (auto refusal = check_new_binding(*source, command.routing_key)) {
        return Unexpected{std::move(*refusal)};
    }
    turn.emit(Bound{command.source, command.destination_kind, command.destination,
                    command.routing_key, command.arguments});
    return {};
}

Result<void, Refusal> unbind(Turn& turn, const Unbind& command) {
    REVENANT_TRY_VOID(check_ends(turn, command));
    const Exchange* const source = turn.state().find_exchange(command.source);
    if (source == nullptr) return {};
    const Destination to =
        turn.state().find_destination(command.destination_kind, command.destination);
    const Binding* const found = source->find_binding(to, command.routing_key, command.arguments);
    if (found != nullptr) remove_binding(turn, *found);
    return {};
}

}  // namespace revenant::engine
