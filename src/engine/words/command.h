// Commands of clients and operators. A command may be refused; only commands change the engine.
//
// The commands of one channel are handled in the order in which they were sent. Each command that
// expects an answer gets exactly one Done or Refuse, in the same order. A Refuse closes the
// channel.
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
// Closes the connection's channels and deletes its exclusive queues; answered by ConnectionClosed.
struct CloseConnection {
    ConnectionId connection;
};
// The connection can take deliveries again after EffectSink::deliver() returned false.
struct ResumeConnection {
    ConnectionId connection;
};
// Pause and resume one channel at its own request; other channels of the connection are unaffected.
struct PauseChannel {
    ChannelId channel;
};
struct ResumeChannel {
    ChannelId channel;
};
enum class ChannelUse : std::uint8_t {
    any,
    publishing,  // a publisher even if it has not published yet
};
struct OpenChannel {
    ConnectionId connection;
    ChannelId channel;
    ChannelUse use = ChannelUse::any;
};
// Requeues unsettled deliveries and removes the consumers.
struct CloseChannel {
    ChannelId channel;
    bool detached = false;  // an AMQP 1.0 link was detached: not counted by quorum queues (DL-150)
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
    // The result of the channel's permission check, used if the exchange does not exist yet.
    std::optional<Refusal> refusal_if_new;
    // Imported definitions may contain exchanges of the source broker, such as amq.rabbitmq.log.
    bool reserved_name_permitted = false;
};
struct DeleteExchange {
    ChannelId channel;
    std::string name;
    bool if_unused = false;
};

struct DeclareQueue {
    ChannelId channel;
    std::string name;  // never empty: the channel generates the names of server-named queues
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
// Removes parked messages, which cannot be read, and nothing else.
struct DiscardParked {
    ChannelId channel;
    std::string name;
};

// Checks that the exchange exists, or for the default exchange the queue. The channel receives a
// TargetGone when that queue is deleted.
struct CheckTarget {
    ChannelId channel;
    std::string exchange;
    std::string queue;  // empty: any queue
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
    // Used if the source is a topic exchange.
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

// Lists the bindings from the source to the destination with this key.
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
    std::uint64_t confirm_sequence = 0;  // 0: the publisher does not want a confirm
    std::optional<Refusal> refusal_if_topic;
    // Another error in the message, reported if its exchange would have accepted it.
    std::optional<Refusal> refusal;
    // The publisher gets exactly one of Confirm, ReturnUnroutable and PublishRefused for the
    // message; the channel stays open.
    bool single_outcome = false;
};

struct SetQos {
    ChannelId channel;
    std::uint16_t prefetch_count = 0;
    bool global = false;
};
// What happens when a consumer does not settle a message of a quorum queue in time (amqp091 11.17).
enum class TimeoutAction : std::uint8_t {
    channel_closed,
    consumer_cancelled,
    consumer_suspended,  // receives nothing until it has settled the overdue deliveries
};
struct Consume {
    ChannelId channel;
    std::uint32_t consumer = 0;  // chosen by the channel, unique on it
    std::string queue;
    std::string tag;  // for listings only
    bool no_ack = false;
    bool exclusive = false;
    Table arguments;
    // Set for the pseudo-queue amq.rabbitmq.reply-to: the name that replies are sent to.
    std::string reply_name;
    bool uses_credit = false;  // receives only what SetCredit allows
    TimeoutAction on_timeout = TimeoutAction::channel_closed;
};
// Allows a consumer to receive messages until the total delivered to it reaches `until`. Answered
// by a CreditState if `echo` or `drain` is set: immediately, or with `drain` when the queue has no
// more messages for the consumer. The remaining credit is then void.
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

// The outcomes of AMQP 1.0. `delivery_failed` counts against the message: basic.reject sets it,
// basic.nack does not (DL-150).
enum class OutcomeKind : std::uint8_t { accepted, rejected, released };
struct Outcome {
    OutcomeKind kind = OutcomeKind::accepted;
    bool delivery_failed = false;
    bool exempt_from_delivery_limit = false;  // of a failure: a link was detached (DL-150)
    friend bool operator==(const Outcome&, const Outcome&) = default;
};
// Details that few outcomes have: annotations of `modified`, the error of `rejected`.
struct OutcomeDetails : RefCounted<OutcomeDetails> {
    std::vector<Annotation> annotations;
    std::optional<DeathError> error;
    std::optional<Timestamp> delivery_time;  // not delivered again before this time (DL-164)
};
struct Settle {
    ChannelId channel;
    DeliveryId delivery;
    bool multiple = false;  // also all earlier unsettled deliveries; delivery 0 means all
    Outcome outcome;
    Ref<const OutcomeDetails> details;
};
// Requeues all unsettled deliveries of the channel.
struct Recover {
    ChannelId channel;
};

// Creates or replaces the policy of this name.
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
// Sets the RabbitMQ version whose behaviour the virtual host follows. Not answered.
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

// Time has passed: process everything that is due.
struct Tick {};

using Command =
    std::variant<OpenConnection, CloseConnection, ResumeConnection, PauseChannel, ResumeChannel,
                 OpenChannel, CloseChannel, DeclareExchange, DeleteExchange, DeclareQueue,
                 DeleteQueue, PurgeQueue, DiscardParked, Bind, Unbind, CheckTarget, DescribeQueue,
                 ListBindings, Publish, SetQos, Consume, SetCredit, Cancel, Get, Settle, Recover,
                 SetPolicy, ClearPolicy, SetCompatibility, SelectTransaction, Commit, Rollback,
                 Tick>;

// The command's name in metrics, by its index in Command.
std::string_view command_name(std::size_t place);

}  // namespace revenant::engine
