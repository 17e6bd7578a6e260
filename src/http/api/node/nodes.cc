// /nodes: always one node. management 4.4
#include "auth/sasl.h"
#include "http/api/listing.h"
#include "http/api/object_lists.h"
#include "http/api/object_stats.h"
#include "http/api/process.h"
#include "http/api/responses.h"
#include "http/api/routes.h"
#include "http/api/views.h"
#include "runtime/system_clock.h"
#include "tls/context.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace revenant::http {
namespace {

// All supported mechanisms. The configuration decides which are enabled.
json::array auth_mechanisms(const std::vector<Mechanism>& offered) {
    json::array mechanisms;
    for (const auto& [mechanism, description] :
         {std::pair{Mechanism::plain, "SASL PLAIN authentication mechanism"},
          std::pair{Mechanism::amqplain, "QPid AMQPLAIN mechanism"},
          std::pair{Mechanism::anonymous, "SASL ANONYMOUS authentication mechanism"},
          std::pair{Mechanism::external, "SASL EXTERNAL authentication mechanism"}}) {
        const bool enabled = std::find(offered.begin(), offered.end(), mechanism) != offered.end();
        mechanisms.push_back(json::object{{"name", mechanism_name(mechanism)},
                                          {"description", description},
                                          {"enabled", enabled}});
    }
    return mechanisms;
}

json::object view_node(Context& context) {
    const ApiSettings& settings = context.settings();
    const ProcessView process = view_process();
    static const std::vector<std::string> tls_versions = tls::available_versions();
    return {
        {"name", settings.node_name},
        {"type", "disc"},
        {"running", true},
        {"being_drained", settings.listeners_are_suspended()},
        {"os_pid", std::to_string(process.pid)},
        {"uptime", (runtime::system_now() - settings.started_at).us / 1000},
        {"processors", process.processors},
        {"run_queue", 0},
        {"mem_used", process.resident_bytes},
        {"mem_limit", settings.memory_limit_bytes()},
        {"mem_alarm", settings.memory_alarm()},
        {"mem_calculation_strategy", "rss"},
        {"disk_free", disk_free_bytes(settings.data_dir)},
        {"disk_free_limit", settings.disk_free_limit_bytes()},
        {"disk_free_alarm", settings.disk_alarm && settings.disk_alarm()},
        {"fd_used", process.open_descriptors},
        {"fd_total", process.descriptors_max},
        {"sockets_used", context.broker().connection_count()},
        {"sockets_total", process.descriptors_max},
        {"proc_used", process.threads},
        {"proc_total", process.threads_max},
        {"partitions", json::array{}},
        {"cluster_links", json::array{}},
        {"applications", json::array{json::object{{"name", settings.product_name},
                                                  {"description", "message broker"},
                                                  {"version", settings.product_version}}}},
        {"auth_mechanisms", auth_mechanisms(settings.mechanisms)},
        {"exchange_types", exchange_types()},
        {"contexts", view_contexts(settings)},
        {"enabled_plugins", json::array{}},
        {"config_files", to_json(settings.config_files)},
        {"log_files", to_json(settings.log_files)},
        {"tls_versions", to_json(tls_versions)},
        {"db_dir", settings.data_dir},
        {"net_ticktime", 0},
        {"rates_mode", settings.rates_mode},
    };
}

// Not in RabbitMQ. Counts since startup.
json::object view_journals(const runtime::JournalView& journal) {
    return {
        {"files", journal.files},
        {"waiting_bytes", journal.waiting_bytes},
        {"batches", journal.counters.batches},
        {"written_bytes", journal.counters.written_bytes},
        {"snapshots", journal.counters.snapshots},
        {"snapshot_bytes", journal.counters.snapshot_bytes},
        {"compactions", journal.counters.compactions},
        {"compacted_bytes", journal.counters.compacted_bytes},
    };
}

json::object view_measured_node(Context& context, const StatsRequest& wanted) {
    json::object view = view_node(context);
    if (!wanted.stats()) return view;
    const VhostCounters sums = context.node_counters().all;
    view["journal"] = view_journals(sums.journal);
    const std::optional<Range>& range = wanted.ranges().node_stats;
    Trend trend = wanted.trend_of_one(node_key());
    if (range && trend.empty()) trend = known_or_flat(trend, stats_of_node(context));
    for (const Stat stat : node_resource_stats()) {
        view[std::string(to_string(stat)) + "_details"] = trend.details(stat, range);
    }
    add_stats(view, stats_of(sums.totals), trend, churn_stats(), range);
    return view;
}

Response list_nodes(Context& context, const Call& call) {
    const auto wanted = StatsRequest::of(context, call);
    if (!wanted) return wanted.error();
    return list(call, json::array{view_measured_node(context, *wanted)});
}

// The memory categories of RabbitMQ. Only messages in queues are measured; the rest is other_proc.
json::object memory_parts(Context& context, std::uint64_t resident) {
    const std::uint64_t in_queues = bytes_in_queues(context.broker());
    json::object parts;
    for (const char* name : {"connection_readers",
                             "connection_writers",
                             "connection_channels",
                             "connection_other",
                             "queue_slave_procs",
                             "quorum_queue_procs",
                             "quorum_queue_dlx_procs",
                             "stream_queue_procs",
                             "stream_queue_replica_reader_procs",
                             "stream_queue_coordinator_procs",
                             "plugins",
                             "metrics",
                             "mgmt_db",
                             "mnesia",
                             "metadata_store",
                             "metadata_store_ets",
                             "quorum_ets",
                             "other_ets",
                             "binary",
                             "msg_index",
                             "code",
                             "atom",
                             "other_system"}) {
        parts[name] = 0;
    }
    parts["queue_procs"] = in_queues;
    parts["other_proc"] = resident > in_queues ? resident - in_queues : 0;
    parts["allocated_unused"] = 0;
    parts["reserved_unallocated"] = 0;
    return parts;
}

json::object view_memory(Context& context) {
    const std::uint64_t resident = view_process().resident_bytes;
    json::object memory = memory_parts(context, resident);
    memory["strategy"] = "rss";
    memory["total"] = {{"erlang", resident}, {"rss", resident}, {"allocated", resident}};
    return memory;
}

// RabbitMQ's binary memory: the messages in memory, which are all in queues.
json::object view_binary(Context& context) {
    json::object parts;
    for (const char* name :
         {"connection_readers", "connection_writers", "connection_channels", "connection_other",
          "queue_slave_procs", "quorum_queue_procs", "quorum_queue_dlx_procs", "stream_queue_procs",
          "stream_queue_replica_reader_procs", "stream_queue_coordinator_procs", "metadata_store",
          "plugins", "mgmt_db", "msg_index", "other"}) {
        parts[name] = 0;
    }
    parts["queue_procs"] = bytes_in_queues(context.broker());
    return parts;
}

Response show_node(Context& context, const Call& call) {
    if (call.parameter(0) != context.settings().node_name) return not_found();
    const auto wanted = StatsRequest::of(context, call);
    if (!wanted) return wanted.error();
    json::object view = view_measured_node(context, *wanted);
    if (call.query_parameter("memory") == "true") view["memory"] = view_memory(context);
    if (call.query_parameter("binary") == "true") view["binary"] = view_binary(context);
    return show(call, std::move(view));
}

Response show_memory(Context& context, const Call& call) {
    if (call.parameter(0) != context.settings().node_name) return not_found();
    return ok(json::object{{"memory", view_memory(context)}});
}

// There are no Erlang tables.
Response show_memory_of_tables(const Context& context, const Call& call) {
    if (call.parameter(0) != context.settings().node_name) return not_found();
    return ok(json::object{{"ets_tables_memory", "no_tables"}});
}

// Memory categories in percent of the total, rounded up.
Response show_memory_shares(Context& context, const Call& call) {
    if (call.parameter(0) != context.settings().node_name) return not_found();
    const std::uint64_t resident = view_process().resident_bytes;
    json::object memory{{"total", 100}};
    for (const auto& [name, bytes] : memory_parts(context, resident)) {
        const auto part = bytes.to_number<std::uint64_t>();
        memory[name] = resident == 0 ? 0 : (part * 100 + resident - 1) / resident;
    }
    return ok(json::object{{"memory", std::move(memory)}});
}

// Not in RabbitMQ. Totals of the journals of all virtual hosts.
Response show_journal(Context& context, const Call& call) {
    if (call.parameter(0) != context.settings().node_name) return not_found();
    const runtime::JournalView journal = context.node_counters().all.journal;
    const auto& counters = journal.counters;
    std::uint64_t syncs = 0;
    for (const std::uint64_t count : counters.syncs.counts) syncs += count;
    return ok(json::object{{"files", journal.files},
                           {"waiting_bytes", journal.waiting_bytes},
                           {"batches", counters.batches},
                           {"written_bytes", counters.written_bytes},
                           {"snapshots", counters.snapshots},
                           {"snapshot_bytes", counters.snapshot_bytes},
                           {"compactions", counters.compactions},
                           {"compacted_bytes", counters.compacted_bytes},
                           {"syncs", syncs},
                           {"sync_seconds", static_cast<double>(counters.syncs.sum) / 1e6}});
}

Response reset_statistics(Context& context) {
    context.samples().forget_all();
    return no_content();
}

// Not in RabbitMQ. Used by suspend_listeners and resume_listeners of revenantctl.
Response suspend(const Context& context, const Call& call, bool suspended) {
    if (call.parameter(0) != context.settings().node_name) return not_found();
    if (!context.settings().suspend_listeners) return no_content();
    const auto done = context.settings().suspend_listeners(suspended);
    return done ? no_content() : error_response(503, "unavailable", done.error());
}

// The configured settings by key.
Response effective_configuration(const Context& context) {
    json::object view;
    if (context.settings().configuration) {
        for (const auto& [name, value] : context.settings().configuration()) view[name] = value;
    }
    return ok(view);
}

}  // namespace

void add_node_routes(Router& router, Context& context) {
    router.add("GET", "/nodes", Role::monitoring,
               [&](const Call& call) { return list_nodes(context, call); });
    router.add("GET", "/nodes/*", Role::monitoring,
               [&](const Call& call) { return show_node(context, call); });
    router.add("GET", "/nodes/*/memory", Role::monitoring,
               [&](const Call& call) { return show_memory(context, call); });
    router.add("GET", "/nodes/*/memory/relative", Role::monitoring,
               [&](const Call& call) { return show_memory_shares(context, call); });
    for (const char* path : {"/nodes/*/memory/ets", "/nodes/*/memory/ets/relative"}) {
        router.add("GET", path, Role::monitoring,
                   [&](const Call& call) { return show_memory_of_tables(context, call); });
    }
    router.add("GET", "/nodes/*/journal", Role::monitoring,
               [&](const Call& call) { return show_journal(context, call); });
    router.add("PUT", "/nodes/*/listeners/suspended", Role::administrator,
               [&](const Call& call) { return suspend(context, call, true); });
    router.add("DELETE", "/nodes/*/listeners/suspended", Role::administrator,
               [&](const Call& call) { return suspend(context, call, false); });
    router.add("DELETE", "/reset", Role::administrator,
               [&](const Call&) { return reset_statistics(context); });
    router.add("DELETE", "/reset/*", Role::administrator, [&](const Call& call) {
        const bool known = call.parameter(0) == context.settings().node_name;
        return known ? reset_statistics(context) : not_found();
    });
    router.add("GET", "/config/effective", Role::administrator,
               [&](const Call&) { return effective_configuration(context); });
    // There is nothing to rebalance on a single node.
    router.add("POST", "/rebalance/queues", Role::administrator,
               [](const Call&) { return no_content(); });
}

}  // namespace revenant::http
