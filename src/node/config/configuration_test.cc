#include "node/config/configuration.h"

#include "base/version.h"
#include "node/config/addresses.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace revenant::node {
namespace {

class Sandbox : public testing::Test {
  protected:
    Sandbox() {
        sources_.variable = [this](const std::string& name) { return variable(name); };
    }
    ~Sandbox() override { std::filesystem::remove(path_); }

    Configuration load(const std::string& text) {
        std::ofstream(path_) << text;
        sources_.config_file = path_;
        return load_configuration(sources_);
    }
    void say(const char* option, const char* key, const char* value) {
        sources_.command_line.push_back({Source::command_line, option, key, value});
    }
    std::optional<std::string> variable(const std::string& name) const {
        const auto found = variables_.find(name);
        return found == variables_.end() ? std::nullopt : std::optional(found->second);
    }

    std::string path_ =
        testing::TempDir() + "configuration_test" + std::to_string(getpid()) + ".conf";
    std::map<std::string, std::string> variables_;
    Sources sources_;
};

using ConfigurationTest = Sandbox;

TEST_F(ConfigurationTest, TheLaterSourceWins) {
    const std::string text =
        "listeners.tcp.default = 1\ndefault_user = file\ndefault_vhost = file\n";
    Configuration configuration = load(text);
    EXPECT_EQ(configuration.config.amqp.at("default").port, 1);
    variables_ = {{"RABBITMQ_NODE_PORT", "2"},
                  {"RABBITMQ_DEFAULT_USER", "rabbit"},
                  {"REVENANT_DEFAULT_USER", "revenant"}};
    configuration = load(text);
    EXPECT_EQ(configuration.config.amqp.at("default").port, 2);
    EXPECT_EQ(configuration.config.initial_definitions.user, "revenant");
    EXPECT_EQ(configuration.config.initial_definitions.vhost, "file");
    say("--port", "listeners.tcp.default", "3");
    configuration = load(text);
    EXPECT_EQ(configuration.config.amqp.at("default").port, 3);
    EXPECT_TRUE(configuration.errors.empty());
}

TEST_F(ConfigurationTest, AllFaultsAreToldWithTheirPlaces) {
    const Configuration configuration = load(
        "hearbeat = 5\n"
        "heartbeat = often\n"
        "\n"
        "listeners.tcp.default = localhost:5672\n"
        "default_permissions.read = (\n"
        "default_pass = ''\n"
        "qwertyuiop.asdf = 1\n"
        "auth_backends.1 = ldap\n");
    EXPECT_EQ(format_errors(configuration),
              path_ + ":1: unknown key 'hearbeat'; did you mean 'heartbeat'?\n" +         //
                  path_ + ":2: heartbeat: 'often' is not an integer from 0 to 65535\n" +  //
                  path_ +
                  ":4: listeners.tcp.default: 'localhost:5672' is not a port or an address and "
                  "a port, such as 5672, 127.0.0.1:5672 or [::1]:5672\n" +
                  path_ +
                  ":5: default_permissions.read: '(' is not a regular expression: missing "
                  "closing parenthesis at offset 1\n" +
                  path_ + ":6: default_pass: invalid value\n" +    //
                  path_ + ":7: unknown key 'qwertyuiop.asdf'\n" +  //
                  path_ +
                  ":8: auth_backends.1: 'ldap' is not internal or rabbit_auth_backend_internal\n");
}

TEST_F(ConfigurationTest, WhatHasNoEffectIsSaid) {
    const Configuration configuration = load(
        "management_agent.disable_metrics_collector = true\n"
        "management.rates_mode = basic\n"
        "cluster_formation.dns.hostname = x\n");
    ASSERT_EQ(configuration.warnings.size(), 2U);
    EXPECT_EQ(
        configuration.warnings[0],
        path_ + ":1: management_agent.disable_metrics_collector: has no effect in this version");
    EXPECT_EQ(configuration.warnings[1],
              path_ + ":3: cluster_formation.dns.hostname: applies to clusters only");
    EXPECT_NE(format_configuration(configuration)
                  .find("management_agent.disable_metrics_collector = true  # " + path_ +
                        ":1, has no effect in this version"),
              std::string::npos);
}

TEST_F(ConfigurationTest, KeysOfRabbitmqThatRestrictAccessAreFaults) {
    const Configuration configuration = load(
        "raft.wal_max_size_bytes = 1\n"
        "mqtt.vhost = /\n"
        "auth_ldap.other_bind.password = s3cret\n"
        "management.disable_basic_auth = false\n"
        "management.oauth_enabled = true\n");
    ASSERT_EQ(configuration.warnings.size(), 2U);
    EXPECT_EQ(configuration.warnings[0],
              path_ + ":1: raft.wal_max_size_bytes: has no effect in Revenant");
    EXPECT_EQ(configuration.warnings[1],
              path_ + ":2: mqtt.vhost: belongs to a plugin that is not supported");
    const std::string text =
        ": restricts access in RabbitMQ and has no effect in Revenant; remove it to start "
        "without the restriction\n";
    EXPECT_EQ(format_errors(configuration), path_ + ":3: auth_ldap.other_bind.password" + text +
                                                path_ + ":5: management.oauth_enabled" + text);
    EXPECT_EQ(format_configuration(configuration).find("s3cret"), std::string::npos);
}

TEST_F(ConfigurationTest, ANodeNameWithoutAHostIsOnThisMachine) {
    const std::string host = load("").config.node_name.substr(7);
    EXPECT_TRUE(load("").config.node_name.starts_with("rabbit@"));
    EXPECT_EQ(load("node_name = a@b\n").config.node_name, "a@b");
    variables_ = {{"RABBITMQ_NODENAME", "hare"}};
    EXPECT_EQ(load("").config.node_name, "hare@" + host);
}

TEST_F(ConfigurationTest, SecretsAreNeverShown) {
    variables_ = {{"RABBITMQ_DEFAULT_PASS", "s3cret"}};
    const Configuration configuration = load("anonymous_login_pass = s3cret\n");
    EXPECT_EQ(configuration.config.initial_definitions.password, "s3cret");
    const std::string shown = format_configuration(configuration);
    EXPECT_EQ(shown.find("s3cret"), std::string::npos);
    EXPECT_NE(shown.find("default_pass = (hidden)  # RABBITMQ_DEFAULT_PASS\n"), std::string::npos);
    variables_ = {{"RABBITMQ_DEFAULT_PASS", "0ther"}};
    for (const std::string& change : format_changes(configuration, load(""))) {
        EXPECT_EQ(change.find("s3cret"), std::string::npos) << change;
        EXPECT_EQ(change.find("0ther"), std::string::npos) << change;
    }
}

TEST_F(ConfigurationTest, APortThatSomebodyConfiguredIsForAllInterfaces) {
    const auto address = [](const Configuration& configuration, const Endpoint& endpoint) {
        return address_of(endpoint, configuration.config.bind);
    };
    Configuration configuration = load("");
    EXPECT_EQ(address(configuration, configuration.config.amqp.at("default")), "127.0.0.1");
    configuration = load("listeners.tcp.1 = 5672\nlisteners.tcp.2 = 127.0.0.2:5673\n");
    ASSERT_EQ(configuration.config.amqp.size(), 2U);
    EXPECT_EQ(address(configuration, configuration.config.amqp.at("1")), any_address());
    EXPECT_EQ(address(configuration, configuration.config.amqp.at("2")), "127.0.0.2");
    EXPECT_EQ(address(configuration, *configuration.config.http), "127.0.0.1");
    variables_ = {{"REVENANT_BIND", "127.0.0.3"}};
    configuration = load("listeners.tcp.1 = 5672\nlisteners.tcp.2 = 127.0.0.2:5673\n");
    EXPECT_EQ(address(configuration, configuration.config.amqp.at("1")), "127.0.0.3");
    EXPECT_EQ(address(configuration, configuration.config.amqp.at("2")), "127.0.0.2");
    EXPECT_TRUE(load("listeners.tcp = none\n").config.amqp.empty());
}

TEST_F(ConfigurationTest, WhoConfiguresTlsAloneGetsTlsAlone) {
    Config config = load("management.ssl.port = 15671\nprometheus.ssl.port = 15691\n").config;
    EXPECT_FALSE(config.http);
    EXPECT_FALSE(config.prometheus);
    config = load(
                 "management.ssl.ip = 127.0.0.1\nmanagement.ssl.port = 15671\n"
                 "management.tcp.ip = 127.0.0.1\n")
                 .config;
    EXPECT_EQ(config.http->port, 15672);
    EXPECT_EQ(config.tls.http.endpoint->address, "127.0.0.1");
    EXPECT_TRUE(config.prometheus);
    say("--http-port", "management.tcp.port", "0");
    EXPECT_EQ(load("management.ssl.port = 15671\n").config.http->port, 0);
}

TEST_F(ConfigurationTest, NewVirtualHostsGetTheLimitsOfTheirName) {
    const Configuration configuration = load(
        "default_limits.vhosts.b.max_queues = 3\n"
        "default_limits.vhosts.a.pattern = ^dev\n"
        "default_limits.vhosts.a.max_connections = -1\n");
    EXPECT_TRUE(configuration.errors.empty());
    const auto& limits = configuration.config.new_vhost_limits;
    ASSERT_EQ(limits.size(), 2U);
    EXPECT_TRUE(limits.at("a").pattern->matches("devices"));
    EXPECT_EQ(limits.at("a").limits, (VhostLimits{-1, std::nullopt}));
    EXPECT_EQ(limits.at("b").pattern, nullptr);
    EXPECT_EQ(limits.at("b").limits, (VhostLimits{std::nullopt, 3}));
    EXPECT_EQ(format_errors(load("default_limits.vhosts.a.pattern = (\n")),
              path_ +
                  ":1: default_limits.vhosts.a.pattern: '(' is not a regular expression: "
                  "missing closing parenthesis at offset 1\n");
}

TEST_F(ConfigurationTest, NewVirtualHostsGetDefaultUsers) {
    const Configuration configuration = load(
        "default_users.ann.vhost_pattern = ^dev\n"
        "default_users.ann.password = secret\n"
        "default_users.ann.tags = monitoring, management\n"
        "default_users.ann.configure = ^a\n"
        "default_users.ann.write = ^b\n"
        "default_users.ann.read = ^c\n"
        "default_users.bob.read = ^d\n");
    EXPECT_EQ(format_errors(configuration), "");
    EXPECT_TRUE(configuration.warnings.empty());
    const auto& users = configuration.config.default_users;
    ASSERT_EQ(users.size(), 2U);
    EXPECT_TRUE(users.at("ann").pattern->matches("devices"));
    EXPECT_EQ(users.at("ann").password, "secret");
    EXPECT_EQ(users.at("ann").tags, (std::vector<std::string>{"monitoring", "management"}));
    EXPECT_EQ(users.at("ann").permissions, (Permissions{"^a", "^b", "^c"}));
    EXPECT_EQ(users.at("bob").pattern, nullptr);
    EXPECT_EQ(users.at("bob").password, std::nullopt);
    EXPECT_EQ(users.at("bob").permissions, (Permissions{".*", ".*", "^d"}));
    EXPECT_EQ(configuration.config.explicit_settings.at("default_users.ann.password"), "(hidden)");
    EXPECT_EQ(format_errors(load("default_users.a.write = (\n")),
              path_ +
                  ":1: default_users.a.write: '(' is not a regular expression: "
                  "missing closing parenthesis at offset 1\n");
}

TEST_F(ConfigurationTest, NewVirtualHostsGetDefaultOperatorPolicies) {
    const Configuration configuration = load(
        "default_policies.operator.a.vhost_pattern = ^dev\n"
        "default_policies.operator.a.queue_pattern = ^q\n"
        "default_policies.operator.a.apply_to = classic_queues\n"
        "default_policies.operator.a.expires = 1h30m\n"
        "default_policies.operator.a.max_length_bytes = 1MB\n"
        "default_policies.operator.a.classic_queues.queue_version = 2\n"
        "default_policies.operator.a.classic_queues.ha_mode = all\n"
        "default_policies.operator.b.delivery_limit = 5\n"
        "default_policies.operator.none.classic_queues.ha_mode = all\n");
    EXPECT_EQ(format_errors(configuration), "");
    ASSERT_EQ(configuration.warnings.size(), 2U);
    EXPECT_EQ(
        configuration.warnings[0],
        path_ +
            ":7: default_policies.operator.a.classic_queues.ha_mode: has no effect in Revenant");
    const auto& policies = configuration.config.default_policies;
    ASSERT_EQ(policies.size(), 2U);
    const engine::Policy& a = policies.at("a").policy;
    EXPECT_TRUE(policies.at("a").pattern->matches("devices"));
    EXPECT_EQ(a.name, "a");
    EXPECT_EQ(a.pattern, "^q");
    EXPECT_EQ(a.apply_to, engine::ApplyTo::classic_queues);
    EXPECT_EQ(a.definition, (Table{{"expires", Value::int64(5'400'000)},
                                   {"max-length-bytes", Value::int64(1'000'000)},
                                   {"queue-version", Value::int64(2)}}));
    const engine::Policy& b = policies.at("b").policy;
    EXPECT_EQ(policies.at("b").pattern, nullptr);
    EXPECT_EQ(b.pattern, ".*");
    EXPECT_EQ(b.apply_to, engine::ApplyTo::all);
    EXPECT_EQ(b.definition, (Table{{"delivery-limit", Value::int64(5)}}));
}

TEST_F(ConfigurationTest, ADefaultPolicyThatCouldNotBeSetIsRefused) {
    const std::string key = "default_policies.operator.a";
    EXPECT_EQ(
        format_errors(load(key + ".apply_to = nothing\n")),
        path_ + ":1: " + key + ".apply_to: 'nothing' names nothing that a policy can be for\n");
    EXPECT_EQ(format_errors(load(key + ".expires = 3 days\n")),
              path_ + ":1: " + key +
                  ".expires: '3 days' is not a duration such as 60000, 90s or 1h30m\n");
    EXPECT_EQ(format_errors(load(key + ".classic_queues.queue_version = 9\n")),
              path_ + ":1: " + key + ": 9 is not a valid queue version\n");
}

TEST_F(ConfigurationTest, DeprecatedFeaturesAreKnownByName) {
    const Configuration configuration = load(
        "deprecated_features.permit.global_qos = false\n"
        "deprecated_features.permit.transient_nonexcl_queues = true\n"
        "deprecated_features.permit.amqp_address_v1 = false\n"
        "deprecated_features.permit.nonsense = false\n");
    EXPECT_EQ(configuration.config.denied_features,
              (std::set<std::string, std::less<>>{"global_qos"}));
    EXPECT_EQ(configuration.warnings,
              (std::vector<std::string>{path_ + ":3: deprecated_features.permit.amqp_address_v1: "
                                                "has no effect in this version"}));
    EXPECT_EQ(format_errors(configuration),
              path_ +
                  ":4: deprecated_features.permit.nonsense: there is no deprecated feature "
                  "'nonsense'\n");
}

TEST_F(ConfigurationTest, UsersAndTagsAreReplacedAsInRabbitmq) {
    Config config = load("loopback_users.guest = false\nloopback_users.bob = true\n").config;
    EXPECT_EQ(config.connection.loopback_users, std::vector<std::string>{"bob"});
    config = load("loopback_users = none\ndefault_user_tags.monitoring = true\n").config;
    EXPECT_TRUE(config.connection.loopback_users.empty());
    EXPECT_EQ(config.initial_definitions.tags, std::vector<std::string>{"monitoring"});
    config = load("default_user_tags.administrator = true\nanonymous_login_user = none\n").config;
    EXPECT_EQ(config.initial_definitions.tags, std::vector<std::string>{"administrator"});
    EXPECT_TRUE(config.connection.anonymous_login_user.empty());
    config = load("default_user_tags.administrator = true\ndefault_user_tags.a = true\n").config;
    EXPECT_EQ(config.initial_definitions.tags, (std::vector<std::string>{"administrator", "a"}));
}

TEST_F(ConfigurationTest, WhoWeSayWeAreIsConfigured) {
    const Config plain = load("").config;
    EXPECT_EQ(plain.connection.product, "RabbitMQ");
    EXPECT_TRUE(plain.connection.version.starts_with("4.3."));
    EXPECT_EQ(plain.connection.product_name, "Revenant");
    EXPECT_EQ(plain.connection.product_version, revenant_version);
    const Config other = load(
                             "product.name = Other\nproduct.version = 4.2.1\n"
                             "management.product_name = Ours\nmanagement.product_version = 7\n")
                             .config;
    EXPECT_EQ(other.connection.product, "Other");
    EXPECT_EQ(other.connection.version, "4.2.1");
    EXPECT_EQ(other.connection.product_name, "Ours");
    EXPECT_EQ(other.connection.product_version, "7");
}

TEST_F(ConfigurationTest, MechanismsThatAreNamedAreTheOnlyOnes) {
    const Configuration configuration = load(
        "auth_mechanisms.2 = AMQPLAIN\nauth_mechanisms.1 = PLAIN\nauth_mechanisms.3 = EXTERNAL\n");
    EXPECT_EQ(configuration.config.connection.mechanisms,
              (std::vector<Mechanism>{Mechanism::plain, Mechanism::amqplain, Mechanism::external}));
    EXPECT_TRUE(configuration.warnings.empty());
    EXPECT_EQ(configuration.config.explicit_settings.at("auth_mechanisms.1"), "PLAIN");
    EXPECT_EQ(configuration.config.files, std::vector<std::string>{path_});
}

TEST_F(ConfigurationTest, TheLimitNamedLastRules) {
    Config config = load("vm_memory_high_watermark.absolute = 2GB\n").config;
    EXPECT_EQ(config.memory_limit_bytes, 2'000'000'000U);
    variables_ = {{"RABBITMQ_VM_MEMORY_HIGH_WATERMARK", "50%"}};
    config = load("vm_memory_high_watermark.absolute = 2GB\n").config;
    EXPECT_EQ(config.memory_limit_bytes, std::nullopt);
    EXPECT_DOUBLE_EQ(config.memory_limit_share, 0.50);
    config = load("disk_free_limit.relative = 1.5\n").config;
    EXPECT_EQ(config.disk_free_limit_bytes, std::nullopt);
    EXPECT_DOUBLE_EQ(config.disk_free_limit_share, 1.5);
}

TEST_F(ConfigurationTest, AReloadTellsWhatChangedAndWhatWaits) {
    const Configuration before = load("heartbeat = 10\nlog.console.level = debug\n");
    const Configuration after = load("heartbeat = 20\ndisk_free_limit.absolute = 1GB\n");
    const std::vector<std::string> expected = {
        "heartbeat changed from 10 to 20: takes effect after a restart",
        "log.console.level changed from debug to info",
        "disk_free_limit.absolute changed from 50MB to 1GB",
    };
    EXPECT_EQ(format_changes(before, after), expected);
    EXPECT_TRUE(format_changes(after, after).empty());
}

// The defaults in the table must be real: setting them explicitly changes nothing.
TEST(ConfigKeys, DefaultsAreValidValues) {
    for (const ConfigKey& key : config_keys()) {
        const bool listed = key.pattern.find_first_of("$*") != std::string_view::npos;
        if (key.default_value.empty() || listed) continue;
        Config config;
        const Setting setting{Source::file, "table", std::string(key.pattern),
                              std::string(key.default_value)};
        Assignment assignment{config, setting, ""};
        const auto done = key.apply(assignment);
        EXPECT_TRUE(done) << key.pattern << ": " << (done ? "" : done.error());
    }
}

// Any value is accepted or refused with an error.
TEST(ConfigKeys, OddValuesAreAnswered) {
    const std::string odd[] = {"",
                               " ",
                               "-1",
                               "0",
                               "99999999999999999999999",
                               "1e309",
                               "é",
                               "none",
                               "'",
                               "true",
                               std::string(100'000, 'x'),
                               "nan",
                               "::",
                               ":",
                               "[:",
                               "%s%n",
                               std::string(1, '\0'),
                               "/",
                               "(",
                               "1.",
                               "+1",
                               "0x10",
                               "1,2",
                               "infinity"};
    for (const ConfigKey& key : config_keys()) {
        for (const std::string& value : odd) {
            Config config;
            const Setting setting{Source::file, "test", std::string(key.pattern), value};
            Assignment assignment{config, setting, "some"};
            const auto done = key.apply(assignment);
            EXPECT_TRUE(done || !done.error().empty()) << key.pattern;
        }
    }
}

TEST(ConfigKeys, EveryKeyIsFoundAsItself) {
    for (const ConfigKey& key : config_keys()) {
        std::string name(key.pattern);
        for (const char* variable :
             {"$name", "$n", "$tag", "$user", "$key", "$component", "$category"}) {
            if (const auto at = name.find(variable); at != std::string::npos) {
                name.replace(at, std::string_view(variable).size(), "some");
            }
        }
        if (name.ends_with('*')) name.replace(name.size() - 1, 1, "a.b");
        const ConfigKey* const found = find_config_key(name);
        ASSERT_NE(found, nullptr) << name;
        EXPECT_EQ(found->pattern, key.pattern);
    }
    EXPECT_EQ(find_config_key("log.file.level")->pattern, "log.file.level");
    EXPECT_EQ(find_config_key("log.queue.level")->pattern, "log.$component.level");
    EXPECT_EQ(find_config_key("listeners.tcp.a.b"), nullptr);
    EXPECT_EQ(nearest_config_key("disk_free_limit.absolut"), "disk_free_limit.absolute");
    EXPECT_EQ(nearest_config_key("listners.tcp.default"), "listeners.tcp.default");
    EXPECT_EQ(nearest_config_key("default_limits.vhosts.a.max_queus"),
              "default_limits.vhosts.a.max_queues");
    EXPECT_EQ(nearest_config_key("cluster_fromation.dns.hostname"),
              "cluster_formation.dns.hostname");
}

TEST(ConfigKeys, AGuessIsAnotherKeyThatExists) {
    for (const char* unknown : {"log.exchanges", "log.nosuch.levels.x", "listeners.tcp.a.b",
                                "cluster_tags", "nosuch.listeners.tcp.default", "x", "...",
                                "management.tcp.compression", "ssl_options.versions"}) {
        const std::string guess = nearest_config_key(unknown);
        EXPECT_NE(guess, unknown);
        EXPECT_TRUE(guess.empty() || find_config_key(guess) != nullptr) << unknown << guess;
    }
    EXPECT_EQ(nearest_config_key("nosuch.listeners.tcp.default"), "");
}

}  // namespace
}  // namespace revenant::node
