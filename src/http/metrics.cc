#include "http/metrics.h"

#include "http/process.h"
#include "http/prometheus.h"
#include "http/responses.h"
#include "runtime/system_clock.h"

#include <utility>

namespace revenant::http {
namespace {

using Kind = PrometheusText::Kind;
constexpr std::string_view protocol = "amqp091";
constexpr std::string_view queue_type = "rabbit_classic_queue";

using engine::DeathStrategy;
using engine::QueueKind;

std::string_view type_label(QueueKind kind) {
    return kind == QueueKind::quorum ? "rabbit_quorum_queue" : queue_type;
}

void write_identity(PrometheusText& text, const ApiSettings& settings) {
    text.family("rabbitmq_identity_info", Kind::gauge, "RabbitMQ node & cluster identity info");
    text.sample({{"rabbitmq_node", settings.node_name},
                 {"rabbitmq_cluster", settings.cluster_name},
                 {"rabbitmq_cluster_permanent_id", settings.cluster_name},
                 {"rabbitmq_endpoint", "aggregated"}},
                std::uint64_t{1});
    text.family("rabbitmq_build_info", Kind::gauge,
                "RabbitMQ & Erlang/OTP version info, as far as it applies here");
    text.sample({{"rabbitmq_version", settings.rabbitmq_version},
                 {"prometheus_plugin_version", settings.product_version},
                 {"prometheus_client_version", settings.product_version},
                 {"erlang_version", ""},
                 {"product_name", settings.product_name},
                 {"product_version", settings.product_version}},
                std::uint64_t{1});
}

void write_objects(PrometheusText& text, const engine::Totals& totals, std::size_t connections) {
    text.single("rabbitmq_connections", Kind::gauge, "Connections currently open", connections);
    text.single("rabbitmq_channels", Kind::gauge, "Channels currently open", totals.channels);
    text.single("rabbitmq_consumers", Kind::gauge, "Consumers currently connected",
                totals.consumers);
    text.single("rabbitmq_queues", Kind::gauge, "Queues available", totals.queues);
    text.single("rabbitmq_exchanges", Kind::gauge, "Exchanges available", totals.exchanges);
    text.single("rabbitmq_connections_opened_total", Kind::counter,
                "Total number of connections opened", totals.traffic.connections_opened);
    text.single("rabbitmq_connections_closed_total", Kind::counter,
                "Total number of connections closed or terminated",
                totals.traffic.connections_closed);
    text.single("rabbitmq_channels_opened_total", Kind::counter, "Total number of channels opened",
                totals.traffic.channels_opened);
    text.single("rabbitmq_channels_closed_total", Kind::counter, "Total number of channels closed",
                totals.traffic.channels_closed);
    text.single("rabbitmq_queues_declared_total", Kind::counter, "Total number of queues declared",
                totals.traffic.queues_declared);
    text.single("rabbitmq_queues_created_total", Kind::counter, "Total number of queues created",
                totals.traffic.queues_created);
    text.single("rabbitmq_queues_deleted_total", Kind::counter, "Total number of queues deleted",
                totals.traffic.queues_deleted);
    text.single("rabbitmq_queue_messages_ready", Kind::gauge,
                "Messages ready to be delivered to consumers", totals.ready);
    text.single("rabbitmq_queue_messages_unacked", Kind::gauge,
                "Messages delivered to consumers but not yet acknowledged", totals.unacked);
    text.single("rabbitmq_queue_messages", Kind::gauge,
                "Ready, unacknowledged, delayed and dead-lettering messages - total queue depth",
                totals.messages());
    text.single("rabbitmq_queue_consumers", Kind::gauge, "Consumers on a queue", totals.consumers);
    text.single("rabbitmq_queue_messages_ready_bytes", Kind::gauge,
                "Size in bytes of ready messages", totals.ready_bytes);
    text.single("rabbitmq_queue_messages_unacked_bytes", Kind::gauge,
                "Size in bytes of all unacknowledged messages", totals.unacked_bytes);
    text.single("rabbitmq_queue_messages_bytes", Kind::gauge,
                "Size in bytes of all messages in queues", totals.bytes());
}

void write_publishing(PrometheusText& text, const engine::Traffic& traffic) {
    const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t value) {
        text.family(name, Kind::counter, help);
        text.sample({{"protocol", protocol}}, value);
    };
    counter("rabbitmq_global_messages_received_total",
            "Total number of messages received from publishers", traffic.received);
    counter("rabbitmq_global_messages_received_confirm_total",
            "Total number of messages received from publishers expecting confirmations",
            traffic.received_confirm);
    counter("rabbitmq_global_messages_routed_total",
            "Total number of messages routed to queues or streams", traffic.routed);
    counter("rabbitmq_global_messages_unroutable_dropped_total",
            "Total number of messages published as non-mandatory into an exchange and dropped as "
            "unroutable",
            traffic.unroutable_dropped);
    counter("rabbitmq_global_messages_unroutable_returned_total",
            "Total number of messages published as mandatory into an exchange and returned to the "
            "publisher as unroutable",
            traffic.unroutable_returned);
    counter("rabbitmq_global_messages_confirmed_total",
            "Total number of messages confirmed to publishers", traffic.confirmed);
}

void write_consuming(PrometheusText& text, const engine::Traffic& traffic) {
    const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t value) {
        text.family(name, Kind::counter, help);
        text.sample({{"protocol", protocol}, {"queue_type", queue_type}}, value);
    };
    counter("rabbitmq_global_messages_delivered_total",
            "Total number of messages delivered to consumers",
            traffic.delivered_auto_ack + traffic.delivered_manual_ack + traffic.got_auto_ack +
                traffic.got_manual_ack);
    counter("rabbitmq_global_messages_delivered_consume_auto_ack_total",
            "Total number of messages delivered to consumers using basic.consume with automatic "
            "acknowledgment",
            traffic.delivered_auto_ack);
    counter("rabbitmq_global_messages_delivered_consume_manual_ack_total",
            "Total number of messages delivered to consumers using basic.consume with manual "
            "acknowledgment",
            traffic.delivered_manual_ack);
    counter("rabbitmq_global_messages_delivered_get_auto_ack_total",
            "Total number of messages delivered to consumers using basic.get with automatic "
            "acknowledgment",
            traffic.got_auto_ack);
    counter("rabbitmq_global_messages_delivered_get_manual_ack_total",
            "Total number of messages delivered to consumers using basic.get with manual "
            "acknowledgment",
            traffic.got_manual_ack);
    counter("rabbitmq_global_messages_get_empty_total",
            "Total number of times basic.get operations fetched no message", traffic.get_empty);
    counter("rabbitmq_global_messages_redelivered_total",
            "Total number of messages redelivered to consumers", traffic.redelivered);
    counter("rabbitmq_global_messages_acknowledged_total",
            "Total number of messages acknowledged by consumers", traffic.acknowledged);
}

// A row of the table in DL-209: the deaths for a reason, by queue type and strategy. Only what can
// happen is there: no classic queue is at-least-once, nor does a full at-least-once queue drop.
void write_deaths(PrometheusText& text, const engine::DeathTable& deaths, DeathReason reason,
                  std::string_view help) {
    text.family(
        "rabbitmq_global_messages_dead_lettered_" + std::string(to_string(reason)) + "_total",
        Kind::counter, help);
    for (const QueueKind kind : {QueueKind::classic, QueueKind::quorum}) {
        if (kind == QueueKind::classic && reason == DeathReason::delivery_limit) continue;
        for (const DeathStrategy strategy :
             {DeathStrategy::disabled, DeathStrategy::at_most_once, DeathStrategy::at_least_once}) {
            const bool exists = strategy != DeathStrategy::at_least_once ||
                                (kind == QueueKind::quorum && reason != DeathReason::maxlen);
            if (!exists) continue;
            text.sample({{"queue_type", type_label(kind)},
                         {"dead_letter_strategy", engine::to_string(strategy)}},
                        deaths.of(kind, strategy, reason));
        }
    }
}

void write_dead_lettering(PrometheusText& text, const engine::Traffic& traffic) {
    write_deaths(text, traffic.deaths, DeathReason::maxlen,
                 "Total number of messages dead-lettered because a queue was full");
    write_deaths(text, traffic.deaths, DeathReason::expired,
                 "Total number of messages dead-lettered because their time to live was over");
    write_deaths(text, traffic.deaths, DeathReason::rejected,
                 "Total number of messages dead-lettered because a consumer rejected them");
    write_deaths(text, traffic.deaths, DeathReason::delivery_limit,
                 "Total number of messages dead-lettered because they came back too often");
    text.family("rabbitmq_global_messages_dead_lettered_confirmed_total", Kind::counter,
                "Total number of dead-lettered messages that all target queues have taken");
    text.sample({{"queue_type", type_label(QueueKind::quorum)},
                 {"dead_letter_strategy", engine::to_string(DeathStrategy::at_least_once)}},
                traffic.dead_letters_confirmed);
}

// Ours: every entry of a queue is accounted for. entered = sum of ended + sum of present.
void write_accounts(PrometheusText& text, const engine::Totals& totals) {
    text.single("revenant_entries_entered_total", Kind::counter,
                "Entries that came into a queue; a message routed to three queues is three",
                totals.accounts.entered);
    text.family("revenant_entries_ended_total", Kind::counter,
                "Entries that left a queue, by how their stay ended");
    for (std::size_t i = 0; i < engine::ending_count; ++i) {
        text.sample({{"ending", engine::to_string(static_cast<engine::Ending>(i))}},
                    totals.accounts.ended[i]);
    }
    text.family("revenant_entries_present", Kind::gauge, "Entries that are in a queue, by state");
    text.sample({{"state", "ready"}}, totals.ready);
    text.sample({{"state", "unacked"}}, totals.unacked);
    text.sample({{"state", "delayed"}}, totals.delayed);
    text.sample({{"state", "dead_letter_waiting"}}, totals.dead_letters_waiting);
    text.single("revenant_publishes_refused_by_queue_total", Kind::counter,
                "Publishes that a full queue refused", totals.traffic.refused_by_queue);
    text.single("revenant_refusals_cut_total", Kind::counter,
                "Messages dropped because so many full queues in a row refused them",
                totals.traffic.refusals_cut);
}

void write_process(PrometheusText& text, const ApiSettings& settings) {
    const ProcessView process = view_process();
    const bool alarm = settings.memory_alarm();
    text.single("rabbitmq_process_open_fds", Kind::gauge, "Open file descriptors",
                process.open_descriptors);
    text.single("rabbitmq_process_max_fds", Kind::gauge, "Open file descriptors limit",
                process.descriptors_max);
    text.single("rabbitmq_process_open_tcp_sockets", Kind::gauge, "Open TCP sockets",
                process.open_sockets);
    text.single("rabbitmq_process_resident_memory_bytes", Kind::gauge, "Memory used in bytes",
                process.resident_bytes);
    text.single("rabbitmq_resident_memory_limit_bytes", Kind::gauge,
                "Memory high watermark in bytes", settings.memory_limit_bytes);
    text.single("rabbitmq_disk_space_available_bytes", Kind::gauge, "Disk space available in bytes",
                disk_free_bytes(settings.data_dir));
    text.single("rabbitmq_alarms_memory_used_watermark", Kind::gauge,
                "is 1 if VM memory watermark alarm is in effect", alarm ? 1 : 0);
    text.family("rabbitmq_erlang_uptime_seconds", Kind::gauge, "Node uptime");
    text.sample({}, static_cast<double>((runtime::system_now() - settings.started_at).us) / 1e6);
    text.family("revenant_process_cpu_seconds_total", Kind::counter, "Processor time used");
    text.sample({}, process.processor_seconds);
}

}  // namespace

Response Metrics::respond(const Request& request) {
    const auto target = parse_target(request.target);
    if (!target || target->segments != std::vector<std::string>{"metrics"}) return not_found();
    Response response;
    if (request.method != "GET") {
        response.status = 405;
        response.headers = {{"allow", "GET, HEAD"}};
        return response;
    }
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = page();
    return response;
}

std::string Metrics::page() {
    PrometheusText text;
    const engine::Totals totals = context_.totals();
    write_identity(text, context_.settings());
    write_objects(text, totals, context_.broker().connection_count());
    write_publishing(text, totals.traffic);
    write_consuming(text, totals.traffic);
    write_dead_lettering(text, totals.traffic);
    write_accounts(text, totals);
    write_process(text, context_.settings());
    return text.text();
}

}  // namespace revenant::http
