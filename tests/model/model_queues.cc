// Model: entries of a queue, their order and the limits.
#include "tests/model/fields.h"
#include "tests/model/model.h"

#include <algorithm>
#include <utility>

namespace revenant::model {

namespace {

// amqp091 16.1, 16.2
int level_of(const Queue& queue, const std::optional<std::uint8_t>& priority) {
    if (queue.quorum) return std::min<int>(priority.value_or(4), 31);
    const Number levels = number_in(queue.arguments, "x-max-priority");
    if (!levels) return 0;
    return static_cast<int>(
        std::min<std::int64_t>(priority.value_or(0), std::max<std::int64_t>(*levels, 1)));
}

}  // namespace

void Model::enqueue(const QueueRef& queue, const Message& message) {
    Entry entry;
    entry.id = ++last_entry_;
    entry.message = message;
    entry.fresh = true;
    entry.expires = expiry_for(*queue, message);
    entry.level = level_of(*queue, message.priority);
    entry.order = ++last_order_;
    if (queue->quorum) entry.acquired = entry.message.failures;
    queue->entries.push_back(entry);
    accounts_.entered += 1;
    touch(queue);
}

// DL-122, DL-123; DL-126: in a quorum queue the minimum TTL is a millisecond.
Timestamp Model::expiry_for(const Queue& queue, const Message& message) const {
    const Number ttl = smaller(queue.settings.message_ttl, message.ttl_ms);
    if (!ttl) return never;
    return now_ + milliseconds(queue.quorum ? std::max<std::int64_t>(*ttl, 1) : *ttl);
}

// The ready messages in the order of service: requeued ones (DL-156), then by priority, then by
// age.
std::vector<const Entry*> Model::in_order(const Queue& queue) const {
    std::vector<const Entry*> ready;
    for (const Entry& entry : queue.entries) {
        if (entry.place == Place::ready) ready.push_back(&entry);
    }
    std::sort(ready.begin(), ready.end(), [](const Entry* a, const Entry* b) {
        if (a->returned != b->returned) return a->returned;
        if (!a->returned && a->level != b->level) return a->level > b->level;
        return a->order < b->order;
    });
    return ready;
}

Entry* Model::find(Queue& queue, std::uint64_t id) {
    for (Entry& entry : queue.entries) {
        if (entry.id == id) return &entry;
    }
    return nullptr;
}

Entry Model::take(Queue& queue, std::uint64_t id) {
    Entry taken = *find(queue, id);
    std::erase_if(queue.entries, [&](const Entry& one) { return one.id == id; });
    note_room(queue);
    return taken;
}

void Model::remove(Queue& queue, std::uint64_t entry, Ending ending) {
    take(queue, entry);
    accounts_.of(ending) += 1;
}

// DL-143
std::uint64_t Model::bytes_of(const Queue& queue, const Message& message) {
    return message.body.size() + (queue.quorum ? message.property_bytes : 0);
}

// DL-136: count and bytes to which the limits apply.
std::pair<std::uint64_t, std::uint64_t> Model::limited(const Queue& queue) {
    std::pair<std::uint64_t, std::uint64_t> sum{0, 0};
    for (const Entry& entry : queue.entries) {
        if (entry.place == Place::unacked) continue;
        sum.first += 1;
        sum.second += bytes_of(queue, entry.message);
    }
    return sum;
}

std::uint64_t Model::count(const Queue& queue, Place place) {
    return static_cast<std::uint64_t>(
        std::count_if(queue.entries.begin(), queue.entries.end(),
                      [&](const Entry& entry) { return entry.place == place; }));
}

// ---------------------------------------------------------------------------- overflow

bool Model::is_over(const Queue& queue, const Settings& settings) {
    const auto [count, bytes] = limited(queue);
    const auto over = [](std::uint64_t amount, const Number& limit) {
        return limit && amount > static_cast<std::uint64_t>(*limit);
    };
    return over(count, settings.max_length) || over(bytes, settings.max_length_bytes);
}

// DL-140: at or below 80 %, rounded down, of every limit.
bool Model::is_down_again(const Queue& queue) {
    Settings lower = queue.settings;
    if (lower.max_length) *lower.max_length = *lower.max_length * 8 / 10;
    if (lower.max_length_bytes) *lower.max_length_bytes = *lower.max_length_bytes * 8 / 10;
    return !is_over(queue, lower);
}

void Model::note_room(Queue& queue) {
    if (is_down_again(queue)) queue.refusing = false;
}

void Model::watch_limits(Queue& queue) {
    if (!queue.quorum || queue.settings.overflow == Overflow::drop_head) return;
    if (is_over(queue, queue.settings)) queue.refusing = true;
    note_room(queue);
}

// DL-138 to DL-141. Waiting consumers are served with earlier messages before a message is refused.
bool Model::refuses(const QueueRef& queue, const Message& message) {
    if (queue->settings.overflow == Overflow::drop_head) return false;
    if (!is_full_for(*queue, message)) return false;
    // Whether due messages at the head expire first, at the same instant, is open.
    const bool as_it_is = queue->settings.expires_at_head_only && choices_.pick(2) == 1;
    if (!as_it_is) serve(queue);
    watch_limits(*queue);
    return queue->quorum ? queue->refusing : is_full_for(*queue, message);
}

bool Model::is_full_for(const Queue& queue, const Message& message) {
    if (queue.quorum) return queue.refusing || is_over(queue, queue.settings);
    Queue tried = queue;
    tried.entries.emplace_back();
    tried.entries.back().message = message;
    return is_over(tried, tried.settings);
}

// DL-168, DL-179: a quorum queue refuses only dead letters that can wait in an outbox.
bool Model::refuses_letter(const QueueRef& queue, const Message& message, DeathStrategy strategy) {
    if (queue->quorum && strategy != DeathStrategy::at_least_once) return false;
    return refuses(queue, message);
}

// DL-137, DL-145: drops the messages that would be delivered next.
void Model::drop_surplus(const QueueRef& queue) {
    if (queue->settings.overflow != Overflow::drop_head) return;
    while (is_over(*queue, queue->settings)) {
        const std::vector<const Entry*> ready = in_order(*queue);
        if (ready.empty()) return;
        die(queue, ready.front()->id, DeathReason::maxlen);
    }
}

}  // namespace revenant::model
