// Deed: what a user of the API did that nobody can undo, for the log: messages and definitions that
// are gone, messages that were read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace revenant::http {

struct Deed {
    std::string_view text;
    std::string_view path;  // what it was done to
    std::string_view user;
    std::string_view address;
};

// What a request did that was granted, by the segments of its path below /api; empty for what can
// be seen or undone.
std::string_view deed_text(std::string_view method, const std::vector<std::string>& segments);

}  // namespace revenant::http
