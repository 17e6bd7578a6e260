// Expiry: TTL of messages and queues. Messages expire on time at any depth of a queue.
#pragma once

#include "engine/rules/turn.h"

#include <optional>

namespace revenant::engine {

// Expires all messages and queues that are due by turn.now().
void expire_due(Turn& turn);

// For queues whose messages expire only at the head (ttl-mode: head): expires those that are due
// there.
void expire_heads(Turn& turn, Queue& queue);

// The number of messages that expire_heads() would expire.
std::uint64_t due_at_heads(Turn& turn, Queue& queue);

// Called when a queue leaves ttl-mode head: expires due messages that are not at the head.
void expire_overdue(Turn& turn, Queue& queue);

// The deadline of a message that is added to the queue now: the smaller of its own TTL and the
// queue's (DL-122). A dead letter has lost its own TTL (DL-70).
Timestamp deadline_for(const Turn& turn, const Queue& queue,
                       std::optional<std::int64_t> message_ttl_ms);

}  // namespace revenant::engine
