// /overview, /whoami and other requests about the whole node.
#include "http/api/body.h"
#include "http/api/listing.h"
#include "http/api/object_stats.h"
#include "http/api/resource_json.h"
#include "http/api/responses.h"
#include "http/api/routes.h"
#include "http/api/views.h"

#include <fmt/format.h>

namespace revenant::http {
namespace {

void add_listeners(const ApiSettings& settings, json::object& overview) {
    json::array listeners;
    for (const ListenerView& listener : settings.listeners) {
        listeners.push_back(json::object{{"node", settings.node_name},
                                         {"protocol", listener.protocol},
                                         {"ip_address", listener.address},
                                         {"port", listener.port},
                                         {"socket_opts", json::object{}},
                                         {"tls", listener.tls != nullptr}});
    }
    json::array contexts = view_contexts(settings);
    for (json::value& context : contexts) context.get_object()["node"] = settings.node_name;
    overview["node"] = settings.node_name;
    overview["listeners"] = std::move(listeners);
    overview["contexts"] = std::move(contexts);
}

void add_totals(const engine::Totals& totals, const StatsRequest& wanted, json::object& overview) {
    const StatValues now = stats_of(totals);
    const Trend trend = wanted.trend_of_one(node_key());
    const Ranges& ranges = wanted.ranges();
    json::object lengths;
    lengths["messages_parked"] = totals.parked.count;
    if (!wanted.stats()) {
        for (const Stat stat : queue_length_stats()) lengths[to_string(stat)] = now[stat];
        overview["queue_totals"] = std::move(lengths);
        return;
    }
    add_stats(lengths, now, trend, queue_length_stats(), ranges.lengths);
    overview["queue_totals"] = std::move(lengths);
    add_message_stats(overview, now, trend, channel_message_stats(), wanted);
    json::object churn;
    add_stats(churn, now, trend, churn_stats(), ranges.message_rates);
    overview["churn_rates"] = std::move(churn);
}

json::object view_tags(const std::map<std::string, std::string, std::less<>>& tags) {
    json::object view;
    for (const auto& [name, value] : tags) view[to_json_string(name)] = to_json_string(value);
    return view;
}

Response overview(Context& context, const Call& call) {
    const ApiSettings& settings = context.settings();
    const auto wanted = StatsRequest::of(context, call);
    if (!wanted) return wanted.error();
    const engine::Totals totals = context.totals();
    json::object body{
        {"management_version", settings.rabbitmq_version},
        {"rates_mode", settings.rates_mode},
        {"sample_retention_policies",
         {{"global", json::array{600, 3600, 28800, 86400}},
          {"basic", json::array{600, 3600}},
          {"detailed", json::array{600, 3600}}}},
        {"exchange_types", exchange_types()},
        {"product_version", settings.product_version},
        {"product_name", settings.product_name},
        {"rabbitmq_version", settings.rabbitmq_version},
        {"cluster_name", to_json_string(context.cluster_name())},
        {"cluster_tags", view_tags(settings.cluster_tags)},
        {"node_tags", view_tags(settings.node_tags)},
        {"erlang_version", ""},
        {"erlang_full_version", ""},
        {"disable_stats", settings.disable_stats},
        {"default_queue_type", settings.default_queue_type},
        {"is_op_policy_updating_enabled", !settings.operator_policies_are_fixed},
        {"enable_queue_totals", settings.enable_queue_totals},
        {"message_stats", json::object{}},
        {"object_totals",
         {{"channels", totals.channels},
          {"connections", context.broker().connection_count()},
          {"consumers", totals.consumers()},
          {"exchanges", totals.exchanges},
          {"queues", totals.queues}}},
        {"statistics_db_event_queue", 0},
    };
    add_totals(totals, *wanted, body);
    if (is_monitor(*call.user)) add_listeners(settings, body);
    return show(call, std::move(body));
}

Response whoami(const Context& context, const Call& call) {
    return ok(view_login(context.settings(), *call.user));
}

// Not in RabbitMQ. The caller's AMQP permissions, with which pages hide actions that would be
// refused.
Response own_permissions(const Call& call) {
    json::array views;
    for (const auto& [of, permissions] : call.access->rules().permissions) {
        if (of.user == call.user->name) views.push_back(view_permissions(of, permissions));
    }
    return ok(views);
}

Response put_cluster_name(Context& context, const Call& call) {
    const auto body = read_body(call.request);
    if (!body) return body.error();
    if (auto missing = check_keys(*body, {"name"})) return std::move(*missing);
    const json::value& name = body->at("name");
    if (!name.is_string()) return bad_request("name is not a string");
    const auto record = context.broker().change(SetGlobalParameter{"cluster_name", to_text(name)});
    return record ? no_content() : bad_request(record.error().text);
}

// "100B", "10KB", "50MB". The limits are multiples of these units.
std::string size_text(std::uint64_t bytes) {
    if (bytes >= 1'000'000) return std::to_string(bytes / 1'000'000) + "MB";
    if (bytes >= 1'000) return std::to_string(bytes / 1'000) + "KB";
    return std::to_string(bytes) + "B";
}

// Not in RabbitMQ. Used by message_size_stats of revenantctl, with the texts of
// rabbitmq-diagnostics.
Response message_sizes(Context& context) {
    engine::MessageSizes sizes;
    const engine::Traffic traffic = context.totals().traffic;
    sizes += traffic.of(engine::ClientProtocol::amqp091).message_sizes;
    sizes += traffic.of(engine::ClientProtocol::amqp10).message_sizes;
    std::uint64_t total = 0;
    for (const std::uint64_t count : sizes.counts) total += count;
    const auto& limits = engine::message_size_limits;
    json::array views;
    for (std::size_t i = 0; i <= limits.size(); ++i) {
        std::string size = i == 0               ? "below " + size_text(limits[0])
                           : i == limits.size() ? "above " + size_text(limits[i - 1])
                                                : "between " + size_text(limits[i - 1]) + " and " +
                                                      size_text(limits[i]);
        const double share =
            total == 0 ? 0
                       : 100 * static_cast<double>(sizes.counts[i]) / static_cast<double>(total);
        views.push_back(json::object{{"Message Size", std::move(size)},
                                     {"Count", sizes.counts[i]},
                                     {"Percentage", fmt::format("{:.2f}", share)}});
    }
    return ok(views);
}

}  // namespace

void add_overview_routes(Router& router, Context& context) {
    router.add("GET", "/overview", Role::management,
               [&](const Call& call) { return overview(context, call); });
    router.add("GET", "/whoami", Role::management,
               [&](const Call& call) { return whoami(context, call); });
    router.add("GET", "/whoami/permissions", Role::management, own_permissions);
    router.add("GET", "/message-sizes", Role::monitoring,
               [&](const Call&) { return message_sizes(context); });
    // Tools request the version before they log in.
    router.add("GET", "/version", Role::anybody,
               [&](const Call&) { return ok(json::value(context.settings().rabbitmq_version)); });
    router.add("GET", "/cluster-name", Role::management, [&](const Call&) {
        return ok(json::object{{"name", to_json_string(context.cluster_name())}});
    });
    router.add("PUT", "/cluster-name", Role::administrator,
               [&](const Call& call) { return put_cluster_name(context, call); });
    // RabbitMQ's own pages load this file, which is theirs, before they render.
    router.add("GET", "/extensions", Role::management, [](const Call&) {
        return ok(json::array{json::object{{"javascript", "dispatcher.js"}}});
    });
}

}  // namespace revenant::http
