#include "runtime/broker.h"

#include <gtest/gtest.h>

namespace revenant::runtime {
namespace {

// A broker that nobody starts: who may come in is decided without its reactors.
class Admission : public testing::Test {
  protected:
    explicit Admission(BrokerSettings settings = {}) : broker_(settings) {
        for (const CatalogCommand& command : default_content({}, Salt{})) {
            EXPECT_TRUE(broker_.change(command));
        }
    }
    Broker broker_;
};

class AdmissionOfAFullNode : public Admission {
  protected:
    AdmissionOfAFullNode() : Admission({.connections_max = 1}) {}
};

// amqp091 3.7
TEST_F(Admission, AVhostHasALimit) {
    ASSERT_TRUE(broker_.change(SetVhostLimits{"/", {.max_connections = 1}}));
    EXPECT_EQ(broker_.admit("/", "guest"), std::nullopt);
    EXPECT_EQ(broker_.admit("/", "guest"),
              "access to vhost '/' refused for user 'guest': connection limit (1) is reached");
    broker_.leave("/", "guest");
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

// amqp091 3.7: a negative limit is none.
TEST_F(Admission, ANegativeLimitIsNone) {
    ASSERT_TRUE(broker_.change(SetVhostLimits{"/", {.max_connections = -1}}));
    EXPECT_EQ(broker_.admit("/", "guest"), std::nullopt);
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

}  // namespace
}  // namespace revenant::runtime
