// Queue: its messages in order and its counters. Data without decisions.
#pragma once

#include "base/ids.h"
#include "engine/attached.h"
#include "engine/chain.h"
#include "message/value.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::engine {

struct Binding;

// Where an entry stands in its queue: priority level and sequence number.
struct Position {
    std::uint64_t packed = 0;
    static Position of(std::size_t level, std::uint64_t sequence) {
        return {(std::uint64_t{level} << 56) | sequence};
    }
    std::size_t level() const { return static_cast<std::size_t>(packed >> 56); }
    std::uint64_t sequence() const { return packed & ((std::uint64_t{1} << 56) - 1); }
    friend auto operator<=>(Position, Position) = default;
};

enum class Overflow : std::uint8_t { drop_head, reject_publish, reject_publish_dlx };

// The settings in force, from arguments and policies (policy.cc).
struct QueueSettings {
    std::optional<std::int64_t> message_ttl_ms;
    std::optional<std::int64_t> expires_ms;
    std::optional<std::int64_t> max_length;
    std::optional<std::int64_t> max_length_bytes;
    Overflow overflow = Overflow::drop_head;
    std::optional<std::string> dead_letter_exchange;
    std::optional<std::string> dead_letter_routing_key;
    bool single_active_consumer = false;
    friend bool operator==(const QueueSettings&, const QueueSettings&) = default;
};

struct QueueDeclaration {
    QueueId id;
    std::string name;
    bool durable = false;
    bool exclusive = false;
    bool auto_delete = false;
    Table arguments;
    friend bool operator==(const QueueDeclaration&, const QueueDeclaration&) = default;
};

class Queue {
  public:
    explicit Queue(QueueDeclaration declaration);

    QueueDeclaration declaration;
    QueueSettings settings;
    ConnectionId owner;  // of an exclusive queue
    Timestamp last_used;
    std::vector<Binding*> bindings;  // in which this queue is the destination
    QueueConsumers consumers;        // passing state
    // Deliveries that wait on some channel for their settlement. A deleted queue lives on, without
    // its messages, until there are none.
    std::uint64_t unsettled_deliveries = 0;
    bool deleted = false;
    bool had_consumer = false;
    bool expiry_scheduled = false;  // a timer for x-expires is running
    bool dirty = false;             // has work waiting at the end of this turn
    std::uint64_t route_mark = 0;   // the routing pass that found this queue already

    const std::string& name() const { return declaration.name; }
    QueueId id() const { return declaration.id; }
    std::uint64_t ready_count() const { return ready_count_; }
    std::uint64_t unacked_count() const { return unacked_count_; }
    std::uint64_t ready_bytes() const { return ready_bytes_; }
    std::uint64_t unacked_bytes() const { return unacked_bytes_; }
    std::size_t level_count() const { return levels_.size(); }
    Chain& level(std::size_t index) { return levels_[index]; }
    const Chain& level(std::size_t index) const { return levels_[index]; }
    // The level a message of this priority belongs to.
    std::size_t level_for(std::optional<std::uint8_t> priority) const;

    Position push(std::size_t level, Entry entry, Timestamp deadline);
    void push_at(Position position, Entry entry, Timestamp deadline);
    // The entry that is delivered or dropped next: highest level, oldest first.
    std::optional<Position> head();
    Entry& at(Position position) { return levels_[position.level()].at(position.sequence()); }
    bool contains(Position position) const {
        return position.level() < levels_.size() &&
               levels_[position.level()].contains(position.sequence());
    }
    Timestamp deadline(Position position) const {
        return levels_[position.level()].deadline(position.sequence());
    }
    void mark_unacked(Position position);
    void mark_ready(Position position);
    Entry take(Position position);
    void clear();

  private:
    std::vector<Chain> levels_;
    std::uint64_t ready_count_ = 0;
    std::uint64_t unacked_count_ = 0;
    std::uint64_t ready_bytes_ = 0;
    std::uint64_t unacked_bytes_ = 0;
};

}  // namespace revenant::engine
