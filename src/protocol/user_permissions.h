// UserPermissions: the permissions of a user in a virtual host at one moment, and the refusal
// texts. Connections use ConnectionPermissions, because they live longer.
#pragma once

#include "auth/access.h"
#include "engine/words/command.h"
#include "engine/words/refusal.h"
#include "message/value.h"

#include <optional>
#include <string>
#include <string_view>

namespace revenant::protocol {

class UserPermissions {
  public:
    // Keeps references to all arguments.
    UserPermissions(const AccessTable& access, std::string_view user, std::string_view vhost)
        : access_(access), user_(user), vhost_(vhost) {}

    // For a queue or exchange; `kind` is the word used in the text.
    std::optional<engine::Refusal> refusal(Permission permission, std::string_view kind,
                                           std::string_view name) const;
    // Passive declares need any of the three (amqp091 6.8, 8.10).
    std::optional<engine::Refusal> passive_refusal(std::string_view kind,
                                                   std::string_view name) const;
    std::optional<engine::Refusal> topic_refusal(Permission permission, std::string_view exchange,
                                                 std::string_view routing_key) const;
    // Checks all keys of a message that is about to be published.
    std::optional<engine::Refusal> topic_write_refusal(std::string_view exchange,
                                                       std::string_view routing_key,
                                                       const ExtraKeys& extra) const;
    // Whether a message may have this user_id.
    std::optional<engine::Refusal> user_id_refusal(std::string_view user_id) const;
    // DL-33: for a new queue, read permission on it and then write permission on its dead-letter
    // exchange.
    std::optional<engine::Refusal> dead_letter_refusal(std::string_view queue,
                                                       const Table& arguments) const;
    std::optional<engine::Refusal> alternate_refusal(std::string_view exchange,
                                                     const Table& arguments) const;
    // Adds the virtual host's settings to the command: its queue limit, and the default queue type
    // of the virtual host or else of the node (amqp091 8.15, 8.19).
    void add_vhost_settings(engine::DeclareQueue& command,
                            std::string_view default_queue_type) const;

  private:
    engine::Refusal not_permitted(Permission permission, const std::string& thing) const;

    const AccessTable& access_;
    std::string_view user_;
    std::string_view vhost_;
};

}  // namespace revenant::protocol
