// QueueSettings: the effective settings of a queue, from its arguments and policies (policy.cc).
#pragma once

#include "message/value.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace revenant::engine {

// Names of exchanges and queues, and routing keys: the maximum of an AMQP 0-9-1 short string.
constexpr std::size_t name_bytes_max = 255;

enum class QueueKind : std::uint8_t { classic, quorum };
constexpr std::size_t queue_kind_count = 2;
std::string_view to_string(QueueKind kind);

enum class Overflow : std::uint8_t { drop_head, reject_publish, reject_publish_dlx };

// Names in metrics for deaths without a dead-letter exchange, at-most-once and at-least-once.
enum class DeathStrategy : std::uint8_t { disabled, at_most_once, at_least_once };
constexpr std::size_t death_strategy_count = 3;
std::string_view to_string(DeathStrategy strategy);

// Which requeued messages of a quorum queue are delayed (DL-160).
enum class DelayedRetry : std::uint8_t { disabled, all, failed, returned };

// Messages expire exactly at any depth, or only at the head, as in RabbitMQ (DL-128).
enum class TtlMode : std::uint8_t { exact, head };

// The RabbitMQ version that a virtual host follows where they differ (dead-lettering, section 24).
enum class Compatibility : std::uint8_t { v4_3, v3_12 };
std::string_view to_string(Compatibility compatibility);
std::optional<Compatibility> parse_compatibility(std::string_view text);

struct QueueSettings {
    std::optional<std::int64_t> message_ttl_ms;
    std::optional<std::int64_t> expires_ms;
    std::optional<std::int64_t> max_length;
    std::optional<std::int64_t> max_length_bytes;
    Overflow overflow = Overflow::drop_head;
    std::optional<std::string> dead_letter_exchange;
    std::optional<std::string> dead_letter_routing_key;
    bool at_least_once = false;  // requested, and all its conditions are met (DL-171)
    bool single_active_consumer = false;
    TtlMode ttl_mode = TtlMode::exact;
    // Quorum queues only.
    std::optional<std::int64_t> delivery_limit;  // absent: unlimited failures
    DelayedRetry delayed_retry = DelayedRetry::disabled;
    std::int64_t retry_min_ms = 0;
    std::int64_t retry_max_ms = 0;
    std::optional<std::int64_t> consumer_timeout_ms;  // 0: no timeout
    friend bool operator==(const QueueSettings&, const QueueSettings&) = default;
};

// The policies that apply to a queue or exchange, and their merged definition.
struct AppliedPolicy {
    std::string policy;           // name; empty: none
    std::string operator_policy;  // name; empty: none
    Table definition;             // merged, sorted by key (DL-199, DL-200)
    friend bool operator==(const AppliedPolicy&, const AppliedPolicy&) = default;
};

}  // namespace revenant::engine
