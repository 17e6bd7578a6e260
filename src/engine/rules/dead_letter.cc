#include "engine/rules/dead_letter.h"

#include "base/probe.h"
#include "engine/rules/death_plan.h"
#include "engine/rules/outbox.h"
#include "engine/rules/overflow.h"

#include <memory>
#include <utility>
#include <vector>

namespace revenant::engine {
namespace {

// The maximum number of full queues that dead-letter a refused message to each other.
constexpr std::size_t refusal_hops_max = 200;

struct DeathLabels {
    DeathStrategy strategy;
    DeathOutcome outcome;
};

DeathLabels labels_of(const DeathPlan& plan, bool placed, bool refused) {
    if (plan.strategy == DeathStrategy::at_least_once && (!placed || refused)) {
        return {plan.strategy, DeathOutcome::waiting};
    }
    if (placed) return {plan.strategy, DeathOutcome::dead_lettered};
    return {plan.strategy,
            refused ? DeathOutcome::target_refused : outcome_of(plan.ending_without_target)};
}

void count_death(Turn& turn, Queue& source, DeathReason reason, DeathLabels labels) {
    Traffic& traffic = turn.state().traffic();
    if (!source.deaths) source.deaths = std::make_unique<DeathOutcomes>();
    source.deaths->of(reason, labels.outcome) += 1;
    traffic.death_outcomes.of(reason, labels.outcome) += 1;
    traffic.deaths.of(source.declaration.kind, labels.strategy, reason) += 1;
}

void count_lateness(Turn& turn, const Queue& source, Position position) {
    const Timestamp deadline = source.deadline(position);
    const std::int64_t late_us = (turn.now() - deadline).us;
    if (deadline == never || late_us < 0) return;
    turn.state().traffic().lateness.observe(static_cast<std::uint64_t>(late_us));
}

void forward_refused(Turn& turn, const std::vector<Queue*>& refusing, const MessageRef& message,
                     const EnvelopeRef& envelope) {
    for (Queue* const queue : refusing) {
        if (queue->settings.overflow == Overflow::reject_publish_dlx) {
            dead_letter_refused(turn, *queue, message, envelope);
        }
    }
}

void dead_letter_at_most_once(Turn& turn, Queue& source, Position position, const DeathPlan& plan,
                              std::vector<Placement> placements,
                              const std::vector<Queue*>& refusing) {
    const MessageRef message = source.at(position).message;  // outlives the entry
    if (placements.empty()) {
        const Ending ending =
            refusing.empty() ? plan.ending_without_target : Ending::target_refused;
        turn.remove(source, position, ending);
    } else {
        turn.emit(DeadLettered{source.id(), position, plan.envelope, std::move(placements)});
        dispatch_in_targets(turn, plan.targets);
    }
    forward_refused(turn, refusing, message, plan.envelope);
}

}  // namespace

void handle_deaths(Turn& turn, Queue& source, std::span<const Position> positions,
                   DeathReason reason) {
    const CachedDeathPlan::PlanKey moment{source.id(), reason, death_time(turn.wall_now()),
                                          turn.state().topology_version()};
    CachedDeathPlan& shared = turn.attached().shared_deaths().of(source.id());
    const DeathPlan& plan = shared.plan();
    std::vector<Queue*> refusing;
    for (const Position position : positions) {
        const Entry& entry = source.at(position);
        const DyingMessage dying{entry.message, entry.envelope, entry.delivery_count};
        if (!shared.covers(moment, dying)) {
            DeathPlan planned = plan_death(turn, source, dying, reason, moment.died_at);
            if (!planned.unreadable.empty()) {
                source.park(position, std::move(planned.unreadable));
                continue;
            }
            shared.set(moment, dying, std::move(planned));
        }
        turn.portion().spend(1);
        if (reason == DeathReason::expired) count_lateness(turn, source, position);
        refusing.clear();
        std::vector<Placement> placements = plan_placements(turn, plan, *entry.message, refusing);
        count_death(turn, source, reason, labels_of(plan, !placements.empty(), !refusing.empty()));
        if (plan.strategy == DeathStrategy::at_least_once) {
            dead_letter_at_least_once(turn, source, position, {reason, plan}, std::move(placements),
                                      refusing);
        } else {
            dead_letter_at_most_once(turn, source, position, plan, std::move(placements), refusing);
        }
    }
    update_refusing(source);
}

void dead_letter_refused(Turn& turn, Queue& refusing, const MessageRef& message,
                         EnvelopeRef envelope) {
    // A chain of full queues that dead-letter what they refuse. Each hop adds a death to the
    // history; the cycle rule ends the chain at the latest when a queue occurs again.
    struct Step {
        Queue* queue;
        EnvelopeRef envelope;
    };
    std::vector<Step> waiting{{&refusing, std::move(envelope)}};
    for (std::size_t steps = 0; !waiting.empty(); ++steps) {
        if (steps == refusal_hops_max) {
            PROBE("dead_letter.refusals_cut");
            turn.state().traffic().refusal_chains_dropped += waiting.size();
            return;
        }
        const Step step = std::move(waiting.back());
        waiting.pop_back();
        const DyingMessage dying{message, step.envelope,
                                 step.envelope ? step.envelope->delivery_count : 0};
        const DeathPlan plan =
            plan_death(turn, *step.queue, dying, DeathReason::maxlen, death_time(turn.wall_now()));
        if (!plan.unreadable.empty()) {
            turn.state().traffic().refusal_chains_dropped += 1;
            continue;
        }
        std::vector<Queue*> refused_again;
        std::vector<Placement> placements = plan_placements(turn, plan, *message, refused_again);
        count_death(turn, *step.queue, DeathReason::maxlen,
                    labels_of(plan, !placements.empty(), !refused_again.empty()));
        if (!placements.empty()) {
            turn.emit(RefusedAndDeadLettered{message, plan.envelope, std::move(placements)});
            dispatch_in_targets(turn, plan.targets);
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
