// Dead letters: plans a death — settings, targets, cycle rule, history entry — and carries it out.
#pragma once

#include "engine/rules/turn.h"

#include <span>

namespace revenant::engine {

// These messages of the queue die together, in this order. Each leaves the queue and enters all its
// targets in one event; without a target it is removed with the cause on record.
void handle_deaths(Turn& turn, Queue& source, std::span<const Position> positions,
                   DeathReason reason);

// A full queue refuses the message and sends it on as dead (reject-publish-dlx, DL-8).
void dead_letter_refused(Turn& turn, Queue& refusing, const MessageRef& message,
                         EnvelopeRef envelope);

}  // namespace revenant::engine
