#include "auth/failed_logins.h"

#include <algorithm>
#include <iterator>

namespace revenant {
namespace {

constexpr Duration minute = seconds(60);

}  // namespace

unsigned FailedLogins::limit(PeerLocation place) const {
    return place == PeerLocation::loopback ? limits_.failures_per_minute_loopback
                                           : limits_.failures_per_minute;
}

Duration FailedLogins::wait(std::string_view source, Timestamp now) const {
    const auto found = by_name_.find(source);
    if (found == by_name_.end()) return {};
    const Source& known = *found->second;
    if (now < known.failed_at) return {};  // A clock that was set back must not throttle.
    return std::max(Duration{}, known.failed_at + known.wait - now);
}

bool FailedLogins::failed(std::string_view source, PeerLocation place, Timestamp now) {
    const unsigned allowed = limit(place);
    if (allowed == 0) return false;
    Source& known = touch(source);
    const Duration passed = std::max(Duration{}, now - known.failed_at);
    known.level -= static_cast<double>(passed.us) * allowed / static_cast<double>(minute.us);
    known.failed_at = now;
    if (known.level <= 0) {
        known.level = 0;
        known.wait = {};
    }
    known.level += 1;
    // A throttled address keeps its delay until the level has fallen to zero.
    if (known.level <= allowed) return false;
    known.level = allowed;
    const bool first = known.wait.us == 0;
    known.wait = std::min(limits_.wait_max,
                          first ? first_wait : Duration{saturated_product(known.wait.us, 2)});
    return first;
}

// Returns the entry of that address, creating it if needed, and moves it to the end of the list.
FailedLogins::Source& FailedLogins::touch(std::string_view name) {
    const auto found = by_name_.find(name);
    if (found != by_name_.end()) {
        sources_.splice(sources_.end(), sources_, found->second);
        return sources_.back();
    }
    if (sources_.size() == sources_max) {
        by_name_.erase(sources_.front().name);
        sources_.pop_front();
    }
    sources_.push_back({std::string(name), 0, {}, {}});
    by_name_.emplace(sources_.back().name, std::prev(sources_.end()));
    return sources_.back();
}

}  // namespace revenant
