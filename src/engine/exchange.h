// Exchange and Binding: who is bound to whom, and the routes that follow from it.
#pragma once

#include "base/roster.h"
#include "engine/command.h"
#include "engine/queue_settings.h"
#include "engine/refusal.h"
#include "engine/string_map.h"
#include "engine/topic_trie.h"
#include "message/value.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace revenant::engine {

class Queue;
struct Exchange;

struct Destination {
    Queue* queue = nullptr;  // exactly one of the two is set
    Exchange* exchange = nullptr;
    friend bool operator==(const Destination&, const Destination&) = default;
};

struct Binding {
    Exchange* source = nullptr;
    Destination destination;
    std::string routing_key;
    Table arguments;
    Roster<Binding>::Place roster_place;
};

enum class ExchangeType : std::uint8_t { direct, fanout, topic, headers, consistent_hash };
std::optional<ExchangeType> parse_exchange_type(std::string_view name);
std::string_view to_string(ExchangeType type);

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

// Every virtual host has them from the beginning (amqp091 6.1).
bool is_predeclared(std::string_view exchange);

struct ExchangeDeclaration {
    std::string name;
    ExchangeType type = ExchangeType::direct;
    bool durable = false;
    bool auto_delete = false;
    bool internal = false;
    Table arguments;
    friend bool operator==(const ExchangeDeclaration&, const ExchangeDeclaration&) = default;
};

struct Exchange {
    explicit Exchange(ExchangeDeclaration declared);

    ExchangeDeclaration declaration;
    AppliedPolicy policy;
    std::optional<std::string> alternate;  // its name, in force; it need not exist
    std::variant<DirectRoutes, FanoutRoutes, TopicRoutes, HeadersRoutes, ConsistentHashRoutes>
        routes;
    // Every binding that starts here, by its identity (amqp091 7.12).
    StringMap<std::unique_ptr<Binding>> outgoing;
    std::vector<Binding*> incoming;  // exchange-to-exchange bindings that end here
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
        return declaration.type != ExchangeType::headers &&
               declaration.type != ExchangeType::consistent_hash;
    }

    void add_route(const Binding& binding);
    void remove_route(const Binding& binding);
    // All that lead to this destination: those of `bindings` that begin here.
    void remove_routes_to(const Destination& destination, const std::vector<Binding*>& bindings);
};

// Source, destination, key and arguments, as one string to look a binding up by.
std::string binding_identity(DestinationKind kind, std::string_view destination,
                             std::string_view routing_key, const Table& arguments);

// What the exchange's type asks of a binding (amqp091 7.6, 7.9).
std::optional<Refusal> check_binding(const Exchange& source, std::string_view routing_key,
                                     const Table& arguments);
// Further rules, for new bindings only: those that exist stay when a rule becomes stricter (amqp091
// 7.4).
std::optional<Refusal> check_new_binding(const Exchange& source, std::string_view routing_key);
// What the type asks of the exchange's own arguments (amqp091 7.9).
std::optional<Refusal> check_exchange_arguments(ExchangeType type, const Table& arguments);

}  // namespace revenant::engine
