// /overview, /whoami and the other answers about the node as a whole.
#include "http/api.h"
#include "http/listing.h"
#include "http/responses.h"
#include "http/views.h"

namespace revenant::http {
namespace {

void add_listeners(const ApiSettings& settings, json::object& overview) {
    json::array listeners;
    json::array contexts;
    for (const ListenerView& listener : settings.listeners) {
        listeners.push_back(json::object{{"node", settings.node_name},
                                         {"protocol", listener.protocol},
                                         {"ip_address", listener.address},
                                         {"port", listener.port},
                                         {"socket_opts", json::object{}}});
        if (!listener.protocol.starts_with("http")) continue;
        contexts.push_back(
            json::object{{"ssl_opts", json::array{}},
                         {"node", settings.node_name},
                         {"description", listener.protocol == "http" ? "RabbitMQ Management"
                                                                     : "RabbitMQ Prometheus"},
                         {"path", "/"},
                         {"cowboy_opts", "[]"},
                         {"ip", listener.address},
                         {"port", std::to_string(listener.port)}});
    }
    overview["node"] = settings.node_name;
    overview["listeners"] = std::move(listeners);
    overview["contexts"] = std::move(contexts);
}

Response overview(Context& context, const Call& call) {
    const ApiSettings& settings = context.settings();
    const engine::Totals totals = context.totals();
    json::object body{
        {"management_version", settings.rabbitmq_version},
        {"rates_mode", "none"},
        {"sample_retention_policies",
         {{"global", json::array{}}, {"basic", json::array{}}, {"detailed", json::array{}}}},
        {"exchange_types", exchange_types()},
        {"product_version", settings.product_version},
        {"product_name", settings.product_name},
        {"rabbitmq_version", settings.rabbitmq_version},
        {"cluster_name", settings.cluster_name},
        {"cluster_tags", json::object{}},
        {"node_tags", json::object{}},
        {"erlang_version", ""},
        {"erlang_full_version", ""},
        {"disable_stats", false},
        {"default_queue_type", "classic"},
        {"is_op_policy_updating_enabled", true},
        {"enable_queue_totals", false},
        {"message_stats", message_stats(totals.traffic)},
        {"churn_rates",
         {{"queue_declared", totals.traffic.queues_declared},
          {"queue_created", totals.traffic.queues_created},
          {"queue_deleted", totals.traffic.queues_deleted}}},
        {"queue_totals",
         {{"messages", totals.messages()},
          {"messages_ready", totals.ready},
          {"messages_unacknowledged", totals.unacked}}},
        {"object_totals",
         {{"channels", totals.channels},
          {"connections", context.broker().connection_count()},
          {"consumers", totals.consumers},
          {"exchanges", totals.exchanges},
          {"queues", totals.queues}}},
        {"statistics_db_event_queue", 0},
    };
    if (is_monitor(*call.user)) add_listeners(settings, body);
    return show(call, std::move(body));
}

Response whoami(const Call& call) {
    return ok(json::object{{"name", to_json_string(call.user->name)},
                           {"tags", to_json(call.user->tags)},
                           {"is_internal_user", true}});
}

}  // namespace

void add_overview_routes(Router& router, Context& context) {
    router.add("GET", "/overview", Role::management,
               [&](const Call& call) { return overview(context, call); });
    router.add("GET", "/whoami", Role::management, whoami);
    router.add("GET", "/version", Role::management,
               [&](const Call&) { return ok(json::value(context.settings().rabbitmq_version)); });
    router.add("GET", "/cluster-name", Role::management, [&](const Call&) {
        return ok(json::object{{"name", context.settings().cluster_name}});
    });
    router.add("GET", "/extensions", Role::management,
               [](const Call&) { return ok(json::array{}); });
    router.add("GET", "/auth", Role::anybody, [](const Call&) {
        return ok(json::object{{"oauth_enabled", false}});
    });
}

}  // namespace revenant::http
