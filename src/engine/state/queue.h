// Queue: its messages in order and its counters. Data without decisions.
//
// A classic queue has one chain per priority. A quorum queue has 32 of them and three more: what
// was returned, served before all others (DL-156); what waits for its next attempt (DL-163); and
// what died and waits for its targets (DL-173). All but the one that messages without a priority go
// to are made when they are first used: most queues never need another.
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

// Messages and their bytes.
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

// Where the dead letters of the latest turn that brought some begin, by level. Ephemeral: a dead
// letter that goes straight to a consumer of a classic queue is not a redelivery (DL-155).
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

// A letter in the outbox: it died, and not all of its targets have it yet.
struct OutboxEntry {
    DeathReason reason = DeathReason::rejected;
    Timestamp died_at;
    std::vector<QueueId> reached;  // the targets that have it
};

// What the letters of an outbox wait for. Those that wait for no queue's room wait for a change of
// the topology. Passing state: after a restart all are tried anew.
struct OutboxProgress {
    std::map<QueueId, std::set<std::uint64_t>> waiting_for_room;  // in a queue that refused them
    std::uint64_t tried_topology_version = 0;  // its version at the last full round
    std::optional<std::uint64_t> pass_at;      // a full round goes on from here
    bool logged = false;                       // that letters wait
};

// Messages whose bytes cannot be read. Not durable: a restart reads them again.
struct ParkedMessages {
    struct Item {
        std::uint64_t messages = 1;
        std::uint64_t bytes = 0;
        std::string why;
    };
    MessageTotals amount;
    std::map<Position, Item> entries;
    std::map<Position, Item> pages;  // by the first number of their block: which entries is unknown
    bool told = false;
};

class Queue final : private ParkingLot {
  public:
    // Of a quorum queue, whether properties count as bytes (DL-143).
    Queue(QueueDeclaration declaration, Paging& paging, bool count_properties = true);

    QueueDeclaration declaration;
    QueueSettings settings;
    AppliedPolicy policy;
    ConnectionId owner;  // of an exclusive queue
    Timestamp last_used;
    BindingGroups bindings;                               // that end at this queue
    QueueConsumers consumers;                             // passing state
    std::map<std::uint64_t, OutboxEntry> outbox_entries;  // of the outbox, by sequence number
    std::unique_ptr<OutboxProgress> outbox_progress;      // set while there are letters
    std::unique_ptr<DeathOutcomes> deaths;                // for metrics, from the first death on
    std::unique_ptr<Arrivals> arrivals;                   // of a classic queue, once it had some
    MessageStats stats;
    PublishSources published_from;
    std::set<std::string> logged_cycles;     // one warning per distinct cycle (DL-120)
    std::uint64_t unsettled_deliveries = 0;  // that wait on some channel for their settlement
    std::uint64_t retired_groups = 0;        // of bindings, that are not freed yet
    bool deleted = false;
    bool awaits_cancelling = false;  // deleted, but not all its consumers are told yet
    bool had_consumer = false;
    Timestamp expiry_timer = never;     // of x-expires, while one is running
    WorkHook work_hook;                 // on the worklist while it has work waiting
    bool may_hold_expired = false;      // expired ones may stand behind the head (ttl-mode: head)
    bool refusing = false;              // a quorum queue that told its publishers to stop (DL-140)
    std::uint64_t route_mark = 0;       // the routing pass that found this queue already
    Roster<Queue>::Place roster_place;  // given back when it is deleted

    bool awaits_work() const { return work_hook.is_linked(); }
    // By deliveries, bindings or consumers: a deleted queue lives on for them.
    bool is_referred_to() const {
        return unsettled_deliveries > 0 || retired_groups > 0 || awaits_cancelling;
    }
    const std::string& name() const { return declaration.name; }
    QueueId id() const { return declaration.id; }
    bool is_quorum() const { return declaration.kind == QueueKind::quorum; }
    std::uint64_t ready_count() const { return ready_.count; }
    // Without those that have expired by now and are still to be removed.
    std::uint64_t ready_count_at(Timestamp now) const;
    std::uint64_t ready_bytes() const { return ready_.bytes; }
    std::uint64_t unacked_count() const { return unacked_.count; }
    std::uint64_t unacked_bytes() const { return unacked_.bytes; }
    MessageTotals delayed() const { return delayed_; }
    MessageTotals outbox() const { return outbox_; }
    MessageTotals parked() const { return parked_ ? parked_->amount : MessageTotals{}; }
    // What the limits are about (DL-136).
    MessageTotals totals_for_limits() const { return ready_ + delayed_ + outbox_; }
    std::uint64_t message_count() const {
        return ready_.count + unacked_.count + delayed_.count + outbox_.count + parked().count;
    }
    // Of all messages, those that a restart would bring back.
    MessageTotals persistent_messages() const { return persistent_messages_; }
    // Of all messages, those that are not in memory.
    MessageTotals paged_out() const;
    // About what it takes in memory with its messages; each is counted in every queue it is in.
    std::uint64_t memory_bytes() const;
    // The timestamp of its publisher on the message that is next, in seconds. Nothing if it has
    // none, or is not at hand.
    std::optional<std::int64_t> head_timestamp();
    // When the message at the head died last; none if it never did, or if it is not in memory.
    std::optional<Timestamp> head_died_at();
    std::uint64_t bytes_of(const Message& message) const;
    std::uint64_t bytes_of(const BlockTotals& sum) const;
    bool counts_properties() const { return count_properties_; }
    // Whether a restart finds it again: a durable queue, and a message that is to survive in it.
    bool survives_restart() const { return declaration.durable && !declaration.exclusive; }
    bool persists(const Message& message) const {
        return survives_restart() && (is_quorum() || message.persistent());
    }
    std::size_t level_count() const { return level_count_; }
    // Creates the level on first use; the other functions that look at a level do not.
    Chain& level(std::size_t index) { return index == main_level_ ? main_ : other_level(index); }
    // An empty one if it was never used.
    const Chain& level(std::size_t index) const {
        return index == main_level_ ? main_ : other_level(index);
    }
    bool has_level(std::size_t index) const { return find_level(index) != nullptr; }
    template <typename Visit>  // visit(index, chain) of those that were ever used, the lowest first
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
    // The levels consumers are served from: not those of delayed ones and of the outbox.
    std::size_t served_levels() const { return served_levels_; }
    // The level a message of this priority belongs to.
    std::size_t level_for(std::optional<std::uint8_t> priority) const;
    // Where the next entry of this level will stand.
    Position next_in(std::size_t index) const {
        return Position::of(index, level(index).next_sequence());
    }

    Position push(std::size_t index, Entry&& entry, Timestamp deadline);
    void push_at(Position position, Entry&& entry, Timestamp deadline);
    // The entry that is delivered or dropped next: highest level, oldest first. Brings it back into
    // memory. None though some are ready: so many pages could not be read that others come first.
    std::optional<Position> head();
    Entry& at(Position position) { return level(position.level()).at(position.sequence()); }
    bool contains(Position position) const {
        return level(position.level()).contains(position.sequence());
    }
    // When it expires. What is delayed does not expire before it is ready again, what died never.
    Timestamp deadline(Position position) const;
    void mark_unacked(Position position);
    void mark_ready(Position position);
    Entry take(Position position);
    void set_envelope(Position position, EnvelopeRef envelope) {
        level(position.level()).set_envelope(position.sequence(), std::move(envelope));
    }
    // To another level of a quorum queue, with its deadline.
    void move(Position from, Position to);
    // To the delayed ones until then.
    void delay(Position from, Position to, Timestamp until);
    void clear();
    // Everything but these, without bringing back what is out of memory; how many went.
    std::uint64_t purge(const std::vector<Position>& but);
    // Whether the message at this position has its properties and body now. If they cannot be
    // read it is parked.
    bool load_message(Position position) {
        return at(position).message->is_loaded() || read_or_park(position);
    }
    // A ready entry that cannot be read is skipped from now on.
    void park(Position position, std::string why);
    // Nothing if none is parked.
    ParkedMessages* parked_messages() { return parked_.get(); }
    // Removes what is parked of a block as a whole. Where nothing is, as in a replay: what would
    // have been, which is all of it that survives a restart. How many went.
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
    std::size_t main_level_;  // where a message without a priority belongs
    std::size_t level_count_;
    std::size_t served_levels_;
    Chain main_;
    std::vector<std::unique_ptr<Chain>> others_;  // by their index; empty while none was used
    bool count_properties_;
    std::array<std::uint64_t, 4> ready_levels_{};  // a bit per served level with something ready
    std::map<std::uint64_t, Timestamp> deadlines_of_delayed_;
    MessageTotals ready_;
    MessageTotals unacked_;
    MessageTotals delayed_;
    MessageTotals outbox_;
    MessageTotals persistent_messages_;
    std::unique_ptr<ParkedMessages> parked_;  // while there are any
};

}  // namespace revenant::engine
