// A list that may be long: its items are made one by one and forgotten again, so that an answer
// about ten thousand queues takes the memory of its text, and a page of it that of the page.
#pragma once

#include "http/json.h"
#include "http/request.h"
#include "http/router.h"

#include <cstddef>
#include <functional>

namespace revenant::http {

// As list() in listing.h. `view` makes the item of an index below `count`; it may be called twice.
Response list_one_by_one(const Call& call, std::size_t count,
                         const std::function<json::object(std::size_t)>& view);

}  // namespace revenant::http
