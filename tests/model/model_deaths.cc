// Model: the death of a message, its history and its routing to the targets.
#include "tests/model/fields.h"
#include "tests/model/model.h"

#include <utility>

namespace revenant::model {

// DL-210, DL-11
DeathStrategy Model::strategy_of(const Queue& queue) const {
    if (!queue.settings.dlx) return DeathStrategy::disabled;
    if (queue.settings.at_least_once) return DeathStrategy::at_least_once;
    return find_exchange(*queue.settings.dlx) == nullptr ? DeathStrategy::disabled
                                                         : DeathStrategy::at_most_once;
}

void Model::count_death(Queue& queue, DeathReason reason) {
    const auto kind = queue.quorum ? engine::QueueKind::quorum : engine::QueueKind::classic;
    deaths_.of(kind, strategy_of(queue), reason) += 1;
    queue.deaths[static_cast<std::size_t>(reason)] += 1;
}

void Model::die(const QueueRef& queue, std::uint64_t id, DeathReason reason) {
    count_death(*queue, reason);
    if (queue->settings.expires_at_head_only) touch(queue);
    if (strategy_of(*queue) == DeathStrategy::at_least_once) {  // DL-173
        Entry& entry = *find(*queue, id);
        entry.reason = reason;
        entry.died_at = now_;
        entry.order = ++last_order_;
        // Only a message that cannot leave immediately counts in the limits: a full queue would
        // otherwise refuse its own dead letters.
        entry.place = Place::unacked;
        forward(queue, id);
        if (Entry* const kept = find(*queue, id)) kept->place = Place::outbox;
        return;
    }
    const Entry dead = take(*queue, id);
    accounts_.of(send_on(*queue, dead.message, reason)) += 1;
}

// DL-8, DL-139: a message dies in a queue that never contained it.
void Model::die_refused(const QueueRef& queue, const Message& message) {
    if (queue->settings.overflow != Overflow::reject_publish_dlx) return;
    count_death(*queue, DeathReason::maxlen);
    send_on(*queue, message, DeathReason::maxlen);
}

void Model::die_all_refused(std::vector<QueueRef>& refusing, const Message& message) {
    for (const QueueRef& queue : std::exchange(refusing, {})) die_refused(queue, message);
}

// At-most-once (DL-48, DL-55, DL-115, DL-168).
Ending Model::send_on(const Queue& source, const Message& message, DeathReason reason) {
    if (!source.settings.dlx) return Ending::no_dlx;
    if (find_exchange(*source.settings.dlx) == nullptr) return Ending::dlx_missing;
    const Message letter = dead_letter(source, message, reason, now_);
    std::vector<QueueRef> targets = route(letter.exchange, letter);
    if (targets.empty()) return Ending::unroutable;
    std::erase_if(targets, [&](const QueueRef& target) {
        return closes_cycle(letter.history, reason, target->name);
    });
    if (targets.empty()) return Ending::cycle;
    Ending ending = Ending::target_refused;
    std::vector<QueueRef> refusing;
    for (const QueueRef& target : targets) {
        if (refuses_letter(target, letter, DeathStrategy::at_most_once)) {
            refusing.push_back(target);
            if (choices_.pick(targets.size()) > 0) die_all_refused(refusing, letter);
        } else {
            enqueue(target, letter);
            ending = Ending::dead_lettered;
        }
    }
    die_all_refused(refusing, letter);
    return ending;
}

// DL-63 to DL-71
Message Model::dead_letter(const Queue& source, const Message& message, DeathReason reason,
                           Timestamp died_at) {
    Message letter = message;
    const auto shown_keys = static_cast<std::ptrdiff_t>(message.keys.size() - message.hidden_keys);
    Death death;
    death.queue = source.name;
    death.reason = reason;
    death.first_time = {died_at.us / 1000 * 1000};  // in milliseconds
    death.last_time = death.first_time;
    death.exchange = message.exchange;
    death.routing_keys = {message.keys.begin(), message.keys.begin() + shown_keys};
    death.ttl_ms = message.ttl_ms;
    record_death(letter.history, death);
    letter.exchange = source.settings.dlx.value_or("");
    letter.ttl_ms.reset();
    if (source.settings.dlrk) {
        letter.keys = {*source.settings.dlrk};
        letter.hidden_keys = 0;
    }
    return letter;
}

// DL-75, DL-76, DL-80
void Model::record_death(DeathHistory& history, Death death) {
    const DeathSummary mark{death.queue, death.reason, death.exchange};
    if (history.deaths.empty()) history.first = mark;
    history.last = mark;
    for (const Death& known : history.deaths) {
        if (known.queue != death.queue || known.reason != death.reason) continue;
        const Timestamp now = death.last_time;
        death = known;
        death.count += 1;
        death.last_time = now;
        break;
    }
    std::erase_if(history.deaths, [&](const Death& known) {
        return known.queue == death.queue && known.reason == death.reason;
    });
    history.deaths.insert(history.deaths.begin(), death);
}

// DL-111, DL-112
bool Model::closes_cycle(const DeathHistory& history, DeathReason reason, std::string_view target) {
    if (reason == DeathReason::rejected) return false;
    for (const Death& death : history.deaths) {
        if (death.reason == DeathReason::rejected) return false;
        if (death.queue == target) return true;
    }
    return false;
}

// At-least-once (DL-175 to DL-186, with the differences): the dead letter goes to every target that
// accepts it and does not have it yet; when no target is missing, it leaves. True if anything
// changed.
bool Model::forward(const QueueRef& queue, std::uint64_t id) {
    Entry& entry = *find(*queue, id);
    const Message letter = dead_letter(*queue, entry.message, entry.reason, entry.died_at);
    std::vector<QueueRef> targets;
    if (queue->settings.dlx) targets = route(letter.exchange, letter);
    std::erase_if(targets, [&](const QueueRef& target) {
        return closes_cycle(letter.history, entry.reason, target->name);
    });
    std::erase_if(targets,
                  [&](const QueueRef& target) { return contains(entry.reached, target->id); });
    bool missing = false;
    bool moved = false;
    for (const QueueRef& target : targets) {
        if (refuses_letter(target, letter, DeathStrategy::at_least_once)) {
            missing = true;
            continue;
        }
        find(*queue, id)->reached.push_back(target->id);
        enqueue(target, letter);
        moved = true;
    }
    if (missing || find(*queue, id)->reached.empty()) return moved;
    remove(*queue, id, Ending::dead_lettered);
    letters_confirmed_ += 1;
    return true;
}

// In the order of the deaths; one that cannot leave does not delay the others.
bool Model::forward_letters() {
    bool moved = false;
    for (const QueueRef& queue : std::vector(queues_)) {
        std::map<std::uint64_t, std::uint64_t> letters;
        for (const Entry& entry : queue->entries) {
            if (entry.place == Place::outbox) letters[entry.order] = entry.id;
        }
        for (const auto& [order, id] : letters) moved = forward(queue, id) || moved;
    }
    return moved;
}

}  // namespace revenant::model
