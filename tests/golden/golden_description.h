// A complete description of the durable state as text.
#pragma once

#include "auth/access.h"
#include "engine/state/state.h"

#include <string>

namespace revenant::golden {

// engine::describe(), then every message with its envelope.
std::string describe_all(engine::State& state);
std::string describe_catalog(const AccessRules& rules);

}  // namespace revenant::golden
