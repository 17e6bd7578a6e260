// Every instruction of the engine to the outside.
#pragma once

#include "base/ids.h"
#include "engine/words/command.h"
#include "engine/words/refusal.h"
#include "message/death.h"
#include "message/message.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace revenant::engine {

// The counts a delivery from a quorum queue carries (DL-152); from a classic one both are 0.
struct ShownCounts {
    std::uint32_t delivery = 0;
    std::uint32_t acquired = 0;
    bool any() const { return delivery > 0 || acquired > 0; }
};

// A message goes to a consumer. The delivery counts up per channel, for basic.get as well.
struct Deliver {
    ChannelId channel;
    std::uint32_t consumer = 0;
    DeliveryId delivery;
    MessageRef message;
    EnvelopeRef envelope;
    bool redelivered = false;
    ShownCounts counts;
    std::uint32_t failed_deliveries = 0;  // from whatever queue
};

// The publish with this sequence number is safe (or was refused by a queue). Per channel, confirms
// come in the order of the sequence numbers.
struct Confirm {
    ChannelId channel;
    std::uint64_t sequence = 0;
    bool accepted = true;
};

// The Confirm follows, unless the publish has single_outcome.
struct ReturnUnroutable {
    ChannelId channel;
    MessageRef message;
    std::uint64_t sequence = 0;  // of the publish, if it wants a confirm
};

// Instead of a Confirm, and of the end of the channel, where a publish has single_outcome.
struct PublishRefused {
    ChannelId channel;
    std::uint64_t sequence = 0;
    std::string full_queue;
    Refusal refusal;  // if no queue is full
};

// How a consumer stands with its credit.
struct CreditState {
    ChannelId channel;
    std::uint32_t consumer = 0;
    std::uint64_t delivered = 0;  // so far, in all
    std::uint64_t until = 0;
    std::uint64_t available = 0;  // ready in the queue
    bool drained = false;         // the credit from delivered to until is gone
    // Whether it is its turn, when that is news: false behind a single active consumer.
    std::optional<bool> active;
};

// --- answers: one per command that expects one, in the order of the commands ---

struct Answer {};  // nothing to tell but that it is done
struct QueueAnswer {
    std::uint64_t message_count = 0;
    std::uint64_t consumer_count = 0;
    bool created = false;
};
struct QueueDescription {
    std::string name;
    std::string type;
    bool durable = false;
    bool exclusive = false;
    bool auto_delete = false;
    Table arguments;
    std::uint64_t message_count = 0;
    std::uint64_t consumer_count = 0;
};
struct BindingDescription {
    std::string routing_key;
    Table arguments;
};
struct BindingsAnswer {
    std::vector<BindingDescription> bindings;
};
struct CountAnswer {
    std::uint64_t message_count = 0;
};
struct GetAnswer {
    DeliveryId delivery;
    MessageRef message;  // empty: the queue has nothing ready
    EnvelopeRef envelope;
    bool redelivered = false;
    ShownCounts counts;
    std::uint64_t messages_left = 0;
};
using AnyAnswer =
    std::variant<Answer, QueueAnswer, CountAnswer, GetAnswer, QueueDescription, BindingsAnswer>;
struct Done {
    ChannelId channel;
    AnyAnswer answer;
};
// Publishes and settlements have no answer of their own; a refusal says which kind it refuses.
enum class RefusedCommand : std::uint8_t {
    publish,
    settlement,
    answered,
    none,  // nothing was asked: a delivery was kept too long
};
// The wish is not granted; the channel no longer exists for the engine.
struct Refuse {
    ChannelId channel;
    Refusal refusal;
    RefusedCommand command = RefusedCommand::answered;
    Outcome outcome;  // of a settlement: the one it wished for
};

// The consumer ended without its channel asking: its queue is gone, or it kept a message too long.
struct CancelConsumer {
    ChannelId channel;
    std::uint32_t consumer = 0;
};
// These were kept too long and are back in the queue. Their consumer is suspended until it has
// settled them, whatever it says of them.
struct DeliveriesTimedOut {
    ChannelId channel;
    std::uint32_t consumer = 0;
    std::vector<DeliveryId> deliveries;
};
// The queue that the channel had asked for as its target is gone.
struct TargetGone {
    ChannelId channel;
};
struct ConnectionClosed {
    ConnectionId connection;
};

// No more deliveries are on their way to the connection of this channel until it asks for them with
// a ResumeConnection. Sent by whoever carries effects over a distance, not by the engine itself.
struct DeliveriesPaused {
    ChannelId channel;
};

// Something an operator should know. Written to the log; said once per case, not per message.
struct Notice {
    enum class Level : std::uint8_t { info, warning };
    Level level = Level::warning;
    std::string text;
};

using Effect = std::variant<Deliver, Confirm, ReturnUnroutable, PublishRefused, CreditState, Done,
                            Refuse, CancelConsumer, DeliveriesTimedOut, TargetGone,
                            ConnectionClosed, DeliveriesPaused, Notice>;

// The channel or connection an effect is meant for; 0 for a notice, which is meant for operators.
inline std::uint64_t addressee(const Effect& effect) {
    return std::visit(
        [](const auto& one) -> std::uint64_t {
            if constexpr (requires { one.channel; }) {
                return one.channel.value;
            } else if constexpr (requires { one.connection; }) {
                return one.connection.value;
            } else {
                return 0;
            }
        },
        effect);
}

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
