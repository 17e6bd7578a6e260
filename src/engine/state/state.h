// State: the durable state — exchanges, queues, bindings, messages. Only State::apply changes it.
// It decides nothing: the same events always result in the same state.
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

    // Fast paths for the most frequent events. They have the same effect as apply().
    Position enqueue(Queue& queue, MessageRef message, EnvelopeRef envelope, Timestamp deadline);
    Entry remove(Queue& queue, Position position, Ending ending);
    void requeue_entry(Queue& queue, Position position, Position to, DeliveryCounts counts);

    Exchange* find_exchange(std::string_view name);
    Queue* find_queue(std::string_view name);
    Queue* find_queue(QueueId id);
    // Empty if there is no such queue or exchange.
    Destination find_destination(DestinationKind kind, std::string_view name);
    // A queue that was deleted while deliveries were unsettled still exists, without messages.
    // Frees it, unless bindings refer to it.
    void release_deleted_queue(Queue& queue);
    // Bindings of deleted queues and exchanges have no effect and are freed one by one.
    bool has_retired_bindings() const { return !retired_.empty(); }
    void free_retired_binding();
    void free_retired_bindings() {
        while (has_retired_bindings()) free_retired_binding();
    }
    QueueId next_queue_id() const { return {last_queue_id_ + 1}; }
    // Changes whenever routing may have a different result.
    std::uint64_t topology_version() const { return topology_version_; }
    Deadlines& deadlines() { return deadlines_; }
    Timestamp deadlines_next() const { return deadlines_.next(); }
    const EntryCounters& accounts() const { return accounts_; }
    Traffic& traffic() { return traffic_; }
    std::size_t queue_count() const { return queues_by_id_.size(); }
    std::size_t exchange_count() const { return exchanges_.size(); }
    std::uint64_t route_pass() { return ++route_pass_; }

    // Which part of the state is in memory.
    Paging& paging() { return paging_; }
    // Loads the message of a stub. The error says why it cannot be read.
    Result<MessageRef, std::string> load(const Message& stub) const;
    // Like load(), for a message that may be loaded already.
    Result<MessageRef, std::string> loaded(const MessageRef& message) const {
        return message->is_loaded() ? message : load(*message);
    }

    const PolicyTable& policies() const { return policies_; }
    Compatibility compatibility() const { return compatibility_; }
    // After a change of policies, the settings of queues are updated one by one.
    bool has_unconfigured() const { return !unconfigured_.empty(); }
    // Updates the next queue and returns it if its settings have changed.
    Queue* configure_next();
    void configure_rest() {
        while (has_unconfigured()) configure_next();
    }
    // Queues whose outbox is not empty.
    const std::set<QueueId>& queues_with_outbox() const { return queues_with_outbox_; }

    std::vector<Queue*> queues_by_name();  // sorted
    template <typename Visit>              // unordered: for totals only
    void for_each_queue(Visit visit) const {
        for (const auto& [name, queue] : queues_) visit(*queue);
    }
    std::vector<Exchange*> exchanges_by_name();  // sorted
    // For walks in portions.
    const Roster<Queue>& queues() const { return queue_roster_; }
    const Roster<Exchange>& exchanges() const { return exchange_roster_; }
    const Roster<Binding>& bindings() const { return binding_roster_; }

    // Sets or moves the timer of the block that contains this position.
    void schedule_block(Queue& queue, Position position);
    // Sets the timer of an expiring queue, unless one is running that is early enough.
    void schedule_expiry(Queue& queue);

    // --- after a restart, from a snapshot ---
    void restore_queue(QueueDeclaration declaration, bool count_properties);
    void restore_outbox_entry(Queue& queue, std::uint64_t sequence, OutboxEntry letter);
    // After a crash it is unknown which messages were delivered.
    void mark_all_redelivered();
    // Called when a queue is restored: starts its timers and updates the totals.
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
    // The groups of deleted queues and exchanges, in the order in which they are freed, and the
    // exchanges to which they refer.
    std::deque<std::unique_ptr<BindingGroup>> retired_;
    std::vector<std::unique_ptr<Exchange>> deleted_exchanges_;
    Deadlines deadlines_;
    std::size_t deadlines_sweep_at_ = 0;  // the size that triggers a sweep of stale items
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
