#include "engine/policy_change.h"

#include "engine/consumer_timeout.h"
#include "engine/expiry.h"
#include "engine/policy.h"

#include <string>

namespace revenant::engine {
namespace {

// All new settings are in force at once. Limits that shrank are kept before the turn ends, the
// period of an expiring queue begins now, outboxes are tried again because the topology changed.
void react(Turn& turn) {
    bool quorum_queues_changed = false;
    for (const QueueId id : turn.state().take_reconfigured()) {
        Queue* const queue = turn.state().find_queue(id);
        if (queue == nullptr) continue;
        if (queue->settings.expires_ms && queue->consumers.empty()) {
            queue->last_used = turn.now();
            turn.state().schedule_expiry(*queue);
        }
        expire_overdue(turn, *queue);
        turn.touch(*queue);
        if (queue->is_quorum()) quorum_queues_changed = true;
    }
    if (quorum_queues_changed) look_at_all_timeouts(turn);
}

}  // namespace

Result<void, Refusal> set_policy(Turn& turn, const SetPolicy& command) {
    if (auto fault = check_policy(command.scope, command.policy)) {
        return Unexpected{Refusal{RefusalKind::precondition_failed, std::move(*fault)}};
    }
    turn.emit(PolicySet{command.scope, command.policy});
    react(turn);
    return {};
}

Result<void, Refusal> clear_policy(Turn& turn, const ClearPolicy& command) {
    if (turn.state().policies().find(command.scope, command.name) == nullptr) {
        return Unexpected{
            Refusal{RefusalKind::not_found,
                    "no policy '" + command.name + "' in vhost '" + turn.settings().vhost + "'"}};
    }
    turn.emit(PolicyCleared{command.scope, command.name});
    react(turn);
    return {};
}

void set_compatibility(Turn& turn, const SetCompatibility& command) {
    if (turn.state().compatibility() == command.compatibility) return;
    turn.emit(CompatibilitySet{command.compatibility});
    react(turn);
}

}  // namespace revenant::engine
