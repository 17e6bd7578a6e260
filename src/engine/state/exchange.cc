#include "engine/state/exchange.h"

#include "base/check.h"
#include "base/overloaded.h"
#include "engine/state/queue.h"

#include <algorithm>
#include <charconv>

namespace revenant::engine {
namespace {

constexpr std::ptrdiff_t hash_wildcards_max = 2;
constexpr std::int64_t consistent_hash_weight_max = 10000;  // of a new binding
// For any binding, also one that was accepted under older rules: a bucket uses memory.
constexpr std::int64_t buckets_per_binding_max = 10000;

std::optional<std::int64_t> parse_weight(std::string_view routing_key) {
    std::int64_t weight = 0;
    const auto [end, error] =
        std::from_chars(routing_key.data(), routing_key.data() + routing_key.size(), weight);
    if (error != std::errc{} || end != routing_key.data() + routing_key.size()) return std::nullopt;
    return weight;
}

// Keys from the journal are not refused: a key that is not a weight has no buckets.
std::int64_t bucket_count(std::string_view routing_key) {
    return std::clamp<std::int64_t>(parse_weight(routing_key).value_or(0), 0,
                                    buckets_per_binding_max);
}

void erase_one(std::vector<Destination>& destinations, const Destination& destination) {
    const auto place = std::find(destinations.begin(), destinations.end(), destination);
    CHECK(place != destinations.end());
    destinations.erase(place);
}

bool precedes(const Destination& a, const Destination& b) {
    if ((a.queue == nullptr) != (b.queue == nullptr)) return a.queue == nullptr;
    return a.queue == nullptr ? a.exchange->name() < b.exchange->name()
                              : a.queue->name() < b.queue->name();
}

// Removes the last buckets of the destination. They need not be contiguous: buckets of other
// bindings of the same destination may be before or between them.
void remove_buckets(std::vector<Destination>& buckets, const Destination& destination,
                    std::int64_t count) {
    auto kept = buckets.end();
    for (auto bucket = buckets.end(); bucket != buckets.begin();) {
        --bucket;
        if (count > 0 && *bucket == destination) {
            --count;
        } else {
            *--kept = *bucket;
        }
    }
    CHECK(count == 0);
    buckets.erase(buckets.begin(), kept);
}

}  // namespace

Exchange::Exchange(ExchangeDeclaration declared) : declaration(std::move(declared)) {
    switch (declaration.type) {
        case ExchangeType::direct:
            routes.emplace<DirectRoutes>();
            break;
        case ExchangeType::fanout:
            routes.emplace<FanoutRoutes>();
            break;
        case ExchangeType::topic:
            routes.emplace<TopicRoutes>();
            break;
        case ExchangeType::headers:
            routes.emplace<HeadersRoutes>();
            break;
        case ExchangeType::consistent_hash:
            routes.emplace<ConsistentHashRoutes>();
            break;
        case ExchangeType::local_random:
        case ExchangeType::modulus_hash:
            routes.emplace<PickedRoutes>();
            break;
    }
}

void Exchange::add_route(const Binding& binding) {
    std::visit(
        Overloaded{
            [&](DirectRoutes& direct) {
                direct.by_key[binding.routing_key].push_back(binding.destination);
            },
            [&](FanoutRoutes& fanout) {
                for (auto& target : fanout.targets) {
                    if (target.destination != binding.destination) continue;
                    target.bindings += 1;
                    return;
                }
                fanout.targets.push_back({binding.destination, 1});
            },
            [&](TopicRoutes& topic) { topic.trie.add(binding.routing_key, binding.destination); },
            [&](HeadersRoutes& headers) { headers.bindings.push_back(&binding); },
            [&](ConsistentHashRoutes& hash) {
                const auto count = static_cast<std::size_t>(bucket_count(binding.routing_key));
                hash.buckets.insert(hash.buckets.end(), count, binding.destination);
            },
            [&](PickedRoutes& picked) {
                auto& all = picked.destinations;
                all.insert(std::upper_bound(all.begin(), all.end(), binding.destination, precedes),
                           binding.destination);
            },
        },
        routes);
}

void Exchange::remove_route(const Binding& binding) {
    std::visit(
        Overloaded{
            [&](DirectRoutes& direct) {
                const auto found = direct.by_key.find(binding.routing_key);
                CHECK(found != direct.by_key.end());
                erase_one(found->second, binding.destination);
                if (found->second.empty()) direct.by_key.erase(found);
            },
            [&](FanoutRoutes& fanout) {
                const auto target = std::find_if(
                    fanout.targets.begin(), fanout.targets.end(),
                    [&](const auto& t) { return t.destination == binding.destination; });
                CHECK(target != fanout.targets.end());
                if (--target->bindings == 0) fanout.targets.erase(target);
            },
            [&](TopicRoutes& topic) {
                topic.trie.remove(binding.routing_key, binding.destination);
            },
            [&](HeadersRoutes& headers) { std::erase(headers.bindings, &binding); },
            [&](ConsistentHashRoutes& hash) {
                remove_buckets(hash.buckets, binding.destination,
                               bucket_count(binding.routing_key));
            },
            [&](PickedRoutes& picked) { erase_one(picked.destinations, binding.destination); },
        },
        routes);
}

void Exchange::retire_routes_to(const Destination& destination) {
    if (auto* const fanout = std::get_if<FanoutRoutes>(&routes)) {
        std::erase_if(fanout->targets,
                      [&](const auto& target) { return target.destination == destination; });
    } else if (auto* const headers = std::get_if<HeadersRoutes>(&routes)) {
        std::erase_if(headers->bindings,
                      [&](const Binding* one) { return one->destination == destination; });
    } else if (auto* const hash = std::get_if<ConsistentHashRoutes>(&routes)) {
        std::erase(hash->buckets, destination);
    } else if (auto* const picked = std::get_if<PickedRoutes>(&routes)) {
        std::erase(picked->destinations, destination);
    }
}

void Exchange::remove_retired_route(const Binding& binding) {
    auto* const direct = std::get_if<DirectRoutes>(&routes);
    auto* const topic = std::get_if<TopicRoutes>(&routes);
    if (direct == nullptr && topic == nullptr) return;
    // The routes of a deleted exchange are unused, so all routes of a key are removed together.
    if (!deleted) {
        remove_route(binding);
    } else if (direct != nullptr) {
        direct->by_key.erase(binding.routing_key);
    } else {
        topic->trie.remove_all(binding.routing_key);
    }
}

Binding* Exchange::find_binding(const Destination& to, std::string_view routing_key,
                                const Table& arguments) const {
    const auto group = outgoing.find(to);
    if (group == outgoing.end()) return nullptr;
    const std::string shown = arguments_id(arguments);
    const auto& bindings = group->second->bindings;
    const auto found = bindings.find(BindingId{routing_key, shown});
    return found == bindings.end() ? nullptr : found->get();
}

std::optional<Refusal> check_binding(const Exchange& source, std::string_view routing_key,
                                     const Table& arguments) {
    const auto refuse = [](std::string text) {
        return Refusal{RefusalKind::precondition_failed, std::move(text)};
    };
    if (source.declaration.type == ExchangeType::headers) {
        const Value* const match = find(arguments, "x-match");
        if (match == nullptr) return std::nullopt;
        const std::string* const form = match->as_string();
        if (form == nullptr) {
            return refuse("Invalid x-match field type " + std::string(type_name(match->type)) +
                          " (value " + display(*match) + "); expected longstr");
        }
        if (*form != "all" && *form != "any" && *form != "all-with-x" && *form != "any-with-x") {
            return refuse("Invalid x-match field value <<\"" + *form +
                          "\">>; expected all, any, all-with-x, or any-with-x");
        }
    }
    if (source.declaration.type == ExchangeType::consistent_hash) {
        const auto weight = parse_weight(routing_key);
        if (!weight) {
            return refuse("The binding key must be an integer: <<\"" + std::string(routing_key) +
                          "\">>");
        }
        if (*weight <= 0) return refuse("The binding key must be greater than 0");
        if (*weight > consistent_hash_weight_max) {
            return refuse("The binding key must not exceed 10000");
        }
    }
    if (source.declaration.type == ExchangeType::local_random && !routing_key.empty()) {
        return refuse("Non empty binding '" + std::string(routing_key) + "' key not permitted");
    }
    return std::nullopt;
}

std::optional<Refusal> check_destination(const Exchange& source, const Destination& destination) {
    if (source.declaration.type != ExchangeType::local_random) return std::nullopt;
    const auto refuse = [](std::string text) {
        return Refusal{RefusalKind::precondition_failed, std::move(text)};
    };
    if (destination.queue == nullptr) return refuse("Destination not found");
    if (destination.queue->is_quorum()) {
        return refuse("Queue type rabbit_quorum_queue not valid for this exchange type");
    }
    return std::nullopt;
}

std::optional<Refusal> check_new_binding(const Exchange& source, std::string_view routing_key) {
    const auto refuse = [](std::string text) {
        return Refusal{RefusalKind::precondition_failed, std::move(text)};
    };
    if (routing_key.size() > name_bytes_max) {
        return refuse("a binding key has at most " + std::to_string(name_bytes_max) + " bytes");
    }
    if (source.declaration.type != ExchangeType::topic) return std::nullopt;
    std::vector<std::string_view> words;
    split_words(routing_key, words);
    const auto wildcards = std::count(words.begin(), words.end(), "#");
    if (wildcards <= hash_wildcards_max) return std::nullopt;
    return refuse("Topic binding key '" + std::string(routing_key) + "' uses " +
                  std::to_string(wildcards) + " '#' wildcards, at most " +
                  std::to_string(hash_wildcards_max) + " are allowed");
}

std::optional<Refusal> check_exchange_arguments(ExchangeType type, const Table& arguments) {
    if (type != ExchangeType::consistent_hash) return std::nullopt;
    const Value* const header = find(arguments, "hash-header");
    const Value* const property = find(arguments, "hash-property");
    const auto refuse = [](std::string text) {
        return Refusal{RefusalKind::precondition_failed, std::move(text)};
    };
    if (header != nullptr && property != nullptr) {
        return refuse("hash-header and hash-property are mutually exclusive");
    }
    if (property != nullptr) {
        const std::string* const name = property->as_string();
        if (name == nullptr ||
            (*name != "correlation_id" && *name != "message_id" && *name != "timestamp")) {
            return refuse("Unsupported property: " + display(*property));
        }
    }
    return std::nullopt;
}

}  // namespace revenant::engine
