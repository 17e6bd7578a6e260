#include "engine/words/declarations.h"

#include "base/check.h"

#include <algorithm>
#include <iterator>

namespace revenant::engine {
namespace {

constexpr PredeclaredExchange predeclared[] = {
    {"", ExchangeType::direct, false},
    {"amq.direct", ExchangeType::direct, false},
    {"amq.fanout", ExchangeType::fanout, false},
    {"amq.topic", ExchangeType::topic, false},
    {"amq.headers", ExchangeType::headers, false},
    {"amq.match", ExchangeType::headers, false},
    {"amq.rabbitmq.trace", ExchangeType::topic, true},
};

}  // namespace

std::optional<ExchangeType> parse_exchange_type(std::string_view name) {
    if (name == "direct") return ExchangeType::direct;
    if (name == "fanout") return ExchangeType::fanout;
    if (name == "topic") return ExchangeType::topic;
    if (name == "headers") return ExchangeType::headers;
    if (name == "x-consistent-hash") return ExchangeType::consistent_hash;
    if (name == "x-local-random") return ExchangeType::local_random;
    if (name == "x-modulus-hash") return ExchangeType::modulus_hash;
    return std::nullopt;
}

std::string_view to_string(ExchangeType type) {
    switch (type) {
        case ExchangeType::direct:
            return "direct";
        case ExchangeType::fanout:
            return "fanout";
        case ExchangeType::topic:
            return "topic";
        case ExchangeType::headers:
            return "headers";
        case ExchangeType::consistent_hash:
            return "x-consistent-hash";
        case ExchangeType::local_random:
            return "x-local-random";
        case ExchangeType::modulus_hash:
            return "x-modulus-hash";
    }
    UNREACHABLE();
}

std::span<const PredeclaredExchange> predeclared_exchanges() { return predeclared; }

bool is_predeclared(std::string_view exchange) {
    return std::any_of(std::begin(predeclared), std::end(predeclared),
                       [&](const PredeclaredExchange& one) { return one.name == exchange; });
}

}  // namespace revenant::engine
