#include "engine/rules/policy_change.h"

#include "engine/rules/consumer_timeout.h"
#include "engine/rules/expiry.h"
#include "engine/words/policy.h"

#include <string>

namespace revenant::engine {
namespace {

// Reduced limits are enforced before the turn ends, the period of an expiring queue starts now, and
// outboxes are tried again because the topology version changed.
void apply_to_queues(Turn& turn, Queue& queue) {
    if (queue.settings.expires_ms && queue.consumers.empty()) {
        queue.last_used = turn.now();
        turn.state().schedule_expiry(queue);
    }
    expire_overdue(turn, queue);
    turn.add_to_worklist(queue);
}

}  // namespace

bool apply_policies(Turn& turn) {
    bool quorum_queues_changed = false;
    while (turn.state().has_unconfigured() && !turn.portion().is_used_up()) {
        if (Queue* const queue = turn.state().configure_next()) {
            apply_to_queues(turn, *queue);
            if (queue->is_quorum()) quorum_queues_changed = true;
        }
        turn.portion().spend(1);
    }
    if (quorum_queues_changed) recheck_timeouts(turn);
    return !turn.state().has_unconfigured();
}

Result<void, Refusal> set_policy(Turn& turn, const SetPolicy& command) {
    if (auto fault = check_policy(command.scope, command.policy)) {
        return Unexpected{Refusal{RefusalKind::precondition_failed, std::move(*fault)}};
    }
    turn.emit(PolicySet{command.scope, command.policy});
    apply_policies(turn);
    return {};
}

Result<void, Refusal> clear_policy(Turn& turn, const ClearPolicy& command) {
    if (turn.state().policies().find(command.scope, command.name) == nullptr) {
        return Unexpected{
            Refusal{RefusalKind::not_found,
                    "no policy '" + command.name + "' in vhost '" + turn.settings().vhost + "'"}};
    }
    turn.emit(PolicyCleared{command.scope, command.name});
    apply_policies(turn);
    return {};
}

void set_compatibility(Turn& turn, const SetCompatibility& command) {
    if (turn.state().compatibility() == command.compatibility) return;
    turn.emit(CompatibilitySet{command.compatibility});
    apply_policies(turn);
}

}  // namespace revenant::engine
