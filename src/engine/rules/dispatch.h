// Dispatch: ready messages × consumers with credit → Deliver.
#pragma once

#include "base/result.h"
#include "engine/rules/turn.h"

namespace revenant::engine {

// Delivers as many messages of this queue as possible. Where messages expire at the head, due ones
// expire first.
void serve(Turn& turn, Queue& queue);

// Delivers as many messages of this queue as possible now, before the turn ends.
void dispatch(Turn& turn, Queue& queue);

// Like dispatch(), for a message with a TTL of zero that was just added to a classic queue, where
// messages expire at the head or expiry has a backlog: a consumer that can take it must receive it
// now (DL-126). Stops at messages that expired earlier.
void dispatch_zero_ttl(Turn& turn, Queue& queue);

Result<GetAnswer, Refusal> get(Turn& turn, const Get& command);

}  // namespace revenant::engine
