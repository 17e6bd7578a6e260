// Users, permissions and operator policies for new virtual hosts.
#include "node/config/config_keys.h"

#include <cstdint>
#include <string>
#include <utility>

namespace revenant::node {
namespace {

using enum KeyStatus;
using enum Trait;

using Outcome = Assignment::Outcome;

DefaultUser& default_user(Assignment& to) {
    return to.config.default_users[std::string(to.variable)];
}

Outcome user_permission(Assignment& to, std::string& field) {
    REVENANT_TRY_VOID(parse_pattern(to.setting.value));
    field = to.setting.value;
    return {};
}

runtime::NewVhostPolicy& default_policy(Assignment& to) {
    const std::string name(to.variable);
    runtime::NewVhostPolicy& made = to.config.default_policies[name];
    made.policy.name = name;
    if (made.policy.pattern.empty()) made.policy.pattern = ".*";
    return made;
}

Outcome policy_applies_to(Assignment& to) {
    const auto found = engine::parse_apply_to(to.setting.value);
    if (!found)
        return Unexpected{"'" + to.setting.value + "' names nothing that a policy can be for"};
    default_policy(to).policy.apply_to = *found;
    return {};
}

void define(Assignment& to, std::string name, std::uint64_t number) {
    Table& definition = default_policy(to).policy.definition;
    std::erase_if(definition, [&](const Field& field) { return field.name == name; });
    definition.push_back({std::move(name), Value::int64(static_cast<std::int64_t>(number))});
}

Outcome policy_count(Assignment& to, std::string name) {
    REVENANT_TRY(const std::uint64_t count, parse_number(to.setting.value, 1, INT64_MAX));
    define(to, std::move(name), count);
    return {};
}

Outcome policy_bytes(Assignment& to, std::string name) {
    REVENANT_TRY(const std::uint64_t bytes, parse_bytes(to.setting.value));
    if (bytes == 0) return Unexpected{std::string("must be at least 1")};
    define(to, std::move(name), bytes);
    return {};
}

Outcome policy_duration(Assignment& to, std::string name) {
    REVENANT_TRY(const std::uint64_t duration_ms, parse_duration_ms(to.setting.value));
    define(to, std::move(name), duration_ms);
    return {};
}

}  // namespace

std::vector<ConfigKey> new_vhost_keys() {
    return {
        {"default_users.$name.vhost_pattern", "", active, plain,
         "Pattern for the names of new virtual hosts in which the user `$name` gets permissions; "
         "default: all. The user is created with the first of them, unless it exists",
         [](Assignment& to) -> Outcome {
             REVENANT_TRY(default_user(to).pattern, parse_pattern(to.setting.value));
             return {};
         }},
        {"default_users.$name.password", "", active, Trait::secret,
         "Password of the user if it is created; without one it cannot log in with a password",
         [](Assignment& to) { return to.text(default_user(to).password.emplace()); }},
        {"default_users.$name.tags", "", active, plain,
         "Tags of the user if it is created, separated by commas",
         [](Assignment& to) -> Outcome {
             default_user(to).tags = split_tags(to.setting.value);
             return {};
         }},
        {"default_users.$name.configure", ".*", active, plain, "Permissions of the user",
         [](Assignment& to) {
             return user_permission(to, default_user(to).permissions.configure);
         }},
        {"default_users.$name.write", ".*", active, plain, "",
         [](Assignment& to) { return user_permission(to, default_user(to).permissions.write); }},
        {"default_users.$name.read", ".*", active, plain, "",
         [](Assignment& to) { return user_permission(to, default_user(to).permissions.read); }},
        {"default_policies.operator.$name.vhost_pattern", "", active, plain,
         "Pattern for the names of new virtual hosts that get the operator policy `$name`; "
         "default: all",
         [](Assignment& to) -> Outcome {
             REVENANT_TRY(default_policy(to).pattern, parse_pattern(to.setting.value));
             return {};
         }},
        {"default_policies.operator.$name.queue_pattern", ".*", active, plain,
         "Pattern for the names of the queues to which it applies",
         [](Assignment& to) -> Outcome {
             REVENANT_TRY_VOID(parse_pattern(to.setting.value));
             default_policy(to).policy.pattern = to.setting.value;
             return {};
         }},
        {"default_policies.operator.$name.apply_to", "all", active, plain,
         "Types of queues to which it applies: `all`, `queues`, `classic_queues` or "
         "`quorum_queues`",
         policy_applies_to},
        {"default_policies.operator.$name.expires", "", active, plain,
         "Value in the policy: milliseconds, or a duration such as `1h30m`",
         [](Assignment& to) { return policy_duration(to, "expires"); }},
        {"default_policies.operator.$name.message_ttl", "", active, plain,
         "Value in the policy: milliseconds, or a duration such as `1h30m`",
         [](Assignment& to) { return policy_duration(to, "message-ttl"); }},
        {"default_policies.operator.$name.max_length", "", active, plain, "",
         [](Assignment& to) { return policy_count(to, "max-length"); }},
        {"default_policies.operator.$name.max_length_bytes", "", active, plain, "",
         [](Assignment& to) { return policy_bytes(to, "max-length-bytes"); }},
        {"default_policies.operator.$name.max_in_memory_bytes", "", active, plain, "",
         [](Assignment& to) { return policy_bytes(to, "max-in-memory-bytes"); }},
        {"default_policies.operator.$name.max_in_memory_length", "", active, plain, "",
         [](Assignment& to) { return policy_count(to, "max-in-memory-length"); }},
        {"default_policies.operator.$name.delivery_limit", "", active, plain, "",
         [](Assignment& to) { return policy_count(to, "delivery-limit"); }},
        {"default_policies.operator.$name.classic_queues.queue_version", "", active, plain, "",
         [](Assignment& to) { return policy_count(to, "queue-version"); }},
        {"default_policies.operator.$name.classic_queues.ha_mode", "", no_meaning, plain, "",
         any_text},
        {"default_policies.operator.$name.classic_queues.ha_params", "", no_meaning, plain, "",
         any_text},
        {"default_policies.operator.$name.classic_queues.ha_sync_mode", "", no_meaning, plain, "",
         any_text},
    };
}

}  // namespace revenant::node
