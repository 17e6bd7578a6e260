// Requeueing of deliveries. A classic queue puts the message at its old position. A quorum queue
// counts the attempt; the message then exceeds the delivery limit, is delayed, or is served first
// (DL-147 to DL-164).
#pragma once

#include "engine/rules/turn.h"

#include <optional>

namespace revenant::engine {

struct RequeueDetails {
    bool delivery_failed = false;
    // When a quorum queue may deliver it again, as set by its consumer (DL-164).
    std::optional<Timestamp> delivery_time;
};
// Requeues the message, unless it has to die: then only counts the attempt and returns the reason.
std::optional<DeathReason> requeue_delivery(Turn& turn, Queue& queue, Position position,
                                            const RequeueDetails& returned);

}  // namespace revenant::engine
