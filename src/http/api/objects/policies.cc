// /policies and /operator-policies. management 4.11, 4.12
#include "http/api/body.h"
#include "http/api/engine_call.h"
#include "http/api/listing.h"
#include "http/api/resource_json.h"
#include "http/api/responses.h"
#include "http/api/routes.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace revenant::http {
namespace {

using engine::Policy;
using engine::PolicyScope;

// Sorted by priority, lowest first, as in RabbitMQ.
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

Response put_policy(Context& context, const Call& call, PolicyScope scope) {
    const auto vhost = context.broker().find_vhost(call.parameter(0));
    if (vhost == nullptr) return error_response(404, "not_found", "vhost_not_found");
    const auto body = read_body(call.request);
    if (!body) return body.error();
    auto policy = policy_from_json(call.parameter(1), *body);
    if (!policy) return std::move(policy).error();
    const bool existed = find_named(context, call, scope).has_value();
    engine::SetPolicy command;
    command.scope = scope;
    command.policy = std::move(*policy);
    const auto done = execute(vhost, call.user->name, std::move(command));
    if (!done) return validation_failed(done.error().text);
    return existed ? no_content() : created();
}

Response delete_policy(Context& context, const Call& call, PolicyScope scope) {
    const auto vhost = context.broker().find_vhost(call.parameter(0));
    if (vhost == nullptr) return not_found();
    engine::ClearPolicy command;
    command.scope = scope;
    command.name = call.parameter(1);
    const auto done = execute(vhost, call.user->name, std::move(command));
    if (!done && done.error().kind == engine::RefusalKind::not_found) return not_found();
    return change_response(done);
}

void add_read_routes(Router& router, Context& context, std::string_view kind, PolicyScope scope,
                     Role role) {
    const std::string all = "/" + std::string(kind);
    const std::string one = all + "/*/*";
    router.add("GET", all, Role::management, [&context, scope](const Call& call) {
        return list_policies(context, call, scope, context.visible_vhosts(call));
    });
    router.add("GET", all + "/*", Role::vhost_visible, [&context, scope](const Call& call) {
        return list_policies(context, call, scope, {call.parameter(0)});
    });
    router.add("GET", one, role,
               [&context, scope](const Call& call) { return show_policy(context, call, scope); });
}

void add_write_routes(Router& router, Context& context, std::string_view kind, PolicyScope scope,
                      Role role) {
    const std::string one = "/" + std::string(kind) + "/*/*";
    router.add("PUT", one, role,
               [&context, scope](const Call& call) { return put_policy(context, call, scope); });
    router.add("DELETE", one, role,
               [&context, scope](const Call& call) { return delete_policy(context, call, scope); });
}

}  // namespace

void add_policy_routes(Router& router, Context& context) {
    add_read_routes(router, context, "policies", PolicyScope::user, Role::policymaker);
    add_write_routes(router, context, "policies", PolicyScope::user, Role::policymaker);
    constexpr auto of_operators = PolicyScope::operator_only;
    add_read_routes(router, context, "operator-policies", of_operators, Role::vhost_visible);
    if (context.settings().operator_policies_are_fixed) return;
    add_write_routes(router, context, "operator-policies", of_operators, Role::administrator);
}

}  // namespace revenant::http
