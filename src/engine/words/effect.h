// Effects: the output of the engine.
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

// The counts that a delivery from a quorum queue carries (DL-152); both are 0 for classic queues.
struct ShownCounts {
    std::uint32_t delivery = 0;
    std::uint32_t acquired = 0;
    bool any() const { return delivery > 0 || acquired > 0; }
};

// A delivery to a consumer. Delivery numbers count up per channel and are shared with basic.get.
struct Deliver {
    ChannelId channel;
    std::uint32_t consumer = 0;
    DeliveryId delivery;
    MessageRef message;
    EnvelopeRef envelope;
    bool redelivered = false;
    ShownCounts counts;
    std::uint32_t failed_deliveries = 0;  // across all queues
};

// The publish with this sequence number is durable, or a queue refused it. The confirms of a
// channel are in the order of their sequence numbers.
struct Confirm {
    ChannelId channel;
    std::uint64_t sequence = 0;
    bool accepted = true;
};

// A Confirm follows, unless the publish has single_outcome.
struct ReturnUnroutable {
    ChannelId channel;
    MessageRef message;
    std::uint64_t sequence = 0;  // of the publish, if it requested a confirm
};

// With single_outcome, replaces both the Confirm and the closing of the channel.
struct PublishRefused {
    ChannelId channel;
    std::uint64_t sequence = 0;
    std::string full_queue;
    Refusal refusal;  // if no queue is full
};

// The credit state of a consumer.
struct CreditState {
    ChannelId channel;
    std::uint32_t consumer = 0;
    std::uint64_t delivered = 0;  // total so far
    std::uint64_t until = 0;
    std::uint64_t available = 0;  // ready in the queue
    bool drained = false;         // the credit from delivered to until is void
    // Set when it changed: false while another consumer is the single active one.
    std::optional<bool> active;
};

// --- answers: one per command that expects one, in the order of the commands ---

struct Answer {};  // the command succeeded; there is nothing else to report
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
    MessageRef message;  // empty: the queue has no ready message
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
// Publishes and settlements have no answer; a refusal says which kind of command it refuses.
enum class RefusedCommand : std::uint8_t {
    publish,
    settlement,
    answered,
    none,  // no command: a delivery timed out
};
// The command is refused; the engine has closed the channel.
struct Refuse {
    ChannelId channel;
    Refusal refusal;
    RefusedCommand command = RefusedCommand::answered;
    Outcome outcome;  // of a settlement: the requested one
};

// The consumer ended without a Cancel: its queue was deleted, or a delivery timed out.
struct CancelConsumer {
    ChannelId channel;
    std::uint32_t consumer = 0;
};
// These deliveries timed out and were requeued. Their consumer is suspended until it has settled
// them; the outcomes are ignored.
struct DeliveriesTimedOut {
    ChannelId channel;
    std::uint32_t consumer = 0;
    std::vector<DeliveryId> deliveries;
};
// The queue that the channel named in CheckTarget was deleted.
struct TargetGone {
    ChannelId channel;
};
struct ConnectionClosed {
    ConnectionId connection;
};

// No more deliveries are on the way to this channel's connection until it sends a ResumeConnection.
// Sent by the transport between reactors, not by the engine.
struct DeliveriesPaused {
    ChannelId channel;
};

// A log line for operators. Issued once per case, not per message.
struct Notice {
    enum class Level : std::uint8_t { info, warning };
    Level level = Level::warning;
    std::string text;
};

using Effect = std::variant<Deliver, Confirm, ReturnUnroutable, PublishRefused, CreditState, Done,
                            Refuse, CancelConsumer, DeliveriesTimedOut, TargetGone,
                            ConnectionClosed, DeliveriesPaused, Notice>;

// The channel or connection that an effect is for; 0 for a notice.
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

// Receives the engine's effects. The two most frequent have their own functions.
class EffectSink {
  public:
    virtual ~EffectSink() = default;
    // False: the connection can take no more after this one. The engine then pauses its consumers
    // until it receives a ResumeConnection.
    virtual bool deliver(Deliver&& effect) = 0;
    virtual void confirm(const Confirm& effect) = 0;
    virtual void request(Effect&& effect) = 0;
};

}  // namespace revenant::engine
