// Parking: a message whose bytes on disk cannot be read is skipped, counted and logged, and its
// queue continues with the next one. Parked messages are removed by a purge, with their queue, or
// by discard_parked(). A restart reads them again, because a read error may be temporary.
#pragma once

#include "base/result.h"
#include "engine/rules/turn.h"

namespace revenant::engine {

Result<CountAnswer, Refusal> discard_parked(Turn& turn, const DiscardParked& command);

// Issues one notice per queue until the queue has no parked messages any more.
void tell_parked(Turn& turn);

}  // namespace revenant::engine
