// EntryCounters: every entry that was added to a queue either was removed with an Ending or is
// still in the queue.
#pragma once

#include "base/histogram.h"
#include "engine/words/client_protocol.h"
#include "engine/words/queue_settings.h"
#include "message/death.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace revenant::engine {

// How an entry left its queue. Every drop has its own cause.
enum class Ending : std::uint8_t {
    acknowledged,
    auto_acknowledged,  // delivered to a consumer or basic.get without acknowledgements
    dead_lettered,      // to at least one other queue
    no_dlx,             // dropped: the queue has no dead-letter exchange
    dlx_missing,        // dropped: the dead-letter exchange does not exist
    unroutable,         // dropped: the dead-letter exchange routed to no queue
    cycle,              // dropped: every target would have closed a cycle
    target_refused,     // dropped: every target was full and refused it
    purged,
    queue_deleted,
};
constexpr std::size_t ending_count = 10;
std::string_view to_string(Ending ending);

struct EntryCounters {
    std::uint64_t entered = 0;  // a message routed to three queues counts three times
    std::array<std::uint64_t, ending_count> ended{};

    std::uint64_t ended_total() const {
        std::uint64_t total = 0;
        for (const std::uint64_t count : ended) total += count;
        return total;
    }
    std::uint64_t& of(Ending ending) { return ended[static_cast<std::size_t>(ending)]; }
    std::uint64_t of(Ending ending) const { return ended[static_cast<std::size_t>(ending)]; }
    friend bool operator==(const EntryCounters&, const EntryCounters&) = default;
};

// Deaths by queue type, strategy and reason (DL-209).
struct DeathTable {
    std::array<std::uint64_t, queue_kind_count * death_strategy_count * death_reason_count>
        counts{};

    std::uint64_t& of(QueueKind kind, DeathStrategy strategy, DeathReason reason) {
        return counts[index(kind, strategy, reason)];
    }
    std::uint64_t of(QueueKind kind, DeathStrategy strategy, DeathReason reason) const {
        return counts[index(kind, strategy, reason)];
    }

  private:
    static std::size_t index(QueueKind kind, DeathStrategy strategy, DeathReason reason) {
        return (static_cast<std::size_t>(kind) * death_strategy_count +
                static_cast<std::size_t>(strategy)) *
                   death_reason_count +
               static_cast<std::size_t>(reason);
    }
};

// The result of a death.
enum class DeathOutcome : std::uint8_t {
    dead_lettered,  // at least one other queue has the message
    waiting,        // at-least-once: the message is in the outbox
    no_dlx,         // from here on as in Ending
    dlx_missing,
    unroutable,
    cycle,
    target_refused,
};
constexpr std::size_t death_outcome_count = 7;
std::string_view to_string(DeathOutcome outcome);
// The ending must follow a death.
DeathOutcome outcome_of(Ending ending);

// Deaths by reason and outcome.
struct DeathOutcomes {
    std::array<std::uint64_t, death_reason_count * death_outcome_count> counts{};

    std::uint64_t& of(DeathReason reason, DeathOutcome outcome) {
        return counts[index(reason, outcome)];
    }
    std::uint64_t of(DeathReason reason, DeathOutcome outcome) const {
        return counts[index(reason, outcome)];
    }
    std::uint64_t of(DeathReason reason) const {
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < death_outcome_count; ++i) {
            total += of(reason, static_cast<DeathOutcome>(i));
        }
        return total;
    }

  private:
    static std::size_t index(DeathReason reason, DeathOutcome outcome) {
        return static_cast<std::size_t>(reason) * death_outcome_count +
               static_cast<std::size_t>(outcome);
    }
};

// Of Message::published_size(). The limits are those of RabbitMQ's metrics.
inline constexpr std::array<std::uint64_t, 8> message_size_limits{
    100, 1000, 10'000, 100'000, 1'000'000, 10'000'000, 50'000'000, 100'000'000};
using MessageSizes = Histogram<message_size_limits>;

// Microseconds between a message's deadline and its expiry.
inline constexpr std::array<std::uint64_t, 11> lateness_limits_us{
    1000,      5000,      10'000,     50'000,     100'000,    500'000,
    1'000'000, 5'000'000, 10'000'000, 60'000'000, 600'000'000};
using Lateness = Histogram<lateness_limits_us>;

// Messages that consumers and basic.get received.
struct Consumption {
    std::uint64_t delivered_auto_ack = 0;
    std::uint64_t delivered_manual_ack = 0;
    std::uint64_t got_auto_ack = 0;
    std::uint64_t got_manual_ack = 0;
    std::uint64_t get_empty = 0;
    std::uint64_t redelivered = 0;
    std::uint64_t acknowledged = 0;

    std::uint64_t delivered() const {
        return delivered_auto_ack + delivered_manual_ack + got_auto_ack + got_manual_ack;
    }
    Consumption& operator+=(const Consumption& other);
};

// The messages of one queue or one channel; each uses the counters that apply to it.
struct MessageStats {
    std::uint64_t published = 0;
    std::uint64_t confirmed = 0;
    std::uint64_t unroutable_returned = 0;
    std::uint64_t unroutable_dropped = 0;
    Consumption consumed;
};

// The traffic of all clients of one protocol.
struct ClientTraffic {
    std::uint64_t received = 0;  // publishes
    std::uint64_t received_confirm = 0;
    std::uint64_t routed = 0;
    std::uint64_t unroutable_dropped = 0;
    std::uint64_t unroutable_returned = 0;
    std::uint64_t confirmed = 0;
    std::array<Consumption, queue_kind_count> consumption{};
    MessageSizes message_sizes;

    Consumption& consumed_from(QueueKind kind) {
        return consumption[static_cast<std::size_t>(kind)];
    }
    const Consumption& consumed_from(QueueKind kind) const {
        return consumption[static_cast<std::size_t>(kind)];
    }
    // From queues of all types.
    Consumption consumed() const;
    MessageStats stats() const;
    ClientTraffic& operator+=(const ClientTraffic& other);
};

// The traffic of a virtual host, for metrics. Plain integers, used by one thread only.
struct Traffic {
    std::array<ClientTraffic, client_protocol_count> clients{};
    std::uint64_t queue_publishes = 0;   // once per queue that accepted the message
    std::uint64_t refused_by_queue = 0;  // reject-publish
    DeathTable deaths;
    DeathOutcomes death_outcomes;
    Lateness lateness;
    std::uint64_t dead_letters_confirmed = 0;  // at-least-once: all targets have the message
    // dropped after refusal_hops_max full queues in a row refused the message
    std::uint64_t refusal_chains_dropped = 0;
    std::uint64_t queues_declared = 0;
    std::uint64_t queues_created = 0;
    std::uint64_t queues_deleted = 0;
    std::uint64_t connections_opened = 0;
    std::uint64_t connections_closed = 0;
    std::uint64_t channels_opened = 0;
    std::uint64_t channels_closed = 0;

    ClientTraffic& of(ClientProtocol protocol) {
        return clients[static_cast<std::size_t>(protocol)];
    }
    const ClientTraffic& of(ClientProtocol protocol) const {
        return clients[static_cast<std::size_t>(protocol)];
    }
    ClientTraffic of_all_clients() const;
    Traffic& operator+=(const Traffic& other);
};

}  // namespace revenant::engine
