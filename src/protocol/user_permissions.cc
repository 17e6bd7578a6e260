#include "protocol/user_permissions.h"

#include <string>

namespace revenant::protocol {
namespace {

// The name of the default exchange in permissions (amqp091 15.1).
std::string_view permission_name_of(std::string_view exchange) {
    return exchange.empty() ? std::string_view{"amq.default"} : exchange;
}

const std::string* exchange_in(const Table& arguments, std::string_view name) {
    const Value* const value = find(arguments, name);
    return value == nullptr ? nullptr : value->as_string();
}

}  // namespace

std::optional<engine::Refusal> UserPermissions::refusal(Permission permission,
                                                        std::string_view kind,
                                                        std::string_view name) const {
    const std::string_view checked = kind == "exchange" ? permission_name_of(name) : name;
    if (access_.allowed(user_, vhost_, permission, checked)) return std::nullopt;
    return not_permitted(permission, std::string(kind) + " '" + std::string(checked) + "'");
}

engine::Refusal UserPermissions::not_permitted(Permission permission,
                                               const std::string& thing) const {
    return {engine::RefusalKind::not_permitted,
            std::string(permission_name(permission)) + " access to " + thing + " in vhost '" +
                std::string(vhost_) + "' refused for user '" + std::string(user_) + "'"};
}

std::optional<engine::Refusal> UserPermissions::passive_refusal(std::string_view kind,
                                                                std::string_view name) const {
    for (const Permission permission :
         {Permission::configure, Permission::write, Permission::read}) {
        if (!refusal(permission, kind, name)) return std::nullopt;
    }
    return refusal(Permission::configure, kind, name);
}

std::optional<engine::Refusal> UserPermissions::topic_refusal(Permission permission,
                                                              std::string_view exchange,
                                                              std::string_view routing_key) const {
    if (access_.rules().topic_permissions.empty()) return std::nullopt;
    if (access_.topic_allowed(user_, vhost_, exchange, permission, routing_key)) {
        return std::nullopt;
    }
    return not_permitted(permission, "topic '" + std::string(routing_key) + "' in exchange '" +
                                         std::string(exchange) + "'");
}

std::optional<engine::Refusal> UserPermissions::topic_write_refusal(std::string_view exchange,
                                                                    std::string_view routing_key,
                                                                    const ExtraKeys& extra) const {
    if (access_.rules().topic_permissions.empty()) return std::nullopt;
    auto refused = topic_refusal(Permission::write, exchange, routing_key);
    for (const auto* keys : {&extra.cc, &extra.bcc}) {
        for (const std::string& key : *keys) {
            if (refused) return refused;
            refused = topic_refusal(Permission::write, exchange, key);
        }
    }
    return refused;
}

std::optional<engine::Refusal> UserPermissions::user_id_refusal(std::string_view user_id) const {
    if (user_id == user_) return std::nullopt;
    const User* const user = access_.find_user(user_);
    if (user != nullptr && user->has_tag("impersonator")) return std::nullopt;
    return engine::Refusal{engine::RefusalKind::precondition_failed,
                           "user_id property set to '" + std::string(user_id) +
                               "' but authenticated user was '" + std::string(user_) + "'"};
}

std::optional<engine::Refusal> UserPermissions::dead_letter_refusal(std::string_view queue,
                                                                    const Table& arguments) const {
    const std::string* const exchange = exchange_in(arguments, "x-dead-letter-exchange");
    if (exchange == nullptr) return std::nullopt;
    auto refused = refusal(Permission::read, "queue", queue);
    return refused ? refused : refusal(Permission::write, "exchange", *exchange);
}

std::optional<engine::Refusal> UserPermissions::alternate_refusal(std::string_view exchange,
                                                                  const Table& arguments) const {
    const std::string* const alternate = exchange_in(arguments, "alternate-exchange");
    if (alternate == nullptr) return std::nullopt;
    auto refused = refusal(Permission::read, "exchange", exchange);
    return refused ? refused : refusal(Permission::write, "exchange", *alternate);
}

void UserPermissions::add_vhost_settings(engine::DeclareQueue& command,
                                         std::string_view default_queue_type) const {
    const Vhost* const vhost = access_.find_vhost(vhost_);
    if (vhost == nullptr) return;
    command.queues_max = vhost->limits.max_queues;
    const std::string_view type = vhost->default_queue_type.empty()
                                      ? default_queue_type
                                      : std::string_view(vhost->default_queue_type);
    const bool can_be_quorum = command.durable && !command.exclusive && !command.auto_delete;
    if (type == "quorum" && can_be_quorum && !command.server_named &&
        find(command.arguments, "x-queue-type") == nullptr) {
        command.arguments.push_back({"x-queue-type", Value::string("quorum")});
    }
}

}  // namespace revenant::protocol
