// Cross-origin requests: which pages of other origins may read the answers, and that no others make
// a browser change anything. management 1.8
#pragma once

#include "http/server/request.h"

#include <cstdint>
#include <string>
#include <vector>

namespace revenant::http {

struct CorsRules {
    std::vector<std::string> allow_origins;  // `*` means every one
    std::int64_t max_age_seconds = 0;
};
// A wish to change something that a browser sends for a page of an origin which may not ask. Who is
// no browser says neither `Origin` nor `Sec-Fetch-Site`.
bool is_foreign_wish(const CorsRules& rules, const Request& request);
// Adds what a browser wants to see, if the request comes from a page that may ask.
void add_cors_headers(const CorsRules& rules, const Request& request, Response& response);

}  // namespace revenant::http
