// Expiry: time-to-live of messages and queues. It acts on time at any depth of a queue.
#pragma once

#include "engine/rules/turn.h"

#include <optional>

namespace revenant::engine {

// Everything whose time has come by turn.now() dies or goes.
void expire_due(Turn& turn);

// Where a message expires only at the head of its queue (ttl-mode: head): what is due there dies.
void expire_heads(Turn& turn, Queue& queue);

// How many of them would.
std::uint64_t due_at_heads(Turn& turn, Queue& queue);

// It no longer does: what expired behind the head meanwhile dies now.
void expire_overdue(Turn& turn, Queue& queue);

// When a message entering the queue now will expire: the smaller of its own and the queue's
// time-to-live (DL-122). A message the broker sends on has lost its own (DL-70).
Timestamp deadline_for(const Turn& turn, const Queue& queue,
                       std::optional<std::int64_t> message_ttl_ms);

}  // namespace revenant::engine
