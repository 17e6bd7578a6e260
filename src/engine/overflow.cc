#include "engine/overflow.h"

#include "base/probe.h"
#include "engine/dead_letter.h"
#include "engine/dispatch.h"

#include <vector>

namespace revenant::engine {
namespace {

bool exceeds(const std::optional<std::int64_t>& limit, std::uint64_t amount) {
    return limit && amount > static_cast<std::uint64_t>(*limit);
}

bool over_limit(const Queue& queue) {
    return exceeds(queue.settings.max_length, queue.ready_count()) ||
           exceeds(queue.settings.max_length_bytes, queue.ready_bytes());
}

bool has_no_room_for(const Queue& queue, std::uint64_t body_size) {
    return exceeds(queue.settings.max_length, queue.ready_count() + 1) ||
           exceeds(queue.settings.max_length_bytes, queue.ready_bytes() + body_size);
}

}  // namespace

bool refuses_publish(Turn& turn, Queue& queue, std::uint64_t body_size) {
    if (queue.settings.overflow == Overflow::drop_head) return false;
    if (!has_no_room_for(queue, body_size)) return false;
    if (!queue.dirty) return true;
    PROBE("overflow.serve_before_refusing");
    dispatch(turn, queue);
    return has_no_room_for(queue, body_size);
}

void keep_limits(Turn& turn, Queue& queue) {
    // A refusing queue may stand above its limit after a requeue (DL-142); nothing is dropped then.
    if (queue.settings.overflow != Overflow::drop_head) return;
    while (over_limit(queue)) {
        const auto head = queue.head();
        if (!head) return;
        die(turn, queue, {&*head, 1}, DeathReason::maxlen);
    }
}

}  // namespace revenant::engine
