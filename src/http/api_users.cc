// /users: accounts, their passwords and tags. management 4.9
#include "base/check.h"
#include "http/api.h"
#include "http/body.h"
#include "http/listing.h"
#include "http/responses.h"
#include "http/views.h"

#include <sys/random.h>
#include <utility>

namespace revenant::http {
namespace {

Salt random_salt() {
    Salt salt{};
    CHECK(getrandom(salt.data(), salt.size(), 0) == static_cast<ssize_t>(salt.size()));
    return salt;
}

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

Result<std::optional<PasswordHash>, Response> read_password(const json::object& body) {
    using Password = std::optional<PasswordHash>;
    if (body.contains("password") && body.contains("password_hash")) {
        return Unexpected{bad_request("both_password_and_password_hash_are_provided")};
    }
    // A bare number is taken for text elsewhere; what opens an account should not be guessed at.
    for (const char* name : {"password", "password_hash"}) {
        if (body.contains(name) && !body.at(name).is_string()) {
            return Unexpected{bad_request(std::string(name) + " is not a string")};
        }
    }
    if (body.contains("password")) {
        REVENANT_TRY(const std::string password, string_field(body, "password", ""));
        // A blank password opens nothing, so there is nothing to hash.
        return Password(password.empty() ? PasswordHash{} : make_hash(password, random_salt()));
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

Result<PutUser, Response> read_user(const Call& call) {
    REVENANT_TRY(const json::object body, read_body(call.request));
    PutUser command;
    command.name = call.parameter(0);
    REVENANT_TRY(auto tags, tags_field(body, "tags"));
    if (!tags) return Unexpected{bad_request("tags_not_present")};
    command.tags = std::move(*tags);
    REVENANT_TRY(command.password, read_password(body));
    REVENANT_TRY(command.limits, read_limits(body));
    REVENANT_TRY(command.permissions, read_permissions(body));
    return command;
}

Response put_user(Context& context, const Call& call) {
    const auto command = read_user(call);
    if (!command) return command.error();
    const bool existed = call.access->find_user(command->name) != nullptr;
    const auto record = context.broker().change(*command);
    if (!record) return bad_request(record.error().text);
    return existed ? no_content() : created();
}

// Whoever is connected as a user that is gone is gone, too.
bool remove_user(Context& context, const std::string& name) {
    if (!context.broker().change(DeleteUser{name})) return false;
    context.settings().close_connections_if(
        [&](const runtime::ConnectionView& connection) { return connection.user == name; },
        "user '" + name + "' was deleted");
    return true;
}

Response delete_user(Context& context, const Call& call) {
    return remove_user(context, call.parameter(0)) ? no_content() : not_found();
}

Response delete_many(Context& context, const Call& call) {
    const auto body = read_body(call.request);
    if (!body) return body.error();
    if (auto missing = check_keys(*body, {"users"})) return std::move(*missing);
    const auto names = tags_field(*body, "users");
    if (!names || !*names || !body->at("users").is_array()) return bad_request("not_json");
    for (const std::string& name : **names) {
        if (!remove_user(context, name)) return bad_request("no_such_user: " + name);
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
    router.add("GET", "/auth/hash_password/*", Role::management, [](const Call& call) {
        return ok(json::object{{"ok", make_hash(call.parameter(0), random_salt()).base64}});
    });
}

}  // namespace revenant::http
