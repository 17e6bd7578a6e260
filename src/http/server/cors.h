// Cross-origin requests: allowed origins may read responses, and other origins must not change
// anything. management 1.8
#pragma once

#include "http/server/request.h"

#include <cstdint>
#include <string>
#include <vector>

namespace revenant::http {

struct CorsRules {
    std::vector<std::string> allow_origins;  // `*` matches all
    std::int64_t max_age_seconds = 0;
};
// Whether a browser sends a request that changes something for a page of an origin that is not
// allowed. Clients other than browsers send neither `Origin` nor `Sec-Fetch-Site`.
bool is_foreign_wish(const CorsRules& rules, const Request& request);
// Adds the CORS headers if the origin is allowed.
void add_cors_headers(const CorsRules& rules, const Request& request, Response& response);

}  // namespace revenant::http
