#include "engine/rules/outbox.h"

#include "base/check.h"
#include "base/probe.h"
#include "engine/rules/overflow.h"

#include <algorithm>
#include <string>
#include <utility>

namespace revenant::engine {
namespace {

// Dead letters of one queue that are tried per turn: a full outbox must not delay the others.
constexpr std::size_t tries_per_turn_max = 1000;
// Queues whose outboxes are processed per turn.
constexpr std::size_t outboxes_at_once = 100;

Position outbox_position(std::uint64_t sequence) { return Position::of(outbox_level, sequence); }

void wait_for_room(Queue& source, std::uint64_t sequence, const std::vector<Queue*>& refusing) {
    for (const Queue* const target : refusing) {
        source.outbox_progress->waiting_for_room[target->id()].insert(sequence);
    }
}

void log_outbox_waiting(Turn& turn, Queue& source, Ending cause) {
    if (source.outbox_progress->logged) return;
    source.outbox_progress->logged = true;
    turn.notice(Notice::Level::warning,
                "dead letters from " + turn.queue_phrase(source.name()) +
                    " are waiting in the outbox: " + std::string(to_string(cause)));
}

void log_outbox_empty(Turn& turn, const Queue& source) {
    turn.notice(Notice::Level::info,
                "the outbox of " + turn.queue_phrase(source.name()) + " is empty");
}

// Returns whether the dead letter has left the outbox.
bool try_forward(Turn& turn, Queue& source, std::uint64_t sequence) {
    const Position position = outbox_position(sequence);
    const Entry& entry = source.at(position);
    if (entry.state == EntryState::parked) return false;
    const OutboxEntry& letter = source.outbox_entries.at(sequence);
    DeathPlan plan = plan_death(turn, source, {entry.message, entry.envelope, entry.delivery_count},
                                letter.reason, letter.died_at);
    if (!plan.unreadable.empty()) {
        source.park(position, std::move(plan.unreadable));
        return false;
    }
    plan.strategy = DeathStrategy::at_least_once;  // regardless of the current settings (DL-188)
    std::erase_if(plan.targets, [&](const Queue* target) {
        return std::find(letter.reached.begin(), letter.reached.end(), target->id()) !=
               letter.reached.end();
    });
    if (plan.targets.empty() && letter.reached.empty()) return false;
    std::vector<Queue*> refusing;
    std::vector<Placement> placements = plan_placements(turn, plan, *entry.message, refusing);
    const bool last = refusing.empty();  // also if the remaining targets no longer exist (DL-181)
    if (last || !placements.empty()) {
        turn.emit(
            ForwardedFromOutbox{source.id(), position, plan.envelope, std::move(placements), last});
        dispatch_in_targets(turn, plan.targets);
    }
    if (last) {
        turn.state().traffic().dead_letters_confirmed += 1;
        update_refusing(source);
    } else {
        wait_for_room(source, sequence, refusing);
    }
    return last;
}

// Tries every dead letter once, oldest first, after a change of topology or settings.
void continue_pass(Turn& turn, Queue& source, std::size_t& tries_left) {
    while (tries_left > 0 && source.outbox_progress && source.outbox_progress->pass_at) {
        const auto next = source.outbox_entries.lower_bound(*source.outbox_progress->pass_at);
        if (next == source.outbox_entries.end()) {
            source.outbox_progress->pass_at.reset();
            return;
        }
        const std::uint64_t sequence = next->first;
        source.outbox_progress->pass_at = sequence + 1;
        --tries_left;
        try_forward(turn, source, sequence);
    }
}

// Tries the dead letters that wait for room in this queue, in order. One that is too large for the
// free space does not delay smaller ones after it (DL-177).
void forward_into(Turn& turn, Queue& source, Queue& target, std::size_t& tries_left) {
    std::uint64_t next = 0;
    while (tries_left > 0 && source.outbox_progress && has_room(target)) {
        std::set<std::uint64_t>& waiting = source.outbox_progress->waiting_for_room[target.id()];
        const auto found = waiting.lower_bound(next);
        if (found == waiting.end()) return;
        const std::uint64_t sequence = *found;
        next = sequence + 1;
        --tries_left;
        const Message& message = *source.at(outbox_position(sequence)).message;
        if (refuses_dead_letter(turn, target, message, DeathStrategy::at_least_once)) continue;
        PROBE("outbox.room_again");
        waiting.erase(found);
        try_forward(turn, source, sequence);
    }
}

void forward_where_room(Turn& turn, Queue& source, std::size_t& tries_left) {
    std::vector<QueueId> targets;
    for (const auto& [target, sequences] : source.outbox_progress->waiting_for_room)
        targets.push_back(target);
    for (const QueueId id : targets) {
        if (!source.outbox_progress) return;
        Queue* const target = turn.state().find_queue(id);
        if (target != nullptr) forward_into(turn, source, *target, tries_left);
        // If the target no longer exists, a complete pass follows.
        if (source.outbox_progress &&
            (target == nullptr || source.outbox_progress->waiting_for_room[id].empty())) {
            source.outbox_progress->waiting_for_room.erase(id);
        }
    }
}

bool forward_outbox(Turn& turn, Queue& source) {
    std::size_t tries_left = tries_per_turn_max;
    OutboxProgress& outbox_progress = *source.outbox_progress;
    if (outbox_progress.tried_topology_version != turn.state().topology_version()) {
        outbox_progress.tried_topology_version = turn.state().topology_version();
        outbox_progress.pass_at = 0;
    }
    const bool was_logged = outbox_progress.logged;
    continue_pass(turn, source, tries_left);
    if (source.outbox_progress) forward_where_room(turn, source, tries_left);
    if (!source.outbox_progress) {
        if (was_logged) log_outbox_empty(turn, source);
        return false;
    }
    return source.outbox_progress->pass_at.has_value();
}

}  // namespace

void dead_letter_at_least_once(Turn& turn, Queue& source, Position position,
                               const OutboxDeath& death, std::vector<Placement> placements,
                               const std::vector<Queue*>& refusing) {
    const DeathPlan& plan = death.plan;
    if (!placements.empty() && refusing.empty()) {
        turn.emit(DeadLettered{source.id(), position, plan.envelope, std::move(placements)});
        dispatch_in_targets(turn, plan.targets);
        turn.state().traffic().dead_letters_confirmed += 1;
        return;
    }
    PROBE("outbox.letter_kept");
    const Entry& entry = source.at(position);
    const Position kept = source.next_in(outbox_level);
    const bool first = source.outbox_entries.empty();
    turn.emit(MovedToOutbox{source.id(), position, kept, death.reason, death_time(turn.wall_now()),
                            entry.counts()});
    // It has just been tried with this topology.
    if (first) source.outbox_progress->tried_topology_version = turn.state().topology_version();
    if (!placements.empty()) {
        turn.emit(
            ForwardedFromOutbox{source.id(), kept, plan.envelope, std::move(placements), false});
    }
    wait_for_room(source, kept.sequence(), refusing);
    log_outbox_waiting(turn, source,
                       refusing.empty() ? plan.ending_without_target : Ending::target_refused);
}

bool forward_outboxes(Turn& turn) {
    bool more = false;
    QueueId& last = turn.worklist().last_outbox;
    const std::set<QueueId>& sources = turn.state().queues_with_outbox();
    for (std::size_t visits = 0; visits < outboxes_at_once && !sources.empty(); ++visits) {
        auto next = sources.upper_bound(last);
        if (next == sources.end()) {
            last = {};
            return more;
        }
        if (turn.portion().is_used_up()) return true;
        last = *next;
        turn.portion().spend(1);
        Queue* const source = turn.state().find_queue(last);
        if (source != nullptr && source->outbox_progress && forward_outbox(turn, *source))
            more = true;
    }
    const bool all = sources.upper_bound(last) == sources.end();
    if (all) last = {};
    return more || !all;
}

}  // namespace revenant::engine
