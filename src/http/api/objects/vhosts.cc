// /vhosts: listing, creating and deleting. management 4.6, 4.7
#include "http/api/body.h"
#include "http/api/engine_call.h"
#include "http/api/listing.h"
#include "http/api/object_stats.h"
#include "http/api/resource_json.h"
#include "http/api/responses.h"
#include "http/api/routes.h"
#include "http/api/views.h"

#include <array>
#include <utility>

namespace revenant::http {
namespace {

json::object view_vhost(Context& context, const Vhost& vhost, const StatsRequest& wanted,
                        const Trend& trend) {
    const std::string type = vhost.default_queue_type.empty()
                                 ? context.settings().default_queue_type
                                 : vhost.default_queue_type;
    json::object view{
        {"name", to_json_string(vhost.name)},
        {"description", to_json_string(vhost.description)},
        {"tags", to_json(vhost.tags)},
        {"default_queue_type", type},
        {"compat", vhost.compat.empty() ? context.settings().compat : vhost.compat},
        {"metadata",
         {{"description", to_json_string(vhost.description)},
          {"tags", to_json(vhost.tags)},
          {"default_queue_type", type}}},
        {"tracing", vhost.tracing},
        {"cluster_state", {{context.settings().node_name, "running"}}},
        {"protected_from_deletion", vhost.protected_from_deletion},
    };
    const auto totals = context.list(vhost.name, totals_of);
    if (!totals) return view;
    const StatValues now = stats_of(*totals);
    if (!wanted.stats()) {
        for (const Stat stat : queue_length_stats()) view[to_string(stat)] = now[stat];
        return view;
    }
    add_stats(view, now, trend, queue_length_stats(), wanted.ranges().lengths);
    add_message_stats(view, now, trend, channel_message_stats(), wanted);
    return view;
}

// Adds the bytes received and sent over the current connections.
void add_data(const std::vector<runtime::ConnectionView>& connections, const std::string& vhost,
              const StatsRequest& wanted, const Trend& trend, json::object& view) {
    constexpr std::array stats = {Stat::recv_oct, Stat::send_oct};
    StatValues now;
    for (const runtime::ConnectionView& connection : connections) {
        if (connection.vhost != vhost) continue;
        now[Stat::recv_oct] += connection.received_bytes;
        now[Stat::send_oct] += connection.sent_bytes;
    }
    add_stats(view, now, trend, stats, wanted.ranges().data_rates);
}

Response list_vhosts(Context& context, const Call& call) {
    const auto wanted = StatsRequest::of(context, call);
    if (!wanted) return wanted.error();
    json::array views;
    const auto connections =
        wanted->stats() ? context.settings().connections() : std::vector<runtime::ConnectionView>{};
    for (const std::string& name : context.visible_vhosts(call)) {
        const Trend trend = wanted->trend_of(vhost_key(name));
        json::object view = view_vhost(context, *call.access->find_vhost(name), *wanted, trend);
        if (wanted->stats()) add_data(connections, name, *wanted, trend, view);
        views.push_back(std::move(view));
    }
    return list(call, std::move(views));
}

Response show_vhost(Context& context, const Call& call) {
    const Vhost* const vhost = call.access->find_vhost(call.parameter(0));
    if (vhost == nullptr) return not_found();
    const auto wanted = StatsRequest::of(context, call);
    if (!wanted) return wanted.error();
    const Trend trend = wanted->trend_of_one(vhost_key(vhost->name));
    json::object view = view_vhost(context, *vhost, *wanted, trend);
    if (wanted->stats()) {
        add_data(context.settings().connections(), vhost->name, *wanted, trend, view);
    }
    return show(call, std::move(view));
}

Response put_vhost(Context& context, const Call& call) {
    const auto body = read_body(call.request);
    if (!body) return body.error();
    auto command = vhost_from_json(call.parameter(0), *body);
    if (!command) return std::move(command).error();
    command->grant_to = call.user->name;
    const bool existed = call.access->find_vhost(command->name) != nullptr;
    const auto record = context.broker().change(*command);
    if (!record) return bad_request(record.error().text);
    return existed ? no_content() : created();
}

Response delete_vhost(Context& context, const Call& call) {
    const auto record = context.delete_vhost(call.parameter(0));
    if (record) return no_content();
    if (record.error().kind == CatalogRefusal::Kind::no_such_vhost) return not_found();
    if (record.error().kind == CatalogRefusal::Kind::vhost_is_protected) {
        return error_response(412, "precondition_failed", record.error().text);
    }
    return bad_request(record.error().text);
}

Response protect_vhost(Context& context, const Call& call, bool protect) {
    return change_response(context.broker().change(ProtectVhost{call.parameter(0), protect}));
}

}  // namespace

void add_vhost_routes(Router& router, Context& context) {
    router.add("GET", "/vhosts", Role::management,
               [&](const Call& call) { return list_vhosts(context, call); });
    router.add("GET", "/vhosts/*", Role::administrator,
               [&](const Call& call) { return show_vhost(context, call); });
    router.add("PUT", "/vhosts/*", Role::administrator,
               [&](const Call& call) { return put_vhost(context, call); });
    router.add("DELETE", "/vhosts/*", Role::administrator,
               [&](const Call& call) { return delete_vhost(context, call); });
    router.add("POST", "/vhosts/*/deletion/protection", Role::administrator,
               [&](const Call& call) { return protect_vhost(context, call, true); });
    router.add("DELETE", "/vhosts/*/deletion/protection", Role::administrator,
               [&](const Call& call) { return protect_vhost(context, call, false); });
    // An existing virtual host is always running.
    router.add("POST", "/vhosts/*/start/*", Role::administrator, [&](const Call& call) {
        return call.access->find_vhost(call.parameter(0)) == nullptr ? not_found() : no_content();
    });
}

}  // namespace revenant::http
