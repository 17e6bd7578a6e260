// /vhost-limits and /user-limits. management 4.8
#include "http/api/body.h"
#include "http/api/engine_call.h"
#include "http/api/listing.h"
#include "http/api/resource_json.h"
#include "http/api/responses.h"
#include "http/api/routes.h"

#include <map>
#include <utility>

namespace revenant::http {
namespace {

// Adds a row if the user or virtual host has a limit.
template <typename Owner>
void add_row(json::array& rows, std::string_view kind, const Owner& owner) {
    json::object limits = view_limits(owner.limits);
    if (limits.empty()) return;
    rows.push_back(json::object{{kind, to_json_string(owner.name)}, {"value", std::move(limits)}});
}

Response list_vhost_limits(const Call& call) {
    json::array rows;
    for (const auto& [name, vhost] : call.access->rules().vhosts) {
        if (can_see_vhost(*call.access, *call.user, name)) add_row(rows, "vhost", vhost);
    }
    return list(call, std::move(rows));
}

Response list_user_limits(const Call& call) {
    json::array rows;
    for (const auto& [name, user] : call.access->rules().users) {
        if (is_administrator(*call.user) || name == call.user->name) add_row(rows, "user", user);
    }
    return list(call, std::move(rows));
}

Result<std::int64_t, Response> read_value(const Call& call) {
    REVENANT_TRY(const json::object body, read_body(call.request));
    if (auto missing = check_keys(body, {"value"})) return Unexpected{std::move(*missing)};
    if (!body.at("value").is_int64()) {
        return Unexpected{bad_request("Limit value must be an integer")};
    }
    return body.at("value").get_int64();
}

Response unrecognised(std::string_view limit) {
    return bad_request("Unrecognised limit: " + std::string(limit));
}

const std::map<std::string, std::pair<Limit VhostLimits::*, VhostLimit>, std::less<>>&
vhost_limits() {
    static const std::map<std::string, std::pair<Limit VhostLimits::*, VhostLimit>, std::less<>>
        known = {{"max-connections", {&VhostLimits::max_connections, VhostLimit::max_connections}},
                 {"max-queues", {&VhostLimits::max_queues, VhostLimit::max_queues}}};
    return known;
}

const std::map<std::string, std::pair<Limit UserLimits::*, UserLimit>, std::less<>>& user_limits() {
    static const std::map<std::string, std::pair<Limit UserLimits::*, UserLimit>, std::less<>>
        known = {{"max-connections", {&UserLimits::max_connections, UserLimit::max_connections}},
                 {"max-channels", {&UserLimits::max_channels, UserLimit::max_channels}}};
    return known;
}

Response change(Context& context, const CatalogCommand& command) {
    return change_response(context.broker().change(command));
}

Response put_vhost_limit(Context& context, const Call& call) {
    const auto value = read_value(call);
    if (!value) return value.error();
    const auto known = vhost_limits().find(call.parameter(1));
    if (known == vhost_limits().end()) return unrecognised(call.parameter(1));
    SetVhostLimits command{call.parameter(0), {}};
    command.limits.*known->second.first = *value;
    return change(context, command);
}

Response put_user_limit(Context& context, const Call& call) {
    const auto value = read_value(call);
    if (!value) return value.error();
    const auto known = user_limits().find(call.parameter(1));
    if (known == user_limits().end()) return unrecognised(call.parameter(1));
    SetUserLimits command{call.parameter(0), {}};
    command.limits.*known->second.first = *value;
    return change(context, command);
}

Response delete_vhost_limit(Context& context, const Call& call) {
    const auto known = vhost_limits().find(call.parameter(1));
    if (known == vhost_limits().end()) return unrecognised(call.parameter(1));
    return change(context, ClearVhostLimits{call.parameter(0), known->second.second});
}

Response delete_user_limit(Context& context, const Call& call) {
    const auto known = user_limits().find(call.parameter(1));
    if (known == user_limits().end()) return unrecognised(call.parameter(1));
    return change(context, ClearUserLimits{call.parameter(0), known->second.second});
}

}  // namespace

void add_limit_routes(Router& router, Context& context) {
    router.add("GET", "/vhost-limits", Role::management, list_vhost_limits);
    router.add("GET", "/vhost-limits/*", Role::vhost_visible, [](const Call& call) {
        json::array rows;
        add_row(rows, "vhost", *call.access->find_vhost(call.parameter(0)));
        return list(call, std::move(rows));
    });
    router.add("PUT", "/vhost-limits/*/*", Role::administrator,
               [&](const Call& call) { return put_vhost_limit(context, call); });
    router.add("DELETE", "/vhost-limits/*/*", Role::administrator,
               [&](const Call& call) { return delete_vhost_limit(context, call); });
    router.add("GET", "/user-limits", Role::management, list_user_limits);
    router.add("GET", "/user-limits/*", Role::administrator, [](const Call& call) {
        const User* const user = call.access->find_user(call.parameter(0));
        if (user == nullptr) return not_found();
        json::array rows;
        add_row(rows, "user", *user);
        return list(call, std::move(rows));
    });
    router.add("PUT", "/user-limits/*/*", Role::administrator,
               [&](const Call& call) { return put_user_limit(context, call); });
    router.add("DELETE", "/user-limits/*/*", Role::administrator,
               [&](const Call& call) { return delete_user_limit(context, call); });
}

}  // namespace revenant::http
