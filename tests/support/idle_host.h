// StubHost: a Host without a connection, for tests of code that only queries users and permissions.
// Tests override more where necessary.
#pragma once

#include "protocol/host.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace revenant::protocol {

class StubHost : public Host {
  public:
    void set(AccessRules rules) {
        table_ = std::make_shared<const AccessTable>(std::move(rules), ++version_);
    }

    const std::shared_ptr<const AccessTable>& access() override { return table_; }
    PeerLocation peer_location() const override { return PeerLocation::loopback; }
    VhostAnswer open_vhost(std::string_view, std::string_view) override {
        return VhostRefused{"there is none"};
    }
    ChannelId register_channel(engine::EffectSink&) override { return {}; }
    void release_channel(ChannelId) override {}
    std::string random_name(std::string_view prefix) override { return std::string(prefix); }
    void request_flush() override {}
    void log_line(std::string_view) override {}

  private:
    std::uint64_t version_ = 0;
    std::shared_ptr<const AccessTable> table_;
};

}  // namespace revenant::protocol
