#include "engine/view/query.h"

#include "base/check.h"
#include "engine/rules/consumer_timeout.h"
#include "engine/words/add_fields.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace revenant::engine {
namespace {

QueueView view(const Engine& engine, Queue& queue) {
    const auto& consumers = queue.consumers.all;
    QueueView shown;
    shown.id = queue.id();
    shown.stats = queue.stats;
    shown.published_from = queue.published_from.all(queue.stats.published);
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
    shown.parked = queue.parked();
    if (queue.deaths) shown.deaths = *queue.deaths;
    shown.owner = queue.owner;
    shown.last_used = queue.last_used;
    shown.ready = engine.ready_count(queue);
    if (shown.kind == QueueKind::quorum && queue.has_level(requeued_level)) {
        shown.ready_returned = queue.level(requeued_level).ready_count();
    }
    shown.unacked = queue.unacked_count();
    shown.ready_bytes = queue.ready_bytes();
    shown.unacked_bytes = queue.unacked_bytes();
    shown.persistent_messages = queue.persistent_messages();
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
    return {declaration.name,
            std::string(to_string(declaration.type)),
            declaration.durable,
            declaration.auto_delete,
            declaration.internal,
            declaration.arguments,
            exchange.policy,
            exchange.published_in,
            exchange.published_out,
            exchange.alternate,
            exchange.confirmed,
            exchange.unroutable_returned,
            exchange.unroutable_dropped};
}

BindingView view(const Binding& binding) {
    const bool to_queue = binding.destination.queue != nullptr;
    return {binding.source->name(), to_queue ? DestinationKind::queue : DestinationKind::exchange,
            to_queue ? binding.destination.queue->name() : binding.destination.exchange->name(),
            binding.routing_key, binding.arguments};
}

ConsumerView view(const EngineSettings& settings, const Consumer& consumer) {
    const Queue& queue = *consumer.queue;
    const bool single = queue.settings.single_active_consumer;
    ConsumerView shown;
    shown.queue = queue.name();
    shown.channel = consumer.channel->id;
    shown.connection = consumer.channel->connection->id;
    shown.user = consumer.channel->connection->user;
    shown.tag = consumer.tag;
    shown.no_ack = consumer.no_ack;
    shown.exclusive = consumer.exclusive;
    shown.active = !single || &consumer == queue.consumers.all.front();
    shown.single_active = single;
    shown.prefetch = consumer.prefetch;
    shown.arguments = consumer.arguments;
    if (const auto timeout = timeout_of(settings, queue, &consumer)) {
        shown.timeout_ms = timeout->us / 1000;
    }
    return shown;
}

ChannelView view(const Channel& channel) {
    ChannelView shown;
    shown.id = channel.id;
    shown.connection = channel.connection->id;
    shown.user = channel.connection->user;
    shown.consumers = channel.consumers.size();
    shown.unacked = channel.unsettled.count();
    shown.prefetch = channel.prefetch;
    shown.global_prefetch = channel.global_prefetch;
    shown.stats = channel.stats;
    if (channel.transaction != nullptr) {
        shown.transactional = true;
        shown.uncommitted_messages = channel.transaction->publishes.size();
        shown.uncommitted_settlements = channel.transaction->settlements.size();
    }
    return shown;
}

// The next part of the chosen members.
template <typename Item, typename Member, typename Chosen, typename View>
ListPart<Item> take_part(const Roster<Member>& roster, std::uint64_t after, Chosen chosen,
                         View view_of) {
    ListPart<Item> part;
    const auto seen = roster.walk(after, part_steps_max, [&](Member& member) {
        if (chosen(member)) part.items.push_back(view_of(member));
        return part.items.size() < part_items_max;
    });
    part.last = seen.last;
    part.newest = roster.newest();
    part.all = seen.all;
    return part;
}

constexpr auto every_one = [](const auto&) { return true; };

// In the order of creation: the order of a map must not be visible.
template <typename Member>
std::vector<const Member*> in_order(std::vector<const Member*> members) {
    std::sort(members.begin(), members.end(), [](const Member* a, const Member* b) {
        return a->roster_place.number() < b->roster_place.number();
    });
    return members;
}

bool ends_at(const Binding& binding, const BindingFilter& filter) {
    const Destination& to = binding.destination;
    if (filter.destination_kind == DestinationKind::queue) {
        return to.queue != nullptr && to.queue->name() == *filter.destination;
    }
    return to.exchange != nullptr && to.exchange->name() == *filter.destination;
}

bool fits(const Binding& binding, const BindingFilter& filter) {
    if (filter.source && binding.source->name() != *filter.source) return false;
    return !filter.destination || ends_at(binding, filter);
}

// The filtered bindings, if one of the ends has few enough to visit all of them.
std::optional<ListPart<BindingView>> few_bindings(State& state, const BindingFilter& filter) {
    std::vector<const Binding*> few;
    const auto chosen = [&] {
        std::erase_if(few, [&](const Binding* binding) { return !fits(*binding, filter); });
        ListPart<BindingView> part;
        for (const Binding* const binding : in_order(few)) part.items.push_back(view(*binding));
        return part;
    };
    if (filter.source) {
        const Exchange* const source = state.find_exchange(*filter.source);
        if (source == nullptr) return chosen();
        if (source->outgoing_count <= part_items_max) {
            source->for_each_outgoing([&](const Binding& binding) { few.push_back(&binding); });
            return chosen();
        }
    }
    if (!filter.destination) return std::nullopt;
    const BindingGroups* incoming = nullptr;
    if (filter.destination_kind == DestinationKind::queue) {
        const Queue* const queue = state.find_queue(*filter.destination);
        if (queue != nullptr) incoming = &queue->bindings;
    } else if (const Exchange* const exchange = state.find_exchange(*filter.destination)) {
        incoming = &exchange->incoming;
    }
    if (incoming == nullptr) return chosen();
    if (binding_count(*incoming) > part_items_max) return std::nullopt;
    for_each_binding(*incoming, [&](const Binding& binding) { few.push_back(&binding); });
    return chosen();
}

std::optional<ListPart<ConsumerView>> few_consumers(Engine& engine, const ConsumerFilter& filter) {
    ListPart<ConsumerView> part;
    if (filter.queue) {
        const Queue* const queue = engine.state().find_queue(*filter.queue);
        if (queue == nullptr) return part;
        if (queue->consumers.all.size() > part_items_max) return std::nullopt;
        for (const Consumer* const consumer : queue->consumers.all) {
            if (filter.channel && consumer->channel->id != *filter.channel) continue;
            part.items.push_back(view(engine.settings(), *consumer));
        }
        return part;
    }
    if (!filter.channel) return std::nullopt;
    const Channel* const channel = engine.attached().find_channel(*filter.channel);
    if (channel == nullptr) return part;
    if (channel->consumers.size() > part_items_max) return std::nullopt;
    std::vector<const Consumer*> few;
    for (const auto& [number, consumer] : channel->consumers) few.push_back(consumer.get());
    for (const Consumer* const consumer : in_order(few)) {
        part.items.push_back(view(engine.settings(), *consumer));
    }
    return part;
}

bool is_chosen(const Consumer& consumer, const ConsumerFilter& filter) {
    if (consumer.cancelled || consumer.queue->deleted) return false;
    if (filter.queue && consumer.queue->name() != *filter.queue) return false;
    return !filter.channel || consumer.channel->id == *filter.channel;
}

}  // namespace

Totals& Totals::operator+=(const Totals& other) {
    using T = Totals;
    add_fields(*this, other, &T::queues, &T::exchanges, &T::connections, &T::channels, &T::prefetch,
               &T::global_prefetch, &T::uncommitted_messages, &T::uncommitted_settlements,
               &T::ready, &T::unacked, &T::ready_bytes, &T::unacked_bytes, &T::delayed,
               &T::delayed_bytes, &T::dead_letters_waiting, &T::dead_letter_bytes_waiting,
               &T::memory_bytes);
    persistent_messages.add(other.persistent_messages);
    paged_out.add(other.paged_out);
    parked.add(other.parked);
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

// ------------------------------------------------------------------------- lists

ListPart<QueueName> next_queue_names(Engine& engine, std::uint64_t after) {
    ListPart<QueueName> part;
    const Roster<Queue>& queues = engine.state().queues();
    const auto seen = queues.walk(after, part_steps_max, [&](const Queue& queue) {
        part.items.push_back({queue.id(), queue.name()});
        return true;
    });
    part.last = seen.last;
    part.newest = queues.newest();
    part.all = seen.all;
    return part;
}

ListPart<QueueView> next_queues(Engine& engine, std::uint64_t after) {
    return take_part<QueueView>(engine.state().queues(), after, every_one,
                                [&](Queue& queue) { return view(engine, queue); });
}

ListPart<ExchangeView> next_exchanges(Engine& engine, std::uint64_t after) {
    return take_part<ExchangeView>(engine.state().exchanges(), after, every_one,
                                   [](const Exchange& exchange) { return view(exchange); });
}

ListPart<BindingView> next_bindings(Engine& engine, std::uint64_t after,
                                    const BindingFilter& filter) {
    if (after == 0) {
        if (auto few = few_bindings(engine.state(), filter)) return std::move(*few);
    }
    return take_part<BindingView>(
        engine.state().bindings(), after,
        [&](const Binding& binding) { return binding.is_live() && fits(binding, filter); },
        [](const Binding& binding) { return view(binding); });
}

ListPart<ConsumerView> next_consumers(Engine& engine, std::uint64_t after,
                                      const ConsumerFilter& filter) {
    if (after == 0) {
        if (auto few = few_consumers(engine, filter)) return std::move(*few);
    }
    return take_part<ConsumerView>(
        engine.attached().consumers(), after,
        [&](const Consumer& consumer) { return is_chosen(consumer, filter); },
        [&](const Consumer& consumer) { return view(engine.settings(), consumer); });
}

ListPart<ChannelView> next_channels(Engine& engine, std::uint64_t after) {
    return take_part<ChannelView>(engine.attached().channels(), after, every_one,
                                  [](const Channel& channel) { return view(channel); });
}

BindingView implicit_binding(const std::string& queue) {
    return {"", DestinationKind::queue, queue, queue, {}};
}

void sort(std::vector<BindingView>& bindings) {
    const auto key = [](const BindingView& binding) {
        return std::tie(binding.source, binding.destination_kind, binding.destination,
                        binding.routing_key);
    };
    std::stable_sort(bindings.begin(), bindings.end(),
                     [&](const auto& a, const auto& b) { return key(a) < key(b); });
}

std::optional<QueueView> find_queue(Engine& engine, std::string_view name) {
    Queue* const queue = engine.state().find_queue(name);
    return queue == nullptr ? std::nullopt : std::optional(view(engine, *queue));
}

std::vector<QueueView> find_queues(Engine& engine, std::span<const QueueId> ids) {
    CHECK(ids.size() <= part_items_max);
    std::vector<QueueView> found;
    for (const QueueId id : ids) {
        if (Queue* const queue = engine.state().find_queue(id))
            found.push_back(view(engine, *queue));
    }
    return found;
}

std::optional<ExchangeView> find_exchange(Engine& engine, std::string_view name) {
    const Exchange* const exchange = engine.state().find_exchange(name);
    return exchange == nullptr ? std::nullopt : std::optional(view(*exchange));
}

std::optional<ChannelView> find_channel(Engine& engine, ChannelId id) {
    const Channel* const channel = engine.attached().find_channel(id);
    return channel == nullptr ? std::nullopt : std::optional(view(*channel));
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

std::optional<std::vector<ParkedView>> list_parked(Engine& engine, std::string_view queue) {
    Queue* const found = engine.state().find_queue(queue);
    if (found == nullptr) return std::nullopt;
    std::vector<ParkedView> views;
    const ParkedMessages* const parked = found->parked_messages();
    if (parked == nullptr) return views;
    const auto show = [&](const std::map<Position, ParkedMessages::Item>& items, bool is_page) {
        for (const auto& [position, item] : items) {
            if (views.size() == parked_shown_max) return;
            views.push_back({position.level(), position.sequence(), item.messages, item.bytes,
                             is_page, item.why});
        }
    };
    show(parked->entries, false);
    show(parked->pages, true);
    return views;
}

// ------------------------------------------------------------------------- totals

namespace {

void add(const Engine& engine, const Queue& queue, Totals& totals) {
    totals.queues += 1;
    totals.ready += engine.ready_count(queue);
    totals.unacked += queue.unacked_count();
    totals.ready_bytes += queue.ready_bytes();
    totals.unacked_bytes += queue.unacked_bytes();
    totals.delayed += queue.delayed().count;
    totals.delayed_bytes += queue.delayed().bytes;
    totals.dead_letters_waiting += queue.outbox().count;
    totals.dead_letter_bytes_waiting += queue.outbox().bytes;
    totals.persistent_messages.add(queue.persistent_messages());
    totals.paged_out.add(queue.paged_out());
    totals.parked.add(queue.parked());
    totals.memory_bytes += queue.memory_bytes();
}

void add(const Channel& channel, Totals& totals) {
    ClientCounts& clients = totals.clients_of(channel.protocol);
    const bool publishes = channel.use == ChannelUse::publishing;
    if (publishes || channel.stats.published > 0) clients.publishers += 1;
    clients.consumers += channel.consumers.size();
    totals.prefetch += channel.prefetch;
    totals.global_prefetch += channel.global_prefetch;
    if (channel.transaction == nullptr) return;
    totals.uncommitted_messages += channel.transaction->publishes.size();
    totals.uncommitted_settlements += channel.transaction->settlements.size();
}

// Visits members until `steps` is used up; true if there are no more.
template <typename Member, typename Visit>
bool visit_some(const Roster<Member>& roster, std::uint64_t& after, std::size_t& steps,
                Visit visit) {
    const auto seen = roster.walk(after, steps, [&](const Member& member) {
        visit(member);
        return --steps > 0;
    });
    after = seen.last;
    if (!seen.all) steps = 0;
    return seen.all;
}

}  // namespace

void sum_some(Engine& engine, TotalsWalk& walk) {
    std::size_t steps = part_steps_max;
    Totals& totals = walk.totals;
    if (!walk.queues_done) {
        walk.queues_done = visit_some(engine.state().queues(), walk.queue, steps,
                                      [&](const Queue& queue) { add(engine, queue, totals); });
    }
    if (steps == 0) return;
    walk.done = visit_some(engine.attached().channels(), walk.channel, steps,
                           [&](const Channel& channel) { add(channel, totals); });
    if (!walk.done) return;
    totals.exchanges = engine.state().exchange_count();
    totals.connections = engine.attached().connection_count();
    totals.channels = engine.attached().channel_count();
    totals.accounts = engine.state().accounts();
    totals.traffic = engine.state().traffic();
}

void ObjectCounters::append(ObjectCounters more) {
    const auto move = [](auto& from, auto& to) {
        to.insert(to.end(), std::make_move_iterator(from.begin()),
                  std::make_move_iterator(from.end()));
    };
    move(more.queues, queues);
    move(more.exchanges, exchanges);
    move(more.channels, channels);
}

ObjectCounters count_some(Engine& engine, CountersWalk& walk) {
    std::size_t steps = part_steps_max;
    ObjectCounters counters;
    if (!walk.queues_done) {
        walk.queues_done =
            visit_some(engine.state().queues(), walk.queue, steps, [&](const Queue& queue) {
                auto& counted = counters.queues.emplace_back();
                counted.id = queue.id();
                counted.stats = queue.stats;
                counted.messages = queue.message_count();
                counted.ready = queue.ready_count();
                counted.unacked = queue.unacked_count();
                if (!queue.deaths) return;
                for (std::size_t i = 0; i < death_reason_count; ++i) {
                    counted.deaths[i] = queue.deaths->of(static_cast<DeathReason>(i));
                }
            });
    }
    if (steps == 0) return counters;
    if (!walk.exchanges_done) {
        walk.exchanges_done = visit_some(
            engine.state().exchanges(), walk.exchange, steps, [&](const Exchange& exchange) {
                if (exchange.published_in == 0) return;
                counters.exchanges.push_back(
                    {exchange.name(), exchange.published_in, exchange.published_out});
            });
    }
    if (steps == 0) return counters;
    walk.done =
        visit_some(engine.attached().channels(), walk.channel, steps, [&](const Channel& channel) {
            counters.channels.push_back({channel.id, channel.stats});
        });
    return counters;
}

}  // namespace revenant::engine
