// Channel: methods that declare, bind and delete exchanges and queues.
#include "amqp091/channel.h"
#include "amqp091/codec/table.h"

#include <algorithm>
#include <utility>

namespace revenant::amqp091 {
namespace {

// amqp091 6.6
std::string without_line_breaks(std::string_view name) {
    std::string clean(name);
    std::erase_if(clean, [](char c) { return c == '\r' || c == '\n'; });
    return clean;
}

}  // namespace

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

template <typename Command>
void Channel::send_binding(Command command, Reply reply, bool no_wait) {
    const bool to_queue = command.destination_kind == engine::DestinationKind::queue;
    if (!require(Permission::write, to_queue ? "queue" : "exchange", command.destination)) return;
    if (!require(Permission::read, "exchange", command.source)) return;
    command.channel = id_;
    command.refusal_if_topic =
        permissions_.current().topic_refusal(Permission::read, command.source, command.routing_key);
    expect(reply, no_wait);
    connection_.port().send(std::move(command));
}

template <typename Command, typename Method>
void Channel::change_exchange_binding(const Method& method, Reply reply) {
    auto table = arguments(method.arguments);
    if (!table) return;
    Command command;
    command.source = without_line_breaks(method.source);
    command.destination_kind = engine::DestinationKind::exchange;
    command.destination = without_line_breaks(method.destination);
    command.routing_key = std::string(method.routing_key);
    command.arguments = std::move(*table);
    send_binding(std::move(command), reply, method.no_wait);
}

template <typename Command, typename Method>
void Channel::change_queue_binding(const Method& method, Reply reply, bool no_wait) {
    auto table = arguments(method.arguments);
    if (!table) return;
    auto queue = queue_name(method.queue);
    if (!queue) return;
    Command command;
    command.source = without_line_breaks(method.exchange);
    command.destination_kind = engine::DestinationKind::queue;
    // amqp091 8.2: without queue and key, the last declared queue is both.
    command.routing_key = method.queue.empty() && method.routing_key.empty()
                              ? *queue
                              : std::string(method.routing_key);
    command.destination = std::move(*queue);
    command.arguments = std::move(*table);
    send_binding(std::move(command), reply, no_wait);
}

void Channel::on(const ExchangeBind& method) {
    change_exchange_binding<engine::Bind>(method, Reply::exchange_bind);
}

void Channel::on(const ExchangeUnbind& method) {
    change_exchange_binding<engine::Unbind>(method, Reply::exchange_unbind);
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
    // A direct reply-to queue may be checked without a permission (amqp091 14.3).
    if (!command.name.starts_with(reply_queue) &&
        (method.passive ? !require_any("queue", command.name)
                        : !require(Permission::configure, "queue", command.name))) {
        return;
    }
    command.passive = method.passive;
    // The flag has no meaning for an exclusive queue and is not stored (amqp091 8.5).
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
    change_queue_binding<engine::Bind>(method, Reply::queue_bind, method.no_wait);
}

void Channel::on(const QueueUnbind& method) {
    change_queue_binding<engine::Unbind>(method, Reply::queue_unbind, /*no_wait=*/false);
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

}  // namespace revenant::amqp091
