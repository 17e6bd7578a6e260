#include "protocol/connection_permissions.h"

#include "tests/support/idle_host.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace revenant::protocol {
namespace {

struct PermissionsOfAnn {
    StubHost host;
    ConnectionPermissions rights{host, "ann", "/"};

    explicit PermissionsOfAnn(Permissions permissions) { allow(std::move(permissions)); }
    void allow(Permissions permissions) {
        AccessRules rules;
        rules.users["ann"].name = "ann";
        rules.vhosts["/"].name = "/";
        rules.permissions[{"ann", "/"}] = std::move(permissions);
        host.set(std::move(rules));
    }
};

TEST(ConnectionPermissions, FollowThePermissions) {
    PermissionsOfAnn ann({"", "", "^q$"});
    EXPECT_FALSE(ann.rights.current().refusal(Permission::read, "queue", "q"));
    ann.allow({"", "", ""});
    EXPECT_TRUE(ann.rights.current().refusal(Permission::read, "queue", "q"));
}

TEST(ConnectionPermissions, WhatIsRememberedEndsWithTheRules) {
    PermissionsOfAnn ann({"", ".*", ""});
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
