#include "amqp091/message/death_headers.h"

#include "amqp091/codec/put_bytes.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace revenant::amqp091 {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t count_digits_max = 20;
// An upper bound for the names and numbers of a death, without its texts.
constexpr std::size_t death_bytes_max = 200;

std::size_t room_for(const Death& death) {
    std::size_t bytes = death_bytes_max + death.queue.size() + death.exchange.size();
    for (const std::string& key : death.routing_keys) bytes += 1 + 4 + key.size();
    return bytes;
}

// An int64, unless the record is a publisher's own with another integer type; the count fits
// because it was published in that type.
char* put_count(char* at, const Death& death) {
    if (death.count_type == ValueType::void_value) return at;
    at = put_bytes(at,
                   "\x05"
                   "count"sv);
    switch (death.count_type) {
        case ValueType::int8:
            return put_u8(put_u8(at, 'b'), static_cast<std::uint8_t>(death.count));
        case ValueType::uint8:
            return put_u8(put_u8(at, 'B'), static_cast<std::uint8_t>(death.count));
        case ValueType::int16:
            return put_u16(put_u8(at, 's'), static_cast<std::uint16_t>(death.count));
        case ValueType::uint16:
            return put_u16(put_u8(at, 'u'), static_cast<std::uint16_t>(death.count));
        case ValueType::int32:
            return put_u32(put_u8(at, 'I'), static_cast<std::uint32_t>(death.count));
        case ValueType::uint32:
            return put_u32(put_u8(at, 'i'), static_cast<std::uint32_t>(death.count));
        default:
            return put_u64(put_u8(at, 'l'), std::min(death.count, death_count_max));
    }
}

// In the order of DL-86: each name with its length, then the type.
char* put_death(char* at, const Death& death) {
    char* const size = at;
    at += 4;
    if (death.ttl_ms) {
        char digits[count_digits_max];
        const auto end = std::to_chars(digits, digits + sizeof digits, *death.ttl_ms).ptr;
        at = put_bytes(at, "\x13original-expirationS"sv);
        at = put_long_string(at, {digits, static_cast<std::size_t>(end - digits)});
    }
    at = put_count(at, death);
    at = put_bytes(at, "\x06reasonS"sv);
    at = put_long_string(at, to_string(death.reason));
    at = put_bytes(at, "\x05queueS"sv);
    at = put_long_string(at, death.queue);
    at = put_bytes(at, "\x04timeT"sv);
    at = put_u64(at, static_cast<std::uint64_t>(death.first_time.whole_seconds()));
    at = put_bytes(at,
                   "\x08"
                   "exchangeS"sv);
    at = put_long_string(at, death.exchange);
    at = put_bytes(at, "\x0crouting-keysA"sv);
    char* const keys_size = at;
    at += 4;
    for (const std::string& key : death.routing_keys) at = put_long_string(put_u8(at, 'S'), key);
    put_u32(keys_size, static_cast<std::uint32_t>(at - keys_size - 4));
    if (death.routing_keys_omitted > 0) {
        at = put_bytes(at, "\x14routing-keys-omittedl"sv);
        at = put_u64(at, death.routing_keys_omitted);
    }
    put_u32(size, static_cast<std::uint32_t>(at - size - 4));
    return at;
}

}  // namespace

void append_deaths(const std::vector<Death>& deaths, std::string& fields) {
    constexpr std::string_view name = "\x07x-deathA"sv;
    std::size_t room = name.size() + 4;
    for (const Death& death : deaths) room += 1 + room_for(death);
    const std::size_t before = fields.size();
    fields.resize(before + room);
    char* const size = put_bytes(fields.data() + before, name);
    char* at = size + 4;
    for (const Death& death : deaths) at = put_death(put_u8(at, 'F'), death);
    put_u32(size, static_cast<std::uint32_t>(at - size - 4));
    fields.resize(static_cast<std::size_t>(at - fields.data()));
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
    // RabbitMQ 3.x starts at zero if the record has no count (DL-109).
    const Value* const count = find(*table, "count");
    if (count == nullptr) {
        death.count = 0;
        death.count_type = ValueType::void_value;
    } else if (count->as_integer() != nullptr && *count->as_integer() > 0) {
        death.count = static_cast<std::uint64_t>(*count->as_integer());
        death.count_type = count->type;
    }
    if (const Value* time = find(*table, "time");
        time != nullptr && time->type == ValueType::timestamp) {
        // Unsigned on the wire; out-of-range values saturate.
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
