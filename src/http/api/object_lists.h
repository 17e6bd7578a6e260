// Lists and totals of the objects in a virtual host. They are read in parts (engine/view/query.h),
// so that a long list does not block the reactor. Must not be called from a reactor thread.
#pragma once

#include "engine/view/query.h"
#include "runtime/broker.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace revenant::http {

using VhostRef = std::shared_ptr<runtime::Vhost>;

// All items that next(engine, after) returns, read in parts.
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

// Includes the implicit bindings of every queue to the default exchange.
std::vector<engine::BindingView> bindings_in(runtime::Broker& broker, const VhostRef& vhost,
                                             const engine::BindingFilter& filter);
// Without the implicit bindings.
std::vector<engine::BindingView> explicit_bindings_in(runtime::Broker& broker,
                                                      const VhostRef& vhost);

engine::Totals totals_of(runtime::Broker& broker, const VhostRef& vhost);
// Unsorted.
engine::ObjectCounters counters_of(runtime::Broker& broker, const VhostRef& vhost);

// The bytes of messages in memory, in all virtual hosts.
std::uint64_t bytes_in_queues(runtime::Broker& broker);

}  // namespace revenant::http
