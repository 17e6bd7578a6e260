// Rights: what the user of a connection may do in its virtual host, and what it is told if not.
#pragma once

#include "auth/access.h"
#include "engine/command.h"
#include "engine/refusal.h"
#include "message/value.h"
#include "protocol/host.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace revenant::protocol {

class Rights {
  public:
    Rights(Host& host, std::string user, std::string vhost)
        : host_(host), user_(std::move(user)), vhost_(std::move(vhost)) {}

    // Of a queue or exchange; `kind` is the word in the text.
    std::optional<engine::Refusal> refusal(Permission permission, std::string_view kind,
                                           std::string_view name) const;
    // Passive declares need any of the three (amqp091 6.8, 8.10).
    std::optional<engine::Refusal> refusal_of_all(std::string_view kind,
                                                  std::string_view name) const;
    // May it publish to this exchange? The answer for the last one is remembered.
    std::optional<engine::Refusal> write_refusal(std::string_view exchange);
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
    // none (amqp091 8.15, 8.19).
    void add_vhost_settings(engine::DeclareQueue& command,
                            const ConnectionSettings& settings) const;

  private:
    const AccessTable& access() const { return *host_.access(); }

    Host& host_;
    std::string user_;
    std::string vhost_;
    std::string writable_exchange_;
    std::uint64_t writable_version_ = 0;
    bool writable_known_ = false;
};

}  // namespace revenant::protocol
