// Every fact the journal can hold. An event is never refused; State::apply replays it forever.
//
// All events of one command form one record, durable as a whole or not at all: so a dead letter
// (out of the source, into every target), the overflow it causes and a commit are atomic.
#pragma once

#include "base/ids.h"
#include "base/time.h"
#include "engine/words/counters.h"
#include "engine/words/command.h"
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
    ConnectionId owner;  // of an exclusive queue; not durable
};
// With everything that was in it.
struct QueueDeleted {
    QueueId queue;
};
// Everything but the unsettled is gone. That is named: a replay knows no deliveries.
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

// A place in a queue that a message takes.
struct Placement {
    QueueId queue;
    Position position;
    Timestamp deadline = never;
};

struct Enqueued {
    MessageRef message;
    Placement placement;
};
// A message ended its stay in a queue without going anywhere else.
struct Removed {
    QueueId queue;
    Position position;
    Ending ending = Ending::acknowledged;
};
// A delivery came back: the message is ready again, in its old place (classic queues) or in another
// one of a quorum queue.
struct Requeued {
    QueueId queue;
    Position position;
    Position to;
    DeliveryCounts counts;
};
// A delivery came back and waits before the next attempt.
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
// A message died and left its queue for all its targets at once. Nothing but a reference moves.
struct DeadLettered {
    QueueId source;
    Position position;
    EnvelopeRef envelope;
    std::vector<Placement>
        targets;  // never empty: a death without target is Removed with its cause
};
// A message was refused by a full queue and dead-lettered without ever standing in it.
struct RefusedAndDeadLettered {
    MessageRef message;
    EnvelopeRef envelope;
    std::vector<Placement> targets;
};
// A message died and waits in the outbox of its queue until all its targets have it.
struct MovedToOutbox {
    QueueId queue;
    Position position;
    Position to;
    DeathReason reason = DeathReason::rejected;
    Timestamp died_at;
    DeliveryCounts counts;
};
// A letter from the outbox reached these targets; with the last of them it leaves.
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

// A consumer gave a message back with something to remember: it stays where it is, in this
// envelope.
struct Annotated {
    QueueId queue;
    Position position;
    EnvelopeRef envelope;
};

// Messages of a queue whose page could not be read were discarded: what a restart would find of
// this block. Nobody knows their positions.
struct BlockDiscarded {
    QueueId queue;
    Position first;  // of the block
};

using Event = std::variant<ExchangeDeclared, ExchangeDeleted, QueueDeclared, QueueDeleted, Purged,
                           Bound, Unbound, Enqueued, Removed, Requeued, Delayed, DelayEnded,
                           DeadLettered, RefusedAndDeadLettered, MovedToOutbox, ForwardedFromOutbox,
                           PolicySet, PolicyCleared, CompatibilitySet, Annotated, BlockDiscarded>;

}  // namespace revenant::engine
