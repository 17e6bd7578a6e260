#include "protocol/user_permissions.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace revenant::protocol {
namespace {

using engine::RefusalKind;

struct Ann {
    AccessRules rules;
    std::optional<AccessTable> table;

    explicit Ann(Permissions permissions) {
        rules.users["ann"].name = "ann";
        rules.vhosts["/"].name = "/";
        rules.permissions[{"ann", "/"}] = std::move(permissions);
        apply();
    }
    void apply() { table.emplace(rules); }
    UserPermissions rights() const { return {*table, "ann", "/"}; }
};

std::string text(const std::optional<engine::Refusal>& refusal) {
    return refusal ? refusal->text : "";
}

// amqp091 15.1
TEST(UserPermissions, ARefusalNamesPermissionThingAndUser) {
    const Ann ann({"^mine", "", ""});
    EXPECT_FALSE(ann.rights().refusal(Permission::configure, "queue", "mine.1"));
    const auto refused = ann.rights().refusal(Permission::configure, "queue", "yours");
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->kind, RefusalKind::not_permitted);
    EXPECT_EQ(refused->text,
              "configure access to queue 'yours' in vhost '/' refused for user 'ann'");
}

TEST(UserPermissions, TheDefaultExchangeHasANameOfItsOwn) {
    const Ann ann({"", "^amq\\.default$", ""});
    EXPECT_FALSE(ann.rights().refusal(Permission::write, "exchange", ""));
    EXPECT_EQ(text(ann.rights().refusal(Permission::read, "exchange", "")),
              "read access to exchange 'amq.default' in vhost '/' refused for user 'ann'");
}

// amqp091 6.8, 8.10
TEST(UserPermissions, AnyPermissionIsEnoughToLook) {
    EXPECT_FALSE(Ann({"", "", "^q$"}).rights().passive_refusal("queue", "q"));
    EXPECT_FALSE(Ann({"", "^q$", ""}).rights().passive_refusal("queue", "q"));
    EXPECT_TRUE(Ann({"", "", ""}).rights().passive_refusal("queue", "q"));
}

// amqp091 15.4
TEST(UserPermissions, EveryKeyOfAMessageIsAsked) {
    Ann ann({".*", ".*", ".*"});
    EXPECT_FALSE(ann.rights().topic_write_refusal("t", "any", {{"other"}, {"third"}}));
    ann.rules.topic_permissions[{"ann", "/", "t"}] = {"^ok", ".*"};
    ann.apply();
    EXPECT_FALSE(ann.rights().topic_write_refusal("t", "ok.1", {{"ok.2"}, {"ok.3"}}));
    const std::string end = " in exchange 't' in vhost '/' refused for user 'ann'";
    EXPECT_EQ(text(ann.rights().topic_write_refusal("t", "no", {})),
              "write access to topic 'no'" + end);
    EXPECT_EQ(text(ann.rights().topic_write_refusal("t", "ok", {{"cc"}, {}})),
              "write access to topic 'cc'" + end);
    EXPECT_EQ(text(ann.rights().topic_write_refusal("t", "ok", {{}, {"bcc"}})),
              "write access to topic 'bcc'" + end);
}

TEST(UserPermissions, OnlyImpersonatorsSendInOtherNames) {
    Ann ann({"", "", ""});
    EXPECT_FALSE(ann.rights().user_id_refusal("ann"));
    const auto refused = ann.rights().user_id_refusal("bob");
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->kind, RefusalKind::precondition_failed);
    ann.rules.users["ann"].tags = {"impersonator"};
    ann.apply();
    EXPECT_FALSE(ann.rights().user_id_refusal("bob"));
}

// DL-33
TEST(UserPermissions, DeadLettersNeedReadOnTheQueueAndWriteOnTheExchange) {
    const Table arguments{{"x-dead-letter-exchange", Value::string("dlx")}};
    EXPECT_FALSE(Ann({"", "", ""}).rights().dead_letter_refusal("q", {}));
    EXPECT_FALSE(Ann({"", "^dlx$", "^q$"}).rights().dead_letter_refusal("q", arguments));
    EXPECT_EQ(text(Ann({"", "^dlx$", ""}).rights().dead_letter_refusal("q", arguments)),
              "read access to queue 'q' in vhost '/' refused for user 'ann'");
    EXPECT_EQ(text(Ann({"", "", "^q$"}).rights().dead_letter_refusal("q", arguments)),
              "write access to exchange 'dlx' in vhost '/' refused for user 'ann'");
}

TEST(UserPermissions, AnAlternateExchangeNeedsReadAndWrite) {
    const Table arguments{{"alternate-exchange", Value::string("other")}};
    EXPECT_FALSE(Ann({"", "^other$", "^x$"}).rights().alternate_refusal("x", arguments));
    EXPECT_TRUE(Ann({"", "", "^x$"}).rights().alternate_refusal("x", arguments));
    EXPECT_TRUE(Ann({"", "^other$", ""}).rights().alternate_refusal("x", arguments));
}

// amqp091 8.15, 8.19
TEST(UserPermissions, AVhostAddsItsLimitAndItsTypeOfQueues) {
    Ann ann({"", "", ""});
    ann.rules.vhosts["/"].limits.max_queues = 3;
    ann.rules.vhosts["/"].default_queue_type = "quorum";
    ann.apply();
    std::string_view type_of_node = "classic";
    const auto declared = [&](bool durable, Table arguments) {
        engine::DeclareQueue command;
        command.durable = durable;
        command.arguments = std::move(arguments);
        ann.rights().add_vhost_settings(command, type_of_node);
        EXPECT_EQ(command.queues_max, 3U);
        const Value* const type = find(command.arguments, "x-queue-type");
        return type == nullptr ? "" : *type->as_string();
    };
    EXPECT_EQ(declared(true, {}), "quorum");
    EXPECT_EQ(declared(true, {{"x-queue-type", Value::string("classic")}}), "classic");
    EXPECT_EQ(declared(false, {}), "");
    ann.rules.vhosts["/"].default_queue_type = "";
    ann.apply();
    EXPECT_EQ(declared(true, {}), "");
    type_of_node = "quorum";
    EXPECT_EQ(declared(true, {}), "quorum");
}

}  // namespace
}  // namespace revenant::protocol
