#include "tests/model/model.h"

#include <algorithm>
#include <functional>
#include <regex>

namespace revenant::model {
namespace {

std::string text(std::int64_t number) { return std::to_string(number); }

template <typename Container, typename Value>
bool contains(const Container& container, const Value& value) {
    return std::find(container.begin(), container.end(), value) != container.end();
}

std::string text_of(const Table& table, std::string_view key) {
    const Value* const value = revenant::find(table, key);
    return value == nullptr ? std::string() : display(*value);
}
std::optional<std::string> string_in(const Table& table, std::string_view key) {
    if (revenant::find(table, key) == nullptr) return std::nullopt;
    return text_of(table, key);
}
std::optional<std::int64_t> number_in(const Table& table, std::string_view key) {
    if (revenant::find(table, key) == nullptr) return std::nullopt;
    return std::stoll(text_of(table, key));
}

std::string joined(const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "" : ",") + word;
    return all;
}

}  // namespace

// -------------------------------------------------------------------------------- choices

std::size_t Choices::pick(std::size_t of) {
    if (of < 2) return 0;
    const auto detour = detours_.find(points_.size());
    points_.push_back(of);
    return detour == detours_.end() ? 0 : detour->second;
}

// ---------------------------------------------------------------------------- as text

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
    const auto mark = [](const DeathMark& one) {
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

// -------------------------------------------------------------------------------- time

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

// Before a command is looked at, everything that is due by now has expired. Whether its
// consequences come first as well is open.
void Model::begin() {
    defer_heads_if_open();
    expire_due(Fresh::spared);
    heads_deferred_ = false;
    if (!touched_.empty() && choices_.pick(2) == 1) settle_down();
}

// With ttl-mode head, RabbitMQ's way, the message at the head may be found by the command: only to
// be handed out it is too late.
void Model::defer_heads_if_open() {
    const auto due = all_due(now_, Fresh::spared);
    const bool heads = std::any_of(due.begin(), due.end(), [](const Due& one) {
        return one.what == Due::What::messages && one.queue->settings.expires_at_head_only;
    });
    heads_deferred_ = heads && choices_.pick(2) == 1;
}

void Model::end() { settle_down(); }

// What is due by then, earliest first.
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

// All that is due now, but not what comes up on the way. What comes first among it is open.
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

// Of a queue that expires as well, each level may die before or go with it.
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

// DL-134: no consumer, no declare, no get for so long.
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

// When the next message of the queue dies of its age if nothing else happens.
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

// DL-126: a message with a time-to-live of 0 may be taken by a consumer who waits for it, and only
// while the command that brought it is worked on.
bool Model::is_fresh(const Entry& entry) const {
    return entry.fresh && entry.place == Place::ready;
}

// Our decision over DL-6 and DL-128: at any depth; with ttl-mode head the expired prefix of a
// classic queue (DL-130), or of the returned list and each level of a quorum queue (DL-129). Oldest
// first (DL-133).
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

// DL-163: then they join the returned list, in the order of their times and of their returns, or
// expire now if their time has passed.
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

// ---------------------------------------------------------------------------- topology

QueueRef Model::find_queue(std::string_view name) const {
    for (const QueueRef& queue : queues_) {
        if (queue->name == name) return queue;
    }
    return nullptr;
}

QueueRef Model::find_queue(std::uint64_t id) const {
    for (const QueueRef& queue : queues_) {
        if (queue->id == id) return queue;
    }
    return nullptr;
}

const Exchange* Model::find_exchange(std::string_view name) const {
    static const Exchange default_exchange{"", "default", {}};
    if (name.empty()) return &default_exchange;
    for (const Exchange& exchange : exchanges_) {
        if (exchange.name == name) return &exchange;
    }
    return nullptr;
}

// amqp091 6.7: type and alternate-exchange must be the same again.
void Model::declare_exchange(std::size_t channel, const std::string& name, const std::string& type,
                             const Table& arguments) {
    begin();
    if (const Exchange* const found = find_exchange(name)) {
        const bool same =
            found->type == type && string_in(found->arguments, "alternate-exchange") ==
                                       string_in(arguments, "alternate-exchange");
        if (!same) return refuse(channel, RefusalKind::precondition_failed);
    } else {
        exchanges_.push_back({name, type, arguments});
    }
    tell(channel, "done");
    end();
}

// amqp091 6.9
void Model::delete_exchange(std::size_t channel, const std::string& name, bool if_unused) {
    begin();
    const bool used = std::any_of(bindings_.begin(), bindings_.end(),
                                  [&](const Binding& one) { return one.source == name; });
    if (if_unused && used && find_exchange(name) != nullptr) {
        return refuse(channel, RefusalKind::precondition_failed);
    }
    std::erase_if(exchanges_, [&](const Exchange& one) { return one.name == name; });
    std::erase_if(bindings_, [&](const Binding& one) {
        return one.source == name || (one.to_exchange && one.destination == name);
    });
    tell(channel, "done");
    end();
}

namespace {

// DL-42, DL-43, DL-47: what is wrong whatever exists already.
bool is_valid_declaration(bool durable, const Table& arguments) {
    const bool quorum = text_of(arguments, "x-queue-type") == "quorum";
    const auto has = [&](std::string_view key) {
        return revenant::find(arguments, key) != nullptr;
    };
    if (has("x-dead-letter-routing-key") && !has("x-dead-letter-exchange")) return false;
    if (quorum) return durable && !has("x-max-priority");
    return !has("x-dead-letter-strategy") && !has("x-delivery-limit") &&
           !has("x-delayed-retry-type") && !has("x-delayed-retry-min") &&
           !has("x-delayed-retry-max");
}

// DL-44
bool is_equivalent(const Table& a, const Table& b) {
    const auto holds = [](const Table& inner, const Table& outer) {
        return std::all_of(inner.begin(), inner.end(), [&](const Field& field) {
            const Value* const other = revenant::find(outer, field.name);
            return other != nullptr && display(*other) == display(field.value);
        });
    };
    return holds(a, b) && holds(b, a);
}

}  // namespace

void Model::declare_queue(std::size_t channel, const std::string& name, bool durable,
                          const Table& arguments) {
    begin();
    if (!is_valid_declaration(durable, arguments)) {
        return refuse(channel, RefusalKind::precondition_failed);
    }
    QueueRef queue = find_queue(name);
    if (queue && (queue->durable != durable || !is_equivalent(queue->arguments, arguments))) {
        return refuse(channel, RefusalKind::precondition_failed);
    }
    if (!queue) {
        queue = std::make_shared<Queue>();
        queue->id = ++last_queue_;
        queue->name = name;
        queue->quorum = text_of(arguments, "x-queue-type") == "quorum";
        queue->durable = durable;
        queue->arguments = arguments;
        queue->settings = settings_of(*queue);
        queues_.push_back(queue);
    }
    queue->last_used = now_;
    tell(channel, "declared " + text(static_cast<std::int64_t>(count(*queue, Place::ready))) + ' ' +
                      text(static_cast<std::int64_t>(queue->consumers.size())));
    end();
}

// amqp091 8.12
void Model::delete_queue(std::size_t channel, const std::string& name, bool if_unused,
                         bool if_empty) {
    begin();
    const QueueRef queue = find_queue(name);
    if (!queue) {
        tell(channel, "removed 0");
        return end();
    }
    if (queue->quorum && (if_unused || if_empty)) {
        return refuse(channel, RefusalKind::not_implemented);
    }
    const std::uint64_t ready = count(*queue, Place::ready);
    if ((if_unused && !queue->consumers.empty()) || (if_empty && ready > 0)) {
        return refuse(channel, RefusalKind::precondition_failed);
    }
    drop_queue(queue);
    tell(channel, "removed " + text(static_cast<std::int64_t>(ready)));
    end();
}

// DL-13, DL-14: nobody dies; consumers are told (amqp091 11.15).
void Model::drop_queue(const QueueRef& queue) {
    for (const ConsumerRef& consumer : std::vector(queue->consumers)) {
        remove_consumer(consumer);
        tell(consumer->channel, "cancel " + text(consumer->number));
    }
    while (!queue->entries.empty()) {
        remove(*queue, queue->entries.front().id, Ending::queue_deleted);
    }
    std::erase_if(bindings_, [&](const Binding& one) {
        return !one.to_exchange && one.destination == queue->name;
    });
    std::erase(queues_, queue);
}

// DL-15: of a quorum queue also what is delayed and what waits in the outbox.
void Model::purge(std::size_t channel, const std::string& name) {
    begin();
    const QueueRef queue = find_queue(name);
    if (!queue) return refuse(channel, RefusalKind::not_found);
    std::vector<std::uint64_t> purged;
    for (const Entry& entry : queue->entries) {
        if (entry.place != Place::unacked) purged.push_back(entry.id);
    }
    for (const std::uint64_t entry : purged) remove(*queue, entry, Ending::purged);
    touch(queue);
    tell(channel, "removed " + text(static_cast<std::int64_t>(purged.size())));
    end();
}

// amqp091 6.3, 7.12
std::optional<RefusalKind> Model::refusal_of_ends(const Binding& binding, bool must_exist) const {
    if (binding.source.empty() || (binding.to_exchange && binding.destination.empty())) {
        return RefusalKind::access_refused;
    }
    if (!must_exist) return std::nullopt;
    const bool found = binding.to_exchange ? find_exchange(binding.destination) != nullptr
                                           : find_queue(binding.destination) != nullptr;
    if (!found || find_exchange(binding.source) == nullptr) return RefusalKind::not_found;
    return std::nullopt;
}

void Model::bind(std::size_t channel, const Binding& binding) {
    begin();
    if (const auto kind = refusal_of_ends(binding, true)) return refuse(channel, *kind);
    if (!contains(bindings_, binding)) bindings_.push_back(binding);
    tell(channel, "done");
    end();
}

void Model::unbind(std::size_t channel, const Binding& binding) {
    begin();
    if (const auto kind = refusal_of_ends(binding, false)) return refuse(channel, *kind);
    std::erase(bindings_, binding);
    tell(channel, "done");
    end();
}

// ---------------------------------------------------------------------------- routing

namespace {

std::vector<std::string> words_of(const std::string& key) {
    std::vector<std::string> words;
    if (key.empty()) return words;
    std::size_t start = 0;
    for (std::size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', start)) {
        words.push_back(key.substr(start, dot - start));
        start = dot + 1;
    }
    words.push_back(key.substr(start));
    return words;
}

// amqp091 7.4
bool topic_matches(std::vector<std::string> pattern, std::vector<std::string> words) {
    if (pattern.empty()) return words.empty();
    const std::string first = pattern.front();
    const std::vector<std::string> rest(pattern.begin() + 1, pattern.end());
    if (first == "#") {
        for (std::size_t skipped = 0; skipped <= words.size(); ++skipped) {
            if (topic_matches(
                    rest, {words.begin() + static_cast<std::ptrdiff_t>(skipped), words.end()})) {
                return true;
            }
        }
        return false;
    }
    if (words.empty() || (first != "*" && first != words.front())) return false;
    return topic_matches(rest, {words.begin() + 1, words.end()});
}

// DL-52: what a headers exchange sees of a message that died.
Table headers_with_deaths(const Message& message) {
    Table headers = message.headers;
    if (message.history.deaths.empty()) return headers;
    const auto set = [&](const std::string& name, const std::string& value) {
        std::erase_if(headers, [&](const Field& one) { return one.name == name; });
        headers.push_back({name, Value::string(value)});
    };
    const auto mark = [&](const std::string& prefix, const DeathMark& death) {
        set(prefix + "queue", death.queue);
        set(prefix + "reason", std::string(to_string(death.reason)));
        set(prefix + "exchange", death.exchange);
    };
    mark("x-first-death-", message.history.first);
    mark("x-last-death-", *message.history.last);
    return headers;
}

// amqp091 7.5
bool headers_match(const Table& arguments, const Table& headers) {
    const std::string mode = text_of(arguments, "x-match");
    const bool with_x = mode == "all-with-x" || mode == "any-with-x";
    const bool any = mode == "any" || mode == "any-with-x";
    bool all_hold = true;
    bool one_holds = false;
    for (const Field& wanted : arguments) {
        if (wanted.name == "x-match") continue;
        if (!with_x && wanted.name.starts_with("x-")) continue;
        const Value* const value = revenant::find(headers, wanted.name);
        const bool holds = value != nullptr && (wanted.value.type == ValueType::void_value ||
                                                equivalent(*value, wanted.value));
        all_hold = all_hold && holds;
        one_holds = one_holds || holds;
    }
    return any ? one_holds : all_hold;
}

}  // namespace

bool Model::matches(const Exchange& exchange, const Binding& binding, const Message& message) {
    if (exchange.type == "fanout") return true;
    if (exchange.type == "headers") {
        return headers_match(binding.arguments, headers_with_deaths(message));
    }
    return std::any_of(message.keys.begin(), message.keys.end(), [&](const std::string& key) {
        if (exchange.type == "direct") return binding.key == key;
        return topic_matches(words_of(binding.key), words_of(key));
    });
}

// amqp091 6.12: the argument wins.
std::optional<std::string> Model::alternate_of(const Exchange& exchange) const {
    if (auto argument = string_in(exchange.arguments, "alternate-exchange")) return argument;
    return string_in(policy_for(exchange.name, "exchanges"), "alternate-exchange");
}

// DL-49 to DL-54; each exchange is visited once, each queue found once.
void Model::visit(const std::string& name, const Message& message,
                  std::vector<std::string>& visited, std::vector<QueueRef>& found) const {
    const Exchange* const exchange = find_exchange(name);
    if (exchange == nullptr || contains(visited, name)) return;
    visited.push_back(name);
    const auto add = [&](const QueueRef& queue) {
        if (queue && !contains(found, queue)) found.push_back(queue);
    };
    if (exchange->type == "default") {
        for (const std::string& key : message.keys) add(find_queue(key));
        return;  // It has no alternate.
    }
    bool matched = false;
    std::vector<std::string> further;
    for (const Binding& binding : bindings_) {
        if (binding.source != name || !matches(*exchange, binding, message)) continue;
        matched = true;
        if (binding.to_exchange) {
            further.push_back(binding.destination);
        } else {
            add(find_queue(binding.destination));
        }
    }
    for (const std::string& next : further) visit(next, message, visited, found);
    if (matched) return;
    if (const auto alternate = alternate_of(*exchange)) visit(*alternate, message, visited, found);
}

std::vector<QueueRef> Model::route(const std::string& exchange, const Message& message) {
    std::vector<std::string> visited;
    std::vector<QueueRef> found;
    visit(exchange, message, visited, found);
    return in_some_order(std::move(found));
}

std::vector<QueueRef> Model::in_some_order(std::vector<QueueRef> queues) {
    std::vector<QueueRef> ordered;
    while (!queues.empty()) {
        const auto next =
            queues.begin() + static_cast<std::ptrdiff_t>(choices_.pick(queues.size()));
        ordered.push_back(*next);
        queues.erase(next);
    }
    return ordered;
}

// ---------------------------------------------------------------------------- policies

void Model::set_policy(PolicyScope scope, const Policy& policy) {
    begin();
    policies_[scope][policy.name] = policy;
    apply_policies();
    tell(0, "done");
    end();
}

void Model::clear_policy(PolicyScope scope, const std::string& name) {
    begin();
    if (policies_[scope].erase(name) == 0) return refuse(0, RefusalKind::not_found);
    apply_policies();
    tell(0, "done");
    end();
}

// DL-29, DL-201
void Model::apply_policies() {
    for (const QueueRef& queue : queues_) reconfigure(queue);
}

// DL-31, and for classic queues our decision over DL-30 (docs/compatibility.md): all settings are
// in force at once.
void Model::reconfigure(const QueueRef& queue) {
    const Settings after = settings_of(*queue);
    // What RabbitMQ does: with new settings the period of an unused queue begins anew.
    if (after != queue->settings) queue->last_used = now_;
    queue->settings = after;
    touch(queue);
}

namespace {

// DL-192
bool matches_pattern(const std::string& pattern, const std::string& name) {
    static std::map<std::string, std::regex> compiled;
    const auto found = compiled.try_emplace(pattern, pattern).first;
    return std::regex_search(name, found->second);
}

bool is_for(const Policy& policy, const std::string& kind) {
    const bool queue = kind != "exchanges";
    switch (policy.apply_to) {
        case engine::ApplyTo::all:
            return true;
        case engine::ApplyTo::queues:
            return queue;
        case engine::ApplyTo::classic_queues:
        case engine::ApplyTo::quorum_queues:
        case engine::ApplyTo::streams:
        case engine::ApplyTo::exchanges:
            return to_string(policy.apply_to) == kind;
    }
    return false;
}

// DL-194
bool is_applicable(const Policy& policy, const std::string& kind) {
    if (kind != "classic_queues") return true;
    return std::none_of(policy.definition.begin(), policy.definition.end(), [](const Field& one) {
        return one.name == "delivery-limit" || one.name == "dead-letter-strategy" ||
               one.name.starts_with("delayed-retry-");
    });
}

// DL-149, DL-199: the smaller; a negative one means no limit and yields.
std::int64_t smaller_limit(std::int64_t a, std::int64_t b) {
    return a < 0 || b < 0 ? std::max(a, b) : std::min(a, b);
}

// DL-199: both have the key.
Value merged(const std::string& key, const Value& policy, const Value& of_operator) {
    const auto number = [](const Value& value) { return *value.as_integer(); };
    if (key == "delivery-limit") {
        return Value::int64(smaller_limit(number(policy), number(of_operator)));
    }
    if (key == "delayed-retry-min") {
        return Value::int64(std::max(number(policy), number(of_operator)));
    }
    if (policy.as_integer() == nullptr) return of_operator;
    return Value::int64(std::min(number(policy), number(of_operator)));
}

using Number = std::optional<std::int64_t>;

Number smaller(Number a, Number b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

Overflow overflow_named(const std::string& name) {
    if (name == "reject-publish") return Overflow::reject_publish;
    if (name == "reject-publish-dlx") return Overflow::reject_publish_dlx;
    return Overflow::drop_head;
}

// DL-160
void set_delayed_retry(Settings& settings, const Table& arguments, const Table& policy) {
    settings.retry =
        string_in(policy, "delayed-retry-type")
            .value_or(string_in(arguments, "x-delayed-retry-type").value_or("disabled"));
    const Number min = smaller(number_in(arguments, "x-delayed-retry-min"),
                               number_in(policy, "delayed-retry-min"));
    const Number max = smaller(number_in(arguments, "x-delayed-retry-max"),
                               number_in(policy, "delayed-retry-max"));
    if (!min || *min <= 0) settings.retry = "disabled";
    settings.retry_min = min.value_or(0);
    settings.retry_max = max.value_or(settings.retry_min);
}

// DL-148, DL-149
Number delivery_limit(const Table& arguments, const Table& policy) {
    const Number argument = number_in(arguments, "x-delivery-limit");
    const Number by_policy = number_in(policy, "delivery-limit");
    Number limit = argument ? argument : by_policy;
    if (argument && by_policy) limit = smaller_limit(*argument, *by_policy);
    if (!limit) return 20;
    return *limit < 0 ? Number{} : limit;
}

}  // namespace

// DL-193: the highest priority among those that match and are applicable.
const Policy* Model::best(PolicyScope scope, std::string_view name, const std::string& kind) const {
    const auto shelf = policies_.find(scope);
    if (shelf == policies_.end()) return nullptr;
    const Policy* found = nullptr;
    for (const auto& [unused, policy] : shelf->second) {
        if (!is_for(policy, kind) || !is_applicable(policy, kind)) continue;
        if (!matches_pattern(policy.pattern, std::string(name))) continue;
        if (found == nullptr || policy.priority > found->priority) found = &policy;
    }
    return found;
}

Table Model::policy_for(std::string_view name, const std::string& kind) const {
    Table definition;
    const Policy* const policy = best(PolicyScope::user, name, kind);
    const Policy* const of_operator = best(PolicyScope::operator_only, name, kind);
    if (policy != nullptr) definition = policy->definition;
    if (of_operator == nullptr) return definition;
    for (const Field& field : of_operator->definition) {
        const auto known = std::find_if(definition.begin(), definition.end(),
                                        [&](const Field& one) { return one.name == field.name; });
        if (known == definition.end()) {
            definition.push_back(field);
        } else {
            known->value = merged(field.name, known->value, field.value);
        }
    }
    return definition;
}

// DL-23
Settings Model::settings_of(const Queue& queue) const {
    const Table& given = queue.arguments;
    const Table policy = policy_for(queue.name, queue.quorum ? "quorum_queues" : "classic_queues");
    const auto of_both = [&](const std::string& key) {
        return smaller(number_in(given, "x-" + key), number_in(policy, key));
    };
    const auto argument_first = [&](const std::string& key) {
        const auto argument = string_in(given, "x-" + key);
        return argument ? argument : string_in(policy, key);
    };
    Settings settings;
    settings.message_ttl = of_both("message-ttl");
    settings.expires = of_both("expires");
    settings.max_length = of_both("max-length");
    settings.max_length_bytes = of_both("max-length-bytes");
    settings.dlx = argument_first("dead-letter-exchange");
    settings.dlrk = argument_first("dead-letter-routing-key");
    settings.expires_at_head_only = text_of(policy, "ttl-mode") == "head";
    if (!queue.quorum) {
        settings.overflow = overflow_named(argument_first("overflow").value_or(""));
        return settings;
    }
    const auto overflow = string_in(policy, "overflow");
    settings.overflow = overflow_named(overflow ? *overflow : text_of(given, "x-overflow"));
    // DL-47, DL-139: a quorum queue knows no reject-publish-dlx.
    if (settings.overflow == Overflow::reject_publish_dlx) settings.overflow = Overflow::drop_head;
    // DL-171
    settings.at_least_once = settings.dlx && settings.overflow == Overflow::reject_publish &&
                             argument_first("dead-letter-strategy") == "at-least-once";
    settings.delivery_limit = delivery_limit(given, policy);
    set_delayed_retry(settings, given, policy);
    return settings;
}

// ------------------------------------------------------------------------------ queues

void Model::touch(const QueueRef& queue) {
    if (!contains(touched_, queue)) touched_.push_back(queue);
}

// Everything a command causes happens before the next one. Which queue is looked at first is open.
// Whoever has no time left and was not taken dies when all were offered what they can take
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
    // A policy that ends ttl-mode head may leave the expired at any depth; when they die is open.
    const bool late = !expired_in(*queue, now_, Fresh::spared).empty();
    if (late && choices_.pick(2) == 1) expire_messages(queue, Fresh::spared);
    serve(queue);
    // Whether one that is both too old and too many dies of its age is open with ttl-mode head.
    if (queue->settings.expires_at_head_only && choices_.pick(2) == 0) {
        expire_messages(queue, Fresh::included);
    }
    drop_surplus(queue);
    watch_limits(*queue);
}

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

// DL-122, DL-123; DL-126: in a quorum queue nothing lives shorter than a millisecond.
Timestamp Model::expiry_for(const Queue& queue, const Message& message) const {
    const Number ttl = smaller(queue.settings.message_ttl, message.ttl_ms);
    if (!ttl) return never;
    return now_ + milliseconds(queue.quorum ? std::max<std::int64_t>(*ttl, 1) : *ttl);
}

// What is ready, in the order of service: what was returned (DL-156), then by priority, then by
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

// DL-136: count and bytes that the limits are about.
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

// -------------------------------------------------------------------------- delivering

// amqp091 11.1
bool Model::can_take(const Consumer& consumer) {
    return consumer.no_ack || consumer.prefetch == 0 || consumer.unsettled < consumer.prefetch;
}

// amqp091 11.19: in turn. Who cannot take when his turn has come leaves the line.
ConsumerRef Model::next_consumer(Queue& queue) {
    while (!queue.line.empty()) {
        const ConsumerRef first = queue.line.front();
        queue.line.pop_front();
        if (can_take(*first)) {
            queue.line.push_back(first);
            return first;
        }
        first->in_line = false;
    }
    return nullptr;
}

// Whether what has just come dies together with the expired in front of it is open.
void Model::expire_before_serving(const QueueRef& queue) {
    const auto late = expired_in(*queue, now_, Fresh::spared);
    if (late.empty()) return;
    const bool followed = expired_in(*queue, now_, Fresh::included).size() > late.size();
    const bool together = followed && choices_.pick(2) == 1;
    expire_messages(queue, together ? Fresh::included : Fresh::spared);
}

void Model::serve(const QueueRef& queue) {
    while (true) {
        if (queue->settings.expires_at_head_only) expire_before_serving(queue);
        const std::vector<const Entry*> ready = in_order(*queue);
        if (ready.empty()) return;
        const std::uint64_t head = ready.front()->id;
        const ConsumerRef consumer = next_consumer(*queue);
        if (!consumer) return;
        hand_out(consumer->channel, queue, head, consumer, consumer->no_ack,
                 "deliver " + text(consumer->number));
    }
}

// DL-152, DL-154, DL-155: what the receiver is shown. DL-17: without acknowledgement it is gone.
void Model::hand_out(std::size_t channel, const QueueRef& queue, std::uint64_t id,
                     const ConsumerRef& consumer, bool no_ack, const std::string& before) {
    Entry& entry = *find(*queue, id);
    Channel& to = channels_[channel];
    Shown shown;
    shown.tag = ++to.last_tag;
    shown.body = entry.message.body;
    // A classic queue does not count what goes straight to a consumer.
    const bool straight = consumer && entry.fresh && !queue->quorum;
    shown.redelivered = entry.requeued || (entry.message.failures > 0 && !straight);
    shown.exchange = entry.message.exchange;
    shown.key = entry.message.keys.front();
    shown.failures = queue->quorum ? entry.message.failures : 0;
    shown.acquired = queue->quorum ? entry.acquired : 0;
    shown.history = entry.message.history;
    tell(channel, before + ' ' + describe(shown));
    if (no_ack) {
        remove(*queue, id, Ending::auto_acknowledged);
    } else {
        entry.place = Place::unacked;
        note_room(*queue);
        to.unsettled[shown.tag] = {queue->id, id, consumer};
        if (consumer) consumer->unsettled += 1;
    }
    // Another one is at the head.
    if (queue->settings.expires_at_head_only) touch(queue);
}

void Model::consume(std::size_t channel, const std::string& name, bool no_ack) {
    begin();
    Channel& from = channels_[channel];
    const auto consumer = std::make_shared<Consumer>();
    consumer->channel = channel;
    consumer->number = ++from.last_consumer;
    consumer->no_ack = no_ack;
    consumer->prefetch = from.prefetch;
    const QueueRef queue = find_queue(name);
    if (!queue) return refuse(channel, RefusalKind::not_found);
    consumer->queue = queue->id;
    from.consumers.push_back(consumer);
    queue->consumers.push_back(consumer);
    queue->line.push_back(consumer);
    touch(queue);
    tell(channel, "done");
    end();
}

// amqp091 11.14: what is unsettled stays so. The last one to leave starts the queue's period
// (DL-134).
void Model::remove_consumer(const ConsumerRef& consumer) {
    consumer->gone = true;
    std::erase(channels_[consumer->channel].consumers, consumer);
    const QueueRef queue = find_queue(consumer->queue);
    std::erase(queue->consumers, consumer);
    std::erase(queue->line, consumer);
    if (queue->consumers.empty()) queue->last_used = now_;
}

void Model::cancel(std::size_t channel, std::uint32_t number) {
    begin();
    for (const ConsumerRef& consumer : std::vector(channels_[channel].consumers)) {
        if (consumer->number == number) remove_consumer(consumer);
    }
    tell(channel, "done");
    end();
}

void Model::qos(std::size_t channel, std::uint16_t prefetch) {
    begin();
    channels_[channel].prefetch = prefetch;
    tell(channel, "done");
    end();
}

// amqp091 11.10
void Model::get(std::size_t channel, const std::string& name, bool no_ack) {
    begin();
    const QueueRef queue = find_queue(name);
    if (!queue) return refuse(channel, RefusalKind::not_found);
    queue->last_used = now_;
    expire_messages(queue, Fresh::spared);
    const std::vector<const Entry*> ready = in_order(*queue);
    if (ready.empty()) {
        tell(channel, "empty");
    } else {
        hand_out(channel, queue, ready.front()->id, nullptr, no_ack, "got");
        // Another one is at the head (DL-131). Whether it is counted before it dies of that is
        // open.
        if (choices_.pick(2) == 0) expire_messages(queue, Fresh::spared);
        tell(channel, "left " + text(static_cast<std::int64_t>(count(*queue, Place::ready))));
    }
    end();
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

// DL-138 to DL-141. Whoever waits for what came before is served before anything is refused.
bool Model::refuses(const QueueRef& queue, const Message& message) {
    if (queue->settings.overflow == Overflow::drop_head) return false;
    if (!is_full_for(*queue, message)) return false;
    // Whether what is due at the head goes first, at the same instant, is open.
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

// DL-168, DL-179: a quorum queue refuses only those who can wait.
bool Model::refuses_letter(const QueueRef& queue, const Message& message, DeathStrategy strategy) {
    if (queue->quorum && strategy != DeathStrategy::at_least_once) return false;
    return refuses(queue, message);
}

// DL-137, DL-145: from where the next delivery would come.
void Model::drop_surplus(const QueueRef& queue) {
    if (queue->settings.overflow != Overflow::drop_head) return;
    while (is_over(*queue, queue->settings)) {
        const std::vector<const Entry*> ready = in_order(*queue);
        if (ready.empty()) return;
        die(queue, ready.front()->id, DeathReason::maxlen);
    }
}

// -------------------------------------------------------------------------- publishing

void Model::publish(std::size_t channel, const Publishing& publishing) {
    begin();
    if (publishing.confirm) channels_[channel].last_publish += 1;
    const std::uint64_t sequence = channels_[channel].last_publish;
    if (find_exchange(publishing.exchange) == nullptr) {
        return refuse(channel, RefusalKind::not_found);
    }
    const std::vector<QueueRef> targets = route(publishing.exchange, publishing.message);
    if (targets.empty() && publishing.mandatory) {
        tell(channel, "return " + publishing.message.body);
    }
    bool accepted = true;  // DL-144
    std::vector<QueueRef> refusing;
    for (const QueueRef& queue : targets) {
        if (refuses(queue, publishing.message)) {
            accepted = false;
            refused_by_queue_ += 1;
            refusing.push_back(queue);
            // Whether it is sent on before the other queues have their copies is open.
            if (choices_.pick(targets.size()) == 0) die_all_refused(refusing, publishing.message);
        } else {
            enqueue(queue, publishing.message);
        }
    }
    die_all_refused(refusing, publishing.message);
    if (publishing.confirm) {
        tell(channel, (accepted ? "ack " : "nack ") + text(static_cast<std::int64_t>(sequence)));
    }
    end();
}

// ------------------------------------------------------------------------------ settling

// amqp091 11.11
void Model::settle(std::size_t channel, std::uint64_t tag, bool multiple, Outcome outcome) {
    begin();
    auto& unsettled = channels_[channel].unsettled;
    const bool all = multiple && tag == 0;
    if (!all && !unsettled.contains(tag)) return refuse(channel, RefusalKind::precondition_failed);
    std::vector<Unsettled> settled;
    for (auto one = unsettled.begin(); one != unsettled.end();) {
        const bool meant = all || one->first == tag || (multiple && one->first < tag);
        if (meant) settled.push_back(one->second);
        one = meant ? unsettled.erase(one) : std::next(one);
    }
    settle_all(settled, outcome);
    end();
}

// DL-4: in the order of the tags. Whether those that die of their return, neighbours from one queue
// of one cause, do so before the others are back is open.
void Model::settle_all(const std::vector<Unsettled>& settled, Outcome outcome) {
    const bool returned = outcome.kind == engine::OutcomeKind::released && settled.size() > 1;
    die_after_returns_ = returned && choices_.pick(2) == 0;
    for (const Unsettled& one : settled) settle_one(one, outcome);
    die_after_returns_ = false;
    let_die();
}

void Model::let_die() {
    for (const Dying& one : std::exchange(dying_, {})) die(one.queue, one.entry, one.reason);
}

void Model::die_of_return(const QueueRef& queue, std::uint64_t entry, DeathReason reason) {
    const bool others =
        !dying_.empty() && (dying_.back().queue != queue || dying_.back().reason != reason);
    if (others) let_die();
    dying_.push_back({queue, entry, reason});
    if (!die_after_returns_) let_die();
}

// Section 22.
void Model::settle_one(const Unsettled& unsettled, Outcome outcome) {
    release_credit(unsettled);
    const QueueRef queue = find_queue(unsettled.queue);
    if (!queue) return;
    switch (outcome.kind) {
        case engine::OutcomeKind::accepted:
            remove(*queue, unsettled.entry, Ending::acknowledged);
            break;
        case engine::OutcomeKind::rejected:
            find(*queue, unsettled.entry)->message.failures += outcome.delivery_failed ? 1 : 0;
            die(queue, unsettled.entry, DeathReason::rejected);
            break;
        case engine::OutcomeKind::released:
            return_one(queue, unsettled.entry, outcome.delivery_failed);
            break;
    }
}

void Model::release_credit(const Unsettled& unsettled) {
    const ConsumerRef& consumer = unsettled.consumer;
    if (!consumer) return;
    consumer->unsettled -= 1;
    if (consumer->gone) return;
    const QueueRef queue = find_queue(consumer->queue);
    if (consumer->in_line) return;
    queue->line.push_back(consumer);
    consumer->in_line = true;
    touch(queue);
}

// DL-147, DL-150, DL-162: the limit first. DL-132: the age did not stop, and what is too old does
// not wait for another attempt first.
void Model::return_one(const QueueRef& queue, std::uint64_t id, bool failed) {
    Entry& entry = *find(*queue, id);
    entry.requeued = true;
    entry.fresh = false;
    entry.acquired += 1;
    entry.message.failures += failed ? 1 : 0;
    touch(queue);
    const Number& limit = queue->settings.delivery_limit;
    if (queue->quorum && limit && entry.message.failures > *limit) {
        return die_of_return(queue, id, DeathReason::delivery_limit);
    }
    if (entry.expires <= now_ && !queue->settings.expires_at_head_only) {
        return die_of_return(queue, id, DeathReason::expired);
    }
    put_back(*queue, entry, failed);
}

// DL-156: a classic queue knows the old place. A quorum queue has the list of returned ones;
// without a limit, what did not fail goes to the end with the usual priority.
void Model::put_back(Queue& queue, Entry& entry, bool failed) {
    entry.place = Place::ready;
    if (!queue.quorum) return;
    entry.order = ++last_order_;
    if (waits_for_retry(queue, entry, failed)) {
        const std::int64_t attempts = std::max<std::int64_t>(1, entry.message.failures);
        entry.place = Place::delayed;
        entry.delayed_until = now_ + milliseconds(std::min(queue.settings.retry_min * attempts,
                                                           queue.settings.retry_max));
        return;
    }
    entry.returned = queue.settings.delivery_limit || failed;
    if (!entry.returned) entry.level = 4;
}

// DL-161
bool Model::waits_for_retry(const Queue& queue, const Entry&, bool failed) const {
    const std::string& retry = queue.settings.retry;
    return retry == "all" || (retry == "failed" && failed) || (retry == "returned" && !failed);
}

void Model::return_all(std::size_t channel, bool failed) {
    std::vector<Unsettled> returned;
    for (const auto& [tag, one] : channels_[channel].unsettled) returned.push_back(one);
    channels_[channel].unsettled.clear();
    settle_all(returned, {engine::OutcomeKind::released, failed});
}

void Model::recover(std::size_t channel) {
    begin();
    return_all(channel, false);
    tell(channel, "done");
    end();
}

void Model::close(std::size_t channel) {
    begin();
    shut(channel);
    tell(channel, "done");
    end();
}

// DL-16, DL-150: also a polite end counts as a failure.
void Model::shut(std::size_t channel) {
    for (const ConsumerRef& consumer : std::vector(channels_[channel].consumers)) {
        remove_consumer(consumer);
    }
    return_all(channel, true);
    std::vector<std::string> told = take_told(channel);
    channels_[channel] = {};
    channels_[channel].told = std::move(told);
}

void Model::refuse(std::size_t channel, RefusalKind kind) {
    tell(channel, "refused " + text(static_cast<std::int64_t>(kind)));
    shut(channel);
    end();
}

// -------------------------------------------------------------------------------- death

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
        // Only what cannot go at once counts in the limits, else a full queue would refuse itself.
        entry.place = Place::unacked;
        forward(queue, id);
        if (Entry* const kept = find(*queue, id)) kept->place = Place::outbox;
        return;
    }
    const Entry dead = take(*queue, id);
    accounts_.of(send_on(*queue, dead.message, reason)) += 1;
}

// DL-8, DL-139: it dies in a queue it never was in.
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
    death.first_time = {died_at.us / 1000 * 1000};  // told to the millisecond
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
    const DeathMark mark{death.queue, death.reason, death.exchange};
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

// At-least-once (DL-175 to DL-186, and our decisions over them): it goes to every target that takes
// it and has not got it yet; when no target is missing it leaves. True if anything was done.
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

// In the order of the deaths; one that cannot go is in nobody's way.
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
