// Read-only views of an engine as plain values, for HTTP, the command line and metrics. They are
// created on the engine's thread and can then be passed to others. Views are computed from the
// state on demand and cost nothing on the path of a message.
#pragma once

#include "base/ids.h"
#include "base/roster.h"
#include "base/time.h"
#include "engine/engine.h"
#include "engine/words/counters.h"
#include "message/value.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::engine {

struct QueueView {
    QueueId id;
    std::string name;
    bool durable = false;
    bool exclusive = false;
    bool auto_delete = false;
    Table arguments;
    QueueKind kind = QueueKind::classic;
    QueueSettings settings;  // effective
    AppliedPolicy policy;
    std::uint64_t delayed = 0;
    std::uint64_t delayed_bytes = 0;
    std::uint64_t dead_letters_waiting = 0;  // in the outbox of at-least-once dead-lettering
    std::uint64_t dead_letter_bytes_waiting = 0;
    MessageTotals parked;  // unreadable on disk
    DeathOutcomes deaths;
    ConnectionId owner;  // of an exclusive queue
    Timestamp last_used;
    std::uint64_t ready = 0;
    std::uint64_t ready_returned = 0;  // requeued, so served first; quorum queues only
    std::uint64_t unacked = 0;
    std::uint64_t ready_bytes = 0;
    std::uint64_t unacked_bytes = 0;
    MessageTotals persistent_messages;  // messages that a restart would restore
    MessageTotals paged_out;
    std::uint64_t memory_bytes = 0;
    std::optional<std::int64_t> head_timestamp;
    std::uint64_t consumers = 0;
    std::string exclusive_consumer_tag;      // empty: no consumer is exclusive
    std::string single_active_consumer_tag;  // empty: none, or not that kind of queue
    MessageStats stats;
    std::vector<PublishSources::Source> published_from;
    std::string vhost;  // set by callers that list several virtual hosts
};

struct ExchangeView {
    std::string name;
    std::string type;
    bool durable = false;
    bool auto_delete = false;
    bool internal = false;
    Table arguments;
    AppliedPolicy policy;
    std::uint64_t published_in = 0;
    std::uint64_t published_out = 0;
    std::optional<std::string> alternate;  // effective; the exchange need not exist
    std::uint64_t confirmed = 0;
    std::uint64_t unroutable_returned = 0;
    std::uint64_t unroutable_dropped = 0;
};

struct BindingView {
    std::string source;
    DestinationKind destination_kind = DestinationKind::queue;
    std::string destination;
    std::string routing_key;
    Table arguments;
};

struct ConsumerView {
    std::string queue;
    ChannelId channel;
    ConnectionId connection;
    std::string user;
    std::string tag;
    bool no_ack = false;
    bool exclusive = false;
    bool active = true;  // false while another consumer is the single active one
    bool single_active = false;
    std::uint32_t prefetch = 0;
    Table arguments;
    std::int64_t timeout_ms = 0;  // timeout for unsettled deliveries; 0: none
};

struct ChannelView {
    ChannelId id;
    ConnectionId connection;
    std::string user;
    std::uint64_t consumers = 0;
    std::uint64_t unacked = 0;
    std::uint32_t prefetch = 0;
    std::uint32_t global_prefetch = 0;
    bool transactional = false;
    std::uint64_t uncommitted_messages = 0;
    std::uint64_t uncommitted_settlements = 0;
    MessageStats stats;
    std::uint64_t unconfirmed = 0;  // set by the runtime: confirms waiting for the disk
};

// The counters of every queue, exchange and channel, by id instead of name where possible: taken
// every few seconds, so it copies as little as possible.
struct ObjectCounters {
    struct OfQueue {
        QueueId id;
        MessageStats stats;
        std::uint64_t messages = 0;
        std::uint64_t ready = 0;
        std::uint64_t unacked = 0;
        std::array<std::uint64_t, death_reason_count> deaths{};
    };
    struct OfExchange {
        std::string name;
        std::uint64_t published_in = 0;
        std::uint64_t published_out = 0;
    };
    struct OfChannel {
        ChannelId id;
        MessageStats stats;
    };
    std::vector<OfQueue> queues;
    std::vector<OfExchange> exchanges;  // only those with publishes
    std::vector<OfChannel> channels;
    void append(ObjectCounters more);
};

// The connected clients of one protocol.
struct ClientCounts {
    std::uint64_t publishers = 0;  // channels that have published, and sending links
    std::uint64_t consumers = 0;
};

// The totals of a virtual host.
struct Totals {
    std::uint64_t queues = 0;
    std::uint64_t exchanges = 0;
    std::uint64_t connections = 0;
    std::uint64_t channels = 0;
    std::array<ClientCounts, client_protocol_count> clients{};
    // Over all channels.
    std::uint64_t prefetch = 0;
    std::uint64_t global_prefetch = 0;
    std::uint64_t uncommitted_messages = 0;
    std::uint64_t uncommitted_settlements = 0;
    std::uint64_t ready = 0;
    std::uint64_t unacked = 0;
    std::uint64_t ready_bytes = 0;
    std::uint64_t unacked_bytes = 0;
    std::uint64_t delayed = 0;
    std::uint64_t delayed_bytes = 0;
    std::uint64_t dead_letters_waiting = 0;  // in outboxes
    std::uint64_t dead_letter_bytes_waiting = 0;
    MessageTotals persistent_messages;
    MessageTotals paged_out;
    MessageTotals parked;
    std::uint64_t memory_bytes = 0;
    EntryCounters accounts;
    Traffic traffic;

    ClientCounts& clients_of(ClientProtocol protocol) {
        return clients[static_cast<std::size_t>(protocol)];
    }
    const ClientCounts& clients_of(ClientProtocol protocol) const {
        return clients[static_cast<std::size_t>(protocol)];
    }
    std::uint64_t consumers() const;  // of all protocols
    // All entries that were added to a queue and not removed.
    std::uint64_t messages() const {
        return ready + unacked + delayed + dead_letters_waiting + parked.count;
    }
    std::uint64_t bytes() const {
        return ready_bytes + unacked_bytes + delayed_bytes + dead_letter_bytes_waiting +
               parked.bytes;
    }
    Totals& operator+=(const Totals& other);
};

// An unreadable message, or all messages of an unreadable page.
struct ParkedView {
    std::size_t level = 0;
    std::uint64_t sequence = 0;  // of a page: the start of its block
    std::uint64_t messages = 1;
    std::uint64_t bytes = 0;
    bool is_page = false;
    std::string why;
};

// The dead-letter settings of a queue, and the deaths in it.
struct DeadLetterSource {
    QueueId id;
    std::string queue;
    std::optional<std::string> exchange;     // absent: no dead-letter exchange
    std::optional<std::string> routing_key;  // absent: dead letters keep their keys
    DeathOutcomes deaths;
};

// The address of dead letters, which the current bindings resolve to a DeadLetterReach.
struct DeadLetterAddress {
    std::string exchange;
    std::optional<std::string> routing_key;
    auto operator<=>(const DeadLetterAddress&) const = default;
};
struct DeadLetterReach {
    std::string exchange_type;  // empty: the exchange does not exist
    std::vector<QueueId> queues;
    // The result depends on unknown keys or headers: every queue bound to the exchange is possible.
    bool any_behind = false;
};

// A queue that contains dead letters.
struct DeadLetterRest {
    QueueKind kind = QueueKind::classic;
    std::uint64_t messages = 0;
    std::uint64_t ready = 0;
    std::uint64_t bytes = 0;
    std::uint64_t consumers = 0;
    bool goes_on = false;             // has a dead-letter exchange itself: dead letters may move on
    std::optional<Timestamp> oldest;  // the last death of the message at the head, if known
};

// ------------------------------------------------------------------------- lists

// Lists are requested in parts (base/roster.h), each in its own turn, so that long lists do not
// delay other work. Limits for the objects in a part, and for the objects visited for it.
constexpr std::size_t part_items_max = 200;
constexpr std::size_t part_steps_max = 1000;

struct QueueName {
    QueueId id;
    std::string name;
};

// Bindings from an exchange or to a destination; without either: all.
struct BindingFilter {
    std::optional<std::string> source;
    std::optional<std::string> destination;
    DestinationKind destination_kind = DestinationKind::queue;
};
// Consumers of a queue or a channel; without either: all.
struct ConsumerFilter {
    std::optional<std::string> queue;
    std::optional<ChannelId> channel;
};

// Each continues after the number `after`; 0 is the start.
ListPart<QueueName> next_queue_names(Engine& engine, std::uint64_t after);
ListPart<QueueView> next_queues(Engine& engine, std::uint64_t after);
ListPart<ExchangeView> next_exchanges(Engine& engine, std::uint64_t after);
// Excludes the implicit bindings of every queue to the default exchange.
ListPart<BindingView> next_bindings(Engine& engine, std::uint64_t after,
                                    const BindingFilter& filter = {});
ListPart<ConsumerView> next_consumers(Engine& engine, std::uint64_t after,
                                      const ConsumerFilter& filter = {});
ListPart<ChannelView> next_channels(Engine& engine, std::uint64_t after);
// Queues with a dead-letter exchange, and queues with deaths.
ListPart<DeadLetterSource> next_dead_letter_sources(Engine& engine, std::uint64_t after);

BindingView implicit_binding(const std::string& queue);
// By source, destination and key.
void sort(std::vector<BindingView>& bindings);

std::optional<QueueView> find_queue(Engine& engine, std::string_view name);
// Queues that still exist; at most one part.
std::vector<QueueView> find_queues(Engine& engine, std::span<const QueueId> ids);
// The first ones; absent if there is no such queue.
constexpr std::size_t parked_shown_max = 1000;
std::optional<std::vector<ParkedView>> list_parked(Engine& engine, std::string_view queue);
std::optional<ExchangeView> find_exchange(Engine& engine, std::string_view name);
std::optional<ChannelView> find_channel(Engine& engine, ChannelId id);
// Sorted by name.
std::vector<Policy> list_policies(Engine& engine, PolicyScope scope);
std::optional<Policy> find_policy(Engine& engine, PolicyScope scope, std::string_view name);
std::optional<DeadLetterSource> find_dead_letter_source(Engine& engine, std::string_view queue);
// Results for the first addresses: at least one, and at most what one turn should compute.
std::vector<DeadLetterReach> find_dead_letter_reaches(Engine& engine,
                                                      std::span<const DeadLetterAddress> addresses);
// In order, empty for deleted queues; at most part_steps_max.
std::vector<std::string> find_queue_names(Engine& engine, std::span<const QueueId> ids);
std::optional<DeadLetterRest> find_dead_letter_rest(Engine& engine, std::string_view queue);

// ------------------------------------------------------------------------- totals

// Computes totals in parts; they are valid when it is done.
struct TotalsWalk {
    Totals totals;
    std::uint64_t queue = 0;  // the last one added
    std::uint64_t channel = 0;
    bool queues_done = false;
    bool done = false;
};
void sum_some(Engine& engine, TotalsWalk& walk);

struct CountersWalk {
    std::uint64_t queue = 0;
    std::uint64_t exchange = 0;
    std::uint64_t channel = 0;
    bool queues_done = false;
    bool exchanges_done = false;
    bool done = false;
};
// The counters of the next part.
ObjectCounters count_some(Engine& engine, CountersWalk& walk);

}  // namespace revenant::engine
