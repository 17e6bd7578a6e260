// DeathHistory: the truth behind x-death and x-opt-deaths, kept once, in no protocol's dialect.
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

// A message may come with a history of its own, so a count need not have begun at one. This is what
// AMQP 0-9-1 can show.
constexpr std::uint64_t death_count_max = INT64_MAX;

// One {queue, reason} pair. All but count and last_time keep the values of its first death (DL-76).
struct Death {
    std::string queue;
    DeathReason reason = DeathReason::rejected;
    std::uint64_t count = 1;
    Timestamp first_time;
    Timestamp last_time;
    std::string exchange;
    std::vector<std::string> routing_keys;
    std::optional<std::int64_t> ttl_ms;
    std::uint32_t routing_keys_omitted = 0;  // there were more than a history may hold
    // As a publisher's record had it, until the next death in that queue: RabbitMQ 3.12 passes such
    // records on unchanged (DL-109). void_value: the record has no count.
    ValueType count_type = ValueType::int64;
    friend bool operator==(const Death&, const Death&) = default;
};

// What the routing keys of all deaths of a message may take together. Each death keeps its first
// one, whatever it takes; queue, reason and count are never cut, for cycles are decided by them.
constexpr std::size_t history_keys_bytes_max = 8 * 1024;

// x-first-death-* and x-last-death-*.
struct DeathSummary {
    std::string queue;
    DeathReason reason = DeathReason::rejected;
    std::string exchange;
    friend bool operator==(const DeathSummary&, const DeathSummary&) = default;
};

struct DeathHistory {
    std::vector<Death> deaths;  // the most recent first (DL-75)
    DeathSummary first;
    std::optional<DeathSummary> last;  // not kept where RabbitMQ 3.12 is followed (DL-80)
    friend bool operator==(const DeathHistory&, const DeathHistory&) = default;
};

// The history after one more death; `death` has count 1 and first_time = last_time = now. Routing
// keys beyond the limit are left out and counted.
DeathHistory with_death(const DeathHistory* before, Death death);

// Would a message with this history, dying now of `reason`, close a circle by entering `target`?
// The current death is already in the history (DL-111 to DL-114).
bool closes_cycle(const DeathHistory& history, DeathReason reason, std::string_view target);

// A message annotation that a consumer added with the outcome `modified` (DL-203).
struct Annotation {
    std::string key;
    std::string encoded;  // the value in AMQP 1.0's bytes, constructor first
    Value simple;         // for 0-9-1; nothing where it has no simple form (DL-100)
    friend bool operator==(const Annotation&, const Annotation&) = default;
};

// The error a client gave with the outcome `rejected`.
struct DeathError {
    std::string condition;
    std::string description;
    friend bool operator==(const DeathError&, const DeathError&) = default;
};

// What the broker adds to a message in one queue: where it was sent last and what befell it.
// Immutable and shared: messages that died together of the same cause share one envelope.
struct Envelope : RefCounted<Envelope> {
    std::string exchange;
    // The first is shown to consumers. Unless they were replaced, the others are those of the
    // message and need not stand here.
    std::vector<std::string> routing_keys;
    DeathHistory history;
    bool keys_replaced = false;  // a dead-letter routing key took the place of key, CC and BCC
    std::uint32_t delivery_count = 0;
    std::vector<Annotation> annotations;  // at most one of each key
    std::optional<DeathError> error;

    // Otherwise a consumer only annotated it, and it still stands where it was published to.
    bool has_died() const { return !history.deaths.empty(); }

    // What each message in it counts for it, as memory and in the journal: all of it if it is the
    // envelope of one message, nothing if many share it. Set before anybody else sees it.
    std::uint32_t counted_bytes = 0;
};
std::size_t memory_of(const Envelope& envelope);
// One that was read back: whether others share it is not known, but hardly a large one.
void count_bytes_if_large(Envelope& envelope);
using EnvelopeRef = Ref<const Envelope>;

}  // namespace revenant
