// Dispatch: ready messages × consumers with credit → Deliver. And the work that waits on queues.
#pragma once

#include "base/result.h"
#include "engine/turn.h"

namespace revenant::engine {

// Hands out what can be handed out, keeps limits and expires what is due, until no queue touched in
// this turn has anything left to do. A death may touch further queues; they are worked off in the
// same loop, never by recursion. A very long cascade goes on in the next turn.
void settle_down(Turn& turn);

// Hands out what can be handed out of this queue now, before the turn ends.
void dispatch(Turn& turn, Queue& queue);

// The same for a message that has just come into a classic queue without any time to live, where
// messages expire at the head: whoever can take it must take it now (DL-126). Stops at what had
// expired before.
void offer_at_once(Turn& turn, Queue& queue);

Result<GetAnswer, Refusal> get(Turn& turn, const Get& command);

}  // namespace revenant::engine
