#include "engine/expiry.h"

#include "base/probe.h"
#include "engine/dead_letter.h"
#include "engine/topology.h"

#include <algorithm>
#include <vector>

namespace revenant::engine {
namespace {

void expire_block(Turn& turn, const Deadlines::Item& item) {
    Queue* const queue = turn.state().find_queue(item.queue);
    if (queue == nullptr) return;
    Chain& chain = queue->level(item.level);
    if (chain.scheduled(item.block) != item.at) return;  // an earlier timer took its place
    std::vector<std::uint64_t> due;
    chain.due_entries(item.block, turn.now(), due);
    chain.set_scheduled(item.block, never);
    std::vector<Position> positions;
    positions.reserve(due.size());
    for (const std::uint64_t sequence : due)
        positions.push_back(Position::of(item.level, sequence));
    if (!positions.empty()) die(turn, *queue, positions, DeathReason::expired);
    turn.state().schedule_block(*queue,
                                Position::of(item.level, item.block * Chain::block_entries));
}

void expire_queue(Turn& turn, const Deadlines::Item& item) {
    Queue* const queue = turn.state().find_queue(item.queue);
    if (queue == nullptr) return;
    queue->expiry_scheduled = false;
    // The last consumer that leaves starts the period anew.
    if (!queue->settings.expires_ms || !queue->consumers.empty()) return;
    if (queue->last_used + milliseconds(*queue->settings.expires_ms) > turn.now()) {
        turn.state().schedule_expiry(*queue);  // it was used since
        return;
    }
    PROBE("expiry.queue");
    remove_queue(turn, *queue);
}

}  // namespace

void expire_due(Turn& turn) {
    Deadlines& deadlines = turn.state().deadlines();
    // Not what comes up on the way: a message that expires into a queue whose time-to-live is zero
    // is offered to the consumers there before it expires again (DL-126).
    const std::uint64_t newest = deadlines.newest();
    while (const auto item = deadlines.pop_due(turn.now(), newest)) {
        if (item->kind == Deadlines::Kind::message_block) {
            expire_block(turn, *item);
        } else {
            expire_queue(turn, *item);
        }
    }
}

Timestamp deadline_for(const Turn& turn, const Queue& queue,
                       std::optional<std::int64_t> message_ttl_ms) {
    std::optional<std::int64_t> ttl_ms = queue.settings.message_ttl_ms;
    if (message_ttl_ms) ttl_ms = ttl_ms ? std::min(*ttl_ms, *message_ttl_ms) : *message_ttl_ms;
    return ttl_ms ? turn.now() + milliseconds(*ttl_ms) : never;
}

}  // namespace revenant::engine
