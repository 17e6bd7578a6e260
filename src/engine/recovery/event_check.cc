#include "engine/recovery/event_check.h"

#include <algorithm>
#include <variant>
#include <vector>

namespace revenant::engine {
namespace {

// The range of a Position, minus a reserve.
constexpr std::uint64_t sequences_max = (std::uint64_t{1} << 48) - 1024 * block_entries;

class FactCheck {
  public:
    FactCheck(State& state, std::uint64_t gap_max) : state_(state), gap_max_(gap_max) {}

    bool operator()(const ExchangeDeclared& fact) const {
        return state_.find_exchange(fact.exchange.name) == nullptr;
    }
    bool operator()(const ExchangeDeleted& fact) const {
        return state_.find_exchange(fact.name) != nullptr;
    }
    bool operator()(const QueueDeclared& fact) const { return can_apply(state_, fact.queue); }
    bool operator()(const QueueDeleted& fact) const {
        return state_.find_queue(fact.queue) != nullptr;
    }
    bool operator()(const Purged& fact) const { return state_.find_queue(fact.queue) != nullptr; }
    bool operator()(const Bound& fact) const {
        const Exchange* const source = state_.find_exchange(fact.source);
        const Destination to = state_.find_destination(fact.destination_kind, fact.destination);
        return source != nullptr && to.exists() &&
               source->find_binding(to, fact.routing_key, fact.arguments) == nullptr;
    }
    bool operator()(const Unbound& fact) const {
        const Exchange* const source = state_.find_exchange(fact.source);
        const Destination to = state_.find_destination(fact.destination_kind, fact.destination);
        return source != nullptr &&
               source->find_binding(to, fact.routing_key, fact.arguments) != nullptr;
    }
    bool operator()(const Enqueued& fact) const {
        return fact.message && is_free(fact.placement.queue, fact.placement.position);
    }
    bool operator()(const Removed& fact) const { return is_taken(fact.queue, fact.position); }
    bool operator()(const Requeued& fact) const {
        return is_taken(fact.queue, fact.position) &&
               (fact.to == fact.position || is_free(fact.queue, fact.to));
    }
    bool operator()(const Delayed& fact) const {
        return is_taken(fact.queue, fact.position) && is_free(fact.queue, fact.to, delayed_level);
    }
    bool operator()(const DelayEnded& fact) const {
        return is_taken(fact.queue, fact.position) && is_free(fact.queue, fact.to);
    }
    bool operator()(const DeadLettered& fact) const {
        return is_taken(fact.source, fact.position) && are_free(fact.targets);
    }
    bool operator()(const RefusedAndDeadLettered& fact) const {
        return fact.message && are_free(fact.targets);
    }
    bool operator()(const MovedToOutbox& fact) const {
        return is_taken(fact.queue, fact.position) && is_free(fact.queue, fact.to, outbox_level);
    }
    bool operator()(const ForwardedFromOutbox& fact) const {
        if (fact.position.level() != outbox_level || !is_taken(fact.queue, fact.position)) {
            return false;
        }
        return state_.find_queue(fact.queue)->outbox_entries.contains(fact.position.sequence()) &&
               are_free(fact.targets);
    }
    bool operator()(const PolicySet&) const { return true; }
    bool operator()(const PolicyCleared&) const { return true; }
    bool operator()(const CompatibilitySet&) const { return true; }
    bool operator()(const Annotated& fact) const {
        return fact.envelope && is_taken(fact.queue, fact.position);
    }
    bool operator()(const BlockDiscarded& fact) const {
        const Queue* const queue = state_.find_queue(fact.queue);
        return queue != nullptr && fact.first.level() < queue->served_levels() &&
               fact.first.sequence() % block_entries == 0;
    }

  private:
    bool is_taken(QueueId id, Position position) const {
        const Queue* const queue = state_.find_queue(id);
        return queue != nullptr && queue->contains(position);
    }
    // Whether the position is free, on a level that consumers are served from.
    bool is_free(QueueId id, Position position) const {
        const Queue* const queue = state_.find_queue(id);
        return queue != nullptr && position.level() < queue->served_levels() &&
               is_behind(queue->level(position.level()), position.sequence());
    }
    // Whether the position is free, on a level that only quorum queues have.
    bool is_free(QueueId id, Position position, std::size_t level) const {
        const Queue* const queue = state_.find_queue(id);
        return queue != nullptr && queue->is_quorum() && position.level() == level &&
               is_behind(queue->level(level), position.sequence());
    }
    bool is_behind(const Chain& chain, std::uint64_t sequence) const {
        if (sequence < chain.lowest_free() || sequence >= sequences_max) return false;
        // The first entry of a chain leaves no gap, regardless of its number.
        return chain.live_count() == 0 || Chain::block_of(sequence) <= chain.end_block() + gap_max_;
    }
    // Whether all positions are free; a dead letter reaches a queue only once.
    bool are_free(const std::vector<Placement>& placements) const {
        std::vector<QueueId> queues;
        for (const Placement& placement : placements) {
            if (!is_free(placement.queue, placement.position)) return false;
            queues.push_back(placement.queue);
        }
        std::sort(queues.begin(), queues.end());
        return std::adjacent_find(queues.begin(), queues.end()) == queues.end();
    }

    State& state_;
    const std::uint64_t gap_max_;
};

}  // namespace

bool can_apply(State& state, const Event& fact, std::uint64_t gap_max) {
    return std::visit(FactCheck(state, gap_max), fact);
}

bool can_apply(State& state, const QueueDeclaration& declaration) {
    return state.find_queue(declaration.id) == nullptr &&
           state.find_queue(declaration.name) == nullptr;
}

bool can_follow(const Chain& chain, std::uint64_t block, std::uint64_t gap_max) {
    if (block < chain.end_block() || block >= Chain::block_of(sequences_max)) return false;
    return chain.live_count() == 0 || block - chain.end_block() <= gap_max;
}

bool is_sequence(std::uint64_t number) { return number <= sequences_max; }

}  // namespace revenant::engine
