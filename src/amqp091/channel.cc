#include "amqp091/channel.h"

#include "amqp091/codec/table.h"
#include "amqp091/message/properties.h"
#include "base/check.h"

#include <algorithm>
#include <utility>

namespace revenant::amqp091 {
namespace {

constexpr std::uint64_t body_size_ceiling = 536870912;  // amqp091 9.3
constexpr std::string_view reply_queue = "amq.rabbitmq.reply-to";
constexpr std::string_view no_properties{"\0\0", 2};

std::string octets(std::string_view bytes) {
    constexpr std::size_t shown_max = 16;
    std::string shown = "<<";
    for (std::size_t i = 0; i < std::min(bytes.size(), shown_max); ++i) {
        if (i > 0) shown += ',';
        shown += std::to_string(static_cast<unsigned char>(bytes[i]));
    }
    if (bytes.size() > shown_max) shown += ",...";
    return shown + ">>";
}

// amqp091 6.6
std::string without_line_breaks(std::string_view name) {
    std::string clean(name);
    std::erase_if(clean, [](char c) { return c == '\r' || c == '\n'; });
    return clean;
}

// The method that asked for this outcome.
std::uint16_t settlement_method(engine::Outcome outcome) {
    if (outcome.kind == engine::OutcomeKind::accepted) return BasicAck::method_id;
    return outcome.delivery_failed ? BasicReject::method_id : BasicNack::method_id;
}

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
                          : "cannot decode " + octets(payload.arguments),
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

// ------------------------------------------------------------------------- publishing

void Channel::on(const BasicPublish& method) {
    if (method.immediate) return fail(ReplyCode::not_implemented, "immediate=true");
    exchange_.assign(method.exchange);
    routing_key_.assign(method.routing_key);
    mandatory_ = method.mandatory;
    awaiting_ = Awaiting::header;
    connection_.note_publish();
}

void Channel::on_header(const Frame& frame) {
    const auto header = ContentHeader::decode(frame.payload);
    if (!header) {
        return connection_.fail({ReplyCode::frame_error, "cannot decode " + octets(frame.payload),
                                 class_id_, method_id_});
    }
    if (header->weight != 0) {
        return connection_.fail(
            {ReplyCode::unexpected_frame,
             "expected content header for class 60, got non content header frame instead",
             class_id_, method_id_});
    }
    if (header->class_id != BasicPublish::class_id) {
        return connection_.fail({ReplyCode::unexpected_frame,
                                 "expected content header for class 60, got one for class " +
                                     std::to_string(header->class_id) + " instead",
                                 class_id_, method_id_});
    }
    if (header->body_size > body_size_ceiling) {
        return connection_.fail({ReplyCode::frame_error,
                                 "content body size " + std::to_string(header->body_size) +
                                     " exceeds maximum allowed size " +
                                     std::to_string(body_size_ceiling),
                                 class_id_, method_id_});
    }
    const std::uint64_t size_max = connection_.settings().max_message_size;
    if (header->body_size > size_max) {
        return refuse_content(
            ReplyCode::precondition_failed,
            "message size " + std::to_string(header->body_size) + " is larger than " +
                (size_max == body_size_ceiling ? "max size " : "configured max size ") +
                std::to_string(size_max),
            header->body_size);
    }
    if (const auto refusal = permissions_.write_refusal(exchange_)) {
        return refuse_content(ReplyCode::access_refused, refusal->text, header->body_size);
    }
    auto published = read_published(header->properties, reply_name_, connection_.expiration_form());
    if (!published && published.error().kind == PropertiesError::Kind::malformed) {
        return connection_.fail(
            {ReplyCode::internal_error, published.error().text, class_id_, method_id_});
    }
    const auto size = static_cast<std::uint32_t>(header->body_size);
    if (published) {
        check_published(*published);
        builder_.start(
            exchange_, routing_key_,
            published->rewritten ? std::string_view(*published->rewritten) : header->properties,
            size, std::move(published->head));
    } else {
        refusal_ = {engine::RefusalKind::precondition_failed, std::move(published).error().text};
        builder_.start(exchange_, routing_key_, no_properties, size, {.format = &message_format()});
    }
    awaiting_ = Awaiting::body;
    if (builder_.body_bytes_left() == 0) publish_assembled();
}

// Whether the exchange exists and what it is only the engine knows, and that comes first
// (amqp091 9.2): it gets the refusals along with the message.
void Channel::check_published(const PublishedProperties& published) {
    refusal_if_topic_ = permissions_.current().topic_write_refusal(exchange_, routing_key_,
                                                                   published.head.extra_keys);
    if (published.has_user_id) refusal_ = permissions_.current().user_id_refusal(published.user_id);
}

void Channel::refuse_content(ReplyCode code, std::string text, std::uint64_t body_size) {
    failure_code_ = code;
    refused_text_ = std::move(text);
    refused_body_missing_ = body_size;
    awaiting_ = Awaiting::refused_body;
    if (body_size == 0) fail(failure_code_, std::move(refused_text_));
}

void Channel::on_body(const Frame& frame) {
    const bool refused = awaiting_ == Awaiting::refused_body;
    const std::uint64_t missing = refused ? refused_body_missing_ : builder_.body_bytes_left();
    if (frame.payload.size() > missing) {
        return connection_.fail({ReplyCode::frame_error,
                                 "content body frame exceeds remaining content size", class_id_,
                                 method_id_});
    }
    if (refused) {
        refused_body_missing_ -= frame.payload.size();
        if (refused_body_missing_ == 0) fail(failure_code_, std::move(refused_text_));
        return;
    }
    builder_.append_body(frame.payload);
    if (builder_.body_bytes_left() == 0) publish_assembled();
}

void Channel::publish_assembled() {
    awaiting_ = Awaiting::method;
    engine::Publish command;
    command.channel = id_;
    command.message = builder_.finish();
    command.mandatory = mandatory_;
    if (confirming_) command.confirm_sequence = ++published_;
    if (refusal_if_topic_) {
        command.refusal_if_topic = std::exchange(refusal_if_topic_, std::nullopt);
    }
    if (refusal_) command.refusal = std::exchange(refusal_, std::nullopt);
    connection_.port().publish(std::move(command));
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

// ------------------------------------------------------------------------- topology

std::optional<Table> Channel::arguments(std::string_view raw) {
    auto table = decode_table(raw);
    if (table) return std::move(table).value();
    connection_.fail({ReplyCode::frame_error, "bad argument table: " + describe(table.error()),
                      class_id_, method_id_});
    return std::nullopt;
}

std::optional<std::string> Channel::queue_name(std::string_view name) {
    if (!name.empty()) return without_line_breaks(name);
    if (!current_queue_.empty()) return current_queue_;
    fail(ReplyCode::not_found, "no previously declared queue");
    return std::nullopt;
}

void Channel::on(const ExchangeDeclare& method) {
    const std::string name = without_line_breaks(method.exchange);
    auto table = arguments(method.arguments);
    if (!table) return;
    engine::DeclareExchange command;
    command.channel = id_;
    command.name = name;
    command.type = std::string(method.type);
    command.passive = method.passive;
    command.durable = method.durable;
    command.auto_delete = method.auto_delete;
    command.internal = method.internal;
    if (!name.empty()) {  // the engine has a text of its own for the default exchange
        if (method.passive ? !require_any("exchange", name)
                           : !require(Permission::configure, "exchange", name)) {
            return;
        }
    }
    command.refusal_if_new = permissions_.current().alternate_refusal(name, *table);
    command.arguments = std::move(*table);
    expect(Reply::exchange_declare, method.no_wait);
    connection_.port().send(std::move(command));
}

void Channel::on(const ExchangeDelete& method) {
    std::string name = without_line_breaks(method.exchange);
    if (!name.empty() && !require(Permission::configure, "exchange", name)) return;
    expect(Reply::exchange_delete, method.no_wait);
    connection_.port().send(engine::DeleteExchange{id_, std::move(name), method.if_unused});
}

namespace {

template <typename Command>
Command binding_command(ChannelId channel, std::string source, engine::DestinationKind kind,
                        std::string destination, std::string_view routing_key, Table arguments) {
    Command command;
    command.channel = channel;
    command.source = std::move(source);
    command.destination_kind = kind;
    command.destination = std::move(destination);
    command.routing_key = std::string(routing_key);
    command.arguments = std::move(arguments);
    return command;
}

}  // namespace

void Channel::on(const ExchangeBind& method) {
    std::string destination = without_line_breaks(method.destination);
    std::string source = without_line_breaks(method.source);
    auto table = arguments(method.arguments);
    if (!table) return;
    if (!require(Permission::write, "exchange", destination)) return;
    if (!require(Permission::read, "exchange", source)) return;
    auto command = binding_command<engine::Bind>(id_, source, engine::DestinationKind::exchange,
                                                 std::move(destination), method.routing_key,
                                                 std::move(*table));
    command.refusal_if_topic =
        permissions_.current().topic_refusal(Permission::read, source, method.routing_key);
    expect(Reply::exchange_bind, method.no_wait);
    connection_.port().send(std::move(command));
}

void Channel::on(const ExchangeUnbind& method) {
    std::string destination = without_line_breaks(method.destination);
    std::string source = without_line_breaks(method.source);
    auto table = arguments(method.arguments);
    if (!table) return;
    if (!require(Permission::write, "exchange", destination)) return;
    if (!require(Permission::read, "exchange", source)) return;
    auto command = binding_command<engine::Unbind>(id_, source, engine::DestinationKind::exchange,
                                                   std::move(destination), method.routing_key,
                                                   std::move(*table));
    command.refusal_if_topic =
        permissions_.current().topic_refusal(Permission::read, source, method.routing_key);
    expect(Reply::exchange_unbind, method.no_wait);
    connection_.port().send(std::move(command));
}

void Channel::on(const QueueDeclare& method) {
    auto table = arguments(method.arguments);
    if (!table) return;
    engine::DeclareQueue command;
    command.channel = id_;
    command.name = without_line_breaks(method.queue);
    if (command.name.empty() && method.passive) {
        const auto last = queue_name({});
        if (!last) return;
        command.name = *last;
    }
    if (command.name.empty()) {
        command.name = connection_.host().random_name("amq.gen-");
        command.server_named = true;
    }
    // Whoever answers a direct reply-to request may see whether somebody waits (amqp091 14.3).
    if (!command.name.starts_with(reply_queue) &&
        (method.passive ? !require_any("queue", command.name)
                        : !require(Permission::configure, "queue", command.name))) {
        return;
    }
    command.passive = method.passive;
    // Of an exclusive queue the flag means nothing and is not kept (amqp091 8.5).
    command.durable = method.durable && !method.exclusive;
    command.exclusive = method.exclusive;
    command.auto_delete = method.auto_delete;
    command.arguments = std::move(*table);
    command.refusal_if_new =
        permissions_.current().dead_letter_refusal(command.name, command.arguments);
    permissions_.current().add_vhost_settings(command, connection_.settings().default_queue_type);
    current_queue_ = command.name;
    expect(Reply::queue_declare, method.no_wait, command.name);
    connection_.port().send(std::move(command));
}

void Channel::on(const QueueBind& method) {
    auto table = arguments(method.arguments);
    if (!table) return;
    auto queue = queue_name(method.queue);
    if (!queue) return;
    std::string source = without_line_breaks(method.exchange);
    // amqp091 8.2: neither queue nor key named means the last declared queue for both.
    const std::string key = method.queue.empty() && method.routing_key.empty()
                                ? *queue
                                : std::string(method.routing_key);
    if (!require(Permission::write, "queue", *queue)) return;
    if (!require(Permission::read, "exchange", source)) return;
    auto command = binding_command<engine::Bind>(id_, source, engine::DestinationKind::queue,
                                                 std::move(*queue), key, std::move(*table));
    command.refusal_if_topic = permissions_.current().topic_refusal(Permission::read, source, key);
    expect(Reply::queue_bind, method.no_wait);
    connection_.port().send(std::move(command));
}

void Channel::on(const QueueUnbind& method) {
    auto table = arguments(method.arguments);
    if (!table) return;
    auto queue = queue_name(method.queue);
    if (!queue) return;
    std::string source = without_line_breaks(method.exchange);
    const std::string key = method.queue.empty() && method.routing_key.empty()
                                ? *queue
                                : std::string(method.routing_key);
    if (!require(Permission::write, "queue", *queue)) return;
    if (!require(Permission::read, "exchange", source)) return;
    auto command = binding_command<engine::Unbind>(id_, source, engine::DestinationKind::queue,
                                                   std::move(*queue), key, std::move(*table));
    command.refusal_if_topic = permissions_.current().topic_refusal(Permission::read, source, key);
    expect(Reply::queue_unbind, /*no_wait=*/false);
    connection_.port().send(std::move(command));
}

void Channel::on(const QueuePurge& method) {
    auto queue = queue_name(method.queue);
    if (!queue || !require(Permission::read, "queue", *queue)) return;
    expect(Reply::queue_purge, method.no_wait);
    connection_.port().send(engine::PurgeQueue{id_, std::move(*queue)});
}

void Channel::on(const QueueDelete& method) {
    auto queue = queue_name(method.queue);
    if (!queue || !require(Permission::configure, "queue", *queue)) return;
    expect(Reply::queue_delete, method.no_wait);
    connection_.port().send(
        engine::DeleteQueue{id_, std::move(*queue), method.if_unused, method.if_empty});
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

// ------------------------------------------------------------------------- answers

void Channel::expect(Reply reply, bool no_wait, std::string text) {
    // A cancel without wait still has to forget its tag; of the others nothing remains to be done.
    if (no_wait && reply != Reply::basic_cancel) reply = Reply::none;
    pending_.push_back({reply, class_id_, method_id_, std::move(text), 0, no_wait});
}

void Channel::reply_immediately(std::string frame) {
    if (pending_.empty()) {
        connection_.write_raw(frame);
        return;
    }
    pending_.push_back({Reply::ready, class_id_, method_id_, std::move(frame), 0, false});
}

void Channel::finish_ready_answers() {
    while (!pending_.empty() && pending_.front().reply == Reply::ready) {
        connection_.write_raw(pending_.front().text);
        pending_.pop_front();
    }
}

void Channel::request(engine::Effect&& effect) {
    // Whatever becomes of the channel, its connection must ask for more deliveries some day.
    if (std::holds_alternative<engine::DeliveriesPaused>(effect))
        return connection_.deliveries_paused();
    if (state_ == State::gone || state_ == State::closing) return;
    if (auto* done = std::get_if<engine::Done>(&effect)) {
        on_done(std::move(*done));
    } else if (const auto* refuse = std::get_if<engine::Refuse>(&effect)) {
        on_refuse(*refuse);
    } else if (const auto* returned = std::get_if<engine::ReturnUnroutable>(&effect)) {
        on_return(*returned);
    } else if (const auto* cancelled = std::get_if<engine::CancelConsumer>(&effect)) {
        on_cancel(*cancelled);
    }
}

void Channel::on_done(engine::Done&& done) {
    CHECK(!pending_.empty());
    const Pending pending = std::move(pending_.front());
    pending_.pop_front();
    write_answer(pending, done);
    finish_ready_answers();
}

void Channel::write_answer(const Pending& pending, engine::Done& done) {
    const auto count = [&] {
        const auto* answer = std::get_if<engine::CountAnswer>(&done.answer);
        return answer == nullptr ? 0 : shown_count(answer->message_count);
    };
    switch (pending.reply) {
        case Reply::none:
        case Reply::ready:
            return;
        case Reply::exchange_declare:
            return connection_.write(number_, ExchangeDeclareOk{});
        case Reply::exchange_delete:
            return connection_.write(number_, ExchangeDeleteOk{});
        case Reply::exchange_bind:
            return connection_.write(number_, ExchangeBindOk{});
        case Reply::exchange_unbind:
            return connection_.write(number_, ExchangeUnbindOk{});
        case Reply::queue_declare: {
            const auto& answer = std::get<engine::QueueAnswer>(done.answer);
            QueueDeclareOk ok;
            ok.queue = pending.text;
            ok.message_count = shown_count(answer.message_count);
            ok.consumer_count = shown_count(answer.consumer_count);
            return connection_.write(number_, ok);
        }
        case Reply::queue_bind:
            return connection_.write(number_, QueueBindOk{});
        case Reply::queue_unbind:
            return connection_.write(number_, QueueUnbindOk{});
        case Reply::queue_purge: {
            QueuePurgeOk ok;
            ok.message_count = count();
            return connection_.write(number_, ok);
        }
        case Reply::queue_delete: {
            QueueDeleteOk ok;
            ok.message_count = count();
            return connection_.write(number_, ok);
        }
        case Reply::basic_qos:
            return connection_.write(number_, BasicQosOk{});
        case Reply::basic_consume: {
            BasicConsumeOk ok;
            ok.consumer_tag = pending.text;
            return connection_.write(number_, ok);
        }
        case Reply::basic_cancel: {
            tags_.erase(pending.consumer);
            BasicCancelOk ok;
            ok.consumer_tag = pending.text;
            if (!pending.no_wait) connection_.write(number_, ok);
            return;
        }
        case Reply::basic_get:
            return write_get_answer(std::get<engine::GetAnswer>(done.answer));
        case Reply::basic_recover:
            return connection_.write(number_, BasicRecoverOk{});
        case Reply::tx_select:
            return connection_.write(number_, TxSelectOk{});
        case Reply::tx_commit:
            return connection_.write(number_, TxCommitOk{});
        case Reply::tx_rollback:
            return connection_.write(number_, TxRollbackOk{});
        case Reply::channel_close:
            write_confirms();
            connection_.write(number_, ChannelCloseOk{});
            state_ = State::gone;
            connection_.channel_gone(number_);
            return;
        case Reply::channel_failure:
            return send_close(failure_code_, pending.text, pending.class_id, pending.method_id);
    }
}

void Channel::write_get_answer(const engine::GetAnswer& answer) {
    if (!answer.message) return connection_.write(number_, BasicGetEmpty{});
    delivery_writer().write(answer);
    connection_.host().request_flush();
}

// The engine has let the channel go already; commands still under way are ignored there.
void Channel::on_refuse(const engine::Refuse& refuse) {
    // The client's own close is under way: the two cross, and both are told (amqp091 4.4).
    if (state_ == State::leaving) client_closed_ = true;
    const ReplyCode code = reply_code(refuse.refusal.kind);
    const std::string& text = refuse.refusal.text;
    switch (refuse.command) {
        case engine::RefusedCommand::publish:
            return send_close(code, text, BasicPublish::class_id, BasicPublish::method_id);
        case engine::RefusedCommand::settlement:
            return send_close(code, text, BasicPublish::class_id,
                              settlement_method(refuse.outcome));
        case engine::RefusedCommand::answered: {
            CHECK(!pending_.empty());
            const Pending refused = pending_.front();
            return send_close(code, text, refused.class_id, refused.method_id);
        }
        case engine::RefusedCommand::none:
            return send_close(
                code, "delivery acknowledgement on channel " + std::to_string(number_) + ' ' + text,
                0, 0);
    }
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
