#include "http/api/object_lists.h"

#include <algorithm>
#include <utility>

namespace revenant::http {
namespace {

using runtime::Broker;

template <typename Item, typename Key>
std::vector<Item> sorted(std::vector<Item> items, Key Item::*key) {
    std::stable_sort(items.begin(), items.end(),
                     [&](const Item& a, const Item& b) { return a.*key < b.*key; });
    return items;
}

// The implicit bindings that pass the filter.
std::vector<engine::BindingView> implicit_bindings(Broker& broker, const VhostRef& vhost,
                                                   const engine::BindingFilter& filter) {
    std::vector<engine::BindingView> bindings;
    if (filter.source && !filter.source->empty()) return bindings;
    if (!filter.destination) {
        for (const auto& queue : queue_names_in(broker, vhost)) {
            bindings.push_back(engine::implicit_binding(queue.name));
        }
        return bindings;
    }
    if (filter.destination_kind != engine::DestinationKind::queue) return bindings;
    const bool exists = broker.ask(vhost, [&](engine::Engine& engine) {
        return engine::find_queue(engine, *filter.destination).has_value();
    });
    if (exists) bindings.push_back(engine::implicit_binding(*filter.destination));
    return bindings;
}

std::vector<engine::BindingView> explicit_bindings(Broker& broker, const VhostRef& vhost,
                                                   const engine::BindingFilter& filter) {
    return walk(broker, vhost, [&](engine::Engine& engine, std::uint64_t after) {
        return engine::next_bindings(engine, after, filter);
    });
}

}  // namespace

std::vector<engine::QueueName> queue_names_in(Broker& broker, const VhostRef& vhost) {
    return sorted(walk(broker, vhost, engine::next_queue_names), &engine::QueueName::name);
}

std::vector<engine::QueueView> queues_in(Broker& broker, const VhostRef& vhost) {
    return sorted(walk(broker, vhost, engine::next_queues), &engine::QueueView::name);
}

std::vector<engine::ExchangeView> exchanges_in(Broker& broker, const VhostRef& vhost) {
    return sorted(walk(broker, vhost, engine::next_exchanges), &engine::ExchangeView::name);
}

std::vector<engine::ConsumerView> consumers_in(Broker& broker, const VhostRef& vhost,
                                               const engine::ConsumerFilter& filter) {
    return sorted(walk(broker, vhost,
                       [&](engine::Engine& engine, std::uint64_t after) {
                           return engine::next_consumers(engine, after, filter);
                       }),
                  &engine::ConsumerView::queue);
}

std::vector<engine::ChannelView> channels_in(Broker& broker, const VhostRef& vhost) {
    const auto next = [&](engine::Engine& engine, std::uint64_t after) {
        auto part = engine::next_channels(engine, after);
        for (engine::ChannelView& channel : part.items) {
            channel.unconfirmed = vhost->deferred_effects().confirms_waiting_for(channel.id);
        }
        return part;
    };
    return sorted(walk(broker, vhost, next), &engine::ChannelView::id);
}

std::vector<engine::BindingView> bindings_in(Broker& broker, const VhostRef& vhost,
                                             const engine::BindingFilter& filter) {
    auto bindings = implicit_bindings(broker, vhost, filter);
    auto others = explicit_bindings(broker, vhost, filter);
    std::move(others.begin(), others.end(), std::back_inserter(bindings));
    engine::sort(bindings);
    return bindings;
}

std::vector<engine::BindingView> explicit_bindings_in(Broker& broker, const VhostRef& vhost) {
    auto bindings = explicit_bindings(broker, vhost, {});
    engine::sort(bindings);
    return bindings;
}

engine::Totals totals_of(Broker& broker, const VhostRef& vhost) {
    engine::TotalsWalk walk;
    while (!walk.done) {
        broker.ask(vhost, [&](engine::Engine& engine) { engine::sum_some(engine, walk); });
    }
    return walk.totals;
}

engine::ObjectCounters counters_of(Broker& broker, const VhostRef& vhost) {
    engine::CountersWalk walk;
    engine::ObjectCounters counters;
    while (!walk.done) {
        counters.append(broker.ask(
            vhost, [&](engine::Engine& engine) { return engine::count_some(engine, walk); }));
    }
    return counters;
}

std::uint64_t bytes_in_queues(runtime::Broker& broker) {
    std::uint64_t bytes = 0;
    for (const auto& vhost : broker.vhosts()) {
        bytes += broker.ask(
            vhost, [](engine::Engine& engine) { return engine.state().paging().resident_bytes; });
    }
    return bytes;
}

}  // namespace revenant::http
