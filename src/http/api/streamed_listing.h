// A list that may be long: its items are made some at a time and forgotten again, so that an answer
// about ten thousand queues takes the memory of its text, and a page of it that of the page.
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

// How many items are made at a time.
constexpr std::size_t views_at_once_max = 200;

struct LongList {
    std::size_t count = 0;
    // The field `name` of the item, which pages are filtered by and mostly sorted by: the other
    // items need not be made for it.
    std::function<std::string(std::size_t index)> name;
    // The items of these indexes, at most views_at_once_max; nothing for what is gone meanwhile. An
    // item may be asked for twice.
    std::function<std::vector<std::optional<json::object>>(std::span<const std::size_t> indexes)>
        views;
};

// As list() in listing.h.
Response list_some_at_a_time(const Call& call, const LongList& list);

}  // namespace revenant::http
