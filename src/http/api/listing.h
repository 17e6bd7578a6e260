// Listing: column selection, sorting and pagination of lists. management 2
#pragma once

#include "http/api/json.h"
#include "http/api/router.h"
#include "http/server/request.h"

namespace revenant::http {

// The response with a list: an array or, if the request names a page, an object with that page.
Response list(const Call& call, json::array items);
// The response with one object.
Response show(const Call& call, json::object item);

}  // namespace revenant::http
