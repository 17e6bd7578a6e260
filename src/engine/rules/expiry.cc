#include "engine/rules/expiry.h"

#include "base/probe.h"
#include "engine/rules/dead_letter.h"
#include "engine/rules/topology.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace revenant::engine {
namespace {

// Due messages of one queue, collected from its blocks.
struct DueInQueue {
    QueueId queue;
    std::vector<Position> positions;
};
struct Due {
    std::vector<DueInQueue> queues;
    std::size_t count = 0;
};
// The maximum number of queues collected at a time, because each block is searched among them.
constexpr std::size_t gathered_queues_max = 64;

std::vector<Position>& positions_of(Due& due, QueueId queue) {
    for (DueInQueue& one : due.queues) {
        if (one.queue == queue) return one.positions;
    }
    return due.queues.emplace_back(DueInQueue{queue, {}}).positions;
}

// Requeued messages first, then by priority, oldest first (DL-129, DL-133).
bool dies_before(Position a, Position b) {
    return a.level() != b.level() ? a.level() > b.level() : a.sequence() < b.sequence();
}

// Expires as many as the portion allows; a timer is set for the rest.
void expire(Turn& turn, Queue& queue, std::span<const Position> positions) {
    constexpr std::size_t at_once = 128;
    while (!positions.empty() && !turn.portion().is_used_up()) {
        const std::size_t count =
            std::min({at_once, positions.size(), turn.portion().steps_left()});
        handle_deaths(turn, queue, positions.first(count), DeathReason::expired);
        positions = positions.subspan(count);
    }
    for (const Position position : positions) {
        queue.level(position.level()).look_again(Chain::block_of(position.sequence()), turn.now());
        turn.state().schedule_block(queue, position);
    }
    // Consumers may be waiting for later messages.
    if (turn.worklist().expiry_is_behind && queue.ready_count() > 0) turn.touch_later(queue);
}

void expire_collected(Turn& turn, Due& due) {
    for (DueInQueue& one : std::exchange(due, {}).queues) {
        Queue* const queue = turn.state().find_queue(one.queue);
        if (queue == nullptr || one.positions.empty()) continue;
        if (!std::is_sorted(one.positions.begin(), one.positions.end(), dies_before)) {
            std::sort(one.positions.begin(), one.positions.end(), dies_before);
        }
        expire(turn, *queue, one.positions);
    }
}

// Delayed messages join the requeued ones, in the order of their times (DL-163).
void end_delays(Turn& turn, Queue& queue, const std::vector<std::uint64_t>& due) {
    std::vector<std::pair<Timestamp, Position>> order;
    for (const std::uint64_t sequence : due) {
        order.emplace_back(queue.level(delayed_level).deadline(sequence),
                           Position::of(delayed_level, sequence));
    }
    std::sort(order.begin(), order.end());
    for (const auto& [until, position] : order) {
        const bool late = queue.deadline(position) <= turn.now();
        if (late && queue.settings.ttl_mode == TtlMode::exact) {
            PROBE("expiry.while_delayed");
            handle_deaths(turn, queue, {&position, 1}, DeathReason::expired);
        } else {
            turn.emit(DelayEnded{queue.id(), position, queue.next_in(requeued_level)});
        }
    }
    turn.add_to_worklist(queue);
}

void collect_due(Turn& turn, const Deadlines::Item& item, Due& due) {
    Queue* const queue = turn.state().find_queue(item.queue);
    if (queue == nullptr) return;
    Chain& chain = queue->level(item.level);
    if (chain.scheduled(item.block) != item.at) return;  // replaced by an earlier timer
    std::vector<std::uint64_t> sequences;
    chain.due_entries(item.block, turn.now(), turn.portion().steps_left(), sequences);
    chain.set_scheduled(item.block, never);
    if (sequences.empty()) turn.portion().spend(1);
    if (queue->is_quorum() && item.level == delayed_level) {
        end_delays(turn, *queue, sequences);
        turn.portion().spend(sequences.size());
    } else if (queue->settings.ttl_mode == TtlMode::head) {
        queue->may_hold_expired = true;
        turn.add_to_worklist(*queue);  // its heads are checked before the turn ends
    } else {
        std::vector<Position>& positions = positions_of(due, queue->id());
        for (const std::uint64_t sequence : sequences) {
            positions.push_back(Position::of(item.level, sequence));
        }
        due.count += sequences.size();
    }
    turn.state().schedule_block(*queue, Position::of(item.level, item.block * block_entries));
}

void expire_queue(Turn& turn, const Deadlines::Item& item) {
    Queue* const queue = turn.state().find_queue(item.queue);
    if (queue == nullptr) return;
    if (item.at != queue->expiry_timer) return;  // replaced by an earlier timer
    queue->expiry_timer = never;
    // The period starts again when the last consumer leaves.
    if (!queue->settings.expires_ms || !queue->consumers.empty()) return;
    if (queue->last_used + milliseconds(*queue->settings.expires_ms) > turn.now()) {
        turn.state().schedule_expiry(*queue);  // used in the meantime
        return;
    }
    PROBE("expiry.queue");
    turn.portion().spend(4);
    remove_queue(turn, *queue);
}

}  // namespace

void expire_due(Turn& turn) {
    Deadlines& deadlines = turn.state().deadlines();
    // Without items added on the way: a message that expires into a queue with a TTL of zero is
    // offered to the consumers there before it expires again (DL-126).
    const std::uint64_t newest = deadlines.newest();
    Due due;
    while (!turn.portion().is_used_up()) {
        const auto item = deadlines.pop_due(turn.now(), newest);
        if (!item) break;
        if (item->kind == Deadlines::Kind::message_block) {
            collect_due(turn, *item, due);
            if (due.count < turn.portion().steps_left() && due.queues.size() < gathered_queues_max)
                continue;
        }
        expire_collected(turn, due);
        if (item->kind == Deadlines::Kind::queue_expiry) expire_queue(turn, *item);
    }
    expire_collected(turn, due);
    if (turn.portion().is_used_up()) PROBE("expiry.in_portions");
}

namespace {

// A quorum queue takes the expired prefix of every level; a classic one continues with a lower
// priority only after it has emptied the higher one (DL-129, DL-130).
std::vector<Position> find_due_at_heads(Turn& turn, Queue& queue, std::size_t count_max) {
    std::vector<Position> positions;
    std::vector<std::uint64_t> sequences;
    for (std::size_t level = queue.served_levels(); level-- > 0;) {
        if (!queue.has_level(level)) continue;
        sequences.clear();
        queue.level(level).due_at_head(turn.now(), count_max - positions.size(), sequences);
        for (const std::uint64_t sequence : sequences) {
            positions.push_back(Position::of(level, sequence));
        }
        if (!queue.is_quorum() && sequences.size() < queue.level(level).ready_count()) break;
    }
    return positions;
}

}  // namespace

void expire_heads(Turn& turn, Queue& queue) {
    for (;;) {
        constexpr std::size_t at_once = 128;
        const std::vector<Position> positions = find_due_at_heads(turn, queue, at_once);
        if (positions.empty()) return;
        if (turn.portion().is_used_up()) {
            PROBE("expiry.heads_in_portions");
            turn.touch_later(queue);
            return;
        }
        handle_deaths(turn, queue, positions, DeathReason::expired);
        if (positions.size() < at_once) return;
    }
}

std::uint64_t due_at_heads(Turn& turn, Queue& queue) {
    return find_due_at_heads(turn, queue, turn.portion().steps_left()).size();
}

void expire_overdue(Turn& turn, Queue& queue) {
    if (!queue.may_hold_expired || queue.settings.ttl_mode == TtlMode::head) return;
    PROBE("expiry.overdue");
    queue.may_hold_expired = false;
    for (std::size_t level = queue.served_levels(); level-- > 0;) {
        if (!queue.has_level(level)) continue;
        Chain& chain = queue.level(level);
        for (std::uint64_t number = chain.first_block(); number < chain.end_block(); ++number) {
            chain.look_again(number, turn.now());
            turn.state().schedule_block(queue, Position::of(level, number * block_entries));
        }
    }
    expire_due(turn);
}

Timestamp deadline_for(const Turn& turn, const Queue& queue,
                       std::optional<std::int64_t> message_ttl_ms) {
    std::optional<std::int64_t> ttl_ms = queue.settings.message_ttl_ms;
    if (message_ttl_ms) ttl_ms = ttl_ms ? std::min(*ttl_ms, *message_ttl_ms) : *message_ttl_ms;
    if (!ttl_ms) return never;
    // A quorum queue keeps a message with a TTL of zero for a millisecond (DL-126).
    return turn.now() +
           milliseconds(queue.is_quorum() ? std::max<std::int64_t>(*ttl_ms, 1) : *ttl_ms);
}

}  // namespace revenant::engine
