// UserPermissions: what a user may do in a virtual host by the permissions of one moment, and what
// it is told if not. A connection asks by ConnectionPermissions, for it outlives the moment.
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
    // Borrows all of them.
    UserPermissions(const AccessTable& access, std::string_view user, std::string_view vhost)
        : access_(access), user_(user), vhost_(vhost) {}

    // Of a queue or exchange; `kind` is the word in the text.
    std::optional<engine::Refusal> refusal(Permission permission, std::string_view kind,
                                           std::string_view name) const;
    // Passive declares need any of the three (amqp091 6.8, 8.10).
    std::optional<engine::Refusal> passive_refusal(std::string_view kind,
                                                   std::string_view name) const;
    std::optional<engine::Refusal> topic_refusal(Permission permission, std::string_view exchange,
                                                 std::string_view routing_key) const;
    // For any key of a message that is about to be published.
    std::optional<engine::Refusal> topic_write_refusal(std::string_view exchange,
                                                       std::string_view routing_key,
                                                       const ExtraKeys& extra) const;
    // May a message say that this user sent it?
    std::optional<engine::Refusal> user_id_refusal(std::string_view user_id) const;
    // DL-33: read on the queue, then write on its dead-letter exchange, for a queue that is new.
    std::optional<engine::Refusal> dead_letter_refusal(std::string_view queue,
                                                       const Table& arguments) const;
    std::optional<engine::Refusal> alternate_refusal(std::string_view exchange,
                                                     const Table& arguments) const;
    // What the virtual host adds to a wish for a queue: its limit, and the type of queues that name
    // none, its own or else that of the node (amqp091 8.15, 8.19).
    void add_vhost_settings(engine::DeclareQueue& command,
                            std::string_view default_queue_type) const;

  private:
    engine::Refusal not_permitted(Permission permission, const std::string& thing) const;

    const AccessTable& access_;
    std::string_view user_;
    std::string_view vhost_;
};

}  // namespace revenant::protocol
