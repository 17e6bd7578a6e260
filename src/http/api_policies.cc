// /policies and /operator-policies: rules that give queues and exchanges their settings.
// management 4.11, 4.12
#include "http/api.h"
#include "http/body.h"
#include "http/errand.h"
#include "http/listing.h"
#include "http/responses.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace revenant::http {
namespace {

using engine::Policy;
using engine::PolicyScope;

json::object view_policy(std::string_view vhost, const Policy& policy) {
    return {{"vhost", to_json_string(vhost)},
            {"name", to_json_string(policy.name)},
            {"pattern", to_json_string(policy.pattern)},
            {"apply-to", engine::to_string(policy.apply_to)},
            {"definition", to_json(policy.definition)},
            {"priority", policy.priority}};
}

// The weakest first, as RabbitMQ lists them.
Response list_policies(Context& context, const Call& call, PolicyScope scope,
                       const std::vector<std::string>& vhosts) {
    std::vector<std::pair<std::string, Policy>> all;
    for (const std::string& vhost : vhosts) {
        auto policies = context.ask(
            vhost, [&](engine::Engine& engine) { return engine::list_policies(engine, scope); });
        if (!policies) continue;
        for (Policy& policy : *policies) all.emplace_back(vhost, std::move(policy));
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a.second.priority < b.second.priority;
    });
    json::array views;
    for (const auto& [vhost, policy] : all) views.push_back(view_policy(vhost, policy));
    return list(call, std::move(views));
}

std::optional<Policy> find_named(Context& context, const Call& call, PolicyScope scope) {
    return context
        .ask(call.parameter(0),
             [&](engine::Engine& engine) {
                 return engine::find_policy(engine, scope, call.parameter(1));
             })
        .value_or(std::nullopt);
}

Response show_policy(Context& context, const Call& call, PolicyScope scope) {
    const auto policy = find_named(context, call, scope);
    return policy ? show(call, view_policy(call.parameter(0), *policy)) : not_found();
}

// -------------------------------------------------------------------------- setting

// All that is wrong with a policy is told in this form.
Response validation_failed(std::string_view text) {
    return bad_request("Validation failed\n\n" + std::string(text) + "\n");
}

Unexpected<Response> invalid(std::string_view text) { return Unexpected{validation_failed(text)}; }

Result<std::string, Response> read_pattern(const json::value& value) {
    if (value.is_string()) return std::string(value.get_string());
    return invalid("pattern should be a binary but was " + as_term(value));
}

Result<Table, Response> read_definition(const json::object& body) {
    const json::value& value = body.at("definition");
    const bool empty_array = value.is_array() && value.get_array().empty();
    if (!value.is_object() && !empty_array) {
        return invalid("definition must be a dictionary: " + as_term(value));
    }
    return table_field(body, "definition");
}

// Whole numbers only: two policies one of which is a little more important say so with 1 and 2.
Result<std::int64_t, Response> read_priority(const json::object& body) {
    const json::value* const value = body.if_contains("priority");
    if (value == nullptr) return 0;
    if (value->is_int64()) return value->get_int64();
    constexpr double exact_max = 9007199254740992.0;
    if (value->is_double() && std::trunc(value->get_double()) == value->get_double() &&
        std::abs(value->get_double()) <= exact_max) {
        return static_cast<std::int64_t>(value->get_double());
    }
    return invalid("priority should be a number, actually was " + as_term(*value));
}

Result<engine::ApplyTo, Response> read_apply_to(const json::object& body) {
    const json::value* const value = body.if_contains("apply-to");
    if (value == nullptr) return engine::ApplyTo::all;
    const std::string text =
        value->is_string() ? std::string(value->get_string()) : as_term(*value);
    if (value->is_string()) {
        if (const auto known = engine::parse_apply_to(text)) return *known;
    }
    return invalid("apply-to '" + text +
                   "' unrecognised; should be one of: 'queues', 'classic_queues', "
                   "'quorum_queues', 'streams', 'exchanges', or 'all'");
}

Result<Policy, Response> read_policy(const Call& call) {
    REVENANT_TRY(const json::object body, read_body(call.request));
    if (auto missing = check_keys(body, {"pattern", "definition"})) {
        return Unexpected{std::move(*missing)};
    }
    Policy policy;
    policy.name = call.parameter(1);
    REVENANT_TRY(policy.definition, read_definition(body));
    REVENANT_TRY(policy.apply_to, read_apply_to(body));
    REVENANT_TRY(policy.pattern, read_pattern(body.at("pattern")));
    REVENANT_TRY(policy.priority, read_priority(body));
    return policy;
}

Response put_policy(Context& context, const Call& call, PolicyScope scope) {
    const auto vhost = context.broker().find_vhost(call.parameter(0));
    if (vhost == nullptr) return error_response(404, "not_found", "vhost_not_found");
    auto policy = read_policy(call);
    if (!policy) return std::move(policy).error();
    const bool existed = find_named(context, call, scope).has_value();
    engine::SetPolicy command;
    command.scope = scope;
    command.policy = std::move(*policy);
    const auto done = carry_out(vhost, call.user->name, std::move(command));
    if (!done) return validation_failed(done.error().text);
    return existed ? no_content() : created();
}

Response delete_policy(Context& context, const Call& call, PolicyScope scope) {
    const auto vhost = context.broker().find_vhost(call.parameter(0));
    if (vhost == nullptr) return not_found();
    engine::ClearPolicy command;
    command.scope = scope;
    command.name = call.parameter(1);
    const auto done = carry_out(vhost, call.user->name, std::move(command));
    return done ? no_content() : not_found();
}

// Who may read one and who may change it, besides being allowed into the vhost.
struct Roles {
    Role read;
    Role write;
};

void add_routes(Router& router, Context& context, std::string_view kind, PolicyScope scope,
                Roles roles) {
    const std::string all = "/" + std::string(kind);
    const std::string one = all + "/*/*";
    router.add("GET", all, Role::management, [&context, scope](const Call& call) {
        return list_policies(context, call, scope, context.visible_vhosts(call));
    });
    router.add("GET", all + "/*", Role::vhost_visible, [&context, scope](const Call& call) {
        return list_policies(context, call, scope, {call.parameter(0)});
    });
    router.add("GET", one, roles.read,
               [&context, scope](const Call& call) { return show_policy(context, call, scope); });
    router.add("PUT", one, roles.write,
               [&context, scope](const Call& call) { return put_policy(context, call, scope); });
    router.add("DELETE", one, roles.write,
               [&context, scope](const Call& call) { return delete_policy(context, call, scope); });
}

}  // namespace

void add_policy_routes(Router& router, Context& context) {
    add_routes(router, context, "policies", PolicyScope::user,
               {.read = Role::policymaker, .write = Role::policymaker});
    add_routes(router, context, "operator-policies", PolicyScope::operator_only,
               {.read = Role::vhost_visible, .write = Role::administrator});
}

}  // namespace revenant::http
