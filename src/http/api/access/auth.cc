// Logins from a page, password hashes, and statistics of login attempts. management 4.3, 4.9, 4.30
#include "base/base64.h"
#include "http/api/listing.h"
#include "http/api/resource_json.h"
#include "http/api/responses.h"
#include "http/api/routes.h"
#include "http/api/views.h"

#include <utility>

namespace revenant::http {
namespace {

Response login_failed() { return error_response(401, "not_authorized", "Login failed"); }

// The body is a form with username and password. The response contains the token that the page
// sends with later requests.
Response log_in_by_form(Context& context, const Call& call) {
    const auto form = parse_target("/?" + call.request.body);
    if (!form) return bad_request("malformed form");
    const auto user = form->query.find("username");
    const auto password = form->query.find("password");
    if (user == form->query.end() || password == form->query.end()) return login_failed();
    const std::string credentials = base64_encode(user->second + ":" + password->second);
    Request request;
    request.headers = {{"authorization", "Basic " + credentials}};
    request.from_loopback = call.request.from_loopback;
    request.peer_address = call.request.peer_address;
    auto login = log_in(*call.access, request, context.login_rules());
    context.login_attempts().count(login.has_value());
    if (!login) return login.error().status == 429 ? std::move(login).error() : login_failed();
    return ok(json::object{{"token", {{"type", "basic"}, {"value", credentials}}},
                           {"user", view_login(context.settings(), *login->user)}});
}

Response show_attempts(Context& context, const Call& call) {
    if (call.parameter(0) != context.settings().node_name) return not_found();
    json::array views;
    for (const LoginsOfProtocol& one : logins_by_protocol(context)) {
        views.push_back(json::object{{"protocol", one.protocol},
                                     {"auth_attempts", one.succeeded + one.failed},
                                     {"auth_attempts_failed", one.failed},
                                     {"auth_attempts_succeeded", one.succeeded}});
    }
    return list(call, std::move(views));
}

Response reset_attempts(Context& context, const Call& call) {
    if (call.parameter(0) != context.settings().node_name) return not_found();
    context.login_attempts().reset();
    for (auto& attempts : context.settings().client_logins->attempts) attempts.reset();
    return no_content();
}

}  // namespace

void add_auth_routes(Router& router, Context& context) {
    router.add("POST", "/login", Role::anybody,
               [&](const Call& call) { return log_in_by_form(context, call); });
    // There is no session on the server. The page drops its credentials itself.
    router.add("DELETE", "/login", Role::anybody, [](const Call&) { return no_content(); });
    router.add("GET", "/auth", Role::anybody, [](const Call&) {
        return ok(json::object{{"oauth_enabled", false}});
    });
    router.add("GET", "/auth/hash_password/*", Role::management, [&](const Call& call) {
        return ok(json::object{{"ok", make_hash(call.parameter(0), random_salt(),
                                                context.settings().passwords.algorithm)
                                          .base64}});
    });
    router.add("GET", "/auth/attempts/*", Role::monitoring,
               [&](const Call& call) { return show_attempts(context, call); });
    router.add("DELETE", "/auth/attempts/*", Role::administrator,
               [&](const Call& call) { return reset_attempts(context, call); });
    // The sources of login attempts are not tracked. RabbitMQ tracks them only if configured to.
    router.add("GET", "/auth/attempts/*/source", Role::monitoring, [&](const Call& call) {
        if (call.parameter(0) != context.settings().node_name) return not_found();
        return list(call, json::array{});
    });
    router.add("DELETE", "/auth/attempts/*/source", Role::administrator, [&](const Call& call) {
        return call.parameter(0) == context.settings().node_name ? no_content() : not_found();
    });
}

}  // namespace revenant::http
