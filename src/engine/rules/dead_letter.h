// Dead-lettering: plans a death (settings, targets, cycle rule, history entry) and executes it.
#pragma once

#include "engine/rules/turn.h"

#include <span>

namespace revenant::engine {

// These messages of the queue die together, in this order. Each moves from the queue to all its
// targets in one event; a message without targets is removed with its cause.
void handle_deaths(Turn& turn, Queue& source, std::span<const Position> positions,
                   DeathReason reason);

// A full queue refuses the message and dead-letters it (reject-publish-dlx, DL-8).
void dead_letter_refused(Turn& turn, Queue& refusing, const MessageRef& message,
                         EnvelopeRef envelope);

}  // namespace revenant::engine
