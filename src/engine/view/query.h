// Read-only views of an engine as plain values, for HTTP, the command line and metrics. Made on the
// engine's own thread, then free to travel. Everything here walks the state as it stands; nothing
// on the path of a message knows of it.
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
    QueueSettings settings;  // in force
    AppliedPolicy policy;
    std::uint64_t delayed = 0;
    std::uint64_t delayed_bytes = 0;
    std::uint64_t dead_letters_waiting = 0;  // in the outbox of at-least-once dead-lettering
    std::uint64_t dead_letter_bytes_waiting = 0;
    MessageTotals parked;  // cannot be read from the disk
    DeathOutcomes deaths;
    ConnectionId owner;  // of an exclusive queue
    Timestamp last_used;
    std::uint64_t ready = 0;
    std::uint64_t ready_returned = 0;  // of those ready: they come first. Quorum queues only
    std::uint64_t unacked = 0;
    std::uint64_t ready_bytes = 0;
    std::uint64_t unacked_bytes = 0;
    MessageTotals persistent_messages;  // of all, those that a restart would bring back
    MessageTotals paged_out;            // of all
    std::uint64_t memory_bytes = 0;
    std::optional<std::int64_t> head_timestamp;
    std::uint64_t consumers = 0;
    std::string exclusive_consumer_tag;      // empty: no consumer is exclusive
    std::string single_active_consumer_tag;  // empty: none, or the queue serves all in turn
    MessageStats stats;
    std::vector<PublishSources::Source> published_from;
    std::string vhost;  // set by those who show several
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
    std::optional<std::string> alternate;  // in force; it need not exist
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
    bool active = true;  // false for those that wait behind a single active consumer
    bool single_active = false;
    std::uint32_t prefetch = 0;
    Table arguments;
    std::int64_t timeout_ms = 0;  // how long it may keep a message; 0: any time
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
    std::uint64_t unconfirmed = 0;  // set by the runtime: confirms that wait for the disk
};

// The counters of every queue, exchange and channel, without their names where ids will do: taken
// every few seconds, so it copies no more than it must.
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
    std::vector<OfExchange> exchanges;  // those that were ever published to
    std::vector<OfChannel> channels;
    void append(ObjectCounters more);
};

// The clients of one protocol that are there.
struct ClientCounts {
    std::uint64_t publishers = 0;  // channels that have published, and senders' links
    std::uint64_t consumers = 0;
};

// The sums over a vhost.
struct Totals {
    std::uint64_t queues = 0;
    std::uint64_t exchanges = 0;
    std::uint64_t connections = 0;
    std::uint64_t channels = 0;
    std::array<ClientCounts, client_protocol_count> clients{};
    // Of all channels together.
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
    // Everything that has entered a queue and has not left it.
    std::uint64_t messages() const {
        return ready + unacked + delayed + dead_letters_waiting + parked.count;
    }
    std::uint64_t bytes() const {
        return ready_bytes + unacked_bytes + delayed_bytes + dead_letter_bytes_waiting +
               parked.bytes;
    }
    Totals& operator+=(const Totals& other);
};

// A message that cannot be read, or all those of a page that cannot be read.
struct ParkedView {
    std::size_t level = 0;
    std::uint64_t sequence = 0;  // of a page: where its block begins
    std::uint64_t messages = 1;
    std::uint64_t bytes = 0;
    bool is_page = false;
    std::string why;
};

// What a queue says of its dead letters, and how messages died in it.
struct DeadLetterSource {
    QueueId id;
    std::string queue;
    std::optional<std::string> exchange;     // none: the queue names no dead-letter exchange
    std::optional<std::string> routing_key;  // none: dead letters keep their keys
    DeathOutcomes deaths;
};

// Where dead letters are sent to, and how far that leads as the bindings are now.
struct DeadLetterAddress {
    std::string exchange;
    std::optional<std::string> routing_key;
    auto operator<=>(const DeadLetterAddress&) const = default;
};
struct DeadLetterReach {
    std::string exchange_type;  // empty: the exchange does not exist
    std::vector<QueueId> queues;
    // Keys or headers that are not known decide: every queue behind the exchange is possible.
    bool any_behind = false;
};

// A queue that dead letters lie in.
struct DeadLetterRest {
    QueueKind kind = QueueKind::classic;
    std::uint64_t messages = 0;
    std::uint64_t ready = 0;
    std::uint64_t bytes = 0;
    std::uint64_t consumers = 0;
    bool goes_on =
        false;  // it has a dead-letter exchange itself: a stop on the way, no resting place
    std::optional<Timestamp> oldest;  // when the message at its head died last, if it is known
};

// ------------------------------------------------------------------------- lists

// A list is asked for in parts (base/roster.h), each in a turn of its own, so that everybody
// else is served in between, however long it is. How many objects a part may hold, and how many
// may be looked at for it.
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

// Each goes on behind the number `after`; 0 is the beginning.
ListPart<QueueName> next_queue_names(Engine& engine, std::uint64_t after);
ListPart<QueueView> next_queues(Engine& engine, std::uint64_t after);
ListPart<ExchangeView> next_exchanges(Engine& engine, std::uint64_t after);
// Without the implicit ones of the default exchange, which is bound to every queue by its name.
ListPart<BindingView> next_bindings(Engine& engine, std::uint64_t after,
                                    const BindingFilter& filter = {});
ListPart<ConsumerView> next_consumers(Engine& engine, std::uint64_t after,
                                      const ConsumerFilter& filter = {});
ListPart<ChannelView> next_channels(Engine& engine, std::uint64_t after);
// Queues that name a dead-letter exchange, and those in which messages died.
ListPart<DeadLetterSource> next_dead_letter_sources(Engine& engine, std::uint64_t after);

BindingView implicit_binding(const std::string& queue);
// By source, destination and key.
void sort(std::vector<BindingView>& bindings);

std::optional<QueueView> find_queue(Engine& engine, std::string_view name);
// Those that are still there; not more than a part.
std::vector<QueueView> find_queues(Engine& engine, std::span<const QueueId> ids);
// The first of them; none if there is no such queue.
constexpr std::size_t parked_shown_max = 1000;
std::optional<std::vector<ParkedView>> list_parked(Engine& engine, std::string_view queue);
std::optional<ExchangeView> find_exchange(Engine& engine, std::string_view name);
std::optional<ChannelView> find_channel(Engine& engine, ChannelId id);
// Sorted by name.
std::vector<Policy> list_policies(Engine& engine, PolicyScope scope);
std::optional<Policy> find_policy(Engine& engine, PolicyScope scope, std::string_view name);
std::optional<DeadLetterSource> find_dead_letter_source(Engine& engine, std::string_view queue);
// The answers to the first addresses: to one at least, and no more than one turn should find out.
std::vector<DeadLetterReach> find_dead_letter_reaches(Engine& engine,
                                                      std::span<const DeadLetterAddress> addresses);
// In their order, empty for those that are gone; not more than part_steps_max.
std::vector<std::string> find_queue_names(Engine& engine, std::span<const QueueId> ids);
std::optional<DeadLetterRest> find_dead_letter_rest(Engine& engine, std::string_view queue);

// ------------------------------------------------------------------------- sums

// Adds up in parts, too. The sums are whole when it is done.
struct TotalsWalk {
    Totals totals;
    std::uint64_t queue = 0;  // the last one that was added
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
// Those of the next part.
ObjectCounters count_some(Engine& engine, CountersWalk& walk);

}  // namespace revenant::engine
