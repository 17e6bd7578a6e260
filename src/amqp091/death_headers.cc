#include "amqp091/death_headers.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace revenant::amqp091 {

void set_header(Table& headers, std::string_view name, Value value) {
    std::erase_if(headers, [&](const Field& field) { return field.name == name; });
    headers.push_back({std::string(name), std::move(value)});
}

namespace {

// DL-85, in the order of DL-86.
Value render_death(const Death& death) {
    Table table;
    if (death.ttl_ms) {
        table.push_back({"original-expiration", Value::string(std::to_string(*death.ttl_ms))});
    }
    table.push_back(
        {"count", Value::int64(static_cast<std::int64_t>(std::min(death.count, death_count_max)))});
    table.push_back({"reason", Value::string(to_string(death.reason))});
    table.push_back({"queue", Value::string(death.queue)});
    table.push_back(
        {"time", Value::timestamp(static_cast<std::uint64_t>(death.first_time.whole_seconds()))});
    table.push_back({"exchange", Value::string(death.exchange)});
    Array keys;
    for (const std::string& key : death.routing_keys) keys.push_back(Value::string(key));
    table.push_back({"routing-keys", Value::array(std::move(keys))});
    if (death.routing_keys_omitted > 0) {
        table.push_back({"routing-keys-omitted", Value::int64(death.routing_keys_omitted)});
    }
    return Value::table(std::move(table));
}

}  // namespace

void write_deaths(const std::vector<Death>& deaths, Table& headers) {
    if (deaths.empty()) return;
    Array rendered;
    for (const Death& death : deaths) rendered.push_back(render_death(death));
    set_header(headers, "x-death", Value::array(std::move(rendered)));
}

void write_history(const DeathHistory& history, Table& headers) {
    if (history.deaths.empty()) return;
    write_deaths(history.deaths, headers);
    set_header(headers, "x-first-death-exchange", Value::string(history.first.exchange));
    set_header(headers, "x-first-death-queue", Value::string(history.first.queue));
    set_header(headers, "x-first-death-reason", Value::string(to_string(history.first.reason)));
    if (!history.last) return;
    set_header(headers, "x-last-death-exchange", Value::string(history.last->exchange));
    set_header(headers, "x-last-death-queue", Value::string(history.last->queue));
    set_header(headers, "x-last-death-reason", Value::string(to_string(history.last->reason)));
}

namespace {

std::string text_of(const Table& table, std::string_view name) {
    const Value* const value = find(table, name);
    return value != nullptr && value->as_string() != nullptr ? *value->as_string() : std::string();
}

std::optional<Death> read_death(const Value& entry) {
    const Table* const table = entry.as_table();
    if (table == nullptr) return std::nullopt;
    const auto reason = parse_death_reason(text_of(*table, "reason"));
    if (!reason || find(*table, "queue") == nullptr) return std::nullopt;
    Death death;
    death.queue = text_of(*table, "queue");
    death.reason = *reason;
    death.exchange = text_of(*table, "exchange");
    if (const Value* count = find(*table, "count");
        count != nullptr && count->as_integer() != nullptr && *count->as_integer() > 0) {
        death.count = static_cast<std::uint64_t>(*count->as_integer());
    }
    if (const Value* time = find(*table, "time");
        time != nullptr && time->type == ValueType::timestamp) {
        // Unsigned on the wire; what is beyond all times is the last of them.
        const auto given = static_cast<std::uint64_t>(std::get<std::int64_t>(time->data));
        const auto whole = static_cast<std::int64_t>(std::min<std::uint64_t>(given, INT64_MAX));
        death.first_time = Timestamp{} + seconds(whole);
        death.last_time = death.first_time;
    }
    if (const Value* keys = find(*table, "routing-keys"); keys != nullptr && keys->as_array()) {
        for (const Value& key : *keys->as_array()) {
            if (key.as_string() != nullptr) death.routing_keys.push_back(*key.as_string());
        }
    }
    const std::string expiration = text_of(*table, "original-expiration");
    std::int64_t ttl_ms = 0;
    const auto [end, error] =
        std::from_chars(expiration.data(), expiration.data() + expiration.size(), ttl_ms);
    if (error == std::errc{} && end == expiration.data() + expiration.size()) death.ttl_ms = ttl_ms;
    return death;
}

}  // namespace

std::optional<DeathHistory> history_in_headers(const Table& headers) {
    const Value* const x_death = find(headers, "x-death");
    if (x_death == nullptr || x_death->as_array() == nullptr) return std::nullopt;
    DeathHistory history;
    for (const Value& entry : *x_death->as_array()) {
        if (auto death = read_death(entry)) history.deaths.push_back(std::move(*death));
    }
    if (history.deaths.empty()) return std::nullopt;
    const Death& oldest = history.deaths.back();
    history.first = {oldest.queue, oldest.reason, oldest.exchange};
    if (find(headers, "x-first-death-queue") != nullptr) {
        history.first.queue = text_of(headers, "x-first-death-queue");
        history.first.reason =
            parse_death_reason(text_of(headers, "x-first-death-reason")).value_or(oldest.reason);
        history.first.exchange = text_of(headers, "x-first-death-exchange");
    }
    return history;
}

}  // namespace revenant::amqp091
