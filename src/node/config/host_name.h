// The host name, for default node names.
#pragma once

#include <string>

namespace revenant::node {

// Without the domain; "localhost" if the machine has no name.
std::string short_host_name();

}  // namespace revenant::node
