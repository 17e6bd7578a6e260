// Metrics of the node: objects, process, machine and alarms. management 6.2, 6.3
#include "http/api/object_lists.h"
#include "http/api/process.h"
#include "http/metrics/metrics_page.h"
#include "journal/disk_counters.h"
#include "runtime/system_clock.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace revenant::http {
namespace {

using Kind = PrometheusText::Kind;

void write_churn(PrometheusText& text, const std::string& prefix, const engine::Traffic& traffic) {
    const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t value) {
        text.single(prefix + std::string(name), Kind::counter, help, value);
    };
    counter("connections_opened_total", "Total number of connections opened",
            traffic.connections_opened);
    counter("connections_closed_total", "Total number of connections closed or terminated",
            traffic.connections_closed);
    counter("channels_opened_total", "Total number of channels opened", traffic.channels_opened);
    counter("channels_closed_total", "Total number of channels closed", traffic.channels_closed);
    counter("queues_declared_total", "Total number of queues declared", traffic.queues_declared);
    counter("queues_created_total", "Total number of queues created", traffic.queues_created);
    counter("queues_deleted_total", "Total number of queues deleted", traffic.queues_deleted);
}

void write_disk(PrometheusText& text, const std::string& prefix) {
    const journal::DiskCounters disk = journal::disk_counters();
    const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t value) {
        text.single(prefix + std::string(name), Kind::counter, help, value);
    };
    const auto seconds = [&](std::string_view name, std::string_view help,
                             std::uint64_t nanoseconds) {
        text.family(prefix + std::string(name), Kind::counter, help);
        text.sample({}, static_cast<double>(nanoseconds) / 1e9);
    };
    counter("io_read_ops_total", "Total number of I/O read operations", disk.reads.count);
    counter("io_read_bytes_total", "Total number of I/O bytes read", disk.reads.bytes);
    counter("io_write_ops_total", "Total number of I/O write operations", disk.writes.count);
    counter("io_write_bytes_total", "Total number of I/O bytes written", disk.writes.bytes);
    counter("io_sync_ops_total", "Total number of I/O sync operations", disk.syncs.count);
    seconds("io_read_time_seconds_total", "Total I/O read time", disk.reads.nanoseconds);
    seconds("io_write_time_seconds_total", "Total I/O write time", disk.writes.nanoseconds);
    seconds("io_sync_time_seconds_total", "Total I/O sync time", disk.syncs.nanoseconds);
}

void write_logins(PrometheusText& text, const std::string& prefix, Context& context) {
    const std::vector<LoginsOfProtocol> logins = logins_by_protocol(context);
    const auto family = [&](std::string_view name, std::string_view help, auto value) {
        text.family(prefix + std::string(name), Kind::counter, help);
        for (const LoginsOfProtocol& one : logins) {
            text.sample({{"protocol", one.protocol}}, value(one));
        }
    };
    family("auth_attempts_total", "Total number of authentication attempts",
           [](const LoginsOfProtocol& one) { return one.succeeded + one.failed; });
    family("auth_attempts_succeeded_total", "Total number of successful authentication attempts",
           [](const LoginsOfProtocol& one) { return one.succeeded; });
    family("auth_attempts_failed_total", "Total number of failed authentication attempts",
           [](const LoginsOfProtocol& one) { return one.failed; });
}

bool disk_alarm(const ApiSettings& settings) {
    return settings.disk_alarm && settings.disk_alarm();
}

bool descriptors_exhausted(const ProcessView& process) {
    return process.descriptors_max > 0 && process.open_descriptors >= process.descriptors_max;
}

}  // namespace

void write_identity(PrometheusText& text, Context& context, std::string_view endpoint) {
    const ApiSettings& settings = context.settings();
    text.family("rabbitmq_identity_info", Kind::untyped, "RabbitMQ node & cluster identity info");
    text.sample({{"rabbitmq_node", settings.node_name},
                 {"rabbitmq_cluster", context.cluster_name()},
                 {"rabbitmq_cluster_permanent_id", context.cluster_id()},
                 {"rabbitmq_endpoint", endpoint}},
                std::uint64_t{1});
    text.family("rabbitmq_build_info", Kind::untyped, "RabbitMQ & Erlang/OTP version info");
    text.sample({{"rabbitmq_version", settings.rabbitmq_version},
                 {"prometheus_plugin_version", settings.product_version},
                 {"prometheus_client_version", settings.product_version},
                 {"erlang_version", ""},
                 {"product_name", settings.product_name},
                 {"product_version", settings.product_version}},
                std::uint64_t{1});
}

// A standard metric of Prometheus clients, without a prefix.
void write_process(PrometheusText& text, const Context& context) {
    const Duration up = runtime::system_now() - context.settings().started_at;
    text.single(
        "process_start_time_seconds", Kind::gauge,
        "Start time of the process since unix epoch in seconds",
        static_cast<std::uint64_t>(runtime::wall_now().whole_seconds() - up.us / 1'000'000));
}

void write_object_counts(PrometheusText& text, Context& context, const engine::Totals& totals) {
    text.single("rabbitmq_connections", Kind::gauge, "Connections currently open",
                context.broker().connection_count());
    text.single("rabbitmq_channels", Kind::gauge, "Channels currently open", totals.channels);
    text.single("rabbitmq_consumers", Kind::gauge, "Consumers currently connected",
                totals.consumers());
    text.single("rabbitmq_queues", Kind::gauge, "Queues available", totals.queues);
    text.single("rabbitmq_exchanges", Kind::gauge, "Exchanges available", totals.exchanges);
}

void write_node(PrometheusText& text, std::string_view prefix_text, Context& context,
                const engine::Totals& totals, const FamilyFilter& wants) {
    const std::string prefix(prefix_text);
    const ApiSettings& settings = context.settings();
    const ProcessView process = view_process();
    const auto gauge = [&](std::string_view name, std::string_view help, std::uint64_t value) {
        text.single(prefix + std::string(name), Kind::gauge, help, value);
    };
    if (wants("connection_churn_metrics")) write_churn(text, prefix, totals.traffic);
    if (wants("node_coarse_metrics")) {
        gauge("process_open_fds", "Open file descriptors", process.open_descriptors);
        gauge("process_open_tcp_sockets", "Open TCP sockets", process.open_sockets);
        gauge("process_resident_memory_bytes", "Memory used in bytes", process.resident_bytes);
        gauge("disk_space_available_bytes", "Disk space available in bytes",
              disk_free_bytes(settings.data_dir));
    }
    if (wants("node_persister_metrics")) write_disk(text, prefix);
    if (wants("auth_attempt_metrics")) write_logins(text, prefix, context);
    if (!wants("node_metrics")) return;
    gauge("process_max_fds", "Open file descriptors limit", process.descriptors_max);
    gauge("resident_memory_limit_bytes", "Memory high watermark in bytes",
          settings.memory_limit_bytes());
    gauge("disk_space_available_limit_bytes", "Free disk space low watermark in bytes",
          settings.disk_free_limit_bytes());
    text.family(prefix + "erlang_uptime_seconds", Kind::gauge, "Node uptime");
    text.sample({}, static_cast<double>((runtime::system_now() - settings.started_at).us) / 1e6);
}

void write_alarms(PrometheusText& text, const ApiSettings& settings) {
    const std::array<std::pair<std::string_view, bool>, 3> alarms{{
        {"file_descriptor_limit", descriptors_exhausted(view_process())},
        {"free_disk_space_watermark", disk_alarm(settings)},
        {"memory_used_watermark", settings.memory_alarm()},
    }};
    const std::array<std::string_view, 3> help{
        "is 1 if file descriptor limit alarm is in effect",
        "is 1 if free disk space watermark alarm is in effect",
        "is 1 if VM memory watermark alarm is in effect",
    };
    for (std::size_t i = 0; i < alarms.size(); ++i) {
        text.single("rabbitmq_alarms_" + std::string(alarms[i].first), Kind::untyped, help[i],
                    alarms[i].second ? 1 : 0);
    }
    text.family("revenant_alarms", Kind::gauge, "1 while the alarm is in effect");
    for (const auto& [alarm, is_on] : alarms) {
        text.sample({{"alarm", alarm}}, std::uint64_t{is_on ? 1U : 0U});
    }
}

// The memory categories of RabbitMQ. Only messages in queues are measured; the rest is
// other_erlang_process.
void write_memory_breakdown(PrometheusText& text, Context& context) {
    const std::uint64_t resident = view_process().resident_bytes;
    const std::uint64_t in_queues = std::min(bytes_in_queues(context.broker()), resident);
    const auto part = [&](std::string_view name, std::string_view help, std::uint64_t bytes) {
        text.single("rabbitmq_memory_" + std::string(name) + "_bytes", Kind::gauge, help, bytes);
    };
    for (const auto& [name, help] :
         std::initializer_list<std::pair<std::string_view, std::string_view>>{
             {"code_module", "Code module memory footprint"},
             {"client_connection_reader", "Client connection reader processes footprint in bytes"},
             {"client_connection_writer", "Client connection writer processes footprint in bytes"},
             {"client_connection_channel",
              "Client connection channel processes footprint in bytes"},
             {"client_connection_other", "Client connection other processes footprint in bytes"},
             {"quorum_queue_erlang_process", "Quorum queue processes footprint in bytes"},
             {"quorum_queue_dlx_erlang_process",
              "Quorum queue DLX worker processes footprint in bytes"},
             {"plugin", "Total plugin footprint in bytes"},
             {"metrics", "Metric table footprint in bytes"},
             {"management_stats_db", "Management stats database footprint in bytes"},
             {"binary_heap", "Binary heap size in bytes"},
             {"message_index", "Message index footprint in bytes"},
             {"other_system", "Other runtime footprint in bytes"},
             {"runtime_allocated_unused", "Runtime allocated but unused blocks size in bytes"},
             {"runtime_reserved_unallocated",
              "Runtime reserved but unallocated blocks size in bytes"}}) {
        part(name, help, 0);
    }
    part("classic_queue_erlang_process", "Queues footprint in bytes, all queue types", in_queues);
    part("other_erlang_process", "Other resident memory in bytes", resident - in_queues);
}

}  // namespace revenant::http
