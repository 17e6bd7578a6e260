// Exchange: the bindings that start at it, and the routes that follow from them.
#pragma once

#include "base/roster.h"
#include "engine/state/binding.h"
#include "engine/state/string_map.h"
#include "engine/state/topic_trie.h"
#include "engine/words/declarations.h"
#include "engine/words/queue_settings.h"
#include "engine/words/refusal.h"
#include "message/value.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace revenant::engine {

struct DirectRoutes {
    StringMap<std::vector<Destination>> by_key;
};
struct FanoutRoutes {
    struct Target {
        Destination destination;
        std::uint32_t bindings = 0;  // several keys may lead to the same place
    };
    std::vector<Target> targets;
};
struct TopicRoutes {
    TopicTrie<Destination> trie;
};
struct HeadersRoutes {
    std::vector<const Binding*> bindings;
};
// Weighted buckets; a key goes to the bucket that jump consistent hashing names.
struct ConsistentHashRoutes {
    std::vector<Destination> buckets;
};

// One destination is picked for each message, by chance or by the hash of its keys.
struct PickedRoutes {
    // Of each binding, exchanges before queues, then by name: the order of the bindings does not
    // matter.
    std::vector<Destination> destinations;
};

struct Exchange {
    explicit Exchange(ExchangeDeclaration declared);

    ExchangeDeclaration declaration;
    AppliedPolicy policy;
    std::optional<std::string> alternate;  // its name, in force; it need not exist
    std::variant<DirectRoutes, FanoutRoutes, TopicRoutes, HeadersRoutes, ConsistentHashRoutes,
                 PickedRoutes>
        routes;
    // Every binding that starts here, by where it ends.
    boost::unordered_flat_map<Destination, std::unique_ptr<BindingGroup>> outgoing;
    std::size_t outgoing_count = 0;  // bindings in these groups
    BindingGroups incoming;          // exchange-to-exchange bindings that end here
    bool deleted = false;            // lives on until its bindings are freed
    std::uint64_t route_mark = 0;    // the routing pass that visited this exchange already
    std::uint64_t published_in = 0;
    std::uint64_t published_out = 0;  // once per queue
    std::uint64_t confirmed = 0;
    std::uint64_t unroutable_returned = 0;
    std::uint64_t unroutable_dropped = 0;
    Roster<Exchange>::Place roster_place;

    const std::string& name() const { return declaration.name; }
    // Routing depends on exchange and key alone, so its result may be cached.
    bool routes_by_key() const {
        return declaration.type == ExchangeType::direct ||
               declaration.type == ExchangeType::fanout || declaration.type == ExchangeType::topic;
    }

    Binding* find_binding(const Destination& to, std::string_view routing_key,
                          const Table& arguments) const;
    template <typename Visit>  // visit(binding), in no order
    void for_each_outgoing(Visit visit) const {
        for (const auto& [destination, group] : outgoing) {
            for (const auto& binding : group->bindings) visit(*binding);
        }
    }

    void add_route(const Binding& binding);
    void remove_route(const Binding& binding);
    // When a destination is deleted. Routes in lists are removed in one walk; the others lead to a
    // deleted destination until remove_retired_route() has removed each.
    void retire_routes_to(const Destination& destination);
    // The route of a binding whose source or destination was deleted.
    void remove_retired_route(const Binding& binding);
};

// What the exchange's type asks of a binding (amqp091 7.6, 7.9).
std::optional<Refusal> check_binding(const Exchange& source, std::string_view routing_key,
                                     const Table& arguments);
// What it asks of their destination.
std::optional<Refusal> check_destination(const Exchange& source, const Destination& destination);
// Further rules, for new bindings only: those that exist stay when a rule becomes stricter (amqp091
// 7.4).
std::optional<Refusal> check_new_binding(const Exchange& source, std::string_view routing_key);
// What the type asks of the exchange's own arguments (amqp091 7.9).
std::optional<Refusal> check_exchange_arguments(ExchangeType type, const Table& arguments);

}  // namespace revenant::engine
