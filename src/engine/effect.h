// Every instruction of the engine to the outside.
#pragma once

#include "base/ids.h"
#include "engine/command.h"
#include "engine/refusal.h"
#include "message/death.h"
#include "message/message.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace revenant::engine {

// A message goes to a consumer. The delivery counts up per channel, for basic.get as well.
struct Deliver {
    ChannelId channel;
    std::uint32_t consumer = 0;
    DeliveryId delivery;
    MessageRef message;
    EnvelopeRef envelope;
    bool redelivered = false;
};

// The publish with this sequence number is safe (or was refused by a queue). Per channel, confirms
// come in the order of the sequence numbers.
struct Confirm {
    ChannelId channel;
    std::uint64_t sequence = 0;
    bool accepted = true;
};

struct ReturnUnroutable {
    ChannelId channel;
    MessageRef message;
};

// --- answers: one per command that expects one, in the order of the commands ---

struct Answer {};  // nothing to tell but that it is done
struct QueueAnswer {
    std::uint64_t message_count = 0;
    std::uint64_t consumer_count = 0;
};
struct CountAnswer {
    std::uint64_t message_count = 0;
};
struct GetAnswer {
    DeliveryId delivery;
    MessageRef message;  // empty: the queue has nothing ready
    EnvelopeRef envelope;
    bool redelivered = false;
    std::uint64_t messages_left = 0;
};
struct Done {
    ChannelId channel;
    std::variant<Answer, QueueAnswer, CountAnswer, GetAnswer> answer;
};
// Publishes and settlements have no answer of their own; a refusal says which kind it refuses.
enum class RefusedCommand : std::uint8_t { publish, settlement, answered };
// The wish is not granted; the channel no longer exists for the engine.
struct Refuse {
    ChannelId channel;
    Refusal refusal;
    RefusedCommand command = RefusedCommand::answered;
    Outcome outcome;  // of a settlement: the one it wished for
};

// The consumer ended without its channel asking: its queue is gone.
struct CancelConsumer {
    ChannelId channel;
    std::uint32_t consumer = 0;
};
struct ConnectionClosed {
    ConnectionId connection;
};

// No more deliveries are on their way to the connection of this channel until it asks for them with
// a ResumeConnection. Sent by whoever carries effects over a distance, not by the engine itself.
struct DeliveriesPaused {
    ChannelId channel;
};

using Effect = std::variant<Deliver, Confirm, ReturnUnroutable, Done, Refuse, CancelConsumer,
                            ConnectionClosed, DeliveriesPaused>;

// Where effects go. The two that pass by the million have doors of their own.
class EffectSink {
  public:
    virtual ~EffectSink() = default;
    // False: the connection can take no more after this one. The engine then pauses its consumers
    // until a ResumeConnection comes.
    virtual bool deliver(Deliver&& effect) = 0;
    virtual void confirm(const Confirm& effect) = 0;
    virtual void request(Effect&& effect) = 0;
};

}  // namespace revenant::engine
