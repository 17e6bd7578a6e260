// /connections: listing and closing connections. management 4.24
#include "http/api/listing.h"
#include "http/api/object_stats.h"
#include "http/api/responses.h"
#include "http/api/routes.h"
#include "http/api/views.h"

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
                           const StatsRequest& wanted, const Trend& trend) {
    constexpr std::array stats = {Stat::recv_oct, Stat::send_oct};
    json::object view = view_connection(context.settings(), connection);
    view["send_pend"] = connection.unsent_bytes;
    if (connection.channel_max > 0) view["channel_max"] = connection.channel_max;
    if (wanted.stats()) {
        add_stats(view, stats_of(connection), trend, stats, wanted.ranges().data_rates);
    }
    return view;
}

std::string_view settle_mode_name(protocol::SettleMode mode) {
    switch (mode) {
        case protocol::SettleMode::unsettled:
            return "unsettled";
        case protocol::SettleMode::settled:
            return "settled";
        case protocol::SettleMode::mixed:
            return "mixed";
    }
    return "mixed";
}

json::value max_size(const protocol::LinkInfo& link) {
    return link.max_message_size ? json::value(*link.max_message_size) : json::value("unlimited");
}

json::value address_of(const protocol::LinkInfo& link) {
    return link.address ? json::value(to_json_string(*link.address)) : json::value(nullptr);
}

template <typename Chosen>
Response list_chosen(Context& context, const Call& call, Chosen chosen) {
    const auto wanted = StatsRequest::of(context, call);
    if (!wanted) return wanted.error();
    const ConnectionNames peers(context);
    const bool typed = wants_typed_arguments(call);
    json::array views;
    for (const auto& connection : peers.all()) {
        if (!chosen(connection)) continue;
        json::object view = view_measured(context, connection, *wanted,
                                          wanted->trend_of(connection_key(connection.name)));
        if (typed) view["client_properties"] = to_typed_json(connection.client_properties);
        views.push_back(std::move(view));
    }
    return list(call, std::move(views));
}

Response show_connection(Context& context, const Call& call) {
    const ConnectionNames peers(context);
    const auto* const connection = peers.find(call.parameter(0));
    if (connection == nullptr) return not_found();
    if (!sees(call, *connection)) return not_authorised("User not authorised to access object");
    const auto wanted = StatsRequest::of(context, call);
    if (!wanted) return wanted.error();
    return show(call, view_measured(context, *connection, *wanted,
                                    wanted->trend_of_one(connection_key(connection->name))));
}

Response close_connection(const Context& context, const Call& call) {
    const std::string& name = call.parameter(0);
    const ConnectionNames peers(context);
    const auto* const connection = peers.find(name);
    if (connection == nullptr) return not_found();
    if (!is_administrator(*call.user) && connection->user != call.user->name) {
        return not_authorised("User not authorised to access object");
    }
    context.settings().close_connections_if(
        [&](const runtime::ConnectionView& one) { return one.name == name; }, close_reason(call));
    return no_content();
}

// As in RabbitMQ, incoming and outgoing are from the broker's point of view.
json::object view_incoming_link(const protocol::LinkInfo& link) {
    return {{"handle", link.handle},
            {"link_name", to_json_string(link.name)},
            {"target_address", address_of(link)},
            {"snd_settle_mode", settle_mode_name(link.settle_mode)},
            {"max_message_size", max_size(link)},
            {"delivery_count", link.delivery_count},
            {"credit", link.credit},
            {"unconfirmed_messages", link.unconfirmed}};
}

json::object view_outgoing_link(const protocol::LinkInfo& link) {
    return {{"handle", link.handle},
            {"link_name", to_json_string(link.name)},
            {"source_address", address_of(link)},
            {"queue_name", to_json_string(link.queue)},
            {"send_settled", link.settle_mode == protocol::SettleMode::settled},
            {"max_message_size", max_size(link)},
            {"filter", json::array{}},  // filters are not supported
            {"delivery_count", link.delivery_count},
            {"credit", link.credit},
            {"consumer_timeout", link.timed_out}};
}

json::object view_session(const protocol::SessionInfo& session) {
    json::array incoming;
    json::array outgoing;
    for (const protocol::LinkInfo& link : session.links) {
        if (link.client_receives) {
            outgoing.push_back(view_outgoing_link(link));
        } else {
            incoming.push_back(view_incoming_link(link));
        }
    }
    return {{"channel_number", session.channel},
            {"handle_max", session.handle_max},
            {"next_incoming_id", session.next_incoming_id},
            {"incoming_window", session.incoming_window},
            {"next_outgoing_id", session.next_outgoing_id},
            {"remote_incoming_window", session.remote_incoming_window},
            {"remote_outgoing_window", session.remote_outgoing_window},
            {"outgoing_unsettled_deliveries", session.unsettled},
            {"incoming_links", std::move(incoming)},
            {"outgoing_links", std::move(outgoing)}};
}

// The AMQP 1.0 sessions of a connection. An AMQP 0-9-1 connection has none.
Response list_sessions(const Context& context, const Call& call) {
    const ConnectionNames peers(context);
    const auto* const connection = peers.find(call.parameter(0));
    if (connection == nullptr) return not_found();
    if (!sees(call, *connection)) return not_authorised("User not authorised to access object");
    json::array sessions;
    if (context.settings().sessions) {
        for (const auto& session : context.settings().sessions(connection->name)) {
            sessions.push_back(view_session(session));
        }
    }
    return list(call, std::move(sessions));
}

// /connections/username/U
bool can_manage_user(const Call& call) {
    return is_administrator(*call.user) || call.parameter(0) == call.user->name;
}

Response list_of_user(Context& context, const Call& call) {
    if (!can_manage_user(call) && !is_monitor(*call.user)) {
        return not_authorised("User not authorised to access object");
    }
    return list_chosen(context, call, [&](const auto& connection) {
        return connection.user == call.parameter(0);
    });
}

Response close_of_user(const Context& context, const Call& call) {
    if (!can_manage_user(call)) return not_authorised("User not authorised to access object");
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
    router.add("GET", "/connections/*/sessions", Role::management,
               [&](const Call& call) { return list_sessions(context, call); });
    router.add("GET", "/vhosts/*/connections", Role::vhost_visible, [&](const Call& call) {
        return list_chosen(context, call, [&](const auto& connection) {
            return connection.vhost == call.parameter(0) && sees(call, connection);
        });
    });
}

}  // namespace revenant::http
