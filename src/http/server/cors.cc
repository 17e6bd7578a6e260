#include "http/server/cors.h"

#include "http/server/ascii_text.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace revenant::http {
namespace {

bool is_allowed(const CorsRules& rules, std::string_view origin) {
    return std::any_of(
        rules.allow_origins.begin(), rules.allow_origins.end(),
        [&](const std::string& allowed) { return allowed == "*" || allowed == origin; });
}

// Whether the host is that of the page's origin. The scheme is ignored, because a proxy may add
// TLS.
bool is_host_of(std::string_view origin, std::string_view host) {
    const std::size_t end = origin.find("://");
    if (end == std::string_view::npos) return false;
    const std::string_view default_port = origin.starts_with("https:") ? ":443" : ":80";
    const auto without_default_port = [&](std::string_view name) {
        if (name.ends_with(default_port)) name.remove_suffix(default_port.size());
        return to_lower_ascii(name);
    };
    return without_default_port(origin.substr(end + 3)) == without_default_port(host);
}

}  // namespace

bool is_foreign_wish(const CorsRules& rules, const Request& request) {
    if (request.method == "GET" || request.method == "HEAD" || request.method == "OPTIONS") {
        return false;
    }
    const std::string* const origin = request.find_header("origin");
    if (is_allowed(rules, origin == nullptr ? "" : *origin)) return false;
    // Sec-Fetch-Site is set by the browser and cannot be forged by a page. It is checked first,
    // because a proxy may have changed the host.
    if (const std::string* const site = request.find_header("sec-fetch-site")) {
        if (*site == "same-origin" || *site == "none") return false;
        if (*site == "cross-site") return true;
    }
    if (origin == nullptr) return false;
    // A page cannot send x-forwarded-host to another origin without a preflight request.
    for (const char* const name : {"host", "x-forwarded-host"}) {
        const std::string* const host = request.find_header(name);
        if (host != nullptr && is_host_of(*origin, *host)) return false;
    }
    return true;
}

void add_cors_headers(const CorsRules& rules, const Request& request, Response& response) {
    const std::string* const origin = request.find_header("origin");
    if (origin == nullptr) return;
    if (!is_allowed(rules, *origin)) return;
    response.headers.push_back({"access-control-allow-origin", *origin});
    response.headers.push_back({"access-control-allow-credentials", "true"});
    response.headers.push_back({"access-control-expose-headers", "Location"});
    if (request.method != "OPTIONS") return;
    response.headers.push_back({"access-control-max-age", std::to_string(rules.max_age_seconds)});
    const auto allow = std::find_if(response.headers.begin(), response.headers.end(),
                                    [](const Header& header) { return header.name == "allow"; });
    if (allow != response.headers.end()) {
        const std::string methods = allow->value;
        response.headers.push_back({"access-control-allow-methods", methods});
    }
    if (const std::string* const asked = request.find_header("access-control-request-headers")) {
        response.headers.push_back({"access-control-allow-headers", *asked});
    }
}

}  // namespace revenant::http
