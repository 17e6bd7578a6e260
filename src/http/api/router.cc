#include "http/api/router.h"

#include "base/utf8.h"
#include "http/server/ascii_text.h"

#include <algorithm>
#include <utility>

namespace revenant::http {
namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool has_any_tag(const User& user, std::initializer_list<std::string_view> tags) {
    return std::any_of(tags.begin(), tags.end(), [&](auto tag) { return user.has_tag(tag); });
}

}  // namespace

void Router::add(std::string_view method, std::string_view path, Role role, Action action) {
    Route route{std::string(method), {}, role, std::move(action)};
    for (const std::string_view segment : split(path.substr(1), '/')) {
        route.segments.emplace_back(segment);
    }
    routes_.push_back(std::move(route));
}

Result<Router::Match, Router::NoRoute> Router::find(
    std::string_view method, const std::vector<std::string>& segments) const {
    NoRoute missing;
    const Route* best = nullptr;
    for (const Route& route : routes_) {
        const bool fits =
            std::equal(route.segments.begin(), route.segments.end(), segments.begin(),
                       segments.end(), [](const std::string& pattern, const std::string& part) {
                           return pattern == "*" || pattern == part;
                       });
        if (!fits) continue;
        // A literal segment has precedence over `*`, independent of the order of the routes. This
        // comparison works because letters sort after `*`.
        if (best != nullptr && route.segments < best->segments) continue;
        if (best == nullptr || best->segments < route.segments) {
            missing.allowed.clear();
            best = nullptr;
        }
        missing.allowed.push_back(route.method);
        if (best == nullptr || route.method == method) best = &route;
    }
    if (best == nullptr || best->method != method) return Unexpected{std::move(missing)};
    Match match{&best->action, best->role, {}};
    for (std::size_t i = 0; i < segments.size(); ++i) {
        if (best->segments[i] == "*") match.parameters.push_back(segments[i]);
    }
    return match;
}

std::vector<std::string> Router::routes() const {
    std::vector<std::string> all;
    for (const Route& route : routes_) {
        std::string text = route.method + " ";
        for (const std::string& segment : route.segments) text += "/" + segment;
        all.push_back(std::move(text));
    }
    return all;
}

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && plus_is_space) {
            decoded += ' ';
        } else if (text[i] != '%') {
            decoded += text[i];
        } else {
            const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
            const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0) return std::nullopt;
            decoded += static_cast<char>(high * 16 + low);
            i += 2;
        }
    }
    return decoded;
}

std::string percent_encode(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";
    std::string encoded;
    for (const char c : text) {
        if (plain.find(c) != std::string_view::npos) {
            encoded += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            encoded += '%';
            encoded += digits[byte >> 4];
            encoded += digits[byte & 15];
        }
    }
    return encoded;
}

std::optional<Target> parse_target(std::string_view text) {
    Target target;
    text = text.substr(0, text.find('#'));
    const std::size_t question = text.find('?');
    std::string_view path = text.substr(0, question);
    if (!path.starts_with('/')) return std::nullopt;
    if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    for (const std::string_view segment : split(path.substr(1), '/')) {
        auto decoded = percent_decode(segment, /*plus_is_space=*/false);
        if (!decoded || !is_utf8(*decoded)) return std::nullopt;
        target.segments.push_back(std::move(*decoded));
    }
    if (question == std::string_view::npos) return target;
    for (const std::string_view pair : split(text.substr(question + 1), '&')) {
        const std::size_t equals = pair.find('=');
        auto name = percent_decode(pair.substr(0, equals), /*plus_is_space=*/true);
        auto value = equals == std::string_view::npos
                         ? std::optional<std::string>("")
                         : percent_decode(pair.substr(equals + 1), /*plus_is_space=*/true);
        if (!name || !value || !is_utf8(*name) || !is_utf8(*value)) return std::nullopt;
        target.query_pairs.emplace_back(*name, *value);
        target.query.insert_or_assign(std::move(*name), std::move(*value));
    }
    return target;
}

bool is_administrator(const User& user) { return user.has_tag("administrator"); }
bool is_monitor(const User& user) { return has_any_tag(user, {"administrator", "monitoring"}); }
bool is_policymaker(const User& user) {
    return has_any_tag(user, {"administrator", "policymaker"});
}
bool may_use_management(const User& user) {
    return has_any_tag(user, {"administrator", "monitoring", "policymaker", "management"});
}

bool can_see_vhost(const AccessTable& access, const User& user, std::string_view vhost) {
    return is_monitor(user) || access.can_access_vhost(user.name, vhost);
}

}  // namespace revenant::http
