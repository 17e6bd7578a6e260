#include "message/death.h"

#include "base/check.h"

#include <algorithm>

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

std::optional<DeathReason> parse_death_reason(std::string_view text) {
    for (const DeathReason reason : {DeathReason::rejected, DeathReason::expired,
                                     DeathReason::maxlen, DeathReason::delivery_limit}) {
        if (to_string(reason) == text) return reason;
    }
    return std::nullopt;
}

namespace {

void leave_out_keys(Death& death, std::size_t bytes_left) {
    auto& keys = death.routing_keys;
    std::size_t kept = 0;
    while (kept < keys.size() && (kept == 0 || keys[kept].size() <= bytes_left)) {
        bytes_left -= std::min(bytes_left, keys[kept].size());
        ++kept;
    }
    death.routing_keys_omitted += static_cast<std::uint32_t>(keys.size() - kept);
    keys.resize(kept);
}

std::size_t keys_bytes(const DeathHistory& history) {
    std::size_t bytes = 0;
    for (const Death& death : history.deaths) {
        for (const std::string& key : death.routing_keys) bytes += key.size();
    }
    return bytes;
}

}  // namespace

DeathHistory with_death(const DeathHistory* before, Death death) {
    DeathHistory after;
    if (death.routing_keys.size() > 1) {
        const std::size_t used = before == nullptr ? 0 : keys_bytes(*before);
        leave_out_keys(death, history_keys_bytes_max - std::min(used, history_keys_bytes_max));
    }
    const DeathSummary mark{death.queue, death.reason, death.exchange};
    if (before == nullptr || before->deaths.empty()) {
        after.first = mark;
        after.last = mark;
        after.deaths.push_back(std::move(death));
        return after;
    }
    after.first = before->first;
    after.last = mark;
    const auto known = std::find_if(
        before->deaths.begin(), before->deaths.end(),
        [&](const Death& d) { return d.reason == death.reason && d.queue == death.queue; });
    const bool is_new = known == before->deaths.end();
    // Reserves the exact size because long histories are copied often.
    after.deaths.reserve(before->deaths.size() + (is_new ? 1 : 0));
    if (is_new) {
        after.deaths.push_back(std::move(death));
    } else {
        Death& again = after.deaths.emplace_back(*known);
        if (again.count < death_count_max) again.count += 1;
        again.count_type = ValueType::int64;
        again.last_time = death.last_time;
    }
    after.deaths.insert(after.deaths.end(), before->deaths.begin(), known);
    if (!is_new) after.deaths.insert(after.deaths.end(), known + 1, before->deaths.end());
    return after;
}

std::size_t memory_of(const Envelope& envelope) {
    const auto of_texts = [](const std::vector<std::string>& texts) {
        std::size_t bytes = 0;
        for (const std::string& text : texts) bytes += sizeof text + text.size();
        return bytes;
    };
    std::size_t bytes =
        sizeof envelope + envelope.exchange.size() + of_texts(envelope.routing_keys);
    for (const Death& death : envelope.history.deaths) {
        bytes += sizeof death + death.queue.size() + death.exchange.size() +
                 of_texts(death.routing_keys);
    }
    for (const Annotation& annotation : envelope.annotations) {
        bytes += sizeof annotation + annotation.key.size() + 2 * annotation.encoded.size();
    }
    return bytes;
}

void count_bytes_if_large(Envelope& envelope) {
    constexpr std::size_t large = 4 * 1024;
    const std::size_t bytes = memory_of(envelope);
    envelope.counted_bytes = bytes > large ? static_cast<std::uint32_t>(bytes) : 0;
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
