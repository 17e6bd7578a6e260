#include "protocol/connection_rights.h"

#include "tests/support/idle_host.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace revenant::protocol {
namespace {

struct RightsOfAnn {
    IdleHost host;
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
