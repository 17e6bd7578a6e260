// Which types of queues know an argument (DL-43) or a key of a policy (DL-195), as bits.
#pragma once

namespace revenant::engine {

constexpr unsigned for_classic = 1;
constexpr unsigned for_quorum = 2;
constexpr unsigned for_streams = 4;

}  // namespace revenant::engine
