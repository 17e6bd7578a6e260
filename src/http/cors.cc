#include "http/cors.h"

#include <algorithm>

namespace revenant::http {

void add_cors_headers(const CorsRules& rules, const Request& request, Response& response) {
    const std::string* const origin = request.find_header("origin");
    if (origin == nullptr) return;
    const bool allowed = std::any_of(rules.allow_origins.begin(), rules.allow_origins.end(),
                                     [&](const std::string& allowed_one) {
                                         return allowed_one == "*" || allowed_one == *origin;
                                     });
    if (!allowed) return;
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
