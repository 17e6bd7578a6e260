#include "amqp10/message/death_annotations.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace revenant::amqp10 {
namespace {

constexpr std::string_view deaths_name = "x-opt-deaths";
constexpr std::string_view first_prefix = "x-first-death-";
constexpr std::string_view last_prefix = "x-last-death-";

std::uint32_t as_uint(std::int64_t ttl_ms) {
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(ttl_ms, 0, most));
}

void write_keys(TypeWriter& out, const std::vector<std::string>& keys) {
    TypeWriter::Open array = out.begin_array(Type::string);
    for (const std::string& key : keys) out.element(key);
    array.count = static_cast<std::uint32_t>(keys.size());
    out.end(array);
}

// The entries of a map, in this order (DL-92).
void write_death(TypeWriter& out, const Death& death) {
    TypeWriter::Open map = out.begin_element();
    if (death.ttl_ms) {
        out.symbol("ttl");
        out.uint(as_uint(*death.ttl_ms));
    }
    out.symbol("queue");
    out.string(death.queue);
    out.symbol("reason");
    out.symbol(to_string(death.reason));
    out.symbol("count");
    out.ulong(death.count);
    out.symbol("first-time");
    out.timestamp(death.first_time.whole_ms());
    out.symbol("last-time");
    out.timestamp(death.last_time.whole_ms());
    out.symbol("exchange");
    out.string(death.exchange);
    out.symbol("routing-keys");
    write_keys(out, death.routing_keys);
    map.count = death.ttl_ms ? 16 : 14;
    if (death.routing_keys_omitted > 0) {
        out.symbol("routing-keys-omitted");
        out.uint(death.routing_keys_omitted);
        map.count += 2;
    }
    out.end(map);
}

void write_mark(TypeWriter& out, std::string_view prefix, const DeathSummary& mark) {
    const auto write = [&](std::string_view what, std::string_view value) {
        out.symbol(prefix, what);
        out.string(value);
    };
    write("queue", mark.queue);
    write("reason", to_string(mark.reason));
    write("exchange", mark.exchange);
}

const std::string* text(const Datum& datum, Type type) {
    return datum.type == type ? std::get_if<std::string>(&datum.content) : nullptr;
}

// Takes the entries of a death one by one; each must have the expected name.
class DeathEntries {
  public:
    explicit DeathEntries(const DataMap& map) : map_(map) {}

    const Datum* take(std::string_view name, Type type) {
        if (at_ == map_.size()) return nullptr;
        const MapEntry& entry = map_[at_];
        const std::string* const key = entry.key.as_symbol();
        if (key == nullptr || *key != name || entry.value.type != type) return nullptr;
        at_ += 1;
        return &entry.value;
    }
    bool at_end() const { return at_ == map_.size(); }

  private:
    const DataMap& map_;
    std::size_t at_ = 0;
};

std::optional<std::vector<std::string>> read_keys(const Data& elements) {
    std::vector<std::string> keys;
    for (const Datum& element : elements) {
        const std::string* const key = text(element, Type::string);
        if (key == nullptr) return std::nullopt;
        keys.push_back(*key);
    }
    return keys;
}

std::optional<Death> read_death(const Datum& datum) {
    const DataMap* const map = datum.as_map();
    if (map == nullptr) return std::nullopt;
    DeathEntries entries(*map);
    Death death;
    if (const Datum* ttl = entries.take("ttl", Type::uint)) {
        death.ttl_ms = static_cast<std::int64_t>(*ttl->as_unsigned());
    }
    const Datum* const queue = entries.take("queue", Type::string);
    const Datum* const reason = entries.take("reason", Type::symbol);
    const Datum* const count = entries.take("count", Type::ulong);
    const Datum* const first = entries.take("first-time", Type::timestamp);
    const Datum* const last = entries.take("last-time", Type::timestamp);
    const Datum* const exchange = entries.take("exchange", Type::string);
    const Datum* const keys = entries.take("routing-keys", Type::array);
    // A missing entry makes all later ones missing too.
    if (keys == nullptr || exchange == nullptr || !entries.at_end()) return std::nullopt;
    const auto known_reason = parse_death_reason(*reason->as_symbol());
    auto known_keys = read_keys(*keys->as_elements());
    constexpr std::int64_t ms_max = INT64_MAX / 1000;
    const auto is_time = [&](const Datum* time) {
        return *time->as_signed() >= 0 && *time->as_signed() <= ms_max;
    };
    if (!known_reason || !known_keys || !is_time(first) || !is_time(last)) return std::nullopt;
    death.queue = *queue->as_string();
    death.reason = *known_reason;
    death.count = std::min(*count->as_unsigned(), death_count_max);
    death.first_time = {*first->as_signed() * 1000};
    death.last_time = {*last->as_signed() * 1000};
    death.exchange = *exchange->as_string();
    death.routing_keys = std::move(*known_keys);
    return death;
}

}  // namespace

std::uint32_t write_history(TypeWriter& out, const DeathHistory& history) {
    if (history.deaths.empty()) return 0;
    out.symbol(deaths_name);
    TypeWriter::Open array = out.begin_array(Type::map);
    for (const Death& death : history.deaths) write_death(out, death);
    array.count = static_cast<std::uint32_t>(history.deaths.size());
    out.end(array);
    write_mark(out, first_prefix, history.first);
    if (!history.last) return 4;
    write_mark(out, last_prefix, *history.last);
    return 7;
}

bool is_death_annotation(std::string_view name) {
    if (name == deaths_name) return true;
    for (const std::string_view prefix : {first_prefix, last_prefix}) {
        if (!name.starts_with(prefix)) continue;
        const std::string_view what = name.substr(prefix.size());
        return what == "queue" || what == "reason" || what == "exchange";
    }
    return false;
}

std::vector<Death> read_deaths(Raw value) {
    TypeReader in(value);
    const Datum datum = in.datum();
    if (in.failed() || datum.type != Type::array) return {};
    std::vector<Death> deaths;
    for (const Datum& element : *datum.as_elements()) {
        auto death = read_death(element);
        if (!death) return {};
        deaths.push_back(std::move(*death));
    }
    return deaths;
}

}  // namespace revenant::amqp10
