#include "http/api.h"

#include "http/api/login.h"
#include "http/api/responses.h"
#include "http/api/routes.h"
#include "http/api/samples.h"
#include "http/server/compression.h"
#include "runtime/system_clock.h"
#include "runtime/thread_priority.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace revenant::http {
namespace {

Response method_not_allowed(const Router::NoRoute& missing, unsigned status) {
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

Response foreign_wish_refused() {
    return error_response(403, "forbidden",
                          "cross-origin request refused; see management.cors.allow_origins");
}

bool can_access_vhost(const Call& call, const std::string& vhost) {
    return is_administrator(*call.user) || call.access->can_access_vhost(call.user->name, vhost);
}

// Checks a role that depends on the virtual host in the path.
std::optional<Response> check_vhost(const Call& call, Role role) {
    const std::string& vhost = call.parameter(0);
    const Response no_object = not_authorised("User not authorised to access object");
    if (role == Role::policymaker && !is_policymaker(*call.user)) return no_object;
    if (call.access->find_vhost(vhost) == nullptr) {
        // RabbitMQ's response to an unknown virtual host depends on the method.
        const bool puts = call.request.method == "PUT" || call.request.method == "POST";
        return puts ? error_response(404, "not_found", "vhost_not_found") : not_found();
    }
    if (role == Role::vhost_visible && can_see_vhost(*call.access, *call.user, vhost)) {
        return std::nullopt;
    }
    if (role != Role::vhost_visible && can_access_vhost(call, vhost)) return std::nullopt;
    if (role == Role::policymaker) return no_object;
    return not_authorised("User not authorised to access virtual host");
}

// The web pages of RabbitMQ 3 cannot add a header to the download or upload of definitions. They
// send the credentials in the query.
std::optional<Request> login_in_query(const Request& request, const Target& target) {
    if (request.find_header("authorization") != nullptr) return std::nullopt;
    if (target.segments.empty() || target.segments.front() != "definitions") return std::nullopt;
    const auto login = target.query.find("auth");
    if (login == target.query.end()) return std::nullopt;
    Request bare;
    std::string base64 = login->second;
    std::replace(base64.begin(), base64.end(), ' ', '+');  // a query decodes + as a space
    bare.headers = {{"authorization", "Basic " + base64}};
    bare.from_loopback = request.from_loopback;
    bare.peer_address = request.peer_address;
    return bare;
}

}  // namespace

Api::Api(ApiSettings settings, runtime::Broker& broker) : context_(std::move(settings), broker) {
    add_auth_routes(router_, context_);
    add_binding_routes(router_, context_);
    add_channel_routes(router_, context_);
    add_connection_routes(router_, context_);
    add_consumer_routes(router_, context_);
    add_dead_letter_routes(router_, context_);
    add_definition_routes(router_, context_);
    add_exchange_routes(router_, context_);
    add_feature_routes(router_, context_);
    add_health_routes(router_, context_);
    add_limit_routes(router_, context_);
    add_message_routes(router_, context_);
    add_node_routes(router_, context_);
    add_overview_routes(router_, context_);
    add_parameter_routes(router_, context_);
    add_permission_routes(router_, context_);
    add_policy_routes(router_, context_);
    add_queue_routes(router_, context_);
    add_user_routes(router_, context_);
    add_vhost_routes(router_, context_);
    if (context_.settings().sample_interval.us > 0) {
        sampler_ = std::thread([this] { sample_until_stopped(); });
    }
}

Api::~Api() { stop(); }

void Api::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    stopped_.notify_all();
    if (sampler_.joinable()) sampler_.join();
}

void Api::sample_until_stopped() {
    runtime::lower_thread_priority();
    const std::chrono::microseconds interval(context_.settings().sample_interval.us);
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        lock.unlock();
        context_.samples().take(context_, runtime::system_now());
        lock.lock();
        stopped_.wait_for(lock, interval, [this] { return stopping_; });
    }
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
        case Role::policymaker_anywhere:
            if (is_policymaker(user)) return std::nullopt;
            return not_authorised("User not authorised to access object");
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
    const CorsRules rules = cors_rules();
    Response response = is_foreign_wish(rules, request) ? foreign_wish_refused() : answer(request);
    add_cors_headers(rules, request, response);
    response.headers.push_back({"content-security-policy", "script-src 'self'; object-src 'self'"});
    compress(request, response);
    return response;
}

Result<Login, Response> Api::log_in_counted(const Request& request, const AccessTable& access) {
    auto login = log_in(access, request, context_.login_rules());
    context_.login_attempts().count(login.has_value());
    return login;
}

Response Api::answer(const Request& request) {
    auto target = parse_target(request.target);
    if (!target) return bad_request("malformed path or query");
    if (target->segments.front() != "api") return not_found();
    target->segments.erase(target->segments.begin());
    auto match = router_.find(request.method, target->segments);
    if (!match) {
        if (match.error().allowed.empty()) return not_found();
        return method_not_allowed(match.error(), request.method == "OPTIONS" ? 200 : 405);
    }
    const auto bare = login_in_query(request, *target);
    Call call{.request = request,
              .parameters = std::move(match->parameters),
              .query = std::move(target->query),
              .access = context_.broker().access()};
    if (match->role != Role::anybody) {
        auto login = log_in_counted(bare ? *bare : request, *call.access);
        if (!login) return std::move(login).error();
        call.user = login->user;
        call.password = std::move(login->password);
        if (auto refused = check_role(call, match->role)) return std::move(*refused);
    }
    Response response = (*match->action)(call);
    const std::string_view deed = deed_text(request.method, target->segments);
    if (!deed.empty() && call.user != nullptr && response.status < 300) {
        context_.settings().note_deed(
            {deed, request.path(), call.user->name, request.peer_address});
    }
    return response;
}

CorsRules Api::cors_rules() const {
    return {context_.settings().cors_allow_origins, context_.settings().cors_max_age_seconds};
}

std::optional<Response> Api::refuse_early(const Request& request) {
    if (is_foreign_wish(cors_rules(), request)) return foreign_wish_refused();
    const auto access = context_.broker().access();
    auto target = parse_target(request.target);
    if (target && !target->segments.empty()) target->segments.erase(target->segments.begin());
    const auto bare = target ? login_in_query(request, *target) : std::nullopt;
    auto login = log_in(*access, bare ? *bare : request, context_.login_rules());
    if (login) return std::nullopt;
    return std::move(login).error();
}

}  // namespace revenant::http
