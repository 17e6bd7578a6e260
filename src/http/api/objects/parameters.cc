// /parameters and /global-parameters. The components are the limits and the policies of a virtual
// host, which are stored elsewhere. Components of RabbitMQ plugins are not supported.
// management 4.15
#include "http/api/body.h"
#include "http/api/cluster_parameters.h"
#include "http/api/definitions/definitions.h"
#include "http/api/engine_call.h"
#include "http/api/listing.h"
#include "http/api/resource_json.h"
#include "http/api/responses.h"
#include "http/api/routes.h"

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace revenant::http {
namespace {

using engine::PolicyScope;

constexpr std::string_view limits_component = "vhost-limits";
constexpr std::string_view limits_name = "limits";  // the only parameter of this component
constexpr std::string_view policy_component = "policy";
constexpr std::string_view operator_policy_component = "operator_policy";

json::object view_parameter(std::string_view vhost, std::string_view component,
                            std::string_view name, json::object value) {
    return {{"value", std::move(value)},
            {"vhost", to_json_string(vhost)},
            {"component", component},
            {"name", to_json_string(name)}};
}

json::object view_parameter(std::string_view vhost, std::string_view component,
                            const engine::Policy& policy) {
    json::object value = view_policy(vhost, policy);
    value.erase("vhost");
    value.erase("name");
    return view_parameter(vhost, component, policy.name, std::move(value));
}

void append_policies(Context& context, const std::string& vhost, PolicyScope scope,
                     std::string_view component, json::array& all) {
    const auto policies = context.ask(
        vhost, [scope](engine::Engine& engine) { return engine::list_policies(engine, scope); });
    if (!policies) return;
    for (const engine::Policy& policy : *policies) {
        all.push_back(view_parameter(vhost, component, policy));
    }
}

void append_component(Context& context, const Call& call, const std::string& vhost,
                      std::string_view component, json::array& all) {
    if (component == limits_component) {
        json::object limits = view_limits(call.access->find_vhost(vhost)->limits);
        if (limits.empty()) return;
        all.push_back(view_parameter(vhost, component, limits_name, std::move(limits)));
    } else if (component == operator_policy_component) {
        append_policies(context, vhost, PolicyScope::operator_only, component, all);
    } else if (component == policy_component) {
        append_policies(context, vhost, PolicyScope::user, component, all);
    }
}

// As in RabbitMQ, policies are listed only if the path names their component.
Response list_all_parameters(Context& context, const Call& call) {
    json::array all;
    for (const std::string& vhost : context.visible_vhosts(call)) {
        append_component(context, call, vhost, operator_policy_component, all);
        append_component(context, call, vhost, limits_component, all);
    }
    return list(call, std::move(all));
}

Response list_parameters_of_component(Context& context, const Call& call) {
    json::array all;
    for (const std::string& vhost : context.visible_vhosts(call)) {
        append_component(context, call, vhost, call.parameter(0), all);
    }
    return list(call, std::move(all));
}

// The virtual host comes second in these paths: /parameters/C/V/N.
std::optional<Response> check_vhost(const Call& call) {
    const std::string& vhost = call.parameter(1);
    if (call.access->find_vhost(vhost) == nullptr) return not_found();
    const bool may =
        is_administrator(*call.user) || call.access->can_access_vhost(call.user->name, vhost);
    if (may) return std::nullopt;
    return not_authorised("User not authorised to access object");
}

Response list_parameters_of_vhost(Context& context, const Call& call) {
    if (auto refused = check_vhost(call)) return std::move(*refused);
    json::array all;
    append_component(context, call, call.parameter(1), call.parameter(0), all);
    return list(call, std::move(all));
}

std::optional<json::object> find_parameter(Context& context, const Call& call) {
    json::array all;
    append_component(context, call, call.parameter(1), call.parameter(0), all);
    for (json::value& one : all) {
        if (one.at("name").get_string() == std::string_view(call.parameter(2))) {
            return std::move(one.get_object());
        }
    }
    return std::nullopt;
}

Response show_parameter(Context& context, const Call& call) {
    if (auto refused = check_vhost(call)) return std::move(*refused);
    auto found = find_parameter(context, call);
    return found ? show(call, std::move(*found)) : not_found();
}

// Limits and operator policies apply to policymakers, who therefore must not change them.
// management 3.2
bool may_write(const Call& call) {
    const std::string& component = call.parameter(0);
    const bool of_operators =
        component == limits_component || component == operator_policy_component;
    return !of_operators || is_administrator(*call.user);
}

Result<void, Response> put_limits(Context& context, const Call& call, const json::value& value) {
    if (call.parameter(2) != limits_name) {
        return Unexpected{validation_failed("unrecognised limits name " + call.parameter(2))};
    }
    if (!value.is_object()) return Unexpected{validation_failed("limits are not an object")};
    REVENANT_TRY(const VhostLimits limits, vhost_limits_from_json(value.get_object()));
    // The value replaces all limits.
    for (const CatalogCommand& command :
         {CatalogCommand{ClearVhostLimits{call.parameter(1), {}}},
          CatalogCommand{SetVhostLimits{call.parameter(1), limits}}}) {
        const auto record = context.broker().change(command);
        if (!record) return Unexpected{bad_request(record.error().text)};
    }
    return {};
}

Result<void, Response> put_operator_policy(Context& context, const Call& call,
                                           const json::value& value) {
    const auto vhost = context.broker().find_vhost(call.parameter(1));
    if (vhost == nullptr) return Unexpected{not_found()};
    if (!value.is_object()) return Unexpected{validation_failed("value is not an object")};
    REVENANT_TRY(engine::Policy policy, policy_from_json(call.parameter(2), value.get_object()));
    engine::SetPolicy command;
    command.scope = PolicyScope::operator_only;
    command.policy = std::move(policy);
    const auto done = execute(vhost, call.user->name, std::move(command));
    if (!done) return Unexpected{validation_failed(done.error().text)};
    return {};
}

Response put_parameter(Context& context, const Call& call) {
    if (auto refused = check_vhost(call)) return std::move(*refused);
    if (!may_write(call)) return not_authorised("Not administrator user");
    const auto body = read_body(call.request);
    if (!body) return body.error();
    if (auto missing = check_keys(*body, {"value"})) return std::move(*missing);
    const std::string& component = call.parameter(0);
    const bool existed = find_parameter(context, call).has_value();
    Result<void, Response> done;
    if (component == limits_component) {
        done = put_limits(context, call, body->at("value"));
    } else if (component == operator_policy_component) {
        done = put_operator_policy(context, call, body->at("value"));
    } else if (component == policy_component) {
        return bad_request("policies may not be set using this method");
    } else {
        return validation_failed("component " + component + " not found");
    }
    if (!done) return std::move(done).error();
    return existed ? no_content() : created();
}

Response delete_parameter(Context& context, const Call& call) {
    if (auto refused = check_vhost(call)) return std::move(*refused);
    if (!may_write(call)) return not_authorised("Not administrator user");
    if (!find_parameter(context, call)) return not_found();
    if (call.parameter(0) == limits_component) {
        const auto record = context.broker().change(ClearVhostLimits{call.parameter(1), {}});
        return change_response(record);
    }
    if (call.parameter(0) != operator_policy_component) {
        return bad_request("policies may not be cleared using this method");
    }
    const auto vhost = context.broker().find_vhost(call.parameter(1));
    if (vhost == nullptr) return not_found();
    engine::ClearPolicy command;
    command.scope = PolicyScope::operator_only;
    command.name = call.parameter(2);
    const auto done = execute(vhost, call.user->name, std::move(command));
    if (!done && done.error().kind == engine::RefusalKind::not_found) return not_found();
    return change_response(done);
}

// -------------------------------------------------------------------------- global parameters

json::object view_global(const std::string& name, const std::string& value) {
    const auto parsed = parse_json(value);
    return {{"name", to_json_string(name)}, {"value", parsed ? *parsed : nullptr}};
}

// Includes the cluster name even if it comes from the configuration.
std::map<std::string, std::string, std::less<>> all_global(Context& context, const Call& call) {
    auto all = call.access->rules().global_parameters;
    all.try_emplace(std::string(cluster_name_parameter),
                    to_text(json::value(to_json_string(context.cluster_name()))));
    return all;
}

Response list_global(Context& context, const Call& call) {
    json::array all;
    for (const auto& [name, value] : all_global(context, call)) {
        all.push_back(view_global(name, value));
    }
    return list(call, std::move(all));
}

Response show_global(Context& context, const Call& call) {
    const auto parameters = all_global(context, call);
    const auto found = parameters.find(call.parameter(0));
    return found == parameters.end() ? not_found()
                                     : show(call, view_global(found->first, found->second));
}

Response put_global(Context& context, const Call& call) {
    const auto body = read_body(call.request);
    if (!body) return body.error();
    if (auto missing = check_keys(*body, {"value"})) return std::move(*missing);
    const bool existed = all_global(context, call).contains(call.parameter(0));
    const auto record =
        context.broker().change(SetGlobalParameter{call.parameter(0), to_text(body->at("value"))});
    if (!record) return bad_request(record.error().text);
    return existed ? no_content() : created();
}

Response delete_global(Context& context, const Call& call) {
    return change_response(context.broker().change(ClearGlobalParameter{call.parameter(0)}));
}

}  // namespace

void add_parameter_routes(Router& router, Context& context) {
    const Role role = Role::policymaker_anywhere;
    router.add("GET", "/parameters", role,
               [&](const Call& call) { return list_all_parameters(context, call); });
    router.add("GET", "/parameters/*", role,
               [&](const Call& call) { return list_parameters_of_component(context, call); });
    router.add("GET", "/parameters/*/*", role,
               [&](const Call& call) { return list_parameters_of_vhost(context, call); });
    router.add("GET", "/parameters/*/*/*", role,
               [&](const Call& call) { return show_parameter(context, call); });
    router.add("PUT", "/parameters/*/*/*", role,
               [&](const Call& call) { return put_parameter(context, call); });
    router.add("DELETE", "/parameters/*/*/*", role,
               [&](const Call& call) { return delete_parameter(context, call); });
    router.add("GET", "/global-parameters", role,
               [&](const Call& call) { return list_global(context, call); });
    router.add("GET", "/global-parameters/*", role,
               [&](const Call& call) { return show_global(context, call); });
    router.add("PUT", "/global-parameters/*", role,
               [&](const Call& call) { return put_global(context, call); });
    router.add("DELETE", "/global-parameters/*", role,
               [&](const Call& call) { return delete_global(context, call); });
}

}  // namespace revenant::http
