#include "auth/access.h"

#include "base/probe.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace revenant {
namespace {

constexpr Permission every_permission[] = {Permission::configure, Permission::write,
                                           Permission::read};

AccessRules with_user(std::string name, Permissions permissions) {
    AccessRules rules;
    rules.users[name].name = name;
    rules.vhosts["/"].name = "/";
    rules.permissions[{name, "/"}] = std::move(permissions);
    return rules;
}

// amqp091 15.1
TEST(AccessTable, AsksThePatternOfThePermission) {
    const AccessTable table{with_user("ann", {"^c", "^w", "^r"})};
    EXPECT_TRUE(table.allowed("ann", "/", Permission::configure, "cat"));
    EXPECT_TRUE(table.allowed("ann", "/", Permission::write, "wolf"));
    EXPECT_TRUE(table.allowed("ann", "/", Permission::read, "rat"));
    EXPECT_FALSE(table.allowed("ann", "/", Permission::configure, "wolf"));
    EXPECT_FALSE(table.allowed("ann", "/", Permission::write, "rat"));
    EXPECT_FALSE(table.allowed("ann", "/", Permission::read, "cat"));
}

// amqp091 15.1
TEST(AccessTable, SearchesUnanchored) {
    const AccessTable table{with_user("ann", {"q", "(?!amq\\.)^", ".*"})};
    EXPECT_TRUE(table.allowed("ann", "/", Permission::configure, "aqb"));
    EXPECT_FALSE(table.allowed("ann", "/", Permission::write, "amq.default"));
    EXPECT_TRUE(table.allowed("ann", "/", Permission::write, "orders"));
    EXPECT_TRUE(table.allowed("ann", "/", Permission::read, ""));
}

// amqp091 15.1
TEST(AccessTable, TakesAnEmptyPatternForTheEmptyNameOnly) {
    const AccessTable table{with_user("ann", {"", "", ""})};
    for (const auto permission : every_permission) {
        EXPECT_FALSE(table.allowed("ann", "/", permission, "q"));
        EXPECT_FALSE(table.allowed("ann", "/", permission, "amq.default"));
        EXPECT_TRUE(table.allowed("ann", "/", permission, ""));
    }
}

// amqp091 3.8
TEST(AccessTable, LetsInWhoHasARowEvenAnEmptyOne) {
    auto rules = with_user("ann", {"", "", ""});
    rules.users["bob"].name = "bob";
    rules.topic_permissions[{"bob", "/", "amq.topic"}] = {".*", ".*"};
    const AccessTable table{rules};
    EXPECT_TRUE(table.can_access_vhost("ann", "/"));
    EXPECT_FALSE(table.can_access_vhost("ann", "other"));
    EXPECT_FALSE(table.can_access_vhost("bob", "/"));
    EXPECT_FALSE(table.can_access_vhost("nobody", "/"));
}

// amqp091 3.6
TEST(AccessTable, RefusesEverythingWithoutARow) {
    auto rules = with_user("ann", {".*", ".*", ".*"});
    rules.users["bob"].name = "bob";
    rules.vhosts["other"].name = "other";
    const AccessTable table{rules};
    for (const auto permission : every_permission) {
        EXPECT_FALSE(table.allowed("bob", "/", permission, "q"));
        EXPECT_FALSE(table.allowed("ann", "other", permission, "q"));
        EXPECT_FALSE(table.allowed("nobody", "/", permission, "q"));
        EXPECT_FALSE(table.allowed("", "", permission, ""));
    }
}

// amqp091 15.4
TEST(AccessTable, AllowsEveryTopicWithoutARow) {
    auto rules = with_user("ann", {".*", ".*", ".*"});
    rules.topic_permissions[{"ann", "/", "amq.topic"}] = {"^a", "^b"};
    const AccessTable table{rules};
    EXPECT_TRUE(table.topic_allowed("ann", "/", "other", Permission::write, "zzz"));
    EXPECT_TRUE(table.topic_allowed("bob", "/", "amq.topic", Permission::write, "zzz"));
    EXPECT_TRUE(table.topic_allowed("ann", "v", "amq.topic", Permission::write, "zzz"));
    EXPECT_FALSE(table.topic_allowed("ann", "/", "amq.topic", Permission::write, "zzz"));
}

// amqp091 15.4
TEST(AccessTable, AsksTheTopicPatternOverTheRoutingKey) {
    auto rules = with_user("ann", {"", "", ""});
    rules.topic_permissions[{"ann", "/", "amq.topic"}] = {"^a\\.", ""};
    const AccessTable table{rules};
    EXPECT_TRUE(table.topic_allowed("ann", "/", "amq.topic", Permission::write, "a.b"));
    EXPECT_FALSE(table.topic_allowed("ann", "/", "amq.topic", Permission::write, "ab"));
    EXPECT_FALSE(table.topic_allowed("ann", "/", "amq.topic", Permission::read, "a.b"));
    EXPECT_TRUE(table.topic_allowed("ann", "/", "amq.topic", Permission::read, ""));
}

// amqp091 15.4
TEST(AccessTable, ExpandsUserAndVhostInTopicPatterns) {
    AccessRules rules;
    rules.topic_permissions[{"ann", "shop", "t"}] = {"^{vhost}\\.{username}\\.",
                                                     "{username}{username}"};
    rules.topic_permissions[{"bob", "shop", "t"}] = {"^{vhost}\\.{username}\\.", "^{other}$"};
    const AccessTable table{rules};
    EXPECT_TRUE(table.topic_allowed("ann", "shop", "t", Permission::write, "shop.ann.x"));
    EXPECT_FALSE(table.topic_allowed("ann", "shop", "t", Permission::write, "shop.bob.x"));
    EXPECT_TRUE(table.topic_allowed("bob", "shop", "t", Permission::write, "shop.bob.x"));
    EXPECT_TRUE(table.topic_allowed("ann", "shop", "t", Permission::read, "annann"));
    EXPECT_FALSE(table.topic_allowed("ann", "shop", "t", Permission::read, "ann"));
    EXPECT_TRUE(table.topic_allowed("bob", "shop", "t", Permission::read, "{other}"));
}

// amqp091 15.4
TEST(AccessTable, TakesExpandedNamesLiterally) {
    AccessRules rules;
    rules.topic_permissions[{".*", "/", "t"}] = {"^{username}$", "^{vhost}$"};
    rules.topic_permissions[{"{vhost}", "v", "t"}] = {"^{username}$", ""};
    rules.topic_permissions[{"a)(b", "v", "t"}] = {"^{username}$", ""};
    const AccessTable table{rules};
    EXPECT_TRUE(table.topic_allowed(".*", "/", "t", Permission::write, ".*"));
    EXPECT_FALSE(table.topic_allowed(".*", "/", "t", Permission::write, "ann"));
    EXPECT_TRUE(table.topic_allowed(".*", "/", "t", Permission::read, "/"));
    EXPECT_TRUE(table.topic_allowed("{vhost}", "v", "t", Permission::write, "{vhost}"));
    EXPECT_FALSE(table.topic_allowed("{vhost}", "v", "t", Permission::write, "v"));
    EXPECT_TRUE(table.topic_allowed("a)(b", "v", "t", Permission::write, "a)(b"));
}

TEST(AccessTable, AllowsNothingByAPatternThatDoesNotCompile) {
    auto rules = with_user("ann", {"(", ".*", "["});
    rules.topic_permissions[{"ann", "/", "t"}] = {"(", ".*"};
    const auto before = Probe::hits("access.pattern_refused");
    const AccessTable table{rules};
    EXPECT_EQ(Probe::hits("access.pattern_refused"), before + 2);
    EXPECT_TRUE(table.can_access_vhost("ann", "/"));
    EXPECT_FALSE(table.allowed("ann", "/", Permission::configure, "("));
    EXPECT_TRUE(table.allowed("ann", "/", Permission::write, "q"));
    EXPECT_FALSE(table.allowed("ann", "/", Permission::read, "["));
    EXPECT_FALSE(table.topic_allowed("ann", "/", "t", Permission::write, "("));
    EXPECT_TRUE(table.topic_allowed("ann", "/", "t", Permission::read, "k"));
}

TEST(AccessTable, FindsUsersVhostsAndTags) {
    auto rules = with_user("ann", {});
    rules.users["ann"].tags = {"management", "impersonator"};
    rules.vhosts["/"].description = "the first";
    const AccessTable table{rules, 7};
    EXPECT_EQ(table.version(), 7U);
    ASSERT_NE(table.find_user("ann"), nullptr);
    EXPECT_TRUE(table.find_user("ann")->has_tag("impersonator"));
    EXPECT_TRUE(table.find_user("ann")->has_tag("management"));
    EXPECT_FALSE(table.find_user("ann")->has_tag("administrator"));
    EXPECT_FALSE(table.find_user("ann")->has_tag("manage"));
    EXPECT_EQ(table.find_user("bob"), nullptr);
    ASSERT_NE(table.find_vhost("/"), nullptr);
    EXPECT_EQ(table.find_vhost("/")->description, "the first");
    EXPECT_EQ(table.find_vhost(""), nullptr);
    EXPECT_EQ(table.rules(), rules);
}

TEST(AccessTable, AnswersTheSameWithPatternsTakenOver) {
    auto rules = with_user("ann", {"^c", "^w", "("});
    const AccessTable first{rules, 1};
    rules.permissions[{"ann", "/"}].write = "^x";
    const AccessTable second{rules, 2, &first};
    EXPECT_TRUE(second.allowed("ann", "/", Permission::configure, "cat"));
    EXPECT_FALSE(second.allowed("ann", "/", Permission::write, "wolf"));
    EXPECT_TRUE(second.allowed("ann", "/", Permission::write, "xx"));
    EXPECT_FALSE(second.allowed("ann", "/", Permission::read, "("));
    EXPECT_TRUE(first.allowed("ann", "/", Permission::write, "wolf"));
}

// management 4.8
TEST(Limit, IsReachedAtItsNumberAndNeverWhenNegative) {
    EXPECT_FALSE(limit_reached(std::nullopt, 1'000'000));
    EXPECT_FALSE(limit_reached(-1, 1'000'000));
    EXPECT_TRUE(limit_reached(0, 0));
    EXPECT_FALSE(limit_reached(2, 1));
    EXPECT_TRUE(limit_reached(2, 2));
    EXPECT_TRUE(limit_reached(2, 3));
    EXPECT_TRUE(limit_reached(INT64_MAX, UINT64_MAX));
}

// amqp091 15.2
TEST(Permission, HasTheNameOfTheRefusalTexts) {
    EXPECT_EQ(permission_name(Permission::configure), "configure");
    EXPECT_EQ(permission_name(Permission::write), "write");
    EXPECT_EQ(permission_name(Permission::read), "read");
}

}  // namespace
}  // namespace revenant
