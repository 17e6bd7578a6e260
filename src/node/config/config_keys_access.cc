// Users and logins, and the definitions of a new node.
#include "node/config/config_keys.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace revenant::node {
namespace {

using enum KeyStatus;
using enum Trait;

using Outcome = Assignment::Outcome;

// The first tag replaces RabbitMQ's default tag.
Outcome user_tag(Assignment& to) {
    bool wanted = false;
    REVENANT_TRY_VOID(to.flag(wanted));
    auto& tags = to.config.initial_definitions.tags;
    if (!std::exchange(to.config.user_tags_named, true)) tags.clear();
    std::erase(tags, to.variable);
    if (wanted) tags.emplace_back(to.variable);
    return {};
}

Outcome pattern(Assignment& to, std::string& field) {
    REVENANT_TRY_VOID(parse_pattern(to.setting.value));
    field = to.setting.value;
    return {};
}

Outcome loopback_user(Assignment& to) {
    bool only_local = false;
    REVENANT_TRY_VOID(to.flag(only_local));
    auto& users = to.config.connection.loopback_users;
    std::erase(users, to.variable);
    if (only_local) users.emplace_back(to.variable);
    return {};
}

Outcome no_loopback_users(Assignment& to) {
    std::string word;
    REVENANT_TRY_VOID(to.one_of(word, {"none"}));
    to.config.connection.loopback_users.clear();
    return {};
}

Outcome anonymous_user(Assignment& to) {
    REVENANT_TRY_VOID(to.text(to.config.connection.anonymous_login_user));
    if (to.setting.value == "none") to.config.connection.anonymous_login_user.clear();
    return {};
}

Outcome backend(Assignment& to) {
    std::string word;
    REVENANT_TRY_VOID(to.one_of(word, {"internal", "rabbit_auth_backend_internal"}));
    return {};
}

Outcome hashing(Assignment& to) {
    std::string name;
    REVENANT_TRY_VOID(
        to.one_of(name, {"rabbit_password_hashing_sha256", "rabbit_password_hashing_sha512",
                         "rabbit_password_hashing_md5"}));
    to.config.passwords.algorithm = *algorithm_named(name);
    return {};
}

Outcome validator(Assignment& to) {
    constexpr std::string_view length = "rabbit_credential_validator_min_password_length";
    constexpr std::string_view regexp = "rabbit_credential_validator_password_regexp";
    std::string name;
    REVENANT_TRY_VOID(
        to.one_of(name, {"rabbit_credential_validator_accept_everything", length, regexp}));
    using PasswordCheck = PasswordRules::PasswordCheck;
    to.config.passwords.ask = name == length   ? PasswordCheck::length
                              : name == regexp ? PasswordCheck::pattern
                                               : PasswordCheck::nothing;
    return {};
}

Outcome password_pattern(Assignment& to) {
    REVENANT_TRY(to.config.passwords.pattern, parse_pattern(to.setting.value));
    return {};
}

// Configured mechanisms replace the defaults and are offered in the order of their names.
Outcome mechanism(Assignment& to) {
    std::string name;
    REVENANT_TRY_VOID(to.one_of(name, {"PLAIN", "AMQPLAIN", "ANONYMOUS", "EXTERNAL"}));
    to.config.mechanisms[std::string(to.variable)] = *mechanism_named(name);
    auto& offered = to.config.connection.mechanisms;
    offered.clear();
    for (const auto& [number, one] : to.config.mechanisms) offered.push_back(one);
    return {};
}

}  // namespace

std::vector<ConfigKey> access_keys() {
    return {
        {"default_vhost", "/", active, plain, "Created at first startup",
         [](Assignment& to) { return to.text(to.config.initial_definitions.vhost); }},
        {"default_user", "guest", active, plain, "Created at first startup",
         [](Assignment& to) { return to.text(to.config.initial_definitions.user); }},
        {"default_pass", "guest", active, Trait::secret, "Password of `default_user`",
         [](Assignment& to) { return to.text(to.config.initial_definitions.password); }},
        {"default_user_tags.$tag", "administrator", active, plain,
         "Tags of `default_user`: `default_user_tags.monitoring = true`", user_tag},
        {"default_permissions.configure", ".*", active, plain, "Permissions of `default_user`",
         [](Assignment& to) {
             return pattern(to, to.config.initial_definitions.permissions.configure);
         }},
        {"default_permissions.write", ".*", active, plain, "",
         [](Assignment& to) {
             return pattern(to, to.config.initial_definitions.permissions.write);
         }},
        {"default_permissions.read", ".*", active, plain, "",
         [](Assignment& to) {
             return pattern(to, to.config.initial_definitions.permissions.read);
         }},
        {"loopback_users", "", active, plain, "`none`: no user is restricted to localhost",
         no_loopback_users},
        {"loopback_users.$user", "guest", active, plain,
         "`true`: this user may log in from localhost only", loopback_user},
        {"anonymous_login_user", "guest", active, plain,
         "User for ANONYMOUS logins; `none` disables them", anonymous_user},
        {"anonymous_login_pass", "guest", active, Trait::secret,
         "Password of `anonymous_login_user`",
         [](Assignment& to) { return to.text(to.config.connection.anonymous_login_password); }},
        {"auth_mechanisms.$n", "PLAIN, AMQPLAIN, ANONYMOUS", active, plain,
         "SASL mechanisms offered to clients", mechanism},
        {"auth_backends.$n", "internal", active, plain, "Only `internal` is supported", backend},
        {"login_failures.per_minute", "10", active, plain,
         "Failed logins per minute before an address is throttled; 0: unlimited (Revenant only)",
         [](Assignment& to) {
             return to.number(to.config.logins.failures_per_minute, 0, 1'000'000);
         }},
        {"login_failures.per_minute_loopback", "1000", active, plain,
         "The same limit for localhost (Revenant only)",
         [](Assignment& to) {
             return to.number(to.config.logins.failures_per_minute_loopback, 0, 1'000'000);
         }},
        {"login_failures.wait_max", "8000", active, plain,
         "Maximum delay in ms; starts at 500 and doubles (Revenant only)",
         [](Assignment& to) { return to.milliseconds(to.config.logins.wait_max); }},
        {"password_hashing_module", "rabbit_password_hashing_sha256", active, plain,
         "Hash for new passwords: this, `rabbit_password_hashing_sha512` or the weak "
         "`rabbit_password_hashing_md5`",
         hashing},
        {"credential_validator.validation_backend", "rabbit_credential_validator_accept_everything",
         active, plain,
         "Validator for new passwords: this, `rabbit_credential_validator_min_password_length` or "
         "`rabbit_credential_validator_password_regexp`",
         validator},
        {"credential_validator.min_length", "8", active, plain, "Minimum password length",
         [](Assignment& to) { return to.number(to.config.passwords.bytes_min, 0, 10'000); }},
        {"credential_validator.regexp", "", active, plain,
         "Regular expression that passwords must match", password_pattern},
    };
}

}  // namespace revenant::node
