#include "amqp091/channel.h"

#include "amqp091/codec/quoted_octets.h"
#include "amqp091/codec/table.h"
#include "amqp091/message/properties.h"
#include "base/check.h"

#include <algorithm>
#include <utility>

namespace revenant::amqp091 {
namespace {

template <typename Method>
std::string frame_of(std::uint16_t channel, const Method& method) {
    std::string frame;
    append_method(frame, channel, method);
    return frame;
}

}  // namespace

Channel::Channel(Connection& connection, std::uint16_t number)
    : connection_(connection),
      number_(number),
      id_(connection.host().register_channel(*this)),
      permissions_(connection.host(), connection.user(), connection.vhost()) {}

void Channel::open() {
    connection_.port().send(engine::OpenChannel{connection_.id(), id_});
    connection_.write(number_, ChannelOpenOk{});
}

// ------------------------------------------------------------------------- frames in

void Channel::receive(const Frame& frame) {
    if (state_ == State::leaving || state_ == State::gone) return;
    if (state_ == State::closing || state_ == State::failing) {
        // amqp091 4.4
        if (frame.type != FrameType::method) return;
        const std::uint32_t key = split_method(frame).key();
        if (state_ == State::failing) {
            if (key == ChannelClose::key) client_closed_ = true;
            return;
        }
        if (key == ChannelClose::key) connection_.write(number_, ChannelCloseOk{});
        if (key == ChannelCloseOk::key) {
            state_ = State::gone;
            connection_.channel_gone(number_);
        }
        return;
    }
    // amqp091 12.3
    const auto unexpected = [&](const char* text) {
        connection_.fail({ReplyCode::unexpected_frame, text, class_id_, method_id_});
    };
    switch (awaiting_) {
        case Awaiting::method:
            if (frame.type != FrameType::method) {
                class_id_ = method_id_ = 0;
                return unexpected("expected method frame, got non method frame instead");
            }
            return on_method(split_method(frame));
        case Awaiting::header:
            if (frame.type != FrameType::header) {
                return unexpected(
                    "expected content header for class 60, got non content header frame instead");
            }
            return on_header(frame);
        case Awaiting::body:
        case Awaiting::refused_body:
            if (frame.type != FrameType::body) {
                return unexpected("expected content body, got non content body frame instead");
            }
            return on_body(frame);
    }
}

template <typename Method, typename Work>
void Channel::with(const MethodPayload& payload, Work work) {
    const auto method = Method::decode(payload.arguments);
    if (method) {
        work(*method);
        return;
    }
    connection_.fail({ReplyCode::frame_error,
                      method.error() == DecodeFailure::malformed_utf8
                          ? "Malformed UTF-8 in shortstr"
                          : "cannot decode " + quoted_octets(payload.arguments),
                      payload.class_id, payload.method_id});
}

void Channel::on_method(const MethodPayload& payload) {
    class_id_ = payload.class_id;
    method_id_ = payload.method_id;
    const auto run = [this](const auto& method) { on(method); };
    switch (payload.key()) {
        case BasicPublish::key:
            return with<BasicPublish>(payload, run);
        case BasicAck::key:
            return with<BasicAck>(payload, run);
        case BasicNack::key:
            return with<BasicNack>(payload, run);
        case BasicReject::key:
            return with<BasicReject>(payload, run);
        case BasicGet::key:
            return with<BasicGet>(payload, run);
        case BasicQos::key:
            return with<BasicQos>(payload, run);
        case BasicConsume::key:
            return with<BasicConsume>(payload, run);
        case BasicCancel::key:
            return with<BasicCancel>(payload, run);
        case BasicCancelOk::key:
            return;  // the client's answer to a cancel of ours (amqp091 11.15)
        case BasicRecover::key:
            return with<BasicRecover>(payload, run);
        case BasicRecoverAsync::key:
            return with<BasicRecoverAsync>(payload, run);
        case ExchangeDeclare::key:
            return with<ExchangeDeclare>(payload, run);
        case ExchangeDelete::key:
            return with<ExchangeDelete>(payload, run);
        case ExchangeBind::key:
            return with<ExchangeBind>(payload, run);
        case ExchangeUnbind::key:
            return with<ExchangeUnbind>(payload, run);
        case QueueDeclare::key:
            return with<QueueDeclare>(payload, run);
        case QueueBind::key:
            return with<QueueBind>(payload, run);
        case QueueUnbind::key:
            return with<QueueUnbind>(payload, run);
        case QueuePurge::key:
            return with<QueuePurge>(payload, run);
        case QueueDelete::key:
            return with<QueueDelete>(payload, run);
        case ConfirmSelect::key:
            return with<ConfirmSelect>(payload, run);
        case TxSelect::key:
            return with<TxSelect>(payload, run);
        case TxCommit::key:
            return with<TxCommit>(payload, run);
        case TxRollback::key:
            return with<TxRollback>(payload, run);
        case ChannelFlow::key:
            return with<ChannelFlow>(payload, run);
        case ChannelFlowOk::key:
            return;
        case ChannelClose::key:
            return with<ChannelClose>(payload, run);
        case ChannelCloseOk::key:
            return;  // crossed a close of ours that was answered already
        case AccessRequest::key:
            return with<AccessRequest>(payload, run);
        case ChannelOpen::key:
            connection_.fail(
                {ReplyCode::channel_error, "second 'channel.open' seen", class_id_, method_id_});
            return;
        default:
            // amqp091 5.5
            connection_.fail(
                {ReplyCode::command_invalid, "unimplemented method", class_id_, method_id_});
    }
}

// ------------------------------------------------------------------------- permissions

bool Channel::granted(std::optional<engine::Refusal> refusal) {
    if (refusal) fail(ReplyCode::access_refused, std::move(refusal->text));
    return !refusal;
}

bool Channel::require(Permission permission, std::string_view kind, std::string_view name) {
    return granted(permissions_.current().refusal(permission, kind, name));
}

bool Channel::require_any(std::string_view kind, std::string_view name) {
    return granted(permissions_.current().passive_refusal(kind, name));
}

// ------------------------------------------------------------------------- consuming

void Channel::on(const BasicQos& method) {
    if (method.prefetch_size != 0) {
        return fail(ReplyCode::not_implemented,
                    "prefetch_size!=0 (" + std::to_string(method.prefetch_size) + ")");
    }
    expect(Reply::basic_qos, /*no_wait=*/false);
    // Where a limit of the channel is not permitted it becomes one of each consumer, as in
    // RabbitMQ.
    const bool global = method.global && connection_.settings().permits_global_qos;
    connection_.port().send(engine::SetQos{id_, method.prefetch_count, global});
}

void Channel::on(const BasicConsume& method) {
    auto table = arguments(method.arguments);
    if (!table) return;
    auto queue = queue_name(method.queue);
    if (!queue) return;
    if (*queue != reply_queue && !require(Permission::read, "queue", *queue)) return;
    std::string tag(method.consumer_tag);
    if (tag.empty()) tag = connection_.host().random_name("amq.ctag-");
    if (consumers_by_tag_.contains(tag)) {
        return fail(ReplyCode::not_allowed, "attempt to reuse consumer tag '" + tag + "'");
    }
    const std::uint32_t consumer_max = connection_.settings().consumer_max_per_channel;
    if (consumer_max != 0 && tags_.size() >= consumer_max) {
        return fail(ReplyCode::not_allowed, "reached maximum (" + std::to_string(consumer_max) +
                                                ") of consumers per channel");
    }
    const std::uint32_t number = next_consumer_++;
    engine::Consume command;
    command.channel = id_;
    command.consumer = number;
    command.tag = tag;
    command.no_ack = method.no_ack;
    command.exclusive = method.exclusive;
    command.arguments = std::move(*table);
    const bool can_be_told = connection_.client_supports("consumer_cancel_notify") &&
                             !connection_.settings().consumer_timeout_closes_channel;
    command.on_timeout = can_be_told ? engine::TimeoutAction::consumer_cancelled
                                     : engine::TimeoutAction::channel_closed;
    if (*queue == reply_queue) {
        // Two parts, as clients expect it of RabbitMQ: who is asked, and a key.
        command.reply_name = connection_.host().random_name(
            connection_.host().random_name("amq.rabbitmq.reply-to.") + ".");
        if (reply_name_.empty() && method.no_ack) {
            reply_name_ = command.reply_name;
            reply_consumer_ = number;
        }
    }
    command.queue = std::move(*queue);
    tags_.emplace(number, ConsumerTag{tag, method.no_ack});
    consumers_by_tag_.emplace(tag, number);
    expect(Reply::basic_consume, method.no_wait, std::move(tag));
    connection_.port().send(std::move(command));
}

void Channel::on(const BasicCancel& method) {
    const auto found = consumers_by_tag_.find(std::string(method.consumer_tag));
    if (found == consumers_by_tag_.end()) {
        // amqp091 11.14: unknown means done already.
        if (!method.no_wait) {
            BasicCancelOk ok;
            ok.consumer_tag = method.consumer_tag;
            reply_immediately(frame_of(number_, ok));
        }
        return;
    }
    const std::uint32_t number = found->second;
    if (number == reply_consumer_) {
        reply_name_.clear();
        reply_consumer_ = 0;
    }
    consumers_by_tag_.erase(found);
    // Deliveries under way still need the tag; it goes with the answer.
    expect(Reply::basic_cancel, method.no_wait, std::string(method.consumer_tag));
    pending_.back().consumer = number;
    connection_.port().send(engine::Cancel{id_, number});
}

void Channel::on(const BasicGet& method) {
    auto queue = queue_name(method.queue);
    if (!queue || !require(Permission::read, "queue", *queue)) return;
    expect(Reply::basic_get, /*no_wait=*/false);
    connection_.port().send(engine::Get{id_, std::move(*queue), method.no_ack});
}

void Channel::settle(std::uint64_t delivery_tag, bool multiple, engine::Outcome outcome) {
    connection_.port().settle({id_, {delivery_tag}, multiple, outcome});
}

void Channel::on(const BasicAck& method) {
    settle(method.delivery_tag, method.multiple, {engine::OutcomeKind::accepted, false});
}

void Channel::on(const BasicNack& method) {
    settle(method.delivery_tag, method.multiple,
           {method.requeue ? engine::OutcomeKind::released : engine::OutcomeKind::rejected, false});
}

void Channel::on(const BasicReject& method) {
    settle(method.delivery_tag, /*multiple=*/false,
           {method.requeue ? engine::OutcomeKind::released : engine::OutcomeKind::rejected, true});
}

void Channel::on(const BasicRecover& method) {
    if (!method.requeue) return fail(ReplyCode::not_implemented, "requeue=false");
    expect(Reply::basic_recover, /*no_wait=*/false);
    connection_.port().send(engine::Recover{id_});
}

void Channel::on(const BasicRecoverAsync& method) {
    if (!method.requeue) return fail(ReplyCode::not_implemented, "requeue=false");
    expect(Reply::basic_recover, /*no_wait=*/true);
    connection_.port().send(engine::Recover{id_});
}

// ------------------------------------------------------------------------- modes and the rest

void Channel::on(const ConfirmSelect& method) {
    if (transactional_) {
        return fail(ReplyCode::precondition_failed, "cannot switch from tx to confirm mode");
    }
    confirming_ = true;
    if (!method.no_wait) reply_immediately(frame_of(number_, ConfirmSelectOk{}));
}

void Channel::on(const TxSelect&) {
    if (confirming_) {
        return fail(ReplyCode::precondition_failed, "cannot switch from confirm to tx mode");
    }
    transactional_ = true;
    expect(Reply::tx_select, /*no_wait=*/false);
    connection_.port().send(engine::SelectTransaction{id_});
}

void Channel::on(const TxCommit&) {
    expect(Reply::tx_commit, /*no_wait=*/false);
    connection_.port().send(engine::Commit{id_});
}

void Channel::on(const TxRollback&) {
    expect(Reply::tx_rollback, /*no_wait=*/false);
    connection_.port().send(engine::Rollback{id_});
}

void Channel::on(const ChannelFlow& method) {
    if (!method.active) return fail(ReplyCode::not_implemented, "active=false");
    ChannelFlowOk ok;
    ok.active = true;
    reply_immediately(frame_of(number_, ok));
}

void Channel::on(const AccessRequest&) {
    AccessRequestOk ok;
    ok.ticket = 1;
    reply_immediately(frame_of(number_, ok));
}

void Channel::on(const ChannelClose&) {
    write_confirms();
    state_ = State::leaving;
    expect(Reply::channel_close, /*no_wait=*/false);
    connection_.port().send(engine::CloseChannel{id_});
}

void Channel::fail(ReplyCode code, std::string text) {
    if (is_hard(code)) {
        connection_.fail({code, std::move(text), class_id_, method_id_});
        return;
    }
    // What the client sent before is still worked on: its answers come first, then its deliveries
    // return to their queues, and then the close goes out.
    state_ = State::failing;
    failure_code_ = code;
    builder_.discard();
    expect(Reply::channel_failure, /*no_wait=*/false, std::move(text));
    connection_.port().send(engine::CloseChannel{id_});
}

void Channel::send_close(ReplyCode code, std::string_view text, std::uint16_t class_id,
                         std::uint16_t method_id) {
    if (is_hard(code)) {
        connection_.fail({code, std::string(text), class_id, method_id});
        return;
    }
    write_confirms();
    const std::string shown = reply_text(code, text);
    ChannelClose close;
    close.reply_code = static_cast<std::uint16_t>(code);
    close.reply_text = shown;
    close.failing_class_id = class_id;
    close.failing_method_id = method_id;
    connection_.write(number_, close);
    if (client_closed_) connection_.write(number_, ChannelCloseOk{});
    connection_.host().log_line("closing channel: " + shown);
    state_ = State::closing;
    awaiting_ = Awaiting::method;
    builder_.discard();
    pending_.clear();
    tags_.clear();
    consumers_by_tag_.clear();
}

// ------------------------------------------------------------------------- deliveries

DeliveryWriter Channel::delivery_writer() {
    return {connection_.output(), number_, connection_.frame_max()};
}

bool Channel::deliver(engine::Deliver&& effect) {
    if (state_ != State::open && state_ != State::leaving) return true;
    const auto found = tags_.find(effect.consumer);
    if (found == tags_.end()) return true;
    delivery_writer().write(effect, found->second.tag);
    return connection_.on_delivery_written();
}

void Channel::on_return(const engine::ReturnUnroutable& effect) {
    delivery_writer().write(effect);
    connection_.host().request_flush();
}

void Channel::on_cancel(const engine::CancelConsumer& effect) {
    const auto found = tags_.find(effect.consumer);
    if (found == tags_.end()) return;
    const std::string tag = found->second.tag;
    // A cancel of the client's own may be under way; then the tag was given up already, and perhaps
    // another consumer has it now.
    const auto holder = consumers_by_tag_.find(tag);
    if (holder == consumers_by_tag_.end() || holder->second != effect.consumer) return;
    consumers_by_tag_.erase(holder);
    tags_.erase(found);
    if (!connection_.client_supports("consumer_cancel_notify")) return;
    BasicCancel cancel;
    cancel.consumer_tag = tag;
    cancel.no_wait = true;
    connection_.write(number_, cancel);
}

// ------------------------------------------------------------------------- confirms

void Channel::confirm(const engine::Confirm& effect) {
    if (state_ == State::gone || state_ == State::closing) return;
    if (confirm_last_ != 0 && effect.accepted != confirm_accepted_) write_confirms();
    if (confirm_last_ == 0) {
        confirm_first_ = effect.sequence;
        confirm_accepted_ = effect.accepted;
        connection_.schedule_confirms(*this);
    }
    confirm_last_ = effect.sequence;
}

// Confirms come in order, so one frame tells them all (amqp091 10.3).
void Channel::write_confirms() {
    if (confirm_last_ == 0) return;
    const bool multiple = confirm_last_ > confirm_first_;
    if (confirm_accepted_) {
        BasicAck ack;
        ack.delivery_tag = confirm_last_;
        ack.multiple = multiple;
        connection_.write(number_, ack);
    } else {
        BasicNack nack;
        nack.delivery_tag = confirm_last_;
        nack.multiple = multiple;
        connection_.write(number_, nack);
    }
    confirm_first_ = confirm_last_ = 0;
}

}  // namespace revenant::amqp091
