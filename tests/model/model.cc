#include "tests/model/model.h"

#include "tests/model/fields.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace revenant::model {

std::size_t Choices::pick(std::size_t of) {
    if (of < 2) return 0;
    const auto detour = detours_.find(points_.size());
    points_.push_back(of);
    return detour == detours_.end() ? 0 : detour->second;
}

// ---------------------------------------------------------------------------- formatting

std::string describe(const DeathHistory& history) {
    std::string line;
    for (const Death& death : history.deaths) {
        line += " {" + death.queue + ' ' + std::string(to_string(death.reason)) + ' ' +
                text(static_cast<std::int64_t>(death.count)) + " from " +
                text(death.first_time.us) + " to " + text(death.last_time.us) + " exchange '" +
                death.exchange + "' keys " + joined(death.routing_keys) +
                (death.ttl_ms ? " ttl " + text(*death.ttl_ms) : std::string()) + '}';
    }
    if (history.deaths.empty()) return line;
    const auto mark = [](const DeathSummary& one) {
        return one.queue + '/' + std::string(to_string(one.reason)) + '/' + one.exchange;
    };
    line += " first " + mark(history.first);
    if (history.last) line += " last " + mark(*history.last);
    return line;
}

std::string label(const std::string& body, const std::string& exchange, const std::string& key,
                  std::uint32_t failures, const DeathHistory& history) {
    const std::string past = exchange + ' ' + key + ' ' + text(failures) + describe(history);
    return body + '@' + text(static_cast<std::int64_t>(std::hash<std::string>{}(past) % 1000));
}

std::string describe(const Shown& shown) {
    return "#" + text(static_cast<std::int64_t>(shown.tag)) + ' ' + shown.body +
           (shown.redelivered ? " again" : "") + " via '" + shown.exchange + "' '" + shown.key +
           "' counts " + text(shown.failures) + '/' + text(shown.acquired) +
           describe(shown.history);
}

// ------------------------------------------------------------------------------- turns

Model::Model(std::size_t channels, Timestamp now, Choices& choices)
    : now_(now), choices_(choices), channels_(channels) {}

void Model::advance(Duration by) {
    const Timestamp last = now_ + by;
    for (auto due = all_due(last, Fresh::spared); !due.empty();
         due = all_due(last, Fresh::spared)) {
        now_ = std::max(now_, due.front().at);
        expire_due(Fresh::spared);
        settle_down();
    }
    now_ = last;
}

// Everything due expires before a command is processed. Whether the consequences also come first is
// open.
void Model::begin() {
    defer_heads_if_open();
    expire_due(Fresh::spared);
    heads_deferred_ = false;
    if (!touched_.empty() && choices_.pick(2) == 1) settle_down();
}

// With ttl-mode head, as in RabbitMQ, the command may still find the expired message at the head;
// it just cannot be delivered.
void Model::defer_heads_if_open() {
    const auto due = all_due(now_, Fresh::spared);
    const bool heads = std::any_of(due.begin(), due.end(), [](const Due& one) {
        return one.what == Due::What::messages && one.queue->settings.expires_at_head_only;
    });
    heads_deferred_ = heads && choices_.pick(2) == 1;
}

void Model::end() { settle_down(); }

void Model::touch(const QueueRef& queue) {
    if (!contains(touched_, queue)) touched_.push_back(queue);
}

// All consequences of a command happen before the next one. Which queue is processed first is open.
// A message with a TTL of 0 that was not delivered expires after all consumers have been served
// (DL-126).
void Model::settle_down() {
    do {
        while (!touched_.empty()) {
            const auto next =
                touched_.begin() + static_cast<std::ptrdiff_t>(choices_.pick(touched_.size()));
            const QueueRef queue = *next;
            touched_.erase(next);
            if (contains(queues_, queue)) work_off(queue);
            if (touched_.empty()) expire_due(Fresh::included);
        }
    } while (forward_letters());
    for (const QueueRef& queue : queues_) {
        for (Entry& entry : queue->entries) entry.fresh = false;
    }
}

void Model::work_off(const QueueRef& queue) {
    // A policy that ends ttl-mode head may leave expired messages at any depth; when they expire is
    // open.
    const bool late = !expired_in(*queue, now_, Fresh::spared).empty();
    if (late && choices_.pick(2) == 1) expire_messages(queue, Fresh::spared);
    serve(queue);
    // With ttl-mode head it is open whether a message that is both expired and surplus dies as
    // expired.
    if (queue->settings.expires_at_head_only && choices_.pick(2) == 0) {
        expire_messages(queue, Fresh::included);
    }
    drop_surplus(queue);
    watch_limits(*queue);
}

// ---------------------------------------------------------------------------- contents

std::vector<std::string> Model::take_told(std::size_t channel) {
    return std::exchange(channels_[channel].told, {});
}

std::vector<std::string> Model::contents() const {
    std::vector<std::string> lines;
    std::map<std::string, QueueRef> by_name;
    for (const QueueRef& queue : queues_) by_name[queue->name] = queue;
    for (const auto& [name, queue] : by_name) {
        std::vector<std::string> ready;
        for (const Entry* entry : in_order(*queue)) {
            const Message& message = entry->message;
            ready.push_back(label(message.body, message.exchange, message.keys.front(),
                                  message.failures, message.history));
        }
        std::string line = name + " ready [" + joined(ready) + ']';
        for (const Place place : {Place::unacked, Place::delayed, Place::outbox}) {
            line += ' ' + text(static_cast<std::int64_t>(count(*queue, place)));
        }
        line += " deaths";
        for (const std::uint64_t deaths : queue->deaths) {
            line += ' ' + text(static_cast<std::int64_t>(deaths));
        }
        lines.push_back(line);
    }
    std::string accounts = "accounts " + text(static_cast<std::int64_t>(accounts_.entered));
    for (const std::uint64_t ended : accounts_.ended) {
        accounts += ' ' + text(static_cast<std::int64_t>(ended));
    }
    lines.push_back(accounts);
    std::string deaths = "deaths";
    for (const std::uint64_t died : deaths_.counts) {
        deaths += ' ' + text(static_cast<std::int64_t>(died));
    }
    lines.push_back(deaths);
    lines.push_back("confirmed " + text(static_cast<std::int64_t>(letters_confirmed_)) +
                    " refused " + text(static_cast<std::int64_t>(refused_by_queue_)));
    return lines;
}

}  // namespace revenant::model
