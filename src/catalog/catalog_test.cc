#include "catalog/catalog.h"

#include "auth/sasl.h"
#include "base/base64.h"
#include "catalog/catalog_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace revenant {
namespace {

using Kind = CatalogRefusal::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Salt catalog_salt{1, 2, 3, 4};

// Calls a catalog as its users do. At the end of a test, every record is encoded, decoded and
// replayed into a fresh catalog, which must equal the live one: every test is a recovery test.
class CatalogTest : public testing::Test {
  protected:
    CatalogRecord handle(const CatalogCommand& command) {
        auto record = catalog.handle(command);
        EXPECT_TRUE(record) << (record ? "" : record.error().text);
        if (!record) return {};
        if (!record->empty()) journal.push_back(encode_catalog_record(*record));
        return *record;
    }

    CatalogRefusal refusal(const CatalogCommand& command) {
        const AccessRules rules = catalog.rules();
        const auto version = catalog.version();
        const auto record = catalog.handle(command);
        EXPECT_FALSE(record);
        EXPECT_EQ(catalog.rules(), rules);
        EXPECT_EQ(catalog.version(), version);
        return record ? CatalogRefusal{} : record.error();
    }

    void begin_with_default_content() {
        for (const auto& command : initial_commands({}, catalog_salt)) handle(command);
    }

    void add_user(const std::string& name) {
        handle(AddUser{name, make_hash(name, catalog_salt), {}, {}});
    }
    void add_vhost(const std::string& name) { handle(PutVhost{.name = name}); }

    const User& user(const std::string& name) const { return catalog.rules().users.at(name); }
    const Vhost& vhost(const std::string& name) const { return catalog.rules().vhosts.at(name); }

    void TearDown() override {
        Catalog recovered;
        for (const auto& bytes : journal) {
            const auto record = decode_catalog_record(bytes);
            ASSERT_TRUE(record);
            ASSERT_TRUE(recovered.replay(*record));
        }
        EXPECT_EQ(recovered.rules(), catalog.rules());
        EXPECT_EQ(recovered.version(), catalog.version());
    }

    Catalog catalog;
    std::vector<std::string> journal;
};

// amqp091 appendix B
TEST_F(CatalogTest, BeginsWithGuestAndOneVhost) {
    begin_with_default_content();
    const auto table = catalog.snapshot();
    const auto guest = log_in(*table, {"guest", "guest"});
    ASSERT_TRUE(guest);
    EXPECT_THAT((*guest)->tags, ElementsAre("administrator"));
    EXPECT_TRUE(table->can_access_vhost("guest", "/"));
    for (const auto permission : {Permission::configure, Permission::write, Permission::read})
        EXPECT_TRUE(table->allowed("guest", "/", permission, "amq.default"));
    EXPECT_EQ(catalog.rules().vhosts.size(), 1U);
    EXPECT_EQ(catalog.rules().users.size(), 1U);
}

// management 7.2: default_user, default_pass, default_vhost, default_permissions.*
TEST_F(CatalogTest, BeginsWithTheConfiguredContent) {
    const InitialDefinitions content{"prod", "ann", "s3cret", {"monitoring"}, {"^c", "^w", "^r"}};
    for (const auto& command : initial_commands(content, catalog_salt)) handle(command);
    const auto table = catalog.snapshot();
    EXPECT_TRUE(log_in(*table, {"ann", "s3cret"}));
    EXPECT_EQ(catalog.rules().permissions.at({"ann", "prod"}), (Permissions{"^c", "^w", "^r"}));
}

TEST_F(CatalogTest, AddsAUserOnce) {
    const PasswordHash hash = make_hash("x", catalog_salt);
    EXPECT_THAT(handle(AddUser{"ann", hash, {"management"}, {}}),
                ElementsAre(CatalogEvent{UserAdded{{"ann", hash, {"management"}, {}}}}));
    EXPECT_EQ(refusal(AddUser{"ann", hash, {}, {}}),
              (CatalogRefusal{Kind::user_already_exists, "User \"ann\" already exists"}));
}

// management 4.9
TEST_F(CatalogTest, PutsAUserNewOrExisting) {
    add_vhost("/");
    const PasswordHash first = make_hash("one", catalog_salt);
    const PasswordHash second = make_hash("two", catalog_salt, HashAlgorithm::sha512);
    const PutUser put{"ann", first, {"a"}, UserLimits{5, {}}, {{"/", {"c", "w", "r"}}}};
    EXPECT_THAT(handle(put),
                ElementsAre(CatalogEvent{UserAdded{{"ann", first, {"a"}, {5, {}}}}},
                            CatalogEvent{PermissionsSet{{"ann", "/"}, {"c", "w", "r"}}}));
    // Permissions apply to a new user only; limits are added to the others.
    const PutUser again{"ann", second, {"b"}, UserLimits{{}, 7}, {{"nowhere", {}}}};
    EXPECT_THAT(handle(again), ElementsAre(CatalogEvent{PasswordChanged{"ann", second}},
                                           CatalogEvent{TagsSet{"ann", {"b"}}},
                                           CatalogEvent{UserLimitsSet{"ann", {5, 7}}}));
    EXPECT_THAT(handle(again), IsEmpty());
}

// management 4.9
TEST_F(CatalogTest, TakesThePasswordOfAUserThatIsPutWithoutOne) {
    add_user("ann");
    handle(PutUser{.name = "ann"});
    EXPECT_EQ(user("ann").password.base64, "");
    EXPECT_FALSE(log_in(*catalog.snapshot(), {"ann", "ann"}));
    handle(PutUser{.name = "bob"});
    EXPECT_FALSE(log_in(*catalog.snapshot(), {"bob", ""}));
}

TEST_F(CatalogTest, PutsNoUserWhenOneOfItsPermissionsIsRefused) {
    add_vhost("/");
    PutUser put{.name = "ann", .permissions = {{"/", {"c", "w", "r"}}, {"v", {}}}};
    EXPECT_EQ(refusal(put).kind, Kind::no_such_vhost);
    put.permissions = {{"/", {"c", "w", "("}}};
    EXPECT_EQ(refusal(put).kind, Kind::invalid_pattern);
}

// management 4.9
TEST_F(CatalogTest, ImportsHashesAndRefusesWhatIsNoBase64) {
    handle(PutUser{.name = "ann",
                   .password = PasswordHash{"9AfRp2/mBSpwjgRg+OgTVoFVq5MlHvOqv27nR3Z7OXkPEbHW"}});
    EXPECT_TRUE(log_in(*catalog.snapshot(), {"ann", "guest"}));
    // Like RabbitMQ, the catalog accepts any bytes. No password matches this hash.
    handle(PutUser{.name = "bob", .password = PasswordHash{"QUJD"}});
    EXPECT_FALSE(log_in(*catalog.snapshot(), {"bob", "ABC"}));
    EXPECT_EQ(refusal(PutUser{.name = "cy", .password = PasswordHash{"!!"}}).kind,
              Kind::invalid_password_hash);
    EXPECT_EQ(refusal(AddUser{"cy", {"!!"}, {}, {}}).kind, Kind::invalid_password_hash);
    EXPECT_EQ(refusal(ChangePassword{"ann", {"!!"}}).kind, Kind::invalid_password_hash);
}

TEST_F(CatalogTest, ChangesAndClearsPasswords) {
    add_user("ann");
    handle(ChangePassword{"ann", make_hash("new", catalog_salt)});
    EXPECT_TRUE(log_in(*catalog.snapshot(), {"ann", "new"}));
    EXPECT_FALSE(log_in(*catalog.snapshot(), {"ann", "ann"}));
    handle(ClearPassword{"ann"});
    EXPECT_FALSE(log_in(*catalog.snapshot(), {"ann", "new"}));
    EXPECT_FALSE(log_in(*catalog.snapshot(), {"ann", ""}));
}

// management 3.1
TEST_F(CatalogTest, SetsTags) {
    add_user("ann");
    EXPECT_THAT(handle(SetTags{"ann", {"management", "custom"}}),
                ElementsAre(CatalogEvent{TagsSet{"ann", {"management", "custom"}}}));
    EXPECT_TRUE(catalog.snapshot()->find_user("ann")->has_tag("custom"));
    handle(SetTags{"ann", {}});
    EXPECT_THAT(user("ann").tags, IsEmpty());
}

TEST_F(CatalogTest, RefusesWhatConcernsNobody) {
    add_vhost("/");
    const CatalogRefusal expected{Kind::no_such_user, "User \"bob\" does not exist"};
    EXPECT_EQ(refusal(ChangePassword{"bob", make_hash("x", catalog_salt)}), expected);
    EXPECT_EQ(refusal(ClearPassword{"bob"}), expected);
    EXPECT_EQ(refusal(SetTags{"bob", {"x"}}), expected);
    EXPECT_EQ(refusal(DeleteUser{"bob"}), expected);
    EXPECT_EQ(refusal(SetPermissions{"bob", "/", {}}), expected);
    EXPECT_EQ(refusal(ClearPermissions{"bob", "/"}), expected);
    EXPECT_EQ(refusal(SetTopicPermissions{"bob", "/", "t", {}}), expected);
    EXPECT_EQ(refusal(ClearTopicPermissions{"bob", "/", {}}), expected);
    EXPECT_EQ(refusal(SetUserLimits{"bob", {1, 1}}), expected);
    EXPECT_EQ(refusal(ClearUserLimits{"bob", {}}), expected);
}

TEST_F(CatalogTest, RefusesWhatConcernsNoVhost) {
    add_user("ann");
    const CatalogRefusal expected{Kind::no_such_vhost, "Virtual host 'v' does not exist"};
    EXPECT_EQ(refusal(DeleteVhost{"v"}), expected);
    EXPECT_EQ(refusal(ProtectVhost{"v"}), expected);
    EXPECT_EQ(refusal(SetPermissions{"ann", "v", {}}), expected);
    EXPECT_EQ(refusal(ClearPermissions{"ann", "v"}), expected);
    EXPECT_EQ(refusal(SetTopicPermissions{"ann", "v", "t", {}}), expected);
    EXPECT_EQ(refusal(ClearTopicPermissions{"ann", "v", "t"}), expected);
    EXPECT_EQ(refusal(SetVhostLimits{"v", {1, 1}}), expected);
    EXPECT_EQ(refusal(ClearVhostLimits{"v", {}}), expected);
}

TEST_F(CatalogTest, RefusesNamesThatAmqpCannotCarry) {
    EXPECT_EQ(refusal(PutVhost{.name = ""}).kind, Kind::invalid_name);
    EXPECT_EQ(refusal(PutVhost{.name = std::string(256, 'v')}).kind, Kind::invalid_name);
    EXPECT_EQ(refusal(PutUser{.name = std::string(256, 'u')}).kind, Kind::invalid_name);
    EXPECT_EQ(refusal(AddUser{.name = ""}).kind, Kind::invalid_name);
    handle(PutVhost{.name = std::string(255, 'v')});
    handle(PutUser{.name = std::string(255, 'u')});
}

// management 4.6
TEST_F(CatalogTest, PutsAVhostAndKeepsWhatIsNotSaid) {
    EXPECT_THAT(
        handle(PutVhost{.name = "v", .description = "d", .tags = {{"a", "b"}}}),
        ElementsAre(CatalogEvent{VhostAdded{{.name = "v", .description = "d", .tags = {"a", "b"}}}},
                    CatalogEvent{VhostNumbered{"v", 1}}));
    handle(PutVhost{.name = "v", .default_queue_type = "quorum", .tracing = true});
    const Vhost expected{.name = "v",
                         .description = "d",
                         .tags = {"a", "b"},
                         .default_queue_type = "quorum",
                         .tracing = true,
                         .id = 1};
    EXPECT_EQ(vhost("v"), expected);
    EXPECT_THAT(handle(PutVhost{.name = "v"}), IsEmpty());
    handle(PutVhost{.name = "v", .tags = std::vector<std::string>{}, .tracing = false});
    EXPECT_THAT(vhost("v").tags, IsEmpty());
    EXPECT_FALSE(vhost("v").tracing);
}

// management 4.6
TEST_F(CatalogTest, GrantsANewVhostToItsMaker) {
    add_user("ann");
    handle(PutVhost{.name = "v", .grant_to = "ann"});
    EXPECT_EQ(catalog.rules().permissions.at({"ann", "v"}), (Permissions{".*", ".*", ".*"}));
    handle(ClearPermissions{"ann", "v"});
    handle(PutVhost{.name = "v", .grant_to = "ann"});
    handle(PutVhost{.name = "w", .grant_to = "nobody"});
    add_vhost("x");
    EXPECT_THAT(catalog.rules().permissions, IsEmpty());
}

TEST_F(CatalogTest, KnowsQueueTypesByBothTheirNames) {
    handle(PutVhost{.name = "v", .default_queue_type = "rabbit_quorum_queue"});
    EXPECT_EQ(vhost("v").default_queue_type, "quorum");
    handle(PutVhost{.name = "v", .default_queue_type = "undefined"});
    EXPECT_EQ(vhost("v").default_queue_type, "");
    for (const std::string name : {"foo", "stream", "rabbit_stream_queue"}) {
        EXPECT_EQ(
            refusal(PutVhost{.name = "v", .default_queue_type = name}),
            (CatalogRefusal{Kind::invalid_queue_type, "invalid default queue type '" + name +
                                                          "': must be 'classic' or 'quorum'"}));
    }
}

// management 7.2: vhost_max
TEST_F(CatalogTest, MakesNoMoreVhostsThanAllowed) {
    catalog.limit_vhosts(2);
    add_vhost("a");
    add_vhost("b");
    EXPECT_EQ(refusal(PutVhost{.name = "c"}),
              (CatalogRefusal{Kind::vhost_limit_exceeded,
                              "cannot create vhost 'c': vhost limit of 2 is reached"}));
    handle(PutVhost{.name = "b", .description = "still changeable"});
}

// management 7.2: default_limits.vhosts
TEST_F(CatalogTest, GivesANewVhostTheLimitsOfTheFirstRuleThatMatches) {
    const auto pattern = [](std::string_view source) {
        return std::make_shared<const Pattern>(std::move(Pattern::compile(source)).value());
    };
    add_vhost("dev-old");
    catalog.limit_new_vhosts({{pattern("^dev"), {.max_connections = 1, .max_queues = 2}},
                              {pattern("."), {.max_connections = 9}}});
    add_vhost("dev-new");
    add_vhost("other");
    EXPECT_EQ(vhost("dev-new").limits, (VhostLimits{1, 2}));
    EXPECT_EQ(vhost("other").limits, (VhostLimits{9, std::nullopt}));
    handle(PutVhost{.name = "dev-old", .description = "not a new one"});
    EXPECT_EQ(vhost("dev-old").limits, VhostLimits{});
    handle(ClearVhostLimits{"dev-new", std::nullopt});
    EXPECT_EQ(vhost("dev-new").limits, VhostLimits{});
}

// management 7.2: default_users
TEST_F(CatalogTest, GivesANewVhostTheDefaultUsersThatMatch) {
    const auto pattern = [](std::string_view source) {
        return std::make_shared<const Pattern>(std::move(Pattern::compile(source)).value());
    };
    const PasswordHash hash = make_hash("secret", catalog_salt);
    add_vhost("dev-old");
    add_user("bob");
    catalog.give_new_vhosts(
        {{pattern("^dev"), {"ann", hash, {"monitoring"}, {}}, {"^c", "^w", "^r"}},
         {nullptr, {"bob", hash, {"administrator"}, {}}}});
    const CatalogRecord record = handle(PutVhost{.name = "dev-new"});
    EXPECT_EQ(catalog.rules().users.at("ann"), (User{"ann", hash, {"monitoring"}, {}}));
    EXPECT_EQ(catalog.rules().permissions.at({"ann", "dev-new"}), (Permissions{"^c", "^w", "^r"}));
    // An existing user keeps its password and tags.
    EXPECT_EQ(catalog.rules().users.at("bob").password, make_hash("bob", catalog_salt));
    EXPECT_THAT(catalog.rules().users.at("bob").tags, IsEmpty());
    EXPECT_EQ(catalog.rules().permissions.at({"bob", "dev-new"}), (Permissions{".*", ".*", ".*"}));
    // One record contains all of it.
    Catalog replayed;
    EXPECT_TRUE(
        replayed.replay(CatalogRecord{VhostAdded{{.name = "dev-old"}}, UserAdded{{"bob"}}}));
    EXPECT_TRUE(replayed.replay(record));
    EXPECT_TRUE(replayed.rules().permissions.contains({"ann", "dev-new"}));
    handle(PutVhost{.name = "other"});
    EXPECT_FALSE(catalog.rules().permissions.contains({"ann", "other"}));
    EXPECT_TRUE(catalog.rules().permissions.contains({"bob", "other"}));
    handle(PutVhost{.name = "dev-old", .description = "not a new one"});
    EXPECT_FALSE(catalog.rules().permissions.contains({"ann", "dev-old"}));
    EXPECT_FALSE(catalog.rules().permissions.contains({"bob", "dev-old"}));
}

// management 4.7
TEST_F(CatalogTest, DeletesNoProtectedVhost) {
    add_vhost("v");
    handle(ProtectVhost{"v"});
    EXPECT_EQ(refusal(DeleteVhost{"v"}),
              (CatalogRefusal{Kind::vhost_is_protected,
                              "Refusing to delete virtual host 'v' because it is protected from "
                              "deletion"}));
    handle(ProtectVhost{.name = "v", .protected_from_deletion = false});
    handle(DeleteVhost{"v"});
    EXPECT_THAT(catalog.rules().vhosts, IsEmpty());
}

TEST_F(CatalogTest, DeletesAUserWithItsPermissionsInOneRecord) {
    begin_with_default_content();
    add_user("ann");
    handle(SetPermissions{"ann", "/", {".*", ".*", ".*"}});
    handle(SetTopicPermissions{"ann", "/", "t", {".*", ".*"}});
    EXPECT_THAT(handle(DeleteUser{"ann"}),
                ElementsAre(CatalogEvent{TopicPermissionsCleared{{"ann", "/", "t"}}},
                            CatalogEvent{PermissionsCleared{{"ann", "/"}}},
                            CatalogEvent{UserDeleted{"ann"}}));
    EXPECT_EQ(catalog.rules().permissions.size(), 1U);
    EXPECT_FALSE(catalog.snapshot()->can_access_vhost("ann", "/"));
    // A new user with the same name inherits nothing.
    add_user("ann");
    EXPECT_FALSE(catalog.snapshot()->can_access_vhost("ann", "/"));
}

TEST_F(CatalogTest, DeletesAVhostWithItsPermissionsInOneRecord) {
    begin_with_default_content();
    handle(PutVhost{.name = "v", .grant_to = "guest"});
    handle(SetTopicPermissions{"guest", "v", "t", {".*", ".*"}});
    EXPECT_THAT(handle(DeleteVhost{"v"}),
                ElementsAre(CatalogEvent{TopicPermissionsCleared{{"guest", "v", "t"}}},
                            CatalogEvent{PermissionsCleared{{"guest", "v"}}},
                            CatalogEvent{VhostDeleted{"v"}}));
    EXPECT_TRUE(catalog.snapshot()->can_access_vhost("guest", "/"));
    EXPECT_FALSE(catalog.snapshot()->can_access_vhost("guest", "v"));
}

// amqp091 15.1, management 4.10
TEST_F(CatalogTest, SetsAndClearsPermissions) {
    add_user("ann");
    add_vhost("/");
    handle(SetPermissions{"ann", "/", {"", "^w", "^r"}});
    EXPECT_TRUE(catalog.snapshot()->allowed("ann", "/", Permission::write, "w1"));
    EXPECT_FALSE(catalog.snapshot()->allowed("ann", "/", Permission::configure, "w1"));
    EXPECT_THAT(handle(SetPermissions{"ann", "/", {"", "^w", "^r"}}), IsEmpty());
    handle(SetPermissions{"ann", "/", {"", "^x", "^r"}});
    EXPECT_FALSE(catalog.snapshot()->allowed("ann", "/", Permission::write, "w1"));
    EXPECT_EQ(handle(ClearPermissions{"ann", "/"}).size(), 1U);
    EXPECT_THAT(handle(ClearPermissions{"ann", "/"}), IsEmpty());
    EXPECT_FALSE(catalog.snapshot()->can_access_vhost("ann", "/"));
}

// amqp091 15.4, management 4.10
TEST_F(CatalogTest, SetsAndClearsTopicPermissions) {
    add_user("ann");
    add_vhost("/");
    for (const char* exchange : {"t", "u", ""})
        handle(SetTopicPermissions{"ann", "/", exchange, {"^{username}\\.", ""}});
    EXPECT_TRUE(catalog.snapshot()->topic_allowed("ann", "/", "t", Permission::write, "ann.x"));
    EXPECT_FALSE(catalog.snapshot()->topic_allowed("ann", "/", "t", Permission::write, "bob.x"));
    EXPECT_FALSE(catalog.snapshot()->topic_allowed("ann", "/", "t", Permission::read, "ann.x"));
    EXPECT_EQ(handle(ClearTopicPermissions{"ann", "/", "t"}).size(), 1U);
    EXPECT_TRUE(catalog.snapshot()->topic_allowed("ann", "/", "t", Permission::write, "bob.x"));
    EXPECT_FALSE(catalog.snapshot()->topic_allowed("ann", "/", "u", Permission::write, "bob.x"));
    EXPECT_EQ(handle(ClearTopicPermissions{"ann", "/", {}}).size(), 2U);
    EXPECT_THAT(handle(ClearTopicPermissions{"ann", "/", {}}), IsEmpty());
    EXPECT_THAT(catalog.rules().topic_permissions, IsEmpty());
}

// management 4.10
TEST_F(CatalogTest, RefusesPatternsThatDoNotCompile) {
    add_user("ann");
    add_vhost("/");
    const CatalogRefusal expected{Kind::invalid_pattern,
                                  "invalid regexp '(': missing closing parenthesis at offset 1"};
    EXPECT_EQ(refusal(SetPermissions{"ann", "/", {"(", "", ""}}), expected);
    EXPECT_EQ(refusal(SetPermissions{"ann", "/", {"", "(", ""}}), expected);
    EXPECT_EQ(refusal(SetPermissions{"ann", "/", {"", "", "("}}), expected);
    EXPECT_EQ(refusal(SetTopicPermissions{"ann", "/", "t", {"(", ""}}), expected);
    EXPECT_EQ(refusal(SetTopicPermissions{"ann", "/", "t", {"", "("}}), expected);
}

// management 4.8
TEST_F(CatalogTest, AddsAndClearsUserLimits) {
    add_user("ann");
    handle(SetUserLimits{"ann", {3, {}}});
    handle(SetUserLimits{"ann", {{}, -1}});
    EXPECT_EQ(user("ann").limits, (UserLimits{3, -1}));
    EXPECT_THAT(handle(SetUserLimits{"ann", {3, {}}}), IsEmpty());
    EXPECT_TRUE(limit_reached(catalog.snapshot()->find_user("ann")->limits.max_connections, 3));
    handle(ClearUserLimits{"ann", UserLimit::max_channels});
    EXPECT_EQ(user("ann").limits, (UserLimits{3, {}}));
    handle(SetUserLimits{"ann", {{}, 2}});
    handle(ClearUserLimits{"ann", UserLimit::max_connections});
    EXPECT_EQ(user("ann").limits, (UserLimits{{}, 2}));
    handle(ClearUserLimits{"ann", {}});
    EXPECT_EQ(user("ann").limits, UserLimits{});
    EXPECT_THAT(handle(ClearUserLimits{"ann", {}}), IsEmpty());
}

// management 4.8
TEST_F(CatalogTest, AddsAndClearsVhostLimits) {
    add_vhost("v");
    handle(SetVhostLimits{"v", {3, {}}});
    handle(SetVhostLimits{"v", {{}, 10}});
    EXPECT_EQ(vhost("v").limits, (VhostLimits{3, 10}));
    handle(PutVhost{.name = "v", .description = "d"});
    EXPECT_EQ(vhost("v").limits, (VhostLimits{3, 10}));
    handle(ClearVhostLimits{"v", VhostLimit::max_connections});
    EXPECT_EQ(vhost("v").limits, (VhostLimits{{}, 10}));
    handle(ClearVhostLimits{"v", VhostLimit::max_queues});
    EXPECT_EQ(vhost("v").limits, VhostLimits{});
    handle(SetVhostLimits{"v", {0, 0}});
    handle(ClearVhostLimits{"v", {}});
    EXPECT_EQ(vhost("v").limits, VhostLimits{});
}

// management 4.15
TEST_F(CatalogTest, KeepsGlobalParametersUntilTheyAreCleared) {
    EXPECT_THAT(handle(SetGlobalParameter{"cluster_name", "\"c\""}),
                ElementsAre(CatalogEvent{GlobalParameterSet{"cluster_name", "\"c\""}}));
    EXPECT_THAT(handle(SetGlobalParameter{"cluster_name", "\"c\""}), IsEmpty());
    handle(SetGlobalParameter{"cluster_name", "5"});
    EXPECT_EQ(catalog.rules().global_parameters.at("cluster_name"), "5");
    Catalog again;
    EXPECT_TRUE(again.replay(events_for(catalog.rules())));
    EXPECT_EQ(again.rules(), catalog.rules());
    handle(ClearGlobalParameter{"cluster_name"});
    EXPECT_THAT(catalog.rules().global_parameters, IsEmpty());
    EXPECT_EQ(catalog.handle(ClearGlobalParameter{"cluster_name"}).error().kind,
              CatalogRefusal::Kind::no_such_parameter);
    EXPECT_FALSE(catalog.handle(SetGlobalParameter{"", "1"}));
}

// amqp091 15.5
TEST_F(CatalogTest, SharesOneSnapshotUntilSomethingChanges) {
    begin_with_default_content();
    const auto first = catalog.snapshot();
    EXPECT_EQ(catalog.snapshot(), first);
    handle(PutVhost{.name = "/"});
    EXPECT_EQ(catalog.snapshot(), first);
    handle(ClearPermissions{"guest", "/"});
    const auto second = catalog.snapshot();
    EXPECT_GT(second->version(), first->version());
    EXPECT_FALSE(second->can_access_vhost("guest", "/"));
    EXPECT_TRUE(first->can_access_vhost("guest", "/"));
}

// ------------------------------------------------------------------------- ids of vhosts

TEST_F(CatalogTest, GivesNoIdASecondTime) {
    add_vhost("a");
    add_vhost("b");
    EXPECT_EQ(vhost("a").id, 1U);
    EXPECT_EQ(vhost("b").id, 2U);
    EXPECT_FALSE(vhost("b").has_named_directory);
    handle(DeleteVhost{"b"});
    add_vhost("b");
    EXPECT_EQ(vhost("b").id, 3U);
    handle(ProtectVhost{"b"});
    EXPECT_EQ(vhost("b").id, 3U) << "a change keeps the id";
    handle(ProtectVhost{.name = "b", .protected_from_deletion = false});
    handle(DeleteVhost{"b"});
    Catalog again;
    ASSERT_TRUE(again.replay(events_for(catalog.rules())));
    EXPECT_EQ(again.rules(), catalog.rules());
    ASSERT_TRUE(again.handle(PutVhost{.name = "b"}));
    EXPECT_EQ(again.rules().vhosts.at("b").id, 4U)
        << "a snapshot must contain the ids of deleted vhosts";
}

// Vhosts from catalogs without ids are numbered in the order of their creation. The numbers are the
// same at every startup and are not written to the journal.
TEST_F(CatalogTest, NumbersOldVhosts) {
    const CatalogRecord old{VhostAdded{{.name = "z"}}, VhostAdded{{.name = "gone"}},
                            VhostAdded{{.name = "a"}}, VhostDeleted{"gone"},
                            VhostChanged{{.name = "a", .tracing = true}}};
    Catalog opened;
    ASSERT_TRUE(opened.replay(old));
    const auto& vhosts = opened.rules().vhosts;
    EXPECT_EQ(vhosts.at("z").id, 1U);
    EXPECT_EQ(vhosts.at("a").id, 3U);
    EXPECT_TRUE(vhosts.at("a").has_named_directory);
    const auto added = opened.handle(PutVhost{.name = "new"});
    EXPECT_EQ(vhosts.at("new").id, 4U);
    EXPECT_FALSE(vhosts.at("new").has_named_directory);

    Catalog again;
    ASSERT_TRUE(again.replay(old));
    ASSERT_TRUE(again.replay(*added));
    EXPECT_EQ(again.rules(), opened.rules());
    Catalog from_snapshot;
    ASSERT_TRUE(from_snapshot.replay(events_for(opened.rules())));
    EXPECT_EQ(from_snapshot.rules(), opened.rules());
}

TEST_F(CatalogTest, TakesOverTheIdOfADirectoryThatWasFound) {
    catalog.reserve_vhost_ids(7);
    handle(PutVhost{.name = "found", .directory = FoundDirectory{7, false}});
    handle(PutVhost{.name = "old", .directory = FoundDirectory{0, true}});
    add_vhost("new");
    EXPECT_EQ(vhost("found").id, 7U);
    EXPECT_FALSE(vhost("found").has_named_directory);
    EXPECT_TRUE(vhost("old").has_named_directory);
    EXPECT_GT(vhost("old").id, 7U);
    EXPECT_GT(vhost("new").id, vhost("old").id);
}

// ------------------------------------------------------------------------- events from disk

TEST_F(CatalogTest, NoticesAFactThatCannotBeTrue) {
    const VhostAdded v{{.name = "v"}};
    const UserAdded u{{.name = "u"}};
    const std::vector<CatalogRecord> impossible{
        {UserDeleted{"nobody"}},
        {TagsSet{"nobody", {}}},
        {PasswordChanged{"nobody", {}}},
        {UserLimitsSet{"nobody", {}}},
        {u, u},
        {v, v},
        {VhostChanged{{.name = "v"}}},
        {VhostDeleted{"v"}},
        {PermissionsCleared{{"u", "v"}}},
        {TopicPermissionsCleared{{"u", "v", "x"}}},
        {GlobalParameterCleared{"g"}},
        {VhostNumbered{"v", 1}},
        {v, VhostNumbered{"v", 0}},
        {v, VhostNumbered{"v", UINT64_MAX}},
        {v, VhostNumbered{"v", 5}, VhostIdsUsed{4}},
        {VhostIdsUsed{UINT64_MAX}},
        {VhostIdsUsed{std::uint64_t{1} << 63}, v},
    };
    for (std::size_t i = 0; i < impossible.size(); ++i) {
        EXPECT_FALSE(Catalog{}.replay(impossible[i])) << i;
    }
}

// Events that were accepted once are accepted forever.
TEST_F(CatalogTest, AsksNoRuleOfTodayOfAFactOfYesterday) {
    Catalog opened;
    opened.limit_vhosts(0);
    EXPECT_TRUE(opened.replay({
        VhostAdded{{.name = std::string(300, 'v'), .default_queue_type = "stream", .compat = "1"}},
        VhostAdded{{.name = ""}},
        UserAdded{{.name = "", .password = {"not base64!", HashAlgorithm::md5}}},
        PermissionsSet{{"nobody", "nowhere"}, {"(", "[", "*"}},
        TopicPermissionsSet{{"nobody", "nowhere", ""}, {"(", "["}},
        GlobalParameterSet{"", "not JSON"},
    }));
    EXPECT_FALSE(opened.snapshot()->allowed("nobody", "nowhere", Permission::read, "x"));
}

// management 4.9
TEST(SplitTags, DropsBlanksAndEmptyParts) {
    EXPECT_THAT(split_tags("management,custom"), ElementsAre("management", "custom"));
    EXPECT_THAT(split_tags("a, b,,c ,"), ElementsAre("a", "b", "c"));
    EXPECT_THAT(split_tags(""), IsEmpty());
    EXPECT_THAT(split_tags(" , "), IsEmpty());
}

}  // namespace
}  // namespace revenant
