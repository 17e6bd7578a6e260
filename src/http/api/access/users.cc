// /users: accounts, their passwords and tags. management 4.9
#include "base/check.h"
#include "http/api/body.h"
#include "http/api/engine_call.h"
#include "http/api/listing.h"
#include "http/api/resource_json.h"
#include "http/api/responses.h"
#include "http/api/routes.h"
#include "http/api/views.h"

#include <sys/random.h>
#include <utility>

namespace revenant::http {
namespace {

Response list_users(const Call& call, bool without_permissions) {
    json::array views;
    for (const auto& [name, user] : call.access->rules().users) {
        if (without_permissions) {
            const auto& rows = call.access->rules().permissions;
            const auto first = rows.lower_bound(UserAndVhost{name, ""});
            if (first != rows.end() && first->first.user == name) continue;
        }
        views.push_back(view_user(user));
    }
    return list(call, std::move(views));
}

Response show_user(const Call& call) {
    const User* const user = call.access->find_user(call.parameter(0));
    return user == nullptr ? not_found() : show(call, view_user(*user));
}

Response put_user(Context& context, const Call& call) {
    const auto body = read_body(call.request);
    if (!body) return body.error();
    const auto command = user_from_json(call.parameter(0), *body, context.settings().passwords);
    if (!command) return command.error();
    const bool existed = call.access->find_user(command->name) != nullptr;
    const auto record = context.broker().change(*command);
    if (!record) return bad_request(record.error().text);
    return existed ? no_content() : created();
}

// Deletes the user and closes its connections.
Result<CatalogRecord, CatalogRefusal> remove_user(Context& context, const std::string& name) {
    REVENANT_TRY(CatalogRecord record, context.broker().change(DeleteUser{name}));
    context.settings().close_connections_if(
        [&](const runtime::ConnectionView& connection) { return connection.user == name; },
        "user '" + name + "' was deleted");
    return record;
}

Response delete_user(Context& context, const Call& call) {
    return change_response(remove_user(context, call.parameter(0)));
}

Response delete_many(Context& context, const Call& call) {
    const auto body = read_body(call.request);
    if (!body) return body.error();
    if (auto missing = check_keys(*body, {"users"})) return std::move(*missing);
    const auto names = tags_field(*body, "users");
    if (!names || !*names || !body->at("users").is_array()) return bad_request("not_json");
    for (const std::string& name : **names) {
        const auto removed = remove_user(context, name);
        if (removed) continue;
        const bool missing = removed.error().kind == CatalogRefusal::Kind::no_such_user;
        return bad_request(missing ? "no_such_user: " + name : removed.error().text);
    }
    return no_content();
}

}  // namespace

void add_user_routes(Router& router, Context& context) {
    router.add("GET", "/users", Role::administrator,
               [](const Call& call) { return list_users(call, false); });
    router.add("GET", "/users/without-permissions", Role::administrator,
               [](const Call& call) { return list_users(call, true); });
    router.add("POST", "/users/bulk-delete", Role::administrator,
               [&](const Call& call) { return delete_many(context, call); });
    router.add("GET", "/users/*", Role::administrator, show_user);
    router.add("PUT", "/users/*", Role::administrator,
               [&](const Call& call) { return put_user(context, call); });
    router.add("DELETE", "/users/*", Role::administrator,
               [&](const Call& call) { return delete_user(context, call); });
}

}  // namespace revenant::http
