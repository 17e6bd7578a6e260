#include "engine/rules/death_plan.h"

#include "base/probe.h"
#include "engine/rules/dispatch.h"
#include "engine/rules/expiry.h"
#include "engine/rules/overflow.h"
#include "engine/state/routing.h"

#include <algorithm>
#include <string>
#include <utility>

namespace revenant::engine {
namespace {

constexpr std::size_t logged_cycles_max = 100;  // per queue

// The keys of a death record: the publish key, then CC, never BCC (DL-68).
std::vector<std::string> recorded_keys(const DyingMessage& dying) {
    if (dying.envelope && dying.envelope->keys_replaced) return dying.envelope->routing_keys;
    std::vector<std::string> keys{std::string(dying.message->routing_key())};
    if (const ExtraKeys* extra = dying.message->extra_keys()) {
        keys.insert(keys.end(), extra->cc.begin(), extra->cc.end());
    }
    return keys;
}

Death new_death(const Queue& source, const DyingMessage& dying, DeathReason reason,
                Timestamp died_at) {
    Death death;
    death.queue = source.name();
    death.reason = reason;
    death.first_time = died_at;
    death.last_time = died_at;
    death.exchange =
        dying.envelope ? dying.envelope->exchange : std::string(dying.message->exchange());
    death.routing_keys = recorded_keys(dying);
    // The message's own TTL is removed at its first death (DL-70, DL-78).
    if (!dying.has_died()) death.ttl_ms = dying.message->ttl_ms();
    return death;
}

DeathHistory history_after(const State& state, const DyingMessage& dying, Death death,
                           std::string& unreadable) {
    if (state.compatibility() == Compatibility::v4_3) {
        return with_death(dying.envelope ? &dying.envelope->history : nullptr, std::move(death));
    }
    // RabbitMQ 3.12 continues the x-death header of a client and has no last death (DL-109).
    std::optional<DeathHistory> before;
    if (dying.has_died()) {
        before = dying.envelope->history;
    } else {
        auto whole = state.loaded(dying.message);
        if (whole) {
            before = (*whole)->format().claimed_history(**whole);
        } else {
            unreadable = std::move(whole).error();
        }
    }
    DeathHistory after = with_death(before ? &*before : nullptr, std::move(death));
    after.last.reset();
    return after;
}

void fill_envelope(Envelope* envelope, const State& state, const Queue& source,
                   const DyingMessage& dying, Death death, std::string& unreadable) {
    const QueueSettings& settings = source.settings;
    envelope->exchange = *settings.dead_letter_exchange;
    envelope->keys_replaced = dying.envelope && dying.envelope->keys_replaced;
    if (settings.dead_letter_routing_key) {
        envelope->routing_keys = {*settings.dead_letter_routing_key};
        envelope->keys_replaced = true;
    } else if (envelope->keys_replaced) {
        envelope->routing_keys = dying.envelope->routing_keys;
    } else {
        // The dead letter is routed with the message's own keys (DL-63, DL-64).
        envelope->routing_keys = {std::string(dying.message->routing_key())};
    }
    envelope->history = history_after(state, dying, std::move(death), unreadable);
    if (dying.envelope) {
        envelope->annotations = dying.envelope->annotations;
        envelope->error = dying.envelope->error;
    }
    // The target continues the count of failures (DL-72).
    if (state.compatibility() == Compatibility::v4_3)
        envelope->delivery_count = dying.delivery_count;
}

// DL-120: the target first, then the deaths by recency, back to the one in the target.
void log_cycle(Turn& turn, Queue& source, const DeathHistory& history, const Queue& target) {
    std::string circle = "'" + target.name() + "'";
    for (const Death& death : history.deaths) {
        circle += ", '" + death.queue + "'";
        if (death.queue == target.name()) break;
    }
    if (source.logged_cycles.size() >= logged_cycles_max) return;
    if (!source.logged_cycles.insert(circle).second) return;
    turn.notice(Notice::Level::warning, "dead letters from " + turn.queue_phrase(source.name()) +
                                            " not sent on: cycle without a rejection: " + circle);
}

}  // namespace

std::size_t bytes_of_death(const Message& message, const EnvelopeRef& envelope) {
    const ExtraKeys* const extra = message.extra_keys();
    return (extra == nullptr ? 0 : std::min(extra->memory_bytes, 2 * history_keys_bytes_max)) +
           (envelope ? memory_of(*envelope) : 0);
}

DeathPlan plan_death(Turn& turn, Queue& source, const DyingMessage& dying, DeathReason reason,
                     Timestamp died_at) {
    DeathPlan plan;
    const QueueSettings& settings = source.settings;
    if (settings.at_least_once) plan.strategy = DeathStrategy::at_least_once;
    if (!settings.dead_letter_exchange) return plan;
    Exchange* const exchange = turn.state().find_exchange(*settings.dead_letter_exchange);
    if (exchange == nullptr) {
        PROBE("dead_letter.dlx_missing");
        plan.ending_without_target = Ending::dlx_missing;
        return plan;
    }
    if (!settings.at_least_once) plan.strategy = DeathStrategy::at_most_once;
    const Compatibility compatibility = turn.state().compatibility();
    auto* const envelope = new Envelope;
    plan.envelope = EnvelopeRef::adopt(envelope);
    fill_envelope(envelope, turn.state(), source, dying, new_death(source, dying, reason, died_at),
                  plan.unreadable);
    RoutingResult routed;
    const RoutingInput input(*dying.message, *plan.envelope, turn.state());
    route(turn.state(), *exchange, input, routed);
    if (plan.unreadable.empty()) plan.unreadable = input.unreadable();
    if (!plan.unreadable.empty()) return plan;
    // Where the client's x-death counts, plans cannot be shared between messages.
    plan.by_key_only = routed.by_key_only && compatibility == Compatibility::v4_3;
    const std::size_t bytes = memory_of(*plan.envelope);
    if (!plan.is_shareable(*dying.message)) {
        envelope->counted_bytes = static_cast<std::uint32_t>(bytes);
    }
    turn.portion().spend(1 + plan.envelope->history.deaths.size() / 4, bytes);
    plan.ending_without_target = routed.queues.empty() ? Ending::unroutable : Ending::cycle;
    for (Queue* const target : routed.queues) {
        if (closes_cycle(plan.envelope->history, reason, target->name())) {
            PROBE("dead_letter.cycle");
            log_cycle(turn, source, plan.envelope->history, *target);
            continue;
        }
        plan.targets.push_back(target);
    }
    return plan;
}

std::vector<Placement> plan_placements(Turn& turn, const DeathPlan& plan, const Message& message,
                                       std::vector<Queue*>& refusing) {
    std::vector<Placement> placements;
    placements.reserve(plan.targets.size());
    for (Queue* const target : plan.targets) {
        if (refuses_dead_letter(turn, *target, message, plan.strategy)) {
            refusing.push_back(target);
            continue;
        }
        const Position position = target->next_in(target->level_for(message.priority()));
        placements.push_back({target->id(), position, deadline_for(turn, *target, std::nullopt)});
        if (!target->is_quorum() && plan.envelope->delivery_count > 0) {
            if (!target->arrivals) target->arrivals = std::make_unique<Arrivals>();
            target->arrivals->note(turn.worklist().turn, position);
        }
        turn.add_to_worklist(*target);
    }
    return placements;
}

void dispatch_in_targets(Turn& turn, const std::vector<Queue*>& targets) {
    for (Queue* const target : targets) {
        if (target->settings.message_ttl_ms == 0) dispatch_zero_ttl(turn, *target);
    }
}

}  // namespace revenant::engine
