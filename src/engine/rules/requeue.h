// Returning: a delivery came back undone. A classic queue puts the message back into its old place;
// a quorum queue counts the attempt and lets it die of its limit, wait, or come first (DL-147 to
// DL-164).
#pragma once

#include "engine/rules/turn.h"

#include <optional>

namespace revenant::engine {

struct RequeueDetails {
    bool delivery_failed = false;
    // When a quorum queue may hand it out again; its consumer said so (DL-164).
    std::optional<Timestamp> delivery_time;
};
// Puts the message back, unless it must die instead: then it only counts the attempt and says why.
std::optional<DeathReason> requeue_delivery(Turn& turn, Queue& queue, Position position,
                                            const RequeueDetails& returned);

}  // namespace revenant::engine
