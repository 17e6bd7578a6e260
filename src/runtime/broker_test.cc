#include "runtime/broker.h"

#include "runtime/engine_call.h"

#include <gtest/gtest.h>

namespace revenant::runtime {
namespace {

// A broker that is not started: admission needs no reactors.
class Admission : public testing::Test {
  protected:
    explicit Admission(BrokerSettings settings = {}) : broker_(settings) {
        for (const CatalogCommand& command : initial_commands({}, Salt{})) {
            EXPECT_TRUE(broker_.change(command));
        }
    }
    Broker broker_;
};

class AdmissionOfAFullNode : public Admission {
  protected:
    AdmissionOfAFullNode()
        : Admission({.connections_max = 1, .channels_max = 1, .node_name = "full"}) {}
};

// amqp091 3.7
TEST_F(Admission, AVhostHasALimit) {
    ASSERT_TRUE(broker_.change(SetVhostLimits{"/", {.max_connections = 1}}));
    EXPECT_EQ(broker_.admit("/", "guest"), std::nullopt);
    EXPECT_EQ(broker_.admit("/", "guest"),
              "access to vhost '/' refused for user 'guest': connection limit (1) is reached");
    broker_.release_connection("/", "guest");
    EXPECT_EQ(broker_.admit("/", "guest"), std::nullopt);
}

// amqp091 3.7
TEST_F(Admission, AUserHasALimit) {
    ASSERT_TRUE(broker_.change(SetUserLimits{"guest", {.max_connections = 0}}));
    EXPECT_EQ(broker_.admit("/", "guest"),
              "connection refused for user 'guest': user connection limit (0) is reached");
}

// amqp091 3.7
TEST_F(AdmissionOfAFullNode, ANodeHasALimit) {
    EXPECT_EQ(broker_.admit("/", "guest"), std::nullopt);
    EXPECT_EQ(broker_.admit("/", "guest"),
              "connection refused: node connection limit (1) is reached");
    EXPECT_EQ(broker_.connection_count(), 1U);
}

// amqp091 3.7: a negative limit means no limit.
TEST_F(Admission, ANegativeLimitIsNone) {
    ASSERT_TRUE(broker_.change(SetVhostLimits{"/", {.max_connections = -1}}));
    EXPECT_EQ(broker_.admit("/", "guest"), std::nullopt);
}

// amqp091 5.2
TEST_F(Admission, AUserHasALimitOfChannels) {
    EXPECT_EQ(broker_.admit_channel("guest", 2), std::nullopt);
    EXPECT_EQ(broker_.admit_channel("guest", 2), std::nullopt);
    EXPECT_EQ(broker_.admit_channel("guest", 2),
              "number of channels opened for user 'guest' has reached the maximum allowed user "
              "limit of 2");
    EXPECT_EQ(broker_.admit_channel("other", 2), std::nullopt);
    EXPECT_EQ(broker_.admit_channel("guest", -1), std::nullopt);
    broker_.release_channels("guest", 2);
    EXPECT_EQ(broker_.admit_channel("guest", 2), std::nullopt);
    EXPECT_NE(broker_.admit_channel("guest", 2), std::nullopt);
}

TEST_F(AdmissionOfAFullNode, ANodeHasALimitOfChannels) {
    EXPECT_EQ(broker_.admit_channel("guest", {}), std::nullopt);
    EXPECT_EQ(broker_.admit_channel("other", {}),
              "number of channels opened on node 'full' has reached the maximum allowed limit of "
              "(1)");
    broker_.release_channels("guest", 1);
    EXPECT_EQ(broker_.admit_channel("other", {}), std::nullopt);
}

class SettingsOfVhosts : public Admission {
  protected:
    SettingsOfVhosts()
        : Admission({.compatibility = engine::Compatibility::v3_12,
                     .quorum_relaxed_checks_on_redeclaration = true}) {
        broker_.start();
    }
    engine::Compatibility compatibility_of(std::string_view vhost) {
        return broker_.ask(broker_.find_vhost(vhost),
                           [](engine::Engine& engine) { return engine.state().compatibility(); });
    }
};

TEST_F(SettingsOfVhosts, TheNodeSaysWhatAVhostDoesNot) {  // DL-46
    ASSERT_TRUE(broker_.change(PutVhost{.name = "own", .compat = "4.3"}));
    EXPECT_EQ(compatibility_of("/"), engine::Compatibility::v3_12);
    EXPECT_EQ(compatibility_of("own"), engine::Compatibility::v4_3);
    EXPECT_TRUE(broker_.ask(broker_.find_vhost("/"), [](engine::Engine& engine) {
        return engine.settings().relaxed_checks_on_redeclaration;
    }));
}

// management 7.2: default_policies.operator
TEST(DefaultPolicies, AreSetInNewVhostsThatMatch) {
    BrokerSettings settings;
    engine::Policy policy{.name = "limit", .pattern = "^q"};
    policy.definition.push_back({"max-length", Value::int64(7)});
    settings.new_vhost_policies = {
        {std::make_shared<const Pattern>(std::move(Pattern::compile("^dev")).value()), policy}};
    Broker broker(settings);
    broker.start();
    const auto policies_of = [&](const std::string& vhost) {
        return broker.ask(broker.find_vhost(vhost), [](engine::Engine& engine) {
            std::vector<engine::Policy> all;
            const auto& book = engine.state().policies();
            EXPECT_TRUE(book.list(engine::PolicyScope::user).empty());
            for (const auto* one : book.list(engine::PolicyScope::operator_only)) {
                all.push_back(*one);
            }
            return all;
        });
    };
    ASSERT_TRUE(broker.change(PutVhost{.name = "dev1"}));
    ASSERT_TRUE(broker.change(PutVhost{.name = "prod"}));
    EXPECT_EQ(policies_of("dev1"), std::vector{policy});
    EXPECT_TRUE(policies_of("prod").empty());
    // Operator policies are set only when a virtual host is created.
    ASSERT_TRUE(execute(broker.find_vhost("dev1"), "guest",
                        engine::ClearPolicy{{}, engine::PolicyScope::operator_only, "limit"}));
    ASSERT_TRUE(broker.change(PutVhost{.name = "dev1", .description = "changed"}));
    EXPECT_TRUE(policies_of("dev1").empty());
}

}  // namespace
}  // namespace revenant::runtime
