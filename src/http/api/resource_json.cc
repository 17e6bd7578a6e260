#include "http/api/resource_json.h"

#include "base/check.h"
#include "http/api/body.h"
#include "http/api/responses.h"
#include "http/api/views.h"

#include <cmath>
#include <optional>
#include <sys/random.h>
#include <utility>
#include <vector>

namespace revenant::http {

Salt random_salt() {
    Salt salt{};
    CHECK(getrandom(salt.data(), salt.size(), 0) == static_cast<ssize_t>(salt.size()));
    return salt;
}

// -------------------------------------------------------------------------- views

json::object view_user(const User& user) {
    json::object limits;
    if (user.limits.max_connections) limits["max-connections"] = *user.limits.max_connections;
    if (user.limits.max_channels) limits["max-channels"] = *user.limits.max_channels;
    return {{"name", to_json_string(user.name)},
            {"password_hash", user.password.base64},
            {"hashing_algorithm", algorithm_name(user.password.algorithm)},
            {"tags", to_json(user.tags)},
            {"limits", std::move(limits)}};
}

json::object view_permissions(const UserAndVhost& of, const Permissions& permissions) {
    return {{"user", to_json_string(of.user)},
            {"vhost", to_json_string(of.vhost)},
            {"configure", to_json_string(permissions.configure)},
            {"write", to_json_string(permissions.write)},
            {"read", to_json_string(permissions.read)}};
}

json::object view_permissions(const TopicKey& of, const TopicPermissions& permissions) {
    return {{"user", to_json_string(of.user)},
            {"vhost", to_json_string(of.vhost)},
            {"exchange", to_json_string(of.exchange)},
            {"write", to_json_string(permissions.write)},
            {"read", to_json_string(permissions.read)}};
}

json::object view_limits(const VhostLimits& limits) {
    json::object view;
    if (limits.max_connections) view["max-connections"] = *limits.max_connections;
    if (limits.max_queues) view["max-queues"] = *limits.max_queues;
    return view;
}

json::object view_limits(const UserLimits& limits) {
    json::object view;
    if (limits.max_connections) view["max-connections"] = *limits.max_connections;
    if (limits.max_channels) view["max-channels"] = *limits.max_channels;
    return view;
}

json::object view_policy(std::string_view vhost, const engine::Policy& policy) {
    return {{"vhost", to_json_string(vhost)},
            {"name", to_json_string(policy.name)},
            {"pattern", to_json_string(policy.pattern)},
            {"apply-to", engine::to_string(policy.apply_to)},
            {"definition", to_json(policy.definition)},
            {"priority", policy.priority}};
}

// -------------------------------------------------------------------------- users and vhosts

namespace {

Result<std::optional<PasswordHash>, Response> read_password(const json::object& body,
                                                            const PasswordRules& rules) {
    using Password = std::optional<PasswordHash>;
    if (body.contains("password") && body.contains("password_hash")) {
        return Unexpected{bad_request("both_password_and_password_hash_are_provided")};
    }
    // string_field() accepts numbers, but a password must be a string.
    for (const char* name : {"password", "password_hash"}) {
        if (body.contains(name) && !body.at(name).is_string()) {
            return Unexpected{bad_request(std::string(name) + " is not a string")};
        }
    }
    if (body.contains("password")) {
        REVENANT_TRY(const std::string password, string_field(body, "password", ""));
        if (const auto violation = rules.violation(password)) {
            return Unexpected{bad_request(*violation)};
        }
        // No login succeeds with a blank password, so there is no hash.
        return Password(password.empty() ? PasswordHash{}
                                         : make_hash(password, random_salt(), rules.algorithm));
    }
    if (!body.contains("password_hash")) return Password{};
    PasswordHash hash;
    REVENANT_TRY(hash.base64, string_field(body, "password_hash", ""));
    REVENANT_TRY(const std::string algorithm, string_field(body, "hashing_algorithm", ""));
    if (!algorithm.empty()) {
        const auto known = algorithm_named(algorithm);
        if (!known) return Unexpected{bad_request("unknown hashing algorithm: " + algorithm)};
        hash.algorithm = *known;
    }
    return Password(std::move(hash));
}

Result<Limit, Response> read_limit(const json::object& limits, std::string_view name) {
    const json::value* const value = limits.if_contains(name);
    if (value == nullptr) return Limit{};
    if (!value->is_int64()) return Unexpected{bad_request("Limit value must be an integer")};
    return Limit(value->get_int64());
}

Result<std::optional<UserLimits>, Response> read_limits(const json::object& body) {
    const json::value* const limits = body.if_contains("limits");
    if (limits == nullptr || !limits->is_object()) return std::optional<UserLimits>{};
    UserLimits read;
    REVENANT_TRY(read.max_connections, read_limit(limits->get_object(), "max-connections"));
    REVENANT_TRY(read.max_channels, read_limit(limits->get_object(), "max-channels"));
    return std::optional(read);
}

Result<std::vector<PermissionsInVhost>, Response> read_permissions(const json::object& body) {
    std::vector<PermissionsInVhost> permissions;
    const json::value* const rows = body.if_contains("permissions");
    if (rows == nullptr || !rows->is_object()) return permissions;
    for (const auto& [vhost, row] : rows->get_object()) {
        if (!row.is_object()) return Unexpected{bad_request("permissions are not an object")};
        const json::object& patterns = row.get_object();
        if (auto missing = check_keys(patterns, {"configure", "write", "read"})) {
            return Unexpected{std::move(*missing)};
        }
        PermissionsInVhost one{std::string(vhost), {}};
        REVENANT_TRY(one.permissions.configure, string_field(patterns, "configure", ""));
        REVENANT_TRY(one.permissions.write, string_field(patterns, "write", ""));
        REVENANT_TRY(one.permissions.read, string_field(patterns, "read", ""));
        permissions.push_back(std::move(one));
    }
    return permissions;
}

}  // namespace

Result<PutUser, Response> user_from_json(const std::string& name, const json::object& body,
                                         const PasswordRules& rules) {
    PutUser command;
    command.name = name;
    REVENANT_TRY(auto tags, tags_field(body, "tags"));
    if (!tags) return Unexpected{bad_request("tags_not_present")};
    command.tags = std::move(*tags);
    REVENANT_TRY(command.password, read_password(body, rules));
    REVENANT_TRY(command.limits, read_limits(body));
    REVENANT_TRY(command.permissions, read_permissions(body));
    return command;
}

Result<PutVhost, Response> vhost_from_json(const std::string& name, const json::object& body) {
    PutVhost command;
    command.name = name;
    REVENANT_TRY(command.tags, tags_field(body, "tags"));
    for (const auto& [key, field] : {std::pair{"description", &PutVhost::description},
                                     std::pair{"default_queue_type", &PutVhost::default_queue_type},
                                     std::pair{"compat", &PutVhost::compat}}) {
        if (!body.contains(key) || body.at(key).is_null()) continue;
        REVENANT_TRY(command.*field, string_field(body, key, ""));
    }
    if (body.contains("tracing")) {
        REVENANT_TRY(command.tracing, bool_field(body, "tracing", false));
    }
    return command;
}

Result<Permissions, Response> permissions_from_json(const json::object& body) {
    if (auto missing = check_keys(body, {"configure", "write", "read"})) {
        return Unexpected{std::move(*missing)};
    }
    Permissions permissions;
    REVENANT_TRY(permissions.configure, string_field(body, "configure", ""));
    REVENANT_TRY(permissions.write, string_field(body, "write", ""));
    REVENANT_TRY(permissions.read, string_field(body, "read", ""));
    return permissions;
}

Result<SetTopicPermissions, Response> topic_permissions_from_json(const std::string& user,
                                                                  const std::string& vhost,
                                                                  const json::object& body) {
    if (auto missing = check_keys(body, {"exchange", "write", "read"})) {
        return Unexpected{std::move(*missing)};
    }
    SetTopicPermissions command{user, vhost, {}, {}};
    REVENANT_TRY(command.exchange, string_field(body, "exchange", ""));
    REVENANT_TRY(command.permissions.write, string_field(body, "write", ""));
    REVENANT_TRY(command.permissions.read, string_field(body, "read", ""));
    return command;
}

Result<VhostLimits, Response> vhost_limits_from_json(const json::object& body) {
    VhostLimits limits;
    for (const auto& [name, value] : body) {
        if (name != "max-connections" && name != "max-queues") {
            return Unexpected{validation_failed("Unrecognised terms [{<<\"" + std::string(name) +
                                                "\">>," + as_erlang_term(value) + "}] in limits")};
        }
    }
    REVENANT_TRY(limits.max_connections, read_limit(body, "max-connections"));
    REVENANT_TRY(limits.max_queues, read_limit(body, "max-queues"));
    return limits;
}

// -------------------------------------------------------------------------- policies

Response validation_failed(std::string_view text) {
    return bad_request("Validation failed\n\n" + std::string(text) + "\n");
}

namespace {

Unexpected<Response> invalid(std::string_view text) { return Unexpected{validation_failed(text)}; }

Result<std::string, Response> read_pattern(const json::value& value) {
    if (value.is_string()) return std::string(value.get_string());
    return invalid("pattern should be a binary but was " + as_erlang_term(value));
}

Result<Table, Response> read_definition(const json::object& body) {
    const json::value& value = body.at("definition");
    const bool empty_array = value.is_array() && value.get_array().empty();
    if (!value.is_object() && !empty_array) {
        return invalid("definition must be a dictionary: " + as_erlang_term(value));
    }
    return table_field(body, "definition");
}

// Integers only.
Result<std::int64_t, Response> read_priority(const json::object& body) {
    const json::value* const value = body.if_contains("priority");
    if (value == nullptr) return 0;
    if (value->is_int64()) return value->get_int64();
    constexpr double exact_max = 9007199254740992.0;
    if (value->is_double() && std::trunc(value->get_double()) == value->get_double() &&
        std::abs(value->get_double()) <= exact_max) {
        return static_cast<std::int64_t>(value->get_double());
    }
    return invalid("priority should be a number, actually was " + as_erlang_term(*value));
}

Result<engine::ApplyTo, Response> read_apply_to(const json::object& body) {
    const json::value* const value = body.if_contains("apply-to");
    if (value == nullptr) return engine::ApplyTo::all;
    const std::string text =
        value->is_string() ? std::string(value->get_string()) : as_erlang_term(*value);
    if (value->is_string()) {
        if (const auto known = engine::parse_apply_to(text)) return *known;
    }
    return invalid("apply-to '" + text +
                   "' unrecognised; should be one of: 'queues', 'classic_queues', "
                   "'quorum_queues', 'streams', 'exchanges', or 'all'");
}

}  // namespace

Result<engine::Policy, Response> policy_from_json(const std::string& name,
                                                  const json::object& body) {
    if (auto missing = check_keys(body, {"pattern", "definition"})) {
        return Unexpected{std::move(*missing)};
    }
    engine::Policy policy;
    policy.name = name;
    REVENANT_TRY(policy.definition, read_definition(body));
    REVENANT_TRY(policy.apply_to, read_apply_to(body));
    REVENANT_TRY(policy.pattern, read_pattern(body.at("pattern")));
    REVENANT_TRY(policy.priority, read_priority(body));
    return policy;
}

// -------------------------------------------------------------------------- declarations

Result<engine::DeclareQueue, Response> queue_from_json(const std::string& name,
                                                       const json::object& body) {
    engine::DeclareQueue command;
    command.name = name;
    REVENANT_TRY(command.durable, bool_field(body, "durable", false));
    REVENANT_TRY(command.auto_delete, bool_field(body, "auto_delete", false));
    REVENANT_TRY(command.arguments, table_field(body, "arguments"));
    return command;
}

Result<engine::DeclareExchange, Response> exchange_from_json(const std::string& name,
                                                             const json::object& body) {
    engine::DeclareExchange command;
    command.name = name;
    REVENANT_TRY(command.type, string_field(body, "type", "direct"));
    REVENANT_TRY(command.durable, bool_field(body, "durable", false));
    REVENANT_TRY(command.auto_delete, bool_field(body, "auto_delete", false));
    REVENANT_TRY(command.internal, bool_field(body, "internal", false));
    REVENANT_TRY(command.arguments, table_field(body, "arguments"));
    return command;
}

}  // namespace revenant::http
