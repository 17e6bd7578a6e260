// Views of dead-letter paths: who sends dead letters where, as settings and bindings are now.
#include "engine/query.h"
#include "engine/routing.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace revenant::engine {
namespace {

// A message of which nothing but its key is known.
const MessageFormat& empty_format() {
    static const MessageFormat format{
        .number = 0,
        .headers = [](const Message&) { return Table{}; },
        .property = [](const Message&, std::string_view) { return std::string(); },
        .claimed_history = [](const Message&) -> std::optional<DeathHistory> {
            return std::nullopt;
        }};
    return format;
}

std::vector<std::string> sorted_names(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    return names;
}

// Every queue that bindings lead to from there, whatever the key.
std::vector<std::string> everything_behind(State& state, Exchange& first) {
    std::set<std::string> queues;
    std::set<const Exchange*> seen{&first};
    std::vector<const Exchange*> waiting{&first};
    const auto visit = [&](const Exchange* exchange) {
        if (exchange != nullptr && seen.insert(exchange).second) waiting.push_back(exchange);
    };
    while (!waiting.empty()) {
        const Exchange* const exchange = waiting.back();
        waiting.pop_back();
        for (const auto& [identity, binding] : exchange->outgoing) {
            if (binding->destination.queue != nullptr) {
                queues.insert(binding->destination.queue->name());
            } else {
                visit(binding->destination.exchange);
            }
        }
        if (exchange->alternate) visit(state.find_exchange(*exchange->alternate));
    }
    return {queues.begin(), queues.end()};
}

struct Reached {
    std::string exchange_type;
    std::vector<std::string> targets;
    bool unknown = false;
};

class Paths {
  public:
    explicit Paths(State& state) : state_(state) {}

    DeadLetterPath of(const Queue& queue) {
        DeadLetterPath path;
        path.id = queue.id();
        path.queue = queue.name();
        path.exchange = queue.settings.dead_letter_exchange;
        path.routing_key = queue.settings.dead_letter_routing_key;
        if (queue.deaths) path.deaths = *queue.deaths;
        if (!path.exchange) return path;
        const Reached& reached = reach(*path.exchange, path.routing_key);
        path.exchange_type = reached.exchange_type;
        path.targets = reached.targets;
        path.targets_unknown = reached.unknown;
        return path;
    }

  private:
    // Queues under one policy share exchange and key.
    const Reached& reach(const std::string& exchange, const std::optional<std::string>& key) {
        const auto known = reached_.find({exchange, key});
        if (known != reached_.end()) return known->second;
        return reached_.emplace(std::pair{exchange, key}, find(exchange, key)).first->second;
    }

    Reached find(const std::string& name, const std::optional<std::string>& key) {
        Reached reached;
        Exchange* const exchange = state_.find_exchange(name);
        if (exchange == nullptr) return reached;
        reached.exchange_type = to_string(exchange->declaration.type);
        if (!key) {
            reached.unknown = name.empty();
            if (!name.empty()) reached.targets = everything_behind(state_, *exchange);
            return reached;
        }
        MessageHead head;
        head.format = &empty_format();
        const MessageRef message = make_message(name, *key, "", "", head);
        RoutingResult result;
        route(state_, *exchange, RoutingInput(*message), result);
        if (!result.by_key_only) {
            reached.targets = everything_behind(state_, *exchange);
            return reached;
        }
        for (const Queue* queue : result.queues) reached.targets.push_back(queue->name());
        reached.targets = sorted_names(std::move(reached.targets));
        return reached;
    }

    State& state_;
    std::map<std::pair<std::string, std::optional<std::string>>, Reached> reached_;
};

}  // namespace

std::vector<DeadLetterPath> list_dead_letter_paths(Engine& engine) {
    Paths paths(engine.state());
    std::vector<DeadLetterPath> list;
    for (const Queue* queue : engine.state().queues_by_name()) {
        if (queue->settings.dead_letter_exchange || queue->deaths) list.push_back(paths.of(*queue));
    }
    return list;
}

std::optional<DeadLetterPath> find_dead_letter_path(Engine& engine, std::string_view name) {
    const Queue* const queue = engine.state().find_queue(name);
    if (queue == nullptr) return std::nullopt;
    return Paths(engine.state()).of(*queue);
}

std::optional<DeadLetterRest> find_dead_letter_rest(Engine& engine, std::string_view name) {
    Queue* const queue = engine.state().find_queue(name);
    if (queue == nullptr) return std::nullopt;
    DeadLetterRest rest;
    rest.kind = queue->declaration.kind;
    rest.messages = queue->message_count();
    rest.ready = queue->ready_count();
    rest.bytes = queue->ready_bytes() + queue->unacked_bytes() + queue->delayed().bytes +
                 queue->outbox().bytes;
    rest.consumers = queue->consumers.all.size();
    rest.goes_on = queue->settings.dead_letter_exchange.has_value();
    rest.oldest = queue->head_died_at();
    return rest;
}

}  // namespace revenant::engine
