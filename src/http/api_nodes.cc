// /nodes: there is one. management 4.4
#include "http/api.h"
#include "http/listing.h"
#include "http/process.h"
#include "http/responses.h"
#include "http/views.h"
#include "runtime/system_clock.h"

#include <utility>

namespace revenant::http {
namespace {

json::array auth_mechanisms() {
    json::array mechanisms;
    for (const auto& [name, description] :
         {std::pair{"PLAIN", "SASL PLAIN authentication mechanism"},
          std::pair{"AMQPLAIN", "QPid AMQPLAIN mechanism"},
          std::pair{"ANONYMOUS", "SASL ANONYMOUS authentication mechanism"}}) {
        mechanisms.push_back(
            json::object{{"name", name}, {"description", description}, {"enabled", true}});
    }
    return mechanisms;
}

json::object view_node(Context& context) {
    const ApiSettings& settings = context.settings();
    const ProcessView process = view_process();
    return {
        {"name", settings.node_name},
        {"type", "disc"},
        {"running", true},
        {"being_drained", false},
        {"os_pid", std::to_string(process.pid)},
        {"uptime", (runtime::system_now() - settings.started_at).us / 1000},
        {"processors", process.processors},
        {"run_queue", 0},
        {"mem_used", process.resident_bytes},
        {"mem_limit", settings.memory_limit_bytes},
        {"mem_alarm", settings.memory_alarm()},
        {"mem_calculation_strategy", "rss"},
        {"disk_free", disk_free_bytes(settings.data_dir)},
        {"disk_free_limit", 0},
        {"disk_free_alarm", false},
        {"fd_used", process.open_descriptors},
        {"fd_total", process.descriptors_max},
        {"sockets_used", context.broker().connection_count()},
        {"sockets_total", process.descriptors_max},
        {"proc_used", process.threads},
        {"proc_total", process.threads},
        {"partitions", json::array{}},
        {"cluster_links", json::array{}},
        {"applications", json::array{json::object{{"name", settings.product_name},
                                                  {"description", "message broker"},
                                                  {"version", settings.product_version}}}},
        {"auth_mechanisms", auth_mechanisms()},
        {"exchange_types", exchange_types()},
        {"contexts", json::array{}},
        {"enabled_plugins", json::array{}},
        {"config_files", json::array{}},
        {"log_files", json::array{"<stderr>"}},
        {"db_dir", settings.data_dir},
        {"net_ticktime", 0},
        {"rates_mode", "none"},
    };
}

}  // namespace

void add_node_routes(Router& router, Context& context) {
    router.add("GET", "/nodes", Role::monitoring,
               [&](const Call& call) { return list(call, json::array{view_node(context)}); });
    router.add("GET", "/nodes/*", Role::monitoring, [&](const Call& call) {
        if (call.parameter(0) != context.settings().node_name) return not_found();
        return show(call, view_node(context));
    });
    // One node's queues are where they are.
    router.add("POST", "/rebalance/queues", Role::administrator,
               [](const Call&) { return no_content(); });
}

}  // namespace revenant::http
