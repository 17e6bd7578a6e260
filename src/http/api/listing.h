// Listing: columns, order and pages of what an API call lists. management 2
#pragma once

#include "http/api/json.h"
#include "http/api/router.h"
#include "http/server/request.h"

namespace revenant::http {

// The answer to a listing: a bare array or, when a page is asked for, an object with that page.
Response list(const Call& call, json::array items);
// The answer to a question for one object.
Response show(const Call& call, json::object item);

}  // namespace revenant::http
