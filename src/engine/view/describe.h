// A state as text, to compare and to read.
#pragma once

#include "engine/state/state.h"

#include <cstdint>
#include <string>

namespace revenant::engine {

// Everything that replaying the same events must give again; or of that, what survives a restart.
enum class DescribeScope : std::uint8_t { all, durable };
std::string describe(State& state, DescribeScope described = DescribeScope::all);

}  // namespace revenant::engine
