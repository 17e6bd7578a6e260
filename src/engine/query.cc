#include "engine/query.h"

#include "engine/add_fields.h"
#include "engine/consumer_timeout.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace revenant::engine {
namespace {

QueueView view(const Engine& engine, Queue& queue) {
    const auto& consumers = queue.consumers.all;
    QueueView shown;
    shown.id = queue.id();
    shown.passage = queue.passage;
    shown.name = queue.name();
    shown.durable = queue.declaration.durable;
    shown.exclusive = queue.declaration.exclusive;
    shown.auto_delete = queue.declaration.auto_delete;
    shown.arguments = queue.declaration.arguments;
    shown.kind = queue.declaration.kind;
    shown.settings = queue.settings;
    shown.policy = queue.policy;
    shown.delayed = queue.delayed().count;
    shown.delayed_bytes = queue.delayed().bytes;
    shown.dead_letters_waiting = queue.outbox().count;
    shown.dead_letter_bytes_waiting = queue.outbox().bytes;
    if (queue.deaths) shown.deaths = *queue.deaths;
    shown.owner = queue.owner;
    shown.last_used = queue.last_used;
    shown.ready = engine.ready_count(queue);
    shown.unacked = queue.unacked_count();
    shown.ready_bytes = queue.ready_bytes();
    shown.unacked_bytes = queue.unacked_bytes();
    shown.lasting = queue.lasting();
    shown.paged_out = queue.paged_out();
    shown.memory_bytes = queue.memory_bytes();
    shown.head_timestamp = queue.head_timestamp();
    shown.consumers = consumers.size();
    if (!consumers.empty() && consumers.front()->exclusive) {
        shown.exclusive_consumer_tag = consumers.front()->tag;
    }
    if (!consumers.empty() && queue.settings.single_active_consumer) {
        shown.single_active_consumer_tag = consumers.front()->tag;
    }
    return shown;
}

ExchangeView view(const Exchange& exchange) {
    const ExchangeDeclaration& declaration = exchange.declaration;
    return {declaration.name,      std::string(to_string(declaration.type)),
            declaration.durable,   declaration.auto_delete,
            declaration.internal,  declaration.arguments,
            exchange.policy,       exchange.published_in,
            exchange.published_out};
}

BindingView view(const Binding& binding) {
    const bool to_queue = binding.destination.queue != nullptr;
    return {binding.source->name(), to_queue ? DestinationKind::queue : DestinationKind::exchange,
            to_queue ? binding.destination.queue->name() : binding.destination.exchange->name(),
            binding.routing_key, binding.arguments};
}

BindingView implicit_binding(const Queue& queue) {
    return {"", DestinationKind::queue, queue.name(), queue.name(), {}};
}

void sort(std::vector<BindingView>& bindings) {
    const auto key = [](const BindingView& binding) {
        return std::tie(binding.source, binding.destination_kind, binding.destination,
                        binding.routing_key);
    };
    std::stable_sort(bindings.begin(), bindings.end(),
                     [&](const auto& a, const auto& b) { return key(a) < key(b); });
}

void append_outgoing(const Exchange& exchange, std::vector<BindingView>& bindings) {
    // By identity first: the order of the map must not show where only arguments differ.
    std::vector<std::pair<std::string_view, const Binding*>> sorted;
    for (const auto& [identity, binding] : exchange.outgoing) {
        sorted.emplace_back(identity, binding.get());
    }
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [identity, binding] : sorted) bindings.push_back(view(*binding));
}

void append_consumers(const EngineSettings& settings, const Queue& queue,
                      std::vector<ConsumerView>& consumers) {
    const bool single = queue.settings.single_active_consumer;
    for (const Consumer* consumer : queue.consumers.all) {
        ConsumerView shown;
        shown.queue = queue.name();
        shown.channel = consumer->channel->id;
        shown.connection = consumer->channel->connection->id;
        shown.user = consumer->channel->connection->user;
        shown.tag = consumer->tag;
        shown.no_ack = consumer->no_ack;
        shown.exclusive = consumer->exclusive;
        shown.active = !single || consumer == queue.consumers.all.front();
        shown.single_active = single;
        shown.prefetch = consumer->prefetch;
        shown.arguments = consumer->arguments;
        if (const auto timeout = timeout_of(settings, queue, consumer)) {
            shown.timeout_ms = timeout->us / 1000;
        }
        consumers.push_back(std::move(shown));
    }
}

}  // namespace

Totals& Totals::operator+=(const Totals& other) {
    using T = Totals;
    add_fields(*this, other, &T::queues, &T::exchanges, &T::connections, &T::channels, &T::prefetch,
               &T::global_prefetch, &T::uncommitted_messages, &T::uncommitted_settlements,
               &T::ready, &T::unacked, &T::ready_bytes, &T::unacked_bytes, &T::delayed,
               &T::delayed_bytes, &T::dead_letters_waiting, &T::dead_letter_bytes_waiting,
               &T::memory_bytes);
    lasting.add(other.lasting);
    paged_out.add(other.paged_out);
    accounts.entered += other.accounts.entered;
    for (std::size_t i = 0; i < ending_count; ++i) accounts.ended[i] += other.accounts.ended[i];
    for (std::size_t i = 0; i < client_protocol_count; ++i) {
        add_fields(clients[i], other.clients[i], &ClientCounts::publishers,
                   &ClientCounts::consumers);
    }
    traffic += other.traffic;
    return *this;
}

std::uint64_t Totals::consumers() const {
    std::uint64_t total = 0;
    for (const ClientCounts& one : clients) total += one.consumers;
    return total;
}

std::vector<QueueView> list_queues(Engine& engine) {
    std::vector<QueueView> views;
    for (Queue* queue : engine.state().queues_by_name()) views.push_back(view(engine, *queue));
    return views;
}

std::optional<QueueView> find_queue(Engine& engine, std::string_view name) {
    Queue* const queue = engine.state().find_queue(name);
    return queue == nullptr ? std::nullopt : std::optional(view(engine, *queue));
}

std::vector<ExchangeView> list_exchanges(Engine& engine) {
    std::vector<ExchangeView> views;
    for (const Exchange* exchange : engine.state().exchanges_by_name()) {
        views.push_back(view(*exchange));
    }
    return views;
}

std::optional<ExchangeView> find_exchange(Engine& engine, std::string_view name) {
    const Exchange* const exchange = engine.state().find_exchange(name);
    return exchange == nullptr ? std::nullopt : std::optional(view(*exchange));
}

std::vector<BindingView> list_bindings(Engine& engine) {
    std::vector<BindingView> bindings;
    for (const Queue* queue : engine.state().queues_by_name()) {
        bindings.push_back(implicit_binding(*queue));
    }
    for (const Exchange* exchange : engine.state().exchanges_by_name()) {
        append_outgoing(*exchange, bindings);
    }
    sort(bindings);
    return bindings;
}

std::vector<BindingView> list_bindings_of_queue(Engine& engine, std::string_view name) {
    std::vector<BindingView> bindings;
    const Queue* const queue = engine.state().find_queue(name);
    if (queue == nullptr) return bindings;
    bindings.push_back(implicit_binding(*queue));
    for (const Binding* binding : queue->bindings) bindings.push_back(view(*binding));
    sort(bindings);
    return bindings;
}

std::vector<BindingView> list_bindings_from(Engine& engine, std::string_view name) {
    std::vector<BindingView> bindings;
    if (name.empty()) {
        for (const Queue* queue : engine.state().queues_by_name()) {
            bindings.push_back(implicit_binding(*queue));
        }
    } else if (const Exchange* const exchange = engine.state().find_exchange(name)) {
        append_outgoing(*exchange, bindings);
    }
    sort(bindings);
    return bindings;
}

std::vector<BindingView> list_bindings_to(Engine& engine, std::string_view name) {
    std::vector<BindingView> bindings;
    const Exchange* const exchange = engine.state().find_exchange(name);
    if (exchange == nullptr) return bindings;
    for (const Binding* binding : exchange->incoming) bindings.push_back(view(*binding));
    sort(bindings);
    return bindings;
}

std::vector<ConsumerView> list_consumers(Engine& engine) {
    std::vector<ConsumerView> consumers;
    for (const Queue* queue : engine.state().queues_by_name()) {
        append_consumers(engine.settings(), *queue, consumers);
    }
    return consumers;
}

std::vector<ConsumerView> list_consumers_of_queue(Engine& engine, std::string_view name) {
    std::vector<ConsumerView> consumers;
    if (const Queue* const queue = engine.state().find_queue(name)) {
        append_consumers(engine.settings(), *queue, consumers);
    }
    return consumers;
}

std::vector<ChannelView> list_channels(Engine& engine) {
    std::vector<ChannelView> channels;
    engine.attached().for_each_channel([&](const Channel& channel) {
        ChannelView shown;
        shown.id = channel.id;
        shown.connection = channel.connection->id;
        shown.user = channel.connection->user;
        shown.consumers = channel.consumers.size();
        shown.unacked = channel.unsettled.count();
        shown.prefetch = channel.prefetch;
        shown.global_prefetch = channel.global_prefetch;
        shown.passage = channel.passage;
        if (channel.transaction != nullptr) {
            shown.transactional = true;
            shown.uncommitted_messages = channel.transaction->publishes.size();
            shown.uncommitted_settlements = channel.transaction->settlements.size();
        }
        channels.push_back(std::move(shown));
    });
    std::sort(channels.begin(), channels.end(),
              [](const auto& a, const auto& b) { return a.id < b.id; });
    return channels;
}

std::vector<Policy> list_policies(Engine& engine, PolicyScope scope) {
    std::vector<Policy> policies;
    for (const Policy* policy : engine.state().policies().list(scope)) policies.push_back(*policy);
    return policies;
}

std::optional<Policy> find_policy(Engine& engine, PolicyScope scope, std::string_view name) {
    const Policy* const found = engine.state().policies().find(scope, name);
    return found == nullptr ? std::nullopt : std::optional{*found};
}

Totals sum_up(Engine& engine) {
    Totals totals;
    totals.exchanges = engine.state().exchange_count();
    totals.connections = engine.attached().connection_count();
    totals.channels = engine.attached().channel_count();
    engine.state().for_each_queue([&](const Queue& queue) {
        totals.queues += 1;
        totals.ready += engine.ready_count(queue);
        totals.unacked += queue.unacked_count();
        totals.ready_bytes += queue.ready_bytes();
        totals.unacked_bytes += queue.unacked_bytes();
        totals.delayed += queue.delayed().count;
        totals.delayed_bytes += queue.delayed().bytes;
        totals.dead_letters_waiting += queue.outbox().count;
        totals.dead_letter_bytes_waiting += queue.outbox().bytes;
        totals.lasting.add(queue.lasting());
        totals.paged_out.add(queue.paged_out());
        totals.memory_bytes += queue.memory_bytes();
    });
    engine.attached().for_each_channel([&](const Channel& channel) {
        ClientCounts& clients = totals.clients_of(channel.protocol);
        const bool publishes = channel.use == ChannelUse::publishing;
        if (publishes || channel.passage.published > 0) clients.publishers += 1;
        clients.consumers += channel.consumers.size();
        totals.prefetch += channel.prefetch;
        totals.global_prefetch += channel.global_prefetch;
        if (channel.transaction == nullptr) return;
        totals.uncommitted_messages += channel.transaction->publishes.size();
        totals.uncommitted_settlements += channel.transaction->settlements.size();
    });
    totals.accounts = engine.state().accounts();
    totals.traffic = engine.state().traffic();
    return totals;
}

ObjectCounters count_objects(Engine& engine) {
    ObjectCounters counters;
    engine.state().for_each_queue([&](const Queue& queue) {
        auto& counted = counters.queues.emplace_back();
        counted.id = queue.id();
        counted.passage = queue.passage;
        counted.messages = queue.message_count();
        counted.ready = queue.ready_count();
        counted.unacked = queue.unacked_count();
        if (!queue.deaths) return;
        for (std::size_t i = 0; i < death_reason_count; ++i) {
            counted.deaths[i] = queue.deaths->of(static_cast<DeathReason>(i));
        }
    });
    for (const Exchange* exchange : engine.state().exchanges_by_name()) {
        if (exchange->published_in == 0) continue;
        counters.exchanges.push_back(
            {exchange->name(), exchange->published_in, exchange->published_out});
    }
    engine.attached().for_each_channel([&](const Channel& channel) {
        counters.channels.push_back({channel.id, channel.passage});
    });
    return counters;
}

}  // namespace revenant::engine
