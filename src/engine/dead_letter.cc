#include "engine/dead_letter.h"

#include "base/probe.h"
#include "engine/expiry.h"
#include "engine/overflow.h"
#include "engine/routing.h"

#include <utility>
#include <variant>
#include <vector>

namespace revenant::engine {
namespace {

// A message at the moment of its death.
struct Dying {
    const MessageRef& message;
    const EnvelopeRef& envelope;
    std::uint32_t delivery_count = 0;
};

struct Plan {
    EnvelopeRef envelope;
    std::vector<Queue*> targets;
    Ending ending_without_target = Ending::no_dlx;
};

// The keys a death record shows: the publish key, then CC, never BCC (DL-68).
std::vector<std::string> recorded_keys(const Dying& dying) {
    if (dying.envelope && dying.envelope->keys_replaced) return dying.envelope->routing_keys;
    std::vector<std::string> keys{std::string(dying.message->routing_key())};
    if (const ExtraKeys* extra = dying.message->extra_keys()) {
        keys.insert(keys.end(), extra->cc.begin(), extra->cc.end());
    }
    return keys;
}

// The keys it is routed with next (DL-63, DL-64).
std::vector<std::string> keys_from_here(const Dying& dying) {
    if (dying.envelope) return dying.envelope->routing_keys;
    std::vector<std::string> keys = recorded_keys(dying);
    if (const ExtraKeys* extra = dying.message->extra_keys()) {
        keys.insert(keys.end(), extra->bcc.begin(), extra->bcc.end());
    }
    return keys;
}

EnvelopeRef plan_envelope(const Queue& source, const Dying& dying, DeathReason reason,
                          Timestamp now) {
    const QueueSettings& settings = source.settings;
    Death death;
    death.queue = source.name();
    death.reason = reason;
    death.first_time = now;
    death.last_time = now;
    death.exchange =
        dying.envelope ? dying.envelope->exchange : std::string(dying.message->exchange());
    death.routing_keys = recorded_keys(dying);
    // The message's own time-to-live goes with its first death (DL-70, DL-78).
    if (!dying.envelope) death.ttl_ms = dying.message->ttl_ms();

    auto* const envelope = new Envelope;
    EnvelopeRef owned = EnvelopeRef::adopt(envelope);
    envelope->exchange = *settings.dead_letter_exchange;
    envelope->keys_replaced = dying.envelope && dying.envelope->keys_replaced;
    if (settings.dead_letter_routing_key) {
        envelope->routing_keys = {*settings.dead_letter_routing_key};
        envelope->keys_replaced = true;
    } else {
        envelope->routing_keys = keys_from_here(dying);
    }
    envelope->history =
        with_death(dying.envelope ? &dying.envelope->history : nullptr, std::move(death));
    envelope->delivery_count = dying.delivery_count;
    return owned;
}

// Messages of one queue that die together mostly came the same way: they share one envelope and one
// routing decision.
struct Run {
    Plan plan;
    MessageRef like;  // the message the plan was made for
    EnvelopeRef like_envelope;
    std::uint32_t like_delivery_count = 0;
    bool shareable = false;

    bool covers(const Dying& dying) const {
        if (!shareable || dying.delivery_count != like_delivery_count) return false;
        if (!(dying.envelope == like_envelope)) return false;
        const Message& message = *dying.message;
        return message.extra_keys() == nullptr && like->extra_keys() == nullptr &&
               message.exchange() == like->exchange() &&
               message.routing_key() == like->routing_key() && message.ttl_ms() == like->ttl_ms();
    }
};

Plan plan_death(Turn& turn, const Queue& source, const Dying& dying, DeathReason reason,
                bool& by_key_only) {
    Plan plan;
    by_key_only = true;
    if (!source.settings.dead_letter_exchange) return plan;
    Exchange* const exchange = turn.state().find_exchange(*source.settings.dead_letter_exchange);
    if (exchange == nullptr) {
        PROBE("dead_letter.dlx_missing");
        plan.ending_without_target = Ending::dlx_missing;
        return plan;
    }
    plan.envelope = plan_envelope(source, dying, reason, turn.now());
    RoutingResult routed;
    route(turn.state(), *exchange, RoutingInput(*dying.message, *plan.envelope), routed);
    by_key_only = routed.by_key_only;
    plan.ending_without_target = routed.queues.empty() ? Ending::unroutable : Ending::cycle;
    for (Queue* const target : routed.queues) {
        if (closes_cycle(plan.envelope->history, reason, target->name())) {
            PROBE("dead_letter.cycle");
            continue;
        }
        plan.targets.push_back(target);
    }
    return plan;
}

// A target that refuses publishes refuses the dead as well; with -dlx they die there again
// (DL-168).
std::vector<Placement> place_in_targets(Turn& turn, const Plan& plan, const Message& message,
                                        std::vector<Queue*>& refusing) {
    std::vector<Placement> placements;
    placements.reserve(plan.targets.size());
    for (Queue* const target : plan.targets) {
        if (refuses_publish(turn, *target, message.body_size())) {
            refusing.push_back(target);
            continue;
        }
        const std::size_t level = target->level_for(message.priority());
        placements.push_back({target->id(),
                              Position::of(level, target->level(level).next_sequence()),
                              deadline_for(turn, *target, std::nullopt)});
        turn.touch(*target);
    }
    return placements;
}

void pass_on_refused(Turn& turn, const std::vector<Queue*>& refusing, const MessageRef& message,
                     const EnvelopeRef& envelope) {
    for (Queue* const queue : refusing) {
        if (queue->settings.overflow == Overflow::reject_publish_dlx) {
            die_refused(turn, *queue, message, envelope);
        }
    }
}

}  // namespace

void die(Turn& turn, Queue& source, std::span<const Position> positions, DeathReason reason) {
    Run run;
    std::vector<Queue*> refusing;
    for (const Position position : positions) {
        const Entry& entry = source.at(position);
        const Dying dying{entry.message, entry.envelope, entry.delivery_count};
        if (!run.covers(dying)) {
            bool by_key_only = true;
            run.plan = plan_death(turn, source, dying, reason, by_key_only);
            run.like = dying.message;
            run.like_envelope = dying.envelope;
            run.like_delivery_count = dying.delivery_count;
            run.shareable = by_key_only;
        }
        refusing.clear();
        const MessageRef message = entry.message;  // outlives the entry
        std::vector<Placement> placements = place_in_targets(turn, run.plan, *message, refusing);
        if (placements.empty()) {
            const Ending ending =
                refusing.empty() ? run.plan.ending_without_target : Ending::target_refused;
            turn.remove(source, position, ending);
        } else {
            turn.emit(
                DeadLettered{source.id(), position, run.plan.envelope, std::move(placements)});
        }
        if (!refusing.empty()) pass_on_refused(turn, refusing, message, run.plan.envelope);
    }
}

void die_refused(Turn& turn, Queue& refusing, const MessageRef& message, EnvelopeRef envelope) {
    // A chain of full queues that all pass on what they refuse: each hop is one more death in the
    // history, and the cycle rule ends it at the latest when a queue comes round again.
    struct Step {
        Queue* queue;
        EnvelopeRef envelope;
    };
    std::vector<Step> waiting{{&refusing, std::move(envelope)}};
    while (!waiting.empty()) {
        const Step step = std::move(waiting.back());
        waiting.pop_back();
        const Dying dying{message, step.envelope,
                          step.envelope ? step.envelope->delivery_count : 0};
        bool by_key_only = true;
        const Plan plan = plan_death(turn, *step.queue, dying, DeathReason::maxlen, by_key_only);
        std::vector<Queue*> refused_again;
        std::vector<Placement> placements = place_in_targets(turn, plan, *message, refused_again);
        if (!placements.empty()) {
            turn.emit(RefusedToDeath{message, plan.envelope, std::move(placements)});
        }
        for (Queue* const queue : refused_again) {
            if (queue->settings.overflow == Overflow::reject_publish_dlx) {
                PROBE("dead_letter.refused_again");
                waiting.push_back({queue, plan.envelope});
            }
        }
    }
}

}  // namespace revenant::engine
