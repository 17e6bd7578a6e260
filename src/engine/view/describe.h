// A state as text, for comparing and reading.
#pragma once

#include "engine/state/state.h"

#include <cstdint>
#include <string>

namespace revenant::engine {

// The whole state, which a replay of the same events reproduces, or only its durable part.
enum class DescribeScope : std::uint8_t { all, durable };
std::string describe(State& state, DescribeScope described = DescribeScope::all);

}  // namespace revenant::engine
