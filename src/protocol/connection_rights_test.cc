#include "protocol/connection_rights.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace revenant::protocol {
namespace {

// Knows who may do what, and nothing else.
class RulesOnly final : public Host {
  public:
    void set(AccessRules rules) {
        table_ = std::make_shared<const AccessTable>(std::move(rules), ++version_);
    }
    const std::shared_ptr<const AccessTable>& access() override { return table_; }
    PeerPlace peer_place() const override { return PeerPlace::loopback; }
    VhostAnswer open_vhost(std::string_view, std::string_view) override {
        return VhostRefused{"there is none"};
    }
    ChannelId register_channel(engine::EffectSink&) override { return {}; }
    void release_channel(ChannelId) override {}
    std::string random_name(std::string_view prefix) override { return std::string(prefix); }
    void wants_flush() override {}
    void note(std::string_view) override {}

  private:
    std::uint64_t version_ = 0;
    std::shared_ptr<const AccessTable> table_;
};

struct RightsOfAnn {
    RulesOnly host;
    ConnectionRights rights{host, "ann", "/"};

    explicit RightsOfAnn(Permissions permissions) { allow(std::move(permissions)); }
    void allow(Permissions permissions) {
        AccessRules rules;
        rules.users["ann"].name = "ann";
        rules.vhosts["/"].name = "/";
        rules.permissions[{"ann", "/"}] = std::move(permissions);
        host.set(std::move(rules));
    }
};

TEST(ConnectionRights, FollowThePermissions) {
    RightsOfAnn ann({"", "", "^q$"});
    EXPECT_FALSE(ann.rights.in_force().refusal(Permission::read, "queue", "q"));
    ann.allow({"", "", ""});
    EXPECT_TRUE(ann.rights.in_force().refusal(Permission::read, "queue", "q"));
}

TEST(ConnectionRights, WhatIsRememberedEndsWithTheRules) {
    RightsOfAnn ann({"", ".*", ""});
    EXPECT_FALSE(ann.rights.write_refusal("x"));
    EXPECT_FALSE(ann.rights.write_refusal("x"));
    ann.allow({"", "^y$", ""});
    EXPECT_TRUE(ann.rights.write_refusal("x"));
    EXPECT_TRUE(ann.rights.write_refusal("x"));
    EXPECT_FALSE(ann.rights.write_refusal("y"));
    EXPECT_TRUE(ann.rights.write_refusal("x"));
}

}  // namespace
}  // namespace revenant::protocol
