// Events: the state changes that the journal can contain. An event is never refused.
// Journals of every version contain them, so State::apply must support every event permanently.
//
// All events of one command form one record, which becomes durable as a whole or not at all.
// Therefore a dead-lettering (removal from the source, addition to every target), the overflow that
// it causes and a commit are atomic.
#pragma once

#include "base/ids.h"
#include "base/time.h"
#include "engine/words/command.h"
#include "engine/words/counters.h"
#include "engine/words/declarations.h"
#include "engine/words/delivery_counts.h"
#include "engine/words/policy.h"
#include "engine/words/position.h"
#include "message/death.h"
#include "message/message.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace revenant::engine {

struct ExchangeDeclared {
    ExchangeDeclaration exchange;
};
struct ExchangeDeleted {
    std::string name;
};
struct QueueDeclared {
    QueueDeclaration queue;
    ConnectionId owner;  // of an exclusive queue; not journaled
};
// The queue was deleted with all its messages.
struct QueueDeleted {
    QueueId queue;
};
// All messages except the unsettled ones were removed. These are listed because a replay has no
// deliveries.
struct Purged {
    QueueId queue;
    std::vector<Position> unsettled;  // ascending
};
struct Bound {
    std::string source;
    DestinationKind destination_kind = DestinationKind::queue;
    std::string destination;
    std::string routing_key;
    Table arguments;
};
struct Unbound {
    std::string source;
    DestinationKind destination_kind = DestinationKind::queue;
    std::string destination;
    std::string routing_key;
    Table arguments;
};

// The position of a message in a queue.
struct Placement {
    QueueId queue;
    Position position;
    Timestamp deadline = never;
};

struct Enqueued {
    MessageRef message;
    Placement placement;
};
// An entry left its queue without going to another one.
struct Removed {
    QueueId queue;
    Position position;
    Ending ending = Ending::acknowledged;
};
// A delivery was requeued: at its old position (classic queues) or at a new one (quorum queues).
struct Requeued {
    QueueId queue;
    Position position;
    Position to;
    DeliveryCounts counts;
};
// A delivery was requeued and is not ready before `until`.
struct Delayed {
    QueueId queue;
    Position position;
    Position to;
    Timestamp until;
    DeliveryCounts counts;
};
struct DelayEnded {
    QueueId queue;
    Position position;
    Position to;
};
// A message was dead-lettered from its queue to all its targets in one step. Only references move.
struct DeadLettered {
    QueueId source;
    Position position;
    EnvelopeRef envelope;
    std::vector<Placement>
        targets;  // never empty: a death without targets is Removed with its cause
};
// A full queue refused a message and dead-lettered it; the message was never in that queue.
struct RefusedAndDeadLettered {
    MessageRef message;
    EnvelopeRef envelope;
    std::vector<Placement> targets;
};
// A message died and is in the outbox of its queue until all its targets have it.
struct MovedToOutbox {
    QueueId queue;
    Position position;
    Position to;
    DeathReason reason = DeathReason::rejected;
    Timestamp died_at;
    DeliveryCounts counts;
};
// A dead letter from the outbox reached these targets. It leaves the outbox with the last one.
struct ForwardedFromOutbox {
    QueueId queue;
    Position position;
    EnvelopeRef envelope;
    std::vector<Placement> targets;
    bool last = false;
};

struct PolicySet {
    PolicyScope scope = PolicyScope::user;
    Policy policy;
};
struct PolicyCleared {
    PolicyScope scope = PolicyScope::user;
    std::string name;
};
struct CompatibilitySet {
    Compatibility compatibility = Compatibility::v4_3;
};

// A consumer requeued a message with annotations: it stays at its position, with this envelope.
struct Annotated {
    QueueId queue;
    Position position;
    EnvelopeRef envelope;
};

// The messages of a block whose page is unreadable were discarded, as far as a restart would
// restore them. Their positions are unknown.
struct BlockDiscarded {
    QueueId queue;
    Position first;  // of the block
};

using Event = std::variant<ExchangeDeclared, ExchangeDeleted, QueueDeclared, QueueDeleted, Purged,
                           Bound, Unbound, Enqueued, Removed, Requeued, Delayed, DelayEnded,
                           DeadLettered, RefusedAndDeadLettered, MovedToOutbox, ForwardedFromOutbox,
                           PolicySet, PolicyCleared, CompatibilitySet, Annotated, BlockDiscarded>;

}  // namespace revenant::engine
