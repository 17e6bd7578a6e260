// Cross-origin requests: which pages of other origins may read the answers. management 1.8
#pragma once

#include "http/request.h"

#include <cstdint>
#include <string>
#include <vector>

namespace revenant::http {

struct CorsRules {
    std::vector<std::string> allow_origins;  // `*` means every one
    std::int64_t max_age_seconds = 0;
};
// Adds what a browser wants to see, if the request comes from a page that may ask.
void add_cors_headers(const CorsRules& rules, const Request& request, Response& response);

}  // namespace revenant::http
