// Violation: an invariant that a history has violated; empty if there is none.
#pragma once

#include <optional>
#include <string>

namespace revenant::sim {

using Violation = std::optional<std::string>;

}  // namespace revenant::sim
