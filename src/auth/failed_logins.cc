#include "auth/failed_logins.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <iterator>
#include <netinet/in.h>

namespace revenant {
namespace {

constexpr Duration minute = seconds(60);
constexpr std::size_t network_bytes = 8;

}  // namespace

std::string login_source(std::string_view address) {
    const std::string text(address.substr(0, address.find('%')));
    in6_addr parsed{};
    if (inet_pton(AF_INET6, text.c_str(), &parsed) != 1) return text;
    std::array<char, INET6_ADDRSTRLEN> shown{};
    if (IN6_IS_ADDR_V4MAPPED(&parsed)) {
        return inet_ntop(AF_INET, &parsed.s6_addr[12], shown.data(), shown.size());
    }
    if (IN6_IS_ADDR_LOOPBACK(&parsed)) return text;
    std::fill(std::begin(parsed.s6_addr) + network_bytes, std::end(parsed.s6_addr), 0);
    return inet_ntop(AF_INET6, &parsed, shown.data(), shown.size()) + std::string("/64");
}

unsigned FailedLogins::limit(PeerPlace place) const {
    return place == PeerPlace::loopback ? limits_.failures_per_minute_loopback
                                        : limits_.failures_per_minute;
}

Duration FailedLogins::wait(std::string_view source, Timestamp now) const {
    const auto found = by_name_.find(source);
    if (found == by_name_.end()) return {};
    const Source& known = *found->second;
    if (now < known.failed_at) return {};  // A clock that was set back keeps nobody out.
    return std::max(Duration{}, known.failed_at + known.wait - now);
}

bool FailedLogins::failed(std::string_view source, PeerPlace place, Timestamp now) {
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
    // An address that was beyond the limit keeps its wait until the level has sunk to nothing.
    if (known.level <= allowed) return false;
    known.level = allowed;
    const bool first = known.wait.us == 0;
    known.wait = std::min(limits_.wait_max, first ? first_wait : Duration{known.wait.us * 2});
    return first;
}

// The entry of that name, which is the latest from now on.
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
