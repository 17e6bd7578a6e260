// State: what survives a restart — exchanges, queues, bindings, messages. State::apply is the only
// code that changes it, and it decides nothing: the same events always give the same state.
#pragma once

#include "base/ids.h"
#include "base/roster.h"
#include "engine/chain/paging.h"
#include "engine/state/deadlines.h"
#include "engine/state/exchange.h"
#include "engine/state/queue.h"
#include "engine/state/string_map.h"
#include "engine/words/counters.h"
#include "engine/words/event.h"
#include "engine/words/policy.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace revenant::engine {

class State {
  public:
    State();

    void apply(const Event& event);

    // The doors for what passes by the million; apply() of the same event comes here too.
    Position enqueue(Queue& queue, MessageRef message, EnvelopeRef envelope, Timestamp deadline);
    Entry remove(Queue& queue, Position position, Ending ending);
    void requeue_entry(Queue& queue, Position position, Position to, DeliveryCounts counts);

    Exchange* find_exchange(std::string_view name);
    Queue* find_queue(std::string_view name);
    Queue* find_queue(QueueId id);
    // With neither set if there is none of this name.
    Destination find_destination(DestinationKind kind, std::string_view name);
    // A queue that was deleted while deliveries of it were unsettled lives on without its messages.
    // Frees it, unless bindings still refer to it.
    void release_deleted_queue(Queue& queue);
    // Bindings of a deleted queue or exchange, which no longer have an effect, are freed one by
    // one.
    bool has_retired_bindings() const { return !retired_.empty(); }
    void free_retired_binding();
    void free_retired_bindings() {
        while (has_retired_bindings()) free_retired_binding();
    }
    QueueId next_queue_id() const { return {last_queue_id_ + 1}; }
    // Changes whenever routing may give another result.
    std::uint64_t topology_version() const { return topology_version_; }
    Deadlines& deadlines() { return deadlines_; }
    Timestamp deadlines_next() const { return deadlines_.next(); }
    const EntryCounters& accounts() const { return accounts_; }
    Traffic& traffic() { return traffic_; }
    std::size_t queue_count() const { return queues_by_id_.size(); }
    std::size_t exchange_count() const { return exchanges_.size(); }
    std::uint64_t route_pass() { return ++route_pass_; }

    // What of all this is in memory.
    Paging& paging() { return paging_; }
    // The message a stub stands for, or why it cannot be read.
    Result<MessageRef, std::string> load(const Message& stub) const;
    // The same for any message.
    Result<MessageRef, std::string> loaded(const MessageRef& message) const {
        return message->is_loaded() ? message : load(*message);
    }

    const PolicyTable& policies() const { return policies_; }
    Compatibility compatibility() const { return compatibility_; }
    // After a change of policies the settings of queues follow one by one.
    bool has_unconfigured() const { return !unconfigured_.empty(); }
    // The next of them, if its settings are others now.
    Queue* configure_next();
    void configure_rest() {
        while (has_unconfigured()) configure_next();
    }
    // The queues with letters in their outbox.
    const std::set<QueueId>& queues_with_outbox() const { return queues_with_outbox_; }

    std::vector<Queue*> queues_by_name();  // sorted
    template <typename Visit>              // in no order: for sums and counters only
    void for_each_queue(Visit visit) const {
        for (const auto& [name, queue] : queues_) visit(*queue);
    }
    std::vector<Exchange*> exchanges_by_name();  // sorted
    // For walks in portions.
    const Roster<Queue>& queues() const { return queue_roster_; }
    const Roster<Exchange>& exchanges() const { return exchange_roster_; }
    const Roster<Binding>& bindings() const { return binding_roster_; }

    // Sets or moves the timer of the block that holds this position.
    void schedule_block(Queue& queue, Position position);
    // Sets the timer of a queue that expires, unless one runs that will look in time.
    void schedule_expiry(Queue& queue);

    // --- after a restart, from a snapshot ---
    void restore_queue(QueueDeclaration declaration, bool count_properties);
    void restore_outbox_entry(Queue& queue, std::uint64_t sequence, OutboxEntry letter);
    // After a crash nobody knows what consumers have seen.
    void mark_all_redelivered();
    // A queue is complete: its timers run, its messages count.
    void finish_restore(Queue& queue);
    void restore_last_queue_id(std::uint64_t id) { last_queue_id_ = std::max(last_queue_id_, id); }
    std::uint64_t last_queue_id() const { return last_queue_id_; }

  private:
    void apply_one(const ExchangeDeclared& event);
    void apply_one(const ExchangeDeleted& event);
    void apply_one(const QueueDeclared& event);
    void apply_one(const QueueDeleted& event);
    void apply_one(const Purged& event);
    void apply_one(const Bound& event);
    void apply_one(const Unbound& event);
    void apply_one(const Enqueued& event);
    void apply_one(const Removed& event);
    void apply_one(const Requeued& event);
    void apply_one(const Delayed& event);
    void apply_one(const DelayEnded& event);
    void apply_one(const Annotated& event);
    void apply_one(const DeadLettered& event);
    void apply_one(const RefusedAndDeadLettered& event);
    void apply_one(const MovedToOutbox& event);
    void apply_one(const ForwardedFromOutbox& event);
    void apply_one(const PolicySet& event);
    void apply_one(const PolicyCleared& event);
    void apply_one(const CompatibilitySet& event);
    void apply_one(const BlockDiscarded& event);
    void configure(Queue& queue);
    void configure(Exchange& exchange);
    void configure_all();

    void add_deadline(const Deadlines::Item& item);
    bool is_stale(const Deadlines::Item& item);
    void place(const Placement& placement, MessageRef message, EnvelopeRef envelope);
    void retire_bindings_to(BindingGroups& groups);
    void retire_bindings_from(Exchange& source);
    void retire(std::unique_ptr<BindingGroup> group);

    Paging paging_;  // outlives the queues
    Roster<Queue> queue_roster_;
    Roster<Exchange> exchange_roster_;
    Roster<Binding> binding_roster_;
    StringMap<std::unique_ptr<Exchange>> exchanges_;
    StringMap<Queue*> queues_;
    boost::unordered_flat_map<QueueId, std::unique_ptr<Queue>> queues_by_id_;
    boost::unordered_flat_map<const Queue*, std::unique_ptr<Queue>> deleted_queues_;
    // Of deleted queues and exchanges, in the order they are freed; and the exchanges that these
    // refer to.
    std::deque<std::unique_ptr<BindingGroup>> retired_;
    std::vector<std::unique_ptr<Exchange>> deleted_exchanges_;
    Deadlines deadlines_;
    std::size_t deadlines_sweep_at_ = 0;  // the size at which stale ones are looked for
    PolicyTable policies_;
    Compatibility compatibility_ = Compatibility::v4_3;
    std::vector<QueueId> unconfigured_;  // the next one last
    std::set<QueueId> queues_with_outbox_;
    EntryCounters accounts_;
    Traffic traffic_;
    std::uint64_t last_queue_id_ = 0;
    std::uint64_t topology_version_ = 1;
    std::uint64_t route_pass_ = 0;
};

}  // namespace revenant::engine
