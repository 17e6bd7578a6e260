// Every wish of a client or operator. A command may be refused; nothing else changes the engine.
//
// Commands of one channel are handled in the order they were sent, and each that expects an answer
// is answered by exactly one Done or Refuse, in the same order. After a Refuse the channel is gone.
#pragma once

#include "base/ids.h"
#include "base/ref.h"
#include "base/time.h"
#include "engine/words/client_protocol.h"
#include "engine/words/policy.h"
#include "engine/words/refusal.h"
#include "message/death.h"
#include "message/message.h"
#include "message/value.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace revenant::engine {

struct OpenConnection {
    ConnectionId connection;
    std::string user;
    ClientProtocol protocol = ClientProtocol::amqp091;
};
// Closes its channels and deletes its exclusive queues; answered by ConnectionClosed.
struct CloseConnection {
    ConnectionId connection;
};
// The connection can take deliveries again after the sink had said that it could not.
struct ResumeConnection {
    ConnectionId connection;
};
// The same for one channel, which asks for it: the others of its connection go on.
struct PauseChannel {
    ChannelId channel;
};
struct ResumeChannel {
    ChannelId channel;
};
enum class ChannelUse : std::uint8_t {
    any,
    publishing,  // a publisher even before it has published
};
struct OpenChannel {
    ConnectionId connection;
    ChannelId channel;
    ChannelUse use = ChannelUse::any;
};
// Requeues what is unsettled and removes the consumers.
struct CloseChannel {
    ChannelId channel;
    bool detached = false;  // a link of AMQP 1.0 ended: quorum queues forgive it (DL-150)
};

struct DeclareExchange {
    ChannelId channel;
    std::string name;
    std::string type;
    bool passive = false;
    bool durable = false;
    bool auto_delete = false;
    bool internal = false;
    Table arguments;
    // What the channel's permission check said, in case the exchange does not exist yet.
    std::optional<Refusal> refusal_if_new;
    // Imported definitions may name exchanges of the broker they come from, such as
    // amq.rabbitmq.log.
    bool reserved_name_permitted = false;
};
struct DeleteExchange {
    ChannelId channel;
    std::string name;
    bool if_unused = false;
};

struct DeclareQueue {
    ChannelId channel;
    std::string name;  // never empty: the channel invents names for server-named queues
    bool server_named = false;
    bool passive = false;
    bool durable = false;
    bool exclusive = false;
    bool auto_delete = false;
    Table arguments;
    std::optional<Refusal> refusal_if_new;
    std::optional<std::int64_t> queues_max;  // the vhost's limit (amqp091 8.19); absent: none
};
struct DeleteQueue {
    ChannelId channel;
    std::string name;
    bool if_unused = false;
    bool if_empty = false;
};
struct PurgeQueue {
    ChannelId channel;
    std::string name;
};
// Removes what cannot be read any more, and nothing else.
struct DiscardParked {
    ChannelId channel;
    std::string name;
};

// Is there something to publish to: the exchange, and behind the default one the queue? The channel
// is told by a TargetGone when that queue goes.
struct CheckTarget {
    ChannelId channel;
    std::string exchange;
    std::string queue;  // empty: any
};
struct DescribeQueue {
    ChannelId channel;
    std::string name;
};

enum class DestinationKind : std::uint8_t { queue, exchange };
struct Bind {
    ChannelId channel;
    std::string source;
    DestinationKind destination_kind = DestinationKind::queue;
    std::string destination;
    std::string routing_key;
    Table arguments;
    // The refusal in case the source turns out to be a topic exchange.
    std::optional<Refusal> refusal_if_topic;
};
struct Unbind {
    ChannelId channel;
    std::string source;
    DestinationKind destination_kind = DestinationKind::queue;
    std::string destination;
    std::string routing_key;
    Table arguments;
    std::optional<Refusal> refusal_if_topic;
};

// Those from the source to the destination with this key.
struct ListBindings {
    ChannelId channel;
    std::string source;
    DestinationKind destination_kind = DestinationKind::queue;
    std::string destination;
    std::string routing_key;
    std::optional<Refusal> refusal_if_topic;
};

struct Publish {
    ChannelId channel;
    MessageRef message;
    bool mandatory = false;
    std::uint64_t confirm_sequence = 0;  // 0: the publisher wants no confirm
    std::optional<Refusal> refusal_if_topic;
    // What else is wrong with the message, told if its exchange would have taken it.
    std::optional<Refusal> refusal;
    // The publisher hears one thing of the message: a Confirm, or in its place ReturnUnroutable or
    // PublishRefused; the channel lives on.
    bool single_outcome = false;
};

struct SetQos {
    ChannelId channel;
    std::uint16_t prefetch_count = 0;
    bool global = false;
};
// What becomes of a consumer that keeps a message of a quorum queue too long (amqp091 11.17).
enum class TimeoutAction : std::uint8_t {
    channel_closed,
    consumer_cancelled,
    consumer_suspended,  // it gets nothing more until it has settled what it kept
};
struct Consume {
    ChannelId channel;
    std::uint32_t consumer = 0;  // chosen by the channel, never used twice on it
    std::string queue;
    std::string tag;  // for listings only
    bool no_ack = false;
    bool exclusive = false;
    Table arguments;
    // Set for the pseudo-queue amq.rabbitmq.reply-to: the name replies are sent to.
    std::string reply_name;
    bool uses_credit = false;  // takes nothing but what SetCredit allows
    TimeoutAction on_timeout = TimeoutAction::channel_closed;
};
// A consumer may be given messages until it had so many in all. Answered by a CreditState if it is
// asked for: at once, or, to drain, when the queue has nothing more for it; what credit is left
// then is gone.
struct SetCredit {
    ChannelId channel;
    std::uint32_t consumer = 0;
    std::uint64_t until = 0;
    bool drain = false;
    bool echo = false;
};
struct Cancel {
    ChannelId channel;
    std::uint32_t consumer = 0;
};
struct Get {
    ChannelId channel;
    std::string queue;
    bool no_ack = false;
};

// AMQP 1.0's outcomes. `delivery_failed` counts against the message: basic.reject sets it,
// basic.nack does not (DL-150).
enum class OutcomeKind : std::uint8_t { accepted, rejected, released };
struct Outcome {
    OutcomeKind kind = OutcomeKind::accepted;
    bool delivery_failed = false;
    bool exempt_from_delivery_limit = false;  // of a failure: a link was detached (DL-150)
    friend bool operator==(const Outcome&, const Outcome&) = default;
};
// What few outcomes have: annotations of `modified`, the error of `rejected`.
struct OutcomeDetails : RefCounted<OutcomeDetails> {
    std::vector<Annotation> annotations;
    std::optional<DeathError> error;
    std::optional<Timestamp> delivery_time;  // not to be given out again before (DL-164)
};
struct Settle {
    ChannelId channel;
    DeliveryId delivery;
    bool multiple = false;  // also everything unsettled before; delivery 0 then means all
    Outcome outcome;
    Ref<const OutcomeDetails> details;
};
// Requeues everything unsettled on the channel.
struct Recover {
    ChannelId channel;
};

// Sets or replaces a policy of this name.
struct SetPolicy {
    ChannelId channel;
    PolicyScope scope = PolicyScope::user;
    Policy policy;
};
struct ClearPolicy {
    ChannelId channel;
    PolicyScope scope = PolicyScope::user;
    std::string name;
};
// Which RabbitMQ the virtual host behaves like from now on. Not answered.
struct SetCompatibility {
    Compatibility compatibility = Compatibility::v4_3;
};

struct SelectTransaction {
    ChannelId channel;
};
struct Commit {
    ChannelId channel;
};
struct Rollback {
    ChannelId channel;
};

// Time has passed: expire what is due.
struct Tick {};

using Command =
    std::variant<OpenConnection, CloseConnection, ResumeConnection, PauseChannel, ResumeChannel,
                 OpenChannel, CloseChannel, DeclareExchange, DeleteExchange, DeclareQueue,
                 DeleteQueue, PurgeQueue, DiscardParked, Bind, Unbind, CheckTarget, DescribeQueue,
                 ListBindings, Publish, SetQos, Consume, SetCredit, Cancel, Get, Settle, Recover,
                 SetPolicy, ClearPolicy, SetCompatibility, SelectTransaction, Commit, Rollback,
                 Tick>;

// As metrics name the command at this place of the list.
std::string_view command_name(std::size_t place);

}  // namespace revenant::engine
