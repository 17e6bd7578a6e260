// Channel: methods to commands, effects to methods. Content assembly, consumer tags, confirms and
// permission checks. Answers leave in the order of the methods they answer.
#pragma once

#include "amqp091/codec/frame.h"
#include "amqp091/connection.h"
#include "amqp091/delivery_writer.h"
#include "amqp091/message/content.h"
#include "auth/access.h"
#include "base/ids.h"
#include "engine/words/command.h"
#include "engine/words/effect.h"
#include "message/message.h"
#include "protocol/connection_permissions.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace revenant::amqp091 {

struct PublishedProperties;

class Channel final : public engine::EffectSink {
  public:
    Channel(Connection& connection, std::uint16_t number);

    std::uint16_t number() const { return number_; }
    ChannelId id() const { return id_; }
    bool gone() const { return state_ == State::gone; }
    bool confirming() const { return confirming_; }

    void open();
    void receive(const Frame& frame);
    // The connection failed while a method of this channel may be on the stack.
    void orphaned() { state_ = State::gone; }
    void write_confirms();

    // --- effects ---
    bool deliver(engine::Deliver&& effect) override;
    void confirm(const engine::Confirm& effect) override;
    void request(engine::Effect&& effect) override;

  private:
    static constexpr std::string_view reply_queue = "amq.rabbitmq.reply-to";

    enum class State : std::uint8_t {
        open,
        leaving,  // the client closed; the engine is letting go
        failing,  // an error closes; the engine is letting go
        closing,  // channel.close is sent; close-ok is awaited
        gone,
    };
    enum class Awaiting : std::uint8_t { method, header, body, refused_body };

    // What the next answer of the engine becomes.
    enum class Reply : std::uint8_t {
        none,   // no-wait
        ready,  // needs no engine, but its turn comes after the earlier ones
        exchange_declare,
        exchange_delete,
        exchange_bind,
        exchange_unbind,
        queue_declare,
        queue_bind,
        queue_unbind,
        queue_purge,
        queue_delete,
        basic_qos,
        basic_consume,
        basic_cancel,
        basic_get,
        basic_recover,
        tx_select,
        tx_commit,
        tx_rollback,
        channel_close,
        channel_failure,
    };
    struct Pending {
        Reply reply = Reply::none;
        std::uint16_t class_id = 0;
        std::uint16_t method_id = 0;
        std::string text;            // queue name, consumer tag, or the frame of a ready answer
        std::uint32_t consumer = 0;  // of a cancel
        bool no_wait = false;
    };

    struct ConsumerTag {
        std::string tag;
        bool no_ack = false;
    };

    void on_method(const MethodPayload& method);
    void on_header(const Frame& frame);
    void on_body(const Frame& frame);
    void check_published(const PublishedProperties& published);
    void publish_assembled();
    // The message is refused, but not before its last byte: clients cannot handle a close while
    // they are still writing a body. Nothing of it is kept.
    void refuse_content(ReplyCode code, std::string text, std::uint64_t body_size);

    template <typename Method, typename Work>
    void with(const MethodPayload& method, Work work);
    // One function per method of the client.
    void on(const ChannelFlow& method);
    void on(const ChannelClose& method);
    void on(const AccessRequest& method);
    void on(const ExchangeDeclare& method);
    void on(const ExchangeDelete& method);
    void on(const ExchangeBind& method);
    void on(const ExchangeUnbind& method);
    void on(const QueueDeclare& method);
    void on(const QueueBind& method);
    void on(const QueueUnbind& method);
    void on(const QueuePurge& method);
    void on(const QueueDelete& method);
    void on(const BasicQos& method);
    void on(const BasicConsume& method);
    void on(const BasicCancel& method);
    void on(const BasicPublish& method);
    void on(const BasicGet& method);
    void on(const BasicAck& method);
    void on(const BasicNack& method);
    void on(const BasicReject& method);
    void on(const BasicRecover& method);
    void on(const BasicRecoverAsync& method);
    void on(const ConfirmSelect& method);
    void on(const TxSelect& method);
    void on(const TxCommit& method);
    void on(const TxRollback& method);

    // Command is engine::Bind or engine::Unbind.
    template <typename Command>
    void send_binding(Command command, Reply reply, bool no_wait);
    template <typename Command, typename Method>
    void change_exchange_binding(const Method& method, Reply reply);
    template <typename Command, typename Method>
    void change_queue_binding(const Method& method, Reply reply, bool no_wait);

    void expect(Reply reply, bool no_wait, std::string text = {});
    void reply_immediately(std::string frame);
    void on_done(engine::Done&& done);
    void write_answer(const Pending& pending, engine::Done& done);
    void write_get_answer(const engine::GetAnswer& answer);
    void on_refuse(const engine::Refuse& refuse);
    void on_return(const engine::ReturnUnroutable& effect);
    void on_cancel(const engine::CancelConsumer& effect);
    void finish_ready_answers();

    // Sends the channel.close or, for a hard code, lets the connection fail.
    void fail(ReplyCode code, std::string text);
    void send_close(ReplyCode code, std::string_view text, std::uint16_t class_id,
                    std::uint16_t method_id);
    void settle(std::uint64_t delivery_tag, bool multiple, engine::Outcome outcome);

    bool require(Permission permission, std::string_view kind, std::string_view name);
    bool require_any(std::string_view kind, std::string_view name);
    bool granted(std::optional<engine::Refusal> refusal);
    std::optional<Table> arguments(std::string_view raw);
    // The named queue or, for an empty name, the one declared last; fails the channel without one.
    std::optional<std::string> queue_name(std::string_view name);

    DeliveryWriter delivery_writer();

    Connection& connection_;
    std::uint16_t number_;
    ChannelId id_;
    protocol::ConnectionPermissions permissions_;
    State state_ = State::open;
    std::uint16_t class_id_ = 0;  // of the method being worked on
    std::uint16_t method_id_ = 0;
    std::deque<Pending> pending_;
    ReplyCode failure_code_ = ReplyCode::internal_error;
    bool client_closed_ = false;  // its close crossed ours

    // The content being assembled.
    Awaiting awaiting_ = Awaiting::method;
    std::string exchange_;
    std::string routing_key_;
    bool mandatory_ = false;
    MessageBuilder builder_;
    std::uint64_t refused_body_missing_ = 0;
    std::string refused_text_;
    std::optional<engine::Refusal> refusal_if_topic_;
    std::optional<engine::Refusal> refusal_;

    std::string current_queue_;
    std::uint32_t next_consumer_ = 1;
    boost::unordered_flat_map<std::uint32_t, ConsumerTag> tags_;
    boost::unordered_flat_map<std::string, std::uint32_t> consumers_by_tag_;
    std::string reply_name_;
    std::uint32_t reply_consumer_ = 0;

    bool confirming_ = false;
    bool transactional_ = false;
    std::uint64_t published_ = 0;  // since confirm.select
    // A run of confirms of one kind, not yet written.
    std::uint64_t confirm_first_ = 0;
    std::uint64_t confirm_last_ = 0;
    bool confirm_accepted_ = true;
};

}  // namespace revenant::amqp091
