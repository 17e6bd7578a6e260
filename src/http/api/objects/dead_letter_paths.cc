#include "http/api/objects/dead_letter_paths.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace revenant::http {
namespace {

engine::DeadLetterAddress address_of(const engine::DeadLetterSource& source) {
    return {*source.exchange, source.routing_key};
}

// The names of the queues that still exist, by id.
std::unordered_map<std::uint64_t, std::string> names_of(
    runtime::Broker& broker, const VhostRef& vhost,
    std::span<const engine::DeadLetterReach> reaches) {
    std::unordered_map<std::uint64_t, std::string> names;
    for (const auto& reach : reaches) {
        for (const QueueId id : reach.queues) names.emplace(id.value, "");
    }
    std::vector<QueueId> ids;
    ids.reserve(names.size());
    for (const auto& [id, name] : names) ids.push_back(QueueId{id});
    for (std::size_t at = 0; at < ids.size(); at += engine::part_steps_max) {
        const std::span<const QueueId> some = std::span<const QueueId>(ids).subspan(
            at, std::min(engine::part_steps_max, ids.size() - at));
        auto found = broker.ask(
            vhost, [&](engine::Engine& engine) { return engine::find_queue_names(engine, some); });
        for (std::size_t i = 0; i < some.size(); ++i) names[some[i].value] = std::move(found[i]);
    }
    return names;
}

}  // namespace

Reaches::Reaches(runtime::Broker& broker, VhostRef vhost)
    : broker_(broker), vhost_(std::move(vhost)) {}

void Reaches::add(const engine::DeadLetterSource& source) {
    if (source.exchange) known_.try_emplace(address_of(source));
}

void Reaches::find_all() {
    std::vector<engine::DeadLetterAddress> addresses;
    for (const auto& [address, reach] : known_) {
        if (reach == nullptr) addresses.push_back(address);
    }
    std::span<const engine::DeadLetterAddress> left(addresses);
    while (!left.empty()) {
        const auto reaches = broker_.ask(vhost_, [&](engine::Engine& engine) {
            return engine::find_dead_letter_reaches(engine, left);
        });
        name_targets(left.first(reaches.size()), reaches);
        left = left.subspan(reaches.size());
    }
}

std::shared_ptr<const Reach> Reaches::find(const engine::DeadLetterSource& source) const {
    return source.exchange ? known_.at(address_of(source)) : nullptr;
}

void Reaches::name_targets(std::span<const engine::DeadLetterAddress> addresses,
                           std::span<const engine::DeadLetterReach> reaches) {
    const auto names = names_of(broker_, vhost_, reaches);
    for (std::size_t i = 0; i < reaches.size(); ++i) {
        Reach reach;
        reach.exchange_type = reaches[i].exchange_type;
        reach.unknown = reaches[i].any_behind && addresses[i].exchange.empty();
        if (reaches[i].any_behind && !reach.unknown) {
            reach.targets = everything_behind(addresses[i].exchange);
        }
        for (const QueueId id : reaches[i].queues) {
            const std::string& name = names.at(id.value);
            if (!name.empty()) reach.targets.push_back(name);
        }
        std::sort(reach.targets.begin(), reach.targets.end());
        known_[addresses[i]] = std::make_shared<Reach>(std::move(reach));
    }
}

// Every queue that bindings and alternate exchanges can reach from the exchange, with any key.
const std::vector<std::string>& Reaches::everything_behind(const std::string& first) {
    const auto known = behind_.find(first);
    if (known != behind_.end()) return known->second;
    std::set<std::string> queues;
    std::set<std::string> seen{first};
    std::vector<std::string> waiting{first};
    while (!waiting.empty()) {
        const std::string exchange = std::move(waiting.back());
        waiting.pop_back();
        std::vector<std::string> next;
        look_behind(exchange, queues, next);
        for (std::string& one : next) {
            if (seen.insert(one).second) waiting.push_back(std::move(one));
        }
    }
    return behind_.emplace(first, std::vector(queues.begin(), queues.end())).first->second;
}

void Reaches::look_behind(const std::string& exchange, std::set<std::string>& queues,
                          std::vector<std::string>& exchanges) const {
    if (exchange.empty()) return;  // default exchange as an alternate: the key names the queue
    const auto view = broker_.ask(
        vhost_, [&](engine::Engine& engine) { return engine::find_exchange(engine, exchange); });
    if (!view) return;
    if (view->alternate) exchanges.push_back(*view->alternate);
    for (auto& binding : bindings_in(broker_, vhost_, {.source = exchange})) {
        const bool to_queue = binding.destination_kind == engine::DestinationKind::queue;
        if (to_queue) queues.insert(std::move(binding.destination));
        if (!to_queue) exchanges.push_back(std::move(binding.destination));
    }
}

std::vector<DeadLetterPath> dead_letter_paths_in(runtime::Broker& broker, const VhostRef& vhost) {
    auto sources = walk(broker, vhost, engine::next_dead_letter_sources);
    std::sort(sources.begin(), sources.end(),
              [](const auto& a, const auto& b) { return a.queue < b.queue; });
    Reaches reaches(broker, vhost);
    for (const auto& source : sources) reaches.add(source);
    reaches.find_all();
    std::vector<DeadLetterPath> paths;
    paths.reserve(sources.size());
    for (auto& source : sources) {
        auto reach = reaches.find(source);
        paths.push_back({vhost->name(), std::move(source), std::move(reach)});
    }
    return paths;
}

}  // namespace revenant::http
