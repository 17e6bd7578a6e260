#include "engine/rules/overflow.h"

#include "base/probe.h"
#include "engine/rules/dead_letter.h"
#include "engine/rules/dispatch.h"

#include <vector>

namespace revenant::engine {
namespace {

bool exceeds(const std::optional<std::int64_t>& limit, std::uint64_t amount) {
    return limit && amount > static_cast<std::uint64_t>(*limit);
}

bool over_limit(const Queue& queue) {
    const MessageTotals amount = queue.totals_for_limits();
    return exceeds(queue.settings.max_length, amount.count) ||
           exceeds(queue.settings.max_length_bytes, amount.bytes);
}

bool would_exceed_limit(const Queue& queue, const Message& message) {
    const MessageTotals amount = queue.totals_for_limits();
    return exceeds(queue.settings.max_length, amount.count + 1) ||
           exceeds(queue.settings.max_length_bytes, amount.bytes + queue.bytes_of(message));
}

// A quorum queue accepts publishes again at four fifths of its limits (DL-140).
bool is_below_resume_limit(const Queue& queue) {
    const auto above = [](const std::optional<std::int64_t>& limit, std::uint64_t amount) {
        return limit && amount > static_cast<std::uint64_t>(*limit) / 5 * 4 +
                                     static_cast<std::uint64_t>(*limit) % 5 * 4 / 5;
    };
    const MessageTotals amount = queue.totals_for_limits();
    return !above(queue.settings.max_length, amount.count) &&
           !above(queue.settings.max_length_bytes, amount.bytes);
}

// Waiting consumers are served with earlier messages before a message is refused.
bool quorum_refuses(Turn& turn, Queue& queue) {
    update_refusing(queue);
    if (!queue.refusing && !over_limit(queue)) return false;
    if (queue.awaits_work()) dispatch(turn, queue);
    if (over_limit(queue)) queue.refusing = true;
    update_refusing(queue);
    return queue.refusing;
}

}  // namespace

bool refuses_publish(Turn& turn, Queue& queue, const Message& message) {
    if (queue.settings.overflow == Overflow::drop_head) return false;
    if (queue.is_quorum()) return quorum_refuses(turn, queue);
    if (!would_exceed_limit(queue, message)) return false;
    if (!queue.awaits_work()) return true;
    PROBE("overflow.serve_before_refusing");
    dispatch(turn, queue);
    return would_exceed_limit(queue, message);
}

bool refuses_dead_letter(Turn& turn, Queue& queue, const Message& message, DeathStrategy strategy) {
    if (queue.is_quorum() && strategy != DeathStrategy::at_least_once) return false;
    return refuses_publish(turn, queue, message);
}

bool has_room(Queue& queue) {
    const MessageTotals amount = queue.totals_for_limits();
    const auto reached = [](const std::optional<std::int64_t>& limit, std::uint64_t used) {
        return limit && used >= static_cast<std::uint64_t>(*limit);
    };
    if (queue.settings.overflow == Overflow::drop_head) return true;
    if (queue.is_quorum()) {
        update_refusing(queue);
        return !queue.refusing;
    }
    return !reached(queue.settings.max_length, amount.count) &&
           !reached(queue.settings.max_length_bytes, amount.bytes);
}

void update_refusing(Queue& queue) {
    if (!queue.refusing || !is_below_resume_limit(queue)) return;
    PROBE("overflow.quorum_resumes");
    queue.refusing = false;
}

void enforce_limits(Turn& turn, Queue& queue) {
    // A refusing queue may be above its limit after a requeue (DL-142); nothing is dropped then.
    if (queue.settings.overflow != Overflow::drop_head) {
        update_refusing(queue);
        if (queue.is_quorum() && over_limit(queue)) queue.refusing = true;
        return;
    }
    while (over_limit(queue)) {
        const auto head = queue.head();
        if (!head) {
            if (queue.ready_count() > 0) turn.touch_later(queue);
            return;
        }
        if (turn.portion().is_used_up()) {
            PROBE("overflow.in_portions");
            turn.touch_later(queue);
            return;
        }
        handle_deaths(turn, queue, {&*head, 1}, DeathReason::maxlen);
        // The new head may be expired.
        if (queue.settings.ttl_mode == TtlMode::head) turn.add_to_worklist(queue);
    }
}

}  // namespace revenant::engine
