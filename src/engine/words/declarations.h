// Declarations of exchanges and queues.
#pragma once

#include "base/ids.h"
#include "engine/words/queue_settings.h"
#include "message/value.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace revenant::engine {

enum class ExchangeType : std::uint8_t {
    direct,
    fanout,
    topic,
    headers,
    consistent_hash,
    local_random,
    modulus_hash,
};
std::optional<ExchangeType> parse_exchange_type(std::string_view name);
std::string_view to_string(ExchangeType type);

// Exchanges that every virtual host has when it is created (amqp091 6.1).
struct PredeclaredExchange {
    const char* name;
    ExchangeType type;
    bool internal;
};
std::span<const PredeclaredExchange> predeclared_exchanges();
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

struct QueueDeclaration {
    QueueId id;
    std::string name;
    bool durable = false;
    bool exclusive = false;
    bool auto_delete = false;
    Table arguments;
    QueueKind kind = QueueKind::classic;
    friend bool operator==(const QueueDeclaration&, const QueueDeclaration&) = default;
};

}  // namespace revenant::engine
