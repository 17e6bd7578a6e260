// Parking: a message whose bytes on the disk cannot be read is skipped, counted and told of, and
// its queue goes on with the next. Parked messages are removed by a purge, with their queue, or by
// the command here. A restart reads them again, because a disk that fails to read may do better
// later.
#pragma once

#include "base/result.h"
#include "engine/rules/turn.h"

namespace revenant::engine {

Result<CountAnswer, Refusal> discard_parked(Turn& turn, const DiscardParked& command);

// A notice per queue, once until it has no parked messages any more.
void tell_parked(Turn& turn);

}  // namespace revenant::engine
