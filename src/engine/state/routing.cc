#include "engine/state/routing.h"

#include "base/check.h"
#include "base/overloaded.h"
#include "message/erlang_hash.h"

#include <string>

namespace revenant::engine {
namespace {

enum class HeadersMatch : std::uint8_t { all, any, all_with_x, any_with_x };

HeadersMatch match_form(const Table& arguments) {
    const Value* const form = find(arguments, "x-match");
    if (form == nullptr || form->as_string() == nullptr) return HeadersMatch::all;
    if (*form->as_string() == "any") return HeadersMatch::any;
    if (*form->as_string() == "all-with-x") return HeadersMatch::all_with_x;
    if (*form->as_string() == "any-with-x") return HeadersMatch::any_with_x;
    return HeadersMatch::all;
}

// amqp091 7.5
bool headers_match(const Table& arguments, const Table& headers) {
    const HeadersMatch form = match_form(arguments);
    const bool with_x = form == HeadersMatch::all_with_x || form == HeadersMatch::any_with_x;
    const bool any = form == HeadersMatch::any || form == HeadersMatch::any_with_x;
    for (const Field& wanted : arguments) {
        if (wanted.name == "x-match") continue;
        if (!with_x && wanted.name.starts_with("x-")) continue;
        const Value* const present = find(headers, wanted.name);
        const bool matches = present != nullptr && (wanted.value.type == ValueType::void_value ||
                                                    equivalent(wanted.value, *present));
        if (any && matches) return true;
        if (!any && !matches) return false;
    }
    return !any;
}

std::uint64_t hash_text(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a: stable across restarts, unlike std::hash
    for (const char c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3ULL;
    }
    return hash;
}

// Lamping and Veach's jump consistent hash: adding a bucket moves 1/n of the keys.
std::size_t jump_bucket(std::uint64_t key, std::size_t buckets) {
    std::int64_t bucket = -1;
    std::int64_t next = 0;
    while (next < static_cast<std::int64_t>(buckets)) {
        bucket = next;
        key = key * 2862933555777941757ULL + 1;
        next = static_cast<std::int64_t>(
            static_cast<double>(bucket + 1) *
            (static_cast<double>(1LL << 31) / static_cast<double>((key >> 33) + 1)));
    }
    return static_cast<std::size_t>(bucket);
}

std::string hashed_text(const Exchange& exchange, const RoutingInput& input, std::string_view key) {
    if (const Value* header = find(exchange.declaration.arguments, "hash-header")) {
        const Value* const value = find(input.headers(), display(*header));
        return value == nullptr ? std::string() : display(*value);
    }
    if (const Value* property = find(exchange.declaration.arguments, "hash-property")) {
        return input.property(display(*property));
    }
    return std::string(key);
}

// RabbitMQ's value, so that a key goes to the same queue as there.
constexpr std::uint32_t modulus_hash_range = 1U << 27;

// Makes a counter look random (SplitMix64): the engine has no random numbers.
std::uint64_t scattered(std::uint64_t number) {
    number += 0x9e3779b97f4a7c15ULL;
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9ULL;
    number = (number ^ (number >> 27)) * 0x94d049bb133111ebULL;
    return number ^ (number >> 31);
}

// One pass over the exchanges that route a message.
class Pass {
  public:
    Pass(State& state, const RoutingInput& input, RoutingResult& result)
        : state_(state), input_(input), result_(result), mark_(state.route_pass()) {}

    void run(Exchange& first) {
        visit(first);
        while (!waiting_.empty()) {
            Exchange* const next = waiting_.back();
            waiting_.pop_back();
            route_through(*next);
        }
    }

  private:
    void visit(Exchange& exchange) {
        if (exchange.route_mark == mark_) return;
        exchange.route_mark = mark_;
        waiting_.push_back(&exchange);
    }

    void reach(const Destination& destination) {
        if (destination.is_deleted()) return;  // the route is not freed yet
        found_ = true;
        if (destination.exchange != nullptr) {
            visit(*destination.exchange);
            return;
        }
        if (destination.queue->route_mark == mark_) return;
        destination.queue->route_mark = mark_;
        result_.queues.push_back(destination.queue);
    }

    void route_through(Exchange& exchange) {
        found_ = false;
        if (!exchange.routes_by_key()) result_.by_key_only = false;
        if (exchange.name().empty()) {
            for (const std::string_view key : input_.keys()) {
                if (Queue* const queue = state_.find_queue(key)) reach({queue, nullptr});
            }
        } else {
            std::visit(Overloaded{
                           [&](const DirectRoutes& routes) { through(routes); },
                           [&](const FanoutRoutes& routes) {
                               for (const auto& target : routes.targets) reach(target.destination);
                           },
                           [&](const TopicRoutes& routes) {
                               for (const std::string_view key : input_.keys()) {
                                   routes.trie.match(key, [&](const Destination& d) { reach(d); });
                               }
                           },
                           [&](const HeadersRoutes& routes) {
                               for (const Binding* binding : routes.bindings) {
                                   if (headers_match(binding->arguments, input_.headers())) {
                                       reach(binding->destination);
                                   }
                               }
                           },
                           [&](const ConsistentHashRoutes& routes) { through(exchange, routes); },
                           [&](const PickedRoutes& routes) { through(exchange, routes); },
                       },
                       exchange.routes);
        }
        if (!found_ && exchange.alternate) {
            if (Exchange* const alternate = state_.find_exchange(*exchange.alternate))
                visit(*alternate);
        }
    }

    void through(const DirectRoutes& routes) {
        for (const std::string_view key : input_.keys()) {
            const auto found = routes.by_key.find(key);
            if (found == routes.by_key.end()) continue;
            for (const Destination& destination : found->second) reach(destination);
        }
    }

    void through(const Exchange& exchange, const ConsistentHashRoutes& routes) {
        if (routes.buckets.empty()) return;
        for (const std::string_view key : input_.keys()) {
            const std::uint64_t hash = hash_text(hashed_text(exchange, input_, key));
            reach(routes.buckets[jump_bucket(hash, routes.buckets.size())]);
        }
    }

    void through(const Exchange& exchange, const PickedRoutes& routes) {
        const std::size_t count = routes.destinations.size();
        if (count == 0) return;
        const std::uint64_t number = exchange.declaration.type == ExchangeType::local_random
                                         ? scattered(mark_)
                                         : erlang_hash(input_.keys()) % modulus_hash_range;
        reach(routes.destinations[number % count]);
    }

    State& state_;
    const RoutingInput& input_;
    RoutingResult& result_;
    std::uint64_t mark_;
    std::vector<Exchange*> waiting_;
    bool found_ = false;
};

}  // namespace

RoutingInput::RoutingInput(const Message& message) : message_(message) {
    keys_.push_back(message.routing_key());
    if (const ExtraKeys* extra = message.extra_keys()) {
        keys_.insert(keys_.end(), extra->cc.begin(), extra->cc.end());
        keys_.insert(keys_.end(), extra->bcc.begin(), extra->bcc.end());
    }
}

RoutingInput::RoutingInput(const Message& message, const Envelope& envelope, const State& state)
    : RoutingInput(message) {
    envelope_ = &envelope;
    state_ = &state;
    if (envelope.keys_replaced) {
        keys_.assign(envelope.routing_keys.begin(), envelope.routing_keys.end());
    }
}

const Message* RoutingInput::whole() const {
    if (message_.is_loaded()) return &message_;
    if (!whole_ && unreadable_.empty()) {
        auto loaded = state_->load(message_);
        if (!loaded) {
            unreadable_ = std::move(loaded).error();
        } else {
            whole_ = std::move(loaded).value();
        }
    }
    return whole_ ? &*whole_ : nullptr;
}

std::string RoutingInput::property(std::string_view name) const {
    const Message* const message = whole();
    return message == nullptr ? std::string() : message->format().property(*message, name);
}

const Table& RoutingInput::headers() const {
    if (headers_) return *headers_;
    const Message* const message = whole();
    headers_ = message == nullptr ? Table() : message->headers();
    if (envelope_ != nullptr) {
        const auto set = [&](std::string_view name, Value value) {
            std::erase_if(*headers_, [&](const Field& field) { return field.name == name; });
            headers_->push_back({std::string(name), std::move(value)});
        };
        const auto add = [&](std::string_view name, std::string_view text) {
            set(name, Value::string(text));
        };
        for (const Annotation& annotation : envelope_->annotations) {
            if (annotation.simple.type != ValueType::void_value) {
                set(annotation.key, annotation.simple);
            }
        }
        const DeathHistory& history = envelope_->history;
        add("x-first-death-queue", history.first.queue);
        add("x-first-death-reason", to_string(history.first.reason));
        add("x-first-death-exchange", history.first.exchange);
        if (history.last) {
            add("x-last-death-queue", history.last->queue);
            add("x-last-death-reason", to_string(history.last->reason));
            add("x-last-death-exchange", history.last->exchange);
        }
    }
    return *headers_;
}

void route(State& state, Exchange& exchange, const RoutingInput& input, RoutingResult& result) {
    result.queues.clear();
    result.by_key_only = true;
    Pass(state, input, result).run(exchange);
}

}  // namespace revenant::engine
