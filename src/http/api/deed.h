// Deed: an operation of an API user that is logged because it cannot be undone: deleting messages
// or definitions, and reading messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace revenant::http {

struct Deed {
    std::string_view text;
    std::string_view path;  // identifies the object
    std::string_view user;
    std::string_view address;
};

// The log text for a successful request, by the path segments below /api. Empty for requests that
// are not logged.
std::string_view deed_text(std::string_view method, const std::vector<std::string>& segments);

}  // namespace revenant::http
