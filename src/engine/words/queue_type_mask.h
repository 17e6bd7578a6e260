// The queue types that support an argument (DL-43) or a policy key (DL-195), as bits.
#pragma once

namespace revenant::engine {

constexpr unsigned classic_mask = 1;
constexpr unsigned quorum_mask = 2;
constexpr unsigned stream_mask = 4;

}  // namespace revenant::engine
