// /permissions and /topic-permissions. management 4.10
#include "http/api/body.h"
#include "http/api/listing.h"
#include "http/api/resource_json.h"
#include "http/api/responses.h"
#include "http/api/routes.h"
#include "http/api/views.h"

#include <functional>
#include <utility>

namespace revenant::http {
namespace {

template <typename Rows, typename Chosen>
json::array view_rows(const Rows& rows, Chosen chosen) {
    json::array views;
    for (const auto& [of, permissions] : rows) {
        if (chosen(of)) views.push_back(view_permissions(of, permissions));
    }
    return views;
}

Response grant_refused(const CatalogRefusal& refusal) {
    using Kind = CatalogRefusal::Kind;
    if (refusal.kind == Kind::no_such_user || refusal.kind == Kind::no_such_vhost) {
        return bad_request("vhost_or_user_not_found");
    }
    return bad_request(refusal.text);
}

// The virtual host comes first in these paths: /permissions/V/U.
UserAndVhost named(const Call& call) { return {call.parameter(1), call.parameter(0)}; }

Response show_permissions(const Call& call) {
    const auto& rows = call.access->rules().permissions;
    const auto found = rows.find(named(call));
    return found == rows.end() ? not_found()
                               : show(call, view_permissions(found->first, found->second));
}

Response put_permissions(Context& context, const Call& call) {
    const auto body = read_body(call.request);
    if (!body) return body.error();
    auto permissions = permissions_from_json(*body);
    if (!permissions) return std::move(permissions).error();
    const bool existed = call.access->rules().permissions.contains(named(call));
    const auto record = context.broker().change(
        SetPermissions{call.parameter(1), call.parameter(0), std::move(*permissions)});
    if (!record) return grant_refused(record.error());
    return existed ? no_content() : created();
}

Response delete_permissions(Context& context, const Call& call) {
    if (!call.access->rules().permissions.contains(named(call))) return not_found();
    const auto record =
        context.broker().change(ClearPermissions{call.parameter(1), call.parameter(0)});
    return record ? no_content() : grant_refused(record.error());
}

json::array topic_rows(const Call& call) {
    return view_rows(call.access->rules().topic_permissions, [&](const TopicKey& of) {
        return of.user == call.parameter(1) && of.vhost == call.parameter(0);
    });
}

Response show_topic_permissions(const Call& call) {
    json::array rows = topic_rows(call);
    return rows.empty() ? not_found() : list(call, std::move(rows));
}

Response put_topic_permissions(Context& context, const Call& call) {
    const auto body = read_body(call.request);
    if (!body) return body.error();
    auto command = topic_permissions_from_json(call.parameter(1), call.parameter(0), *body);
    if (!command) return std::move(command).error();
    const bool existed = !topic_rows(call).empty();
    const auto record = context.broker().change(*command);
    if (!record) return grant_refused(record.error());
    return existed ? no_content() : created();
}

Response delete_topic_permissions(Context& context, const Call& call,
                                  std::optional<std::string> exchange) {
    if (topic_rows(call).empty()) return not_found();
    const auto record = context.broker().change(
        ClearTopicPermissions{call.parameter(1), call.parameter(0), std::move(exchange)});
    return record ? no_content() : grant_refused(record.error());
}

void add_rows_of_one(Router& router) {
    router.add("GET", "/users/*/permissions", Role::administrator, [](const Call& call) {
        const std::string& user = call.parameter(0);
        if (call.access->find_user(user) == nullptr) return not_found();
        return list(call, view_rows(call.access->rules().permissions,
                                    [&](const UserAndVhost& of) { return of.user == user; }));
    });
    router.add("GET", "/users/*/topic-permissions", Role::administrator, [](const Call& call) {
        const std::string& user = call.parameter(0);
        if (call.access->find_user(user) == nullptr) return not_found();
        return list(call, view_rows(call.access->rules().topic_permissions,
                                    [&](const TopicKey& of) { return of.user == user; }));
    });
    router.add("GET", "/vhosts/*/permissions", Role::administrator, [](const Call& call) {
        const std::string& vhost = call.parameter(0);
        if (call.access->find_vhost(vhost) == nullptr) return not_found();
        return list(call, view_rows(call.access->rules().permissions,
                                    [&](const UserAndVhost& of) { return of.vhost == vhost; }));
    });
    router.add("GET", "/vhosts/*/topic-permissions", Role::administrator, [](const Call& call) {
        const std::string& vhost = call.parameter(0);
        if (call.access->find_vhost(vhost) == nullptr) return not_found();
        return list(call, view_rows(call.access->rules().topic_permissions,
                                    [&](const TopicKey& of) { return of.vhost == vhost; }));
    });
}

}  // namespace

void add_permission_routes(Router& router, Context& context) {
    const auto all = [](const auto&) { return true; };
    router.add("GET", "/permissions", Role::administrator, [=](const Call& call) {
        return list(call, view_rows(call.access->rules().permissions, all));
    });
    router.add("GET", "/permissions/*/*", Role::administrator, show_permissions);
    router.add("PUT", "/permissions/*/*", Role::administrator,
               [&](const Call& call) { return put_permissions(context, call); });
    router.add("DELETE", "/permissions/*/*", Role::administrator,
               [&](const Call& call) { return delete_permissions(context, call); });
    router.add("GET", "/topic-permissions", Role::administrator, [=](const Call& call) {
        return list(call, view_rows(call.access->rules().topic_permissions, all));
    });
    router.add("GET", "/topic-permissions/*/*", Role::administrator, show_topic_permissions);
    router.add("PUT", "/topic-permissions/*/*", Role::administrator,
               [&](const Call& call) { return put_topic_permissions(context, call); });
    router.add("DELETE", "/topic-permissions/*/*", Role::administrator, [&](const Call& call) {
        return delete_topic_permissions(context, call, std::nullopt);
    });
    router.add("DELETE", "/topic-permissions/*/*/*", Role::administrator, [&](const Call& call) {
        return delete_topic_permissions(context, call, call.parameter(2));
    });
    add_rows_of_one(router);
}

}  // namespace revenant::http
