// DeathHistory: the deaths of a message, independent of any protocol. x-death and x-opt-deaths are
// made from it.
#pragma once

#include "base/ref.h"
#include "base/time.h"
#include "message/value.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant {

enum class DeathReason : std::uint8_t { rejected, expired, maxlen, delivery_limit };
constexpr std::size_t death_reason_count = 4;
std::string_view to_string(DeathReason reason);
std::optional<DeathReason> parse_death_reason(std::string_view text);

// The largest count that AMQP 0-9-1 can represent. A message can be published with a history, so a
// count does not necessarily start at one.
constexpr std::uint64_t death_count_max = INT64_MAX;

// One {queue, reason} pair. All members except count and last_time keep the values of the first
// death (DL-76).
struct Death {
    std::string queue;
    DeathReason reason = DeathReason::rejected;
    std::uint64_t count = 1;
    Timestamp first_time;
    Timestamp last_time;
    std::string exchange;
    std::vector<std::string> routing_keys;
    std::optional<std::int64_t> ttl_ms;
    std::uint32_t routing_keys_omitted = 0;  // keys left out beyond history_keys_bytes_max
    // The type in the publisher's record, until the next death in that queue: RabbitMQ 3.12 passes
    // such records on unchanged (DL-109). void_value: the record has no count.
    ValueType count_type = ValueType::int64;
    friend bool operator==(const Death&, const Death&) = default;
};

// The maximum size of the routing keys of all deaths of a message together. The first key of each
// death is always stored. Queue, reason and count are never truncated because they decide about
// cycles.
constexpr std::size_t history_keys_bytes_max = 8 * 1024;

// x-first-death-* and x-last-death-*.
struct DeathSummary {
    std::string queue;
    DeathReason reason = DeathReason::rejected;
    std::string exchange;
    friend bool operator==(const DeathSummary&, const DeathSummary&) = default;
};

struct DeathHistory {
    std::vector<Death> deaths;  // most recent first (DL-75)
    DeathSummary first;
    std::optional<DeathSummary> last;  // not set if RabbitMQ 3.12 is followed (DL-80)
    friend bool operator==(const DeathHistory&, const DeathHistory&) = default;
};

// The history after one more death. `death` has count 1 and first_time = last_time = now. Routing
// keys beyond the limit are left out and counted.
DeathHistory with_death(const DeathHistory* before, Death death);

// Whether a message with this history that is dead-lettered for `reason` closes a cycle by entering
// `target`. The history already includes the current death (DL-111 to DL-114).
bool closes_cycle(const DeathHistory& history, DeathReason reason, std::string_view target);

// A message annotation that a consumer added with the outcome `modified` (DL-203).
struct Annotation {
    std::string key;
    std::string encoded;  // the value in AMQP 1.0 encoding, constructor first
    Value simple;         // for 0-9-1; nothing if the value has no simple form (DL-100)
    friend bool operator==(const Annotation&, const Annotation&) = default;
};

// The error that a client sent with the outcome `rejected`.
struct DeathError {
    std::string condition;
    std::string description;
    friend bool operator==(const DeathError&, const DeathError&) = default;
};

// The data that the broker adds to a message in one queue: the exchange and keys of its last
// publish or dead-lettering, its death history and its annotations. Immutable and shared: messages
// that are dead-lettered together for the same reason share one envelope.
struct Envelope : RefCounted<Envelope> {
    std::string exchange;
    // Consumers see the first key. Unless keys_replaced is set, the others are those of the message
    // and may be absent here.
    std::vector<std::string> routing_keys;
    DeathHistory history;
    bool keys_replaced = false;  // a dead-letter routing key replaced key, CC and BCC
    std::uint32_t delivery_count = 0;
    std::vector<Annotation> annotations;  // at most one per key
    std::optional<DeathError> error;

    // False if a consumer only annotated the message.
    bool has_died() const { return !history.deaths.empty(); }

    // The bytes that each message with this envelope counts for it, in memory and in the journal:
    // its full size if it belongs to one message, 0 if many share it. Set before it is shared.
    std::uint32_t counted_bytes = 0;
};
std::size_t memory_of(const Envelope& envelope);
// For an envelope that was read from disk. Whether it is shared is unknown, but a large one rarely
// is.
void count_bytes_if_large(Envelope& envelope);
using EnvelopeRef = Ref<const Envelope>;

}  // namespace revenant
