// A list that may be long. Its items are created in batches, so that a response with 10,000 queues
// needs only the memory of its text, and a page only that of its items.
#pragma once

#include "http/api/json.h"
#include "http/api/router.h"
#include "http/server/request.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace revenant::http {

// Maximum number of items per batch.
constexpr std::size_t views_at_once_max = 200;

struct LongList {
    std::size_t count = 0;
    // The field `name` of an item. Filtering and sorting by name does not create the items.
    std::function<std::string(std::size_t index)> name;
    // The items with these indexes, at most views_at_once_max; absent for an item that was deleted
    // in the meantime. May be called twice for an item.
    std::function<std::vector<std::optional<json::object>>(std::span<const std::size_t> indexes)>
        views;
};

// Has the same effect as list() in listing.h.
Response list_some_at_a_time(const Call& call, const LongList& list);

}  // namespace revenant::http
