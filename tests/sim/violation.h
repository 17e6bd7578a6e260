// What a history has shown that must not be; nothing if all is well.
#pragma once

#include <optional>
#include <string>

namespace revenant::sim {

using Violation = std::optional<std::string>;

}  // namespace revenant::sim
