// Exchange: the bindings that start at an exchange, and the routes derived from them.
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
        std::uint32_t bindings = 0;  // several keys may lead to one destination
    };
    std::vector<Target> targets;
};
struct TopicRoutes {
    TopicTrie<Destination> trie;
};
struct HeadersRoutes {
    std::vector<const Binding*> bindings;
};
// Weighted buckets; jump consistent hashing maps a key to a bucket.
struct ConsistentHashRoutes {
    std::vector<Destination> buckets;
};

// One destination is picked for each message, at random or by the hash of its keys.
struct PickedRoutes {
    // One per binding, exchanges before queues, then by name: independent of the order of the
    // bindings.
    std::vector<Destination> destinations;
};

struct Exchange {
    explicit Exchange(ExchangeDeclaration declared);

    ExchangeDeclaration declaration;
    AppliedPolicy policy;
    std::optional<std::string> alternate;  // effective; the exchange need not exist
    std::variant<DirectRoutes, FanoutRoutes, TopicRoutes, HeadersRoutes, ConsistentHashRoutes,
                 PickedRoutes>
        routes;
    // All bindings that start here, by destination.
    boost::unordered_flat_map<Destination, std::unique_ptr<BindingGroup>> outgoing;
    std::size_t outgoing_count = 0;  // bindings in these groups
    BindingGroups incoming;          // exchange-to-exchange bindings that end here
    bool deleted = false;            // exists until its bindings are freed
    std::uint64_t route_mark = 0;    // the last routing pass that visited this exchange
    std::uint64_t published_in = 0;
    std::uint64_t published_out = 0;  // once per queue
    std::uint64_t confirmed = 0;
    std::uint64_t unroutable_returned = 0;
    std::uint64_t unroutable_dropped = 0;
    Roster<Exchange>::Place roster_place;

    const std::string& name() const { return declaration.name; }
    // True if routing depends on exchange and key only, so that the result can be cached.
    bool routes_by_key() const {
        return declaration.type == ExchangeType::direct ||
               declaration.type == ExchangeType::fanout || declaration.type == ExchangeType::topic;
    }

    Binding* find_binding(const Destination& to, std::string_view routing_key,
                          const Table& arguments) const;
    template <typename Visit>  // visit(binding), unordered
    void for_each_outgoing(Visit visit) const {
        for (const auto& [destination, group] : outgoing) {
            for (const auto& binding : group->bindings) visit(*binding);
        }
    }

    void add_route(const Binding& binding);
    void remove_route(const Binding& binding);
    // Called when a destination is deleted. Removes routes that are in lists; the others lead to
    // the deleted destination until remove_retired_route() has removed each.
    void retire_routes_to(const Destination& destination);
    // Removes the route of a binding whose source or destination was deleted.
    void remove_retired_route(const Binding& binding);
};

// Requirements of the exchange's type for a binding (amqp091 7.6, 7.9).
std::optional<Refusal> check_binding(const Exchange& source, std::string_view routing_key,
                                     const Table& arguments);
// Requirements of the exchange's type for a destination.
std::optional<Refusal> check_destination(const Exchange& source, const Destination& destination);
// Additional rules for new bindings only: existing ones stay when a rule becomes stricter (amqp091
// 7.4).
std::optional<Refusal> check_new_binding(const Exchange& source, std::string_view routing_key);
// Requirements of the type for the exchange's arguments (amqp091 7.9).
std::optional<Refusal> check_exchange_arguments(ExchangeType type, const Table& arguments);

}  // namespace revenant::engine
