// Queue: the messages of a queue in order, and its counters. Data without decisions.
//
// A classic queue has one chain per priority. A quorum queue has 32 and three more: requeued
// messages, which are served first (DL-156), delayed messages (DL-163), and the outbox (DL-173).
// The chain of messages without a priority always exists; the others are created on first use
// because most queues never need them.
#pragma once

#include "base/ids.h"
#include "base/roster.h"
#include "engine/chain/chain.h"
#include "engine/state/attached.h"
#include "engine/state/binding.h"
#include "engine/state/publish_sources.h"
#include "engine/words/counters.h"
#include "engine/words/declarations.h"
#include "engine/words/position.h"
#include "engine/words/queue_settings.h"
#include "message/value.h"

#include <boost/intrusive/list_hook.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace revenant::engine {

using WorkHook =
    boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

struct MessageTotals {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    void add(std::uint64_t size) {
        count += 1;
        bytes += size;
    }
    void subtract(std::uint64_t size) {
        count -= 1;
        bytes -= size;
    }
    void add(MessageTotals amount) {
        count += amount.count;
        bytes += amount.bytes;
    }
    void subtract(MessageTotals amount) {
        count -= amount.count;
        bytes -= amount.bytes;
    }
    friend MessageTotals operator+(MessageTotals a, MessageTotals b) {
        return {a.count + b.count, a.bytes + b.bytes};
    }
    friend bool operator==(MessageTotals, MessageTotals) = default;
};

// The first dead letters that arrived in the latest turn that added any, by level. Ephemeral: a
// dead letter that goes directly to a consumer of a classic queue is not a redelivery (DL-155).
struct Arrivals {
    std::uint64_t turn = 0;
    std::vector<Position> first;

    void note(std::uint64_t in_turn, Position position) {
        if (turn != in_turn) {
            turn = in_turn;
            first.clear();
        }
        for (const Position one : first) {
            if (one.level() == position.level()) return;
        }
        first.push_back(position);
    }
    bool contains(std::uint64_t in_turn, Position position) const {
        if (turn != in_turn) return false;
        for (const Position one : first) {
            if (one.level() == position.level()) return position.sequence() >= one.sequence();
        }
        return false;
    }
};

// A dead letter in the outbox that has not reached all its targets.
struct OutboxEntry {
    DeathReason reason = DeathReason::rejected;
    Timestamp died_at;
    std::vector<QueueId> reached;  // targets that have it
};

// What the dead letters of an outbox are waiting for: room in a queue that refused them, or a
// change of the topology. Ephemeral: after a restart all are tried again.
struct OutboxProgress {
    std::map<QueueId, std::set<std::uint64_t>> waiting_for_room;  // by the queue that refused them
    std::uint64_t tried_topology_version = 0;  // the version at the last complete pass
    std::optional<std::uint64_t> pass_at;      // a complete pass continues here
    bool logged = false;                       // that dead letters are waiting
};

// Messages whose bytes cannot be read. Ephemeral: a restart reads them again.
struct ParkedMessages {
    struct Item {
        std::uint64_t messages = 1;
        std::uint64_t bytes = 0;
        std::string why;
    };
    MessageTotals amount;
    std::map<Position, Item> entries;
    std::map<Position, Item> pages;  // by the first number of their block: the entries are unknown
    bool told = false;
};

class Queue final : private ParkingLot {
  public:
    // count_properties: whether a quorum queue counts properties as bytes (DL-143).
    Queue(QueueDeclaration declaration, Paging& paging, bool count_properties = true);

    QueueDeclaration declaration;
    QueueSettings settings;
    AppliedPolicy policy;
    ConnectionId owner;  // of an exclusive queue
    Timestamp last_used;
    BindingGroups bindings;                               // that end at this queue
    QueueConsumers consumers;                             // ephemeral
    std::map<std::uint64_t, OutboxEntry> outbox_entries;  // by sequence number in the outbox
    std::unique_ptr<OutboxProgress> outbox_progress;      // set while the outbox is not empty
    std::unique_ptr<DeathOutcomes> deaths;                // for metrics; created at the first death
    std::unique_ptr<Arrivals> arrivals;  // of a classic queue; created at the first dead letter
    MessageStats stats;
    PublishSources published_from;
    std::set<std::string> logged_cycles;     // one warning per distinct cycle (DL-120)
    std::uint64_t unsettled_deliveries = 0;  // of this queue, on all channels
    std::uint64_t retired_groups = 0;        // of bindings, not freed yet
    bool deleted = false;
    bool awaits_cancelling = false;  // deleted, but not all consumers have been cancelled yet
    bool had_consumer = false;
    Timestamp expiry_timer = never;     // the running timer of x-expires
    WorkHook work_hook;                 // linked while the queue is on the worklist
    bool may_hold_expired = false;      // expired messages may be after the head (ttl-mode: head)
    bool refusing = false;              // a quorum queue that refuses publishes (DL-140)
    std::uint64_t route_mark = 0;       // the last routing pass that found this queue
    Roster<Queue>::Place roster_place;  // released when the queue is deleted

    bool awaits_work() const { return work_hook.is_linked(); }
    // A deleted queue exists while deliveries, bindings or consumers refer to it.
    bool is_referred_to() const {
        return unsettled_deliveries > 0 || retired_groups > 0 || awaits_cancelling;
    }
    const std::string& name() const { return declaration.name; }
    QueueId id() const { return declaration.id; }
    bool is_quorum() const { return declaration.kind == QueueKind::quorum; }
    std::uint64_t ready_count() const { return ready_.count; }
    // Excludes messages that have expired but are not removed yet.
    std::uint64_t ready_count_at(Timestamp now) const;
    std::uint64_t ready_bytes() const { return ready_.bytes; }
    std::uint64_t unacked_count() const { return unacked_.count; }
    std::uint64_t unacked_bytes() const { return unacked_.bytes; }
    MessageTotals delayed() const { return delayed_; }
    MessageTotals outbox() const { return outbox_; }
    MessageTotals parked() const { return parked_ ? parked_->amount : MessageTotals{}; }
    // The messages to which the limits apply (DL-136).
    MessageTotals totals_for_limits() const { return ready_ + delayed_ + outbox_; }
    std::uint64_t message_count() const {
        return ready_.count + unacked_.count + delayed_.count + outbox_.count + parked().count;
    }
    // Messages that a restart would restore.
    MessageTotals persistent_messages() const { return persistent_messages_; }
    // Messages that are not in memory.
    MessageTotals paged_out() const;
    // Approximate memory use including messages; a message is counted in every queue that contains
    // it.
    std::uint64_t memory_bytes() const;
    // The publisher's timestamp of the next message, in seconds. Absent if the message has none or
    // is not in memory.
    std::optional<std::int64_t> head_timestamp();
    // The time of the head message's last death. Absent if it never died or is not in memory.
    std::optional<Timestamp> head_died_at();
    std::uint64_t bytes_of(const Message& message) const;
    std::uint64_t bytes_of(const BlockTotals& sum) const;
    bool counts_properties() const { return count_properties_; }
    // Whether the queue, or a message in it, is restored by a restart.
    bool survives_restart() const { return declaration.durable && !declaration.exclusive; }
    bool persists(const Message& message) const {
        return survives_restart() && (is_quorum() || message.persistent());
    }
    std::size_t level_count() const { return level_count_; }
    // Creates the level on first use; the other functions that read a level do not.
    Chain& level(std::size_t index) { return index == main_level_ ? main_ : other_level(index); }
    // An empty chain if the level was never used.
    const Chain& level(std::size_t index) const {
        return index == main_level_ ? main_ : other_level(index);
    }
    bool has_level(std::size_t index) const { return find_level(index) != nullptr; }
    template <typename Visit>  // visit(index, chain) for levels that were used, lowest first
    void for_each_level(Visit visit) {
        std::as_const(*this).for_each_level([&](std::size_t index, const Chain& chain) {
            visit(index, const_cast<Chain&>(chain));
        });
    }
    template <typename Visit>
    void for_each_level(Visit visit) const {
        if (others_.empty()) return visit(main_level_, main_);
        for (std::size_t index = 0; index < level_count_; ++index) {
            if (const Chain* const found = find_level(index)) visit(index, *found);
        }
    }
    // The levels that consumers are served from: not the delayed messages and the outbox.
    std::size_t served_levels() const { return served_levels_; }
    // The level a message of this priority belongs to.
    std::size_t level_for(std::optional<std::uint8_t> priority) const;
    // The position of the next entry of this level.
    Position next_in(std::size_t index) const {
        return Position::of(index, level(index).next_sequence());
    }

    Position push(std::size_t index, Entry&& entry, Timestamp deadline);
    void push_at(Position position, Entry&& entry, Timestamp deadline);
    // The entry to be delivered or dropped next: highest level, oldest first. Pages it in. Absent
    // although some are ready if too many pages in a row were unreadable for one call.
    std::optional<Position> head();
    Entry& at(Position position) { return level(position.level()).at(position.sequence()); }
    bool contains(Position position) const {
        return level(position.level()).contains(position.sequence());
    }
    // Delayed messages do not expire before they are ready again; outbox entries never do.
    Timestamp deadline(Position position) const;
    void mark_unacked(Position position);
    void mark_ready(Position position);
    Entry take(Position position);
    void set_envelope(Position position, EnvelopeRef envelope) {
        level(position.level()).set_envelope(position.sequence(), std::move(envelope));
    }
    // Moves an entry to another level of a quorum queue, with its deadline.
    void move(Position from, Position to);
    // Moves an entry to the delayed messages.
    void delay(Position from, Position to, Timestamp until);
    void clear();
    // Removes all messages but these, without paging in. Returns how many were removed.
    std::uint64_t purge(const std::vector<Position>& but);
    // Loads properties and body of the message at this position and returns true. If they cannot be
    // read, the message is parked.
    bool load_message(Position position) {
        return at(position).message->is_loaded() || read_or_park(position);
    }
    // A parked message is skipped from now on. It must be ready.
    void park(Position position, std::string why);
    // nullptr if none is parked.
    ParkedMessages* parked_messages() { return parked_.get(); }
    // Removes the parked messages of a whole block. In a replay, where none is parked, removes the
    // persistent messages of the block instead. Returns how many were removed.
    std::uint64_t discard_block(Position first);

    // --- after a restart ---
    void restore(Position first, std::unique_ptr<Block> block);
    void restore(std::size_t index, std::uint64_t number, ColdBlock block);
    const std::map<std::uint64_t, Timestamp>& deadlines_of_delayed() const {
        return deadlines_of_delayed_;
    }
    void restore_delayed(std::uint64_t sequence, Timestamp deadline) {
        deadlines_of_delayed_.emplace(sequence, deadline);
    }

  private:
    const Chain* find_level(std::size_t index) const {
        if (index == main_level_) return &main_;
        return index < others_.size() ? others_[index].get() : nullptr;
    }
    void page_parked(std::size_t index, std::uint64_t block, const ColdBlock& parked,
                     std::string why) override;
    ParkedMessages& parking();
    void forget_parked(Position position);
    bool read_or_park(Position position);
    std::optional<std::size_t> highest_ready_level() const;
    std::optional<Position> peek_head();
    Chain& other_level(std::size_t index);
    const Chain& other_level(std::size_t index) const;
    void put(Chain& chain, Position position, Entry&& entry, Timestamp deadline);
    MessageTotals& amount_at(std::size_t level, EntryState state);
    void note_ready(std::size_t index, const Chain& chain);
    void count_persistent();
    void erase_outbox_entry(std::uint64_t sequence);

    Paging& paging_;
    std::size_t main_level_;  // of messages without a priority
    std::size_t level_count_;
    std::size_t served_levels_;
    Chain main_;
    std::vector<std::unique_ptr<Chain>> others_;  // by index; empty until one is used
    bool count_properties_;
    std::array<std::uint64_t, 4> ready_levels_{};  // one bit per served level with ready entries
    std::map<std::uint64_t, Timestamp> deadlines_of_delayed_;
    MessageTotals ready_;
    MessageTotals unacked_;
    MessageTotals delayed_;
    MessageTotals outbox_;
    MessageTotals persistent_messages_;
    std::unique_ptr<ParkedMessages> parked_;  // set while there are any
};

}  // namespace revenant::engine
