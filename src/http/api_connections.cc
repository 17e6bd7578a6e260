// /connections: who is connected, and ending it. management 4.24
#include "http/api.h"
#include "http/listing.h"
#include "http/measured.h"
#include "http/responses.h"
#include "http/views.h"

#include <array>
#include <utility>

namespace revenant::http {
namespace {

constexpr std::string_view default_reason = "Closed via management plugin";

std::string close_reason(const Call& call) {
    const std::string* const given = call.request.find_header("x-reason");
    return given == nullptr ? std::string(default_reason) : *given;
}

json::object view_measured(const Context& context, const runtime::ConnectionView& connection,
                           const Wanted& wanted, const Trend& trend) {
    constexpr std::array figures = {Figure::recv_oct, Figure::send_oct};
    json::object view = view_connection(context.settings(), connection);
    view["send_pend"] = connection.unsent_bytes;
    if (connection.channel_max > 0) view["channel_max"] = connection.channel_max;
    if (wanted.stats()) {
        add_figures(view, figures_of(connection), trend, figures, wanted.ranges().data_rates);
    }
    return view;
}

template <typename Chosen>
Response list_chosen(Context& context, const Call& call, Chosen chosen) {
    const auto wanted = Wanted::of(context, call);
    if (!wanted) return wanted.error();
    const Peers peers(context);
    json::array views;
    for (const auto& connection : peers.all()) {
        if (!chosen(connection)) continue;
        views.push_back(view_measured(context, connection, *wanted,
                                      wanted->trend_of(connection_key(connection.name))));
    }
    return list(call, std::move(views));
}

Response show_connection(Context& context, const Call& call) {
    const Peers peers(context);
    const auto* const connection = peers.find(call.parameter(0));
    if (connection == nullptr) return not_found();
    if (!sees(call, *connection)) return not_authorised("User not authorised to access object");
    const auto wanted = Wanted::of(context, call);
    if (!wanted) return wanted.error();
    return show(call, view_measured(context, *connection, *wanted,
                                    wanted->trend_of_one(connection_key(connection->name))));
}

Response close_connection(const Context& context, const Call& call) {
    const std::string& name = call.parameter(0);
    const Peers peers(context);
    const auto* const connection = peers.find(name);
    if (connection == nullptr) return not_found();
    if (!is_administrator(*call.user) && connection->user != call.user->name) {
        return not_authorised("User not authorised to access object");
    }
    context.settings().close_connections_if(
        [&](const runtime::ConnectionView& one) { return one.name == name; }, close_reason(call));
    return no_content();
}

// /connections/username/U
bool may_work_on_user(const Call& call) {
    return is_administrator(*call.user) || call.parameter(0) == call.user->name;
}

Response list_of_user(Context& context, const Call& call) {
    if (!may_work_on_user(call) && !is_monitor(*call.user)) {
        return not_authorised("User not authorised to access object");
    }
    return list_chosen(context, call, [&](const auto& connection) {
        return connection.user == call.parameter(0);
    });
}

Response close_of_user(const Context& context, const Call& call) {
    if (!may_work_on_user(call)) return not_authorised("User not authorised to access object");
    context.settings().close_connections_if(
        [&](const runtime::ConnectionView& one) { return one.user == call.parameter(0); },
        close_reason(call));
    return no_content();
}

}  // namespace

void add_connection_routes(Router& router, Context& context) {
    router.add("GET", "/connections", Role::management, [&](const Call& call) {
        return list_chosen(context, call,
                           [&](const auto& connection) { return sees(call, connection); });
    });
    router.add("GET", "/connections/*", Role::management,
               [&](const Call& call) { return show_connection(context, call); });
    router.add("DELETE", "/connections/*", Role::management,
               [&](const Call& call) { return close_connection(context, call); });
    router.add("GET", "/connections/username/*", Role::management,
               [&](const Call& call) { return list_of_user(context, call); });
    router.add("DELETE", "/connections/username/*", Role::management,
               [&](const Call& call) { return close_of_user(context, call); });
    // Sessions are of AMQP 1.0: a connection of 0-9-1 has none.
    router.add("GET", "/connections/*/sessions", Role::management, [&](const Call& call) {
        const Peers peers(context);
        const auto* const connection = peers.find(call.parameter(0));
        if (connection == nullptr) return not_found();
        if (!sees(call, *connection)) return not_authorised("User not authorised to access object");
        return list(call, json::array{});
    });
    router.add("GET", "/vhosts/*/connections", Role::vhost_visible, [&](const Call& call) {
        return list_chosen(context, call, [&](const auto& connection) {
            return connection.vhost == call.parameter(0) && sees(call, connection);
        });
    });
}

}  // namespace revenant::http
