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
