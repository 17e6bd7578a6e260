// What the machine calls itself, for names that tell nodes apart.
#pragma once

#include <string>

namespace revenant::node {

// Without its domain; "localhost" if it has none.
std::string short_host_name();

}  // namespace revenant::node
