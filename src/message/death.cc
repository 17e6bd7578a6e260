#include "message/death.h"

#include "base/check.h"

#include <algorithm>
#include <charconv>
#include <variant>

namespace revenant {

std::string_view to_string(DeathReason reason) {
    switch (reason) {
        case DeathReason::rejected:
            return "rejected";
        case DeathReason::expired:
            return "expired";
        case DeathReason::maxlen:
            return "maxlen";
        case DeathReason::delivery_limit:
            return "delivery_limit";
    }
    UNREACHABLE();
}

namespace {

std::optional<DeathReason> parse_reason(std::string_view text) {
    for (const DeathReason reason : {DeathReason::rejected, DeathReason::expired,
                                     DeathReason::maxlen, DeathReason::delivery_limit}) {
        if (to_string(reason) == text) return reason;
    }
    return std::nullopt;
}

std::string text_of(const Table& table, std::string_view name) {
    const Value* const value = find(table, name);
    return value != nullptr && value->as_string() != nullptr ? *value->as_string() : std::string();
}

std::optional<Death> read_death(const Value& entry) {
    const Table* const table = entry.as_table();
    if (table == nullptr) return std::nullopt;
    const auto reason = parse_reason(text_of(*table, "reason"));
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
        death.first_time = {std::get<std::int64_t>(time->data) * 1'000'000};
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
            parse_reason(text_of(headers, "x-first-death-reason")).value_or(oldest.reason);
        history.first.exchange = text_of(headers, "x-first-death-exchange");
    }
    return history;
}

DeathHistory with_death(const DeathHistory* before, Death death) {
    DeathHistory after;
    const DeathMark mark{death.queue, death.reason, death.exchange};
    if (before == nullptr || before->deaths.empty()) {
        after.first = mark;
        after.last = mark;
        after.deaths.push_back(std::move(death));
        return after;
    }
    after = *before;
    after.last = mark;
    const auto known = std::find_if(after.deaths.begin(), after.deaths.end(), [&](const Death& d) {
        return d.reason == death.reason && d.queue == death.queue;
    });
    if (known == after.deaths.end()) {
        after.deaths.insert(after.deaths.begin(), std::move(death));
        return after;
    }
    known->count += 1;
    known->last_time = death.last_time;
    std::rotate(after.deaths.begin(), known, known + 1);
    return after;
}

bool closes_cycle(const DeathHistory& history, DeathReason reason, std::string_view target) {
    if (reason == DeathReason::rejected) return false;
    for (const Death& death : history.deaths) {
        if (death.reason == DeathReason::rejected) return false;
        if (death.queue == target) return true;
    }
    return false;
}

}  // namespace revenant
