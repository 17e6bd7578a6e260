#include "http/api.h"

#include "http/login.h"
#include "http/responses.h"

#include <utility>

namespace revenant::http {
namespace {

Response method_not_allowed(const Router::Missing& missing, unsigned status) {
    Response response;
    response.status = status;
    std::string allow;
    for (const std::string_view method : missing.allowed) {
        if (method == "GET") allow += "HEAD, ";
        allow += method;
        allow += ", ";
    }
    response.headers = {{"allow", allow + "OPTIONS"}};
    return response;
}

bool may_enter(const Call& call, const std::string& vhost) {
    return is_administrator(*call.user) || call.access->may_enter(call.user->name, vhost);
}

// Roles that are about the vhost in the path.
std::optional<Response> check_vhost(const Call& call, Role role) {
    const std::string& vhost = call.parameter(0);
    const Response no_object = not_authorised("User not authorised to access object");
    if (role == Role::policymaker && !is_policymaker(*call.user)) return no_object;
    if (call.access->find_vhost(vhost) == nullptr) {
        // RabbitMQ finds out at different places, with different words.
        const bool puts = call.request.method == "PUT" || call.request.method == "POST";
        return puts ? error_response(404, "not_found", "vhost_not_found") : not_found();
    }
    if (role == Role::vhost_visible && sees_vhost(*call.access, *call.user, vhost)) {
        return std::nullopt;
    }
    if (role != Role::vhost_visible && may_enter(call, vhost)) return std::nullopt;
    if (role == Role::policymaker) return no_object;
    return not_authorised("User not authorised to access virtual host");
}

}  // namespace

engine::Totals Context::totals() {
    const std::lock_guard lock(mutex_);
    engine::Totals sum = retired_;
    for (const auto& vhost : broker_.vhosts()) {
        sum += broker_.ask(vhost, [](engine::Engine& engine) { return engine::sum_up(engine); });
    }
    return sum;
}

Result<CatalogRecord, CatalogRefusal> Context::delete_vhost(const std::string& name) {
    {
        const std::lock_guard lock(mutex_);
        const auto vhost = broker_.find_vhost(name);
        REVENANT_TRY(const CatalogRecord record, broker_.change(DeleteVhost{name}));
        if (vhost == nullptr) return record;
        const engine::Totals last =
            broker_.ask(vhost, [](engine::Engine& engine) { return engine::sum_up(engine); });
        // Its messages are gone with it, and the accounts say so.
        retired_.accounts.of(engine::Ending::queue_deleted) += last.messages();
        engine::Totals counters;
        counters.accounts = last.accounts;
        counters.traffic = last.traffic;
        retired_ += counters;
    }
    settings_.close_connections_if(
        [&](const runtime::ConnectionView& connection) { return connection.vhost == name; },
        "vhost '" + name + "' is deleted");
    return CatalogRecord{};
}

std::vector<std::string> Context::visible_vhosts(const Call& call) const {
    std::vector<std::string> names;
    for (const auto& [name, vhost] : call.access->rules().vhosts) {
        if (sees_vhost(*call.access, *call.user, name)) names.push_back(name);
    }
    return names;
}

Api::Api(ApiSettings settings, runtime::Broker& broker) : context_(std::move(settings), broker) {
    add_binding_routes(router_, context_);
    add_channel_routes(router_, context_);
    add_connection_routes(router_, context_);
    add_consumer_routes(router_, context_);
    add_exchange_routes(router_, context_);
    add_health_routes(router_, context_);
    add_limit_routes(router_, context_);
    add_node_routes(router_, context_);
    add_overview_routes(router_, context_);
    add_permission_routes(router_, context_);
    add_policy_routes(router_, context_);
    add_queue_routes(router_, context_);
    add_user_routes(router_, context_);
    add_vhost_routes(router_, context_);
}

std::optional<Response> Api::check_role(const Call& call, Role role) const {
    const User& user = *call.user;
    switch (role) {
        case Role::anybody:
        case Role::management:
            return std::nullopt;
        case Role::vhost:
        case Role::vhost_visible:
        case Role::policymaker:
            return check_vhost(call, role);
        case Role::monitoring:
            if (is_monitor(user)) return std::nullopt;
            return not_authorised("Not monitor user");
        case Role::administrator:
            if (is_administrator(user)) return std::nullopt;
            return not_authorised("Not administrator user");
    }
    return not_authorised("Not administrator user");
}

Response Api::respond(const Request& request) {
    auto target = parse_target(request.target);
    if (!target) return bad_request("malformed path or query");
    if (target->segments.front() != "api") return not_found();
    target->segments.erase(target->segments.begin());
    auto match = router_.find(request.method, target->segments);
    if (!match) {
        if (match.error().allowed.empty()) return not_found();
        return method_not_allowed(match.error(), request.method == "OPTIONS" ? 200 : 405);
    }
    Call call{.request = request,
              .parameters = std::move(match->parameters),
              .query = std::move(target->query),
              .access = context_.broker().access()};
    if (match->role != Role::anybody) {
        auto login = log_in(*call.access, request, context_.settings().loopback_users);
        if (!login) return std::move(login).error();
        call.user = login->user;
        call.password = std::move(login->password);
        if (auto refused = check_role(call, match->role)) return std::move(*refused);
    }
    return (*match->action)(call);
}

std::optional<Response> Api::refuse_early(const Request& request) {
    const auto access = context_.broker().access();
    auto login = log_in(*access, request, context_.settings().loopback_users);
    if (login) return std::nullopt;
    return std::move(login).error();
}

}  // namespace revenant::http
