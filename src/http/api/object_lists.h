// The objects of a virtual host, as lists and sums. They are asked for in parts
// (engine/view/query.h), so no reactor is held up by them, however many there are. From any thread
// but a reactor's.
#pragma once

#include "engine/view/query.h"
#include "runtime/broker.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace revenant::http {

using VhostRef = std::shared_ptr<runtime::Vhost>;

// All that next(engine, after) brings, part by part.
template <typename Next>
auto walk(runtime::Broker& broker, const VhostRef& vhost, Next next) {
    return whole_list([&](std::uint64_t after) {
        return broker.ask(vhost,
                          [&next, after](engine::Engine& engine) { return next(engine, after); });
    });
}

// Sorted by name; bindings by source, destination and key, consumers by queue, channels by id.
std::vector<engine::QueueName> queue_names_in(runtime::Broker& broker, const VhostRef& vhost);
std::vector<engine::QueueView> queues_in(runtime::Broker& broker, const VhostRef& vhost);
std::vector<engine::ExchangeView> exchanges_in(runtime::Broker& broker, const VhostRef& vhost);
std::vector<engine::ConsumerView> consumers_in(runtime::Broker& broker, const VhostRef& vhost,
                                               const engine::ConsumerFilter& filter);
std::vector<engine::ChannelView> channels_in(runtime::Broker& broker, const VhostRef& vhost);

// With the implicit bindings of the default exchange, which is bound to every queue by its name.
std::vector<engine::BindingView> bindings_in(runtime::Broker& broker, const VhostRef& vhost,
                                             const engine::BindingFilter& filter);
// The others alone.
std::vector<engine::BindingView> explicit_bindings_in(runtime::Broker& broker,
                                                      const VhostRef& vhost);

engine::Totals totals_of(runtime::Broker& broker, const VhostRef& vhost);
// In no order.
engine::ObjectCounters counters_of(runtime::Broker& broker, const VhostRef& vhost);

// Of messages in memory, in all virtual hosts.
std::uint64_t bytes_in_queues(runtime::Broker& broker);

}  // namespace revenant::http
