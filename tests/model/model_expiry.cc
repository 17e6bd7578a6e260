// Model: due messages, delays and queues.
#include "tests/model/fields.h"
#include "tests/model/model.h"

#include <algorithm>
#include <utility>

namespace revenant::model {

// Items due by then, earliest first.
std::vector<Model::Due> Model::all_due(Timestamp by, Fresh fresh) const {
    std::vector<Due> due;
    for (const QueueRef& queue : queues_) {
        const auto add = [&](std::optional<Timestamp> at, Due::What what) {
            if (at && *at <= by) due.push_back({*at, queue, what, expired_in(*queue, by, fresh)});
        };
        add(queue_expiry(*queue), Due::What::queue);
        add(delay_end(*queue), Due::What::delays);
        add(message_expiry(*queue, fresh), Due::What::messages);
    }
    const auto oldest = [](const Due& one) {
        return one.entries.empty() ? 0 : *std::min_element(one.entries.begin(), one.entries.end());
    };
    std::stable_sort(due.begin(), due.end(), [&](const Due& a, const Due& b) {
        return a.at != b.at ? a.at < b.at : oldest(a) < oldest(b);
    });
    return due;
}

// Processes everything that is due now, but not items that become due on the way. The order is
// open.
void Model::expire_due(Fresh fresh) {
    auto due = all_due(now_, fresh);
    while (!due.empty()) {
        const auto next = due.begin() + static_cast<std::ptrdiff_t>(choices_.pick(due.size()));
        expire(*next);
        due.erase(next);
    }
}

void Model::expire(const Due& due) {
    if (!contains(queues_, due.queue)) return;
    if (due.what == Due::What::delays) touch(due.queue);
    switch (due.what) {
        case Due::What::queue:
            return drop_queue(due.queue);
        case Due::What::delays:
            return end_delays(due.queue);
        case Due::What::messages:
            return expire_entries(due);
    }
}

// If the queue expires as well, each level may expire before the queue or be deleted with it.
void Model::expire_entries(const Due& due) {
    if (heads_deferred_ && due.queue->settings.expires_at_head_only) return touch(due.queue);
    const std::optional<Timestamp> end = queue_expiry(*due.queue);
    std::map<std::pair<bool, int>, bool> goes_with_queue;
    for (const std::uint64_t id : due.entries) {
        const Entry* const entry = find(*due.queue, id);
        if (entry == nullptr || entry->place != Place::ready) continue;
        const std::pair<bool, int> list{entry->returned, entry->level};
        if (end && *end <= now_ && !goes_with_queue.contains(list)) {
            goes_with_queue[list] = choices_.pick(2) == 1;
        }
        if (goes_with_queue[list]) continue;
        const bool held_back = due.queue->settings.expires_at_head_only &&
                               !contains(expired_in(*due.queue, now_, Fresh::included), id);
        if (!held_back) die(due.queue, id, DeathReason::expired);
    }
}

// DL-134: no consumer, declare or get for this period.
std::optional<Timestamp> Model::queue_expiry(const Queue& queue) const {
    if (!queue.settings.expires || !queue.consumers.empty()) return std::nullopt;
    return queue.last_used + milliseconds(*queue.settings.expires);
}

std::optional<Timestamp> Model::delay_end(const Queue& queue) const {
    std::optional<Timestamp> first;
    for (const Entry& entry : queue.entries) {
        if (entry.place != Place::delayed) continue;
        if (!first || entry.delayed_until < *first) first = entry.delayed_until;
    }
    return first;
}

// When the next message of the queue expires if nothing else happens.
std::optional<Timestamp> Model::message_expiry(const Queue& queue, Fresh fresh) const {
    std::optional<Timestamp> first;
    for (const Entry& entry : queue.entries) {
        if (entry.expires == never || entry.place != Place::ready) continue;
        if (first && *first <= entry.expires) continue;
        if (contains(expired_in(queue, entry.expires, fresh), entry.id)) {
            first = entry.expires;
        }
    }
    return first;
}

// DL-126: a message with a TTL of 0 may be delivered to a waiting consumer, but only in the turn in
// which it was added.
bool Model::is_fresh(const Entry& entry) const {
    return entry.fresh && entry.place == Place::ready;
}

// Differs from DL-6 and DL-128 by decision: at any depth; with ttl-mode head the expired prefix of
// a classic queue (DL-130), or of the requeued list and each level of a quorum queue (DL-129).
// Oldest first (DL-133).
std::vector<std::uint64_t> Model::expired_in(const Queue& queue, Timestamp by, Fresh fresh) const {
    std::vector<std::uint64_t> expired;
    std::vector<std::pair<bool, int>> held_back;
    for (const Entry* entry : in_order(queue)) {
        const std::pair<bool, int> list =
            queue.quorum ? std::pair{entry->returned, entry->returned ? 0 : entry->level}
                         : std::pair{false, 0};
        if (contains(held_back, list)) continue;
        const bool spared = fresh == Fresh::spared && is_fresh(*entry);
        const bool dies = entry->expires <= by && !spared;
        if (dies) {
            expired.push_back(entry->id);
        } else if (queue.settings.expires_at_head_only) {
            held_back.push_back(list);
        }
    }
    return expired;
}

void Model::expire_messages(const QueueRef& queue, Fresh fresh) {
    for (const std::uint64_t entry : expired_in(*queue, now_, fresh)) {
        die(queue, entry, DeathReason::expired);
    }
}

// DL-163: then they join the requeued list, in the order of their times and of their requeues, or
// expire now if they are overdue.
void Model::end_delays(const QueueRef& queue) {
    std::map<std::pair<Timestamp, std::uint64_t>, std::uint64_t> due;
    for (const Entry& entry : queue->entries) {
        if (entry.place != Place::delayed || entry.delayed_until > now_) continue;
        due[{entry.delayed_until, entry.order}] = entry.id;
    }
    for (const auto& [unused, id] : due) {
        Entry& entry = *find(*queue, id);
        entry.place = Place::ready;
        entry.returned = true;
        entry.order = ++last_order_;
        const bool late = entry.expires <= now_ && !queue->settings.expires_at_head_only;
        if (late) die(queue, id, DeathReason::expired);
    }
}

}  // namespace revenant::model
