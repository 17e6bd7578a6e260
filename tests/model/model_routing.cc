// Model: routing and publishing.
#include "tests/model/fields.h"
#include "tests/model/model.h"

#include <algorithm>
#include <utility>

namespace revenant::model {

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

// DL-52: the headers that a headers exchange sees of a dead letter.
Table headers_with_deaths(const Message& message) {
    Table headers = message.headers;
    if (message.history.deaths.empty()) return headers;
    const auto set = [&](const std::string& name, const std::string& value) {
        std::erase_if(headers, [&](const Field& one) { return one.name == name; });
        headers.push_back({name, Value::string(value)});
    };
    const auto mark = [&](const std::string& prefix, const DeathSummary& death) {
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

// amqp091 6.12: the argument takes precedence.
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
        return;  // The default exchange has no alternate.
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
            // Whether it is dead-lettered before the other queues have their copies is open.
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

}  // namespace revenant::model
