// Dispatch: ready messages × consumers with credit → Deliver. And the work that waits on queues.
#pragma once

#include "base/result.h"
#include "engine/rules/turn.h"

namespace revenant::engine {

// Hands out what can be handed out of this queue; where messages expire at the head, what is due
// there dies before.
void serve(Turn& turn, Queue& queue);

// Hands out what can be handed out of this queue now, before the turn ends.
void dispatch(Turn& turn, Queue& queue);

// The same for a message that has just come into a classic queue without any time to live, where
// messages expire at the head or expiry is behind: whoever can take it must take it now (DL-126).
// Stops at what had expired before.
void dispatch_zero_ttl(Turn& turn, Queue& queue);

Result<GetAnswer, Refusal> get(Turn& turn, const Get& command);

}  // namespace revenant::engine
