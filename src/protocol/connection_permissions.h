// ConnectionPermissions: the permissions of the user of a connection. They may change while it is
// open.
#pragma once

#include "engine/words/refusal.h"
#include "protocol/host.h"
#include "protocol/user_permissions.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace revenant::protocol {

class ConnectionPermissions {
  public:
    ConnectionPermissions(Host& host, std::string user, std::string vhost)
        : host_(host), user_(std::move(user)), vhost_(std::move(vhost)) {}

    // Valid until the next turn.
    UserPermissions current() const { return {*host_.access(), user_, vhost_}; }
    // The refusal to publish to this exchange, if any. Caches the result for the last exchange.
    std::optional<engine::Refusal> write_refusal(std::string_view exchange);

  private:
    Host& host_;
    std::string user_;
    std::string vhost_;
    std::string writable_exchange_;
    std::uint64_t writable_version_ = 0;
    bool writable_known_ = false;
};

}  // namespace revenant::protocol
