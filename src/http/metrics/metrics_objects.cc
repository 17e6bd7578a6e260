#include "http/metrics/metrics_objects.h"

#include "http/api/views.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace revenant::http {
namespace {

using Kind = PrometheusText::Kind;
using engine::ChannelView;
using engine::ExchangeView;
using engine::QueueView;

template <typename Values>
struct Field {
    std::string_view name;
    Kind kind;
    std::string_view help;
    std::uint64_t (*value)(const Values&);
};

std::uint64_t messages_of(const QueueView& queue) {
    return queue.ready + queue.unacked + queue.delayed + queue.dead_letters_waiting +
           queue.parked.count;
}

std::uint64_t bytes_of(const QueueView& queue) {
    return queue.ready_bytes + queue.unacked_bytes + queue.delayed_bytes +
           queue.dead_letter_bytes_waiting + queue.parked.bytes;
}

constexpr Field<QueueView> queue_coarse_fields[] = {
    {"queue_messages_ready", Kind::gauge, "Messages ready to be delivered to consumers",
     [](const QueueView& q) { return q.ready; }},
    {"queue_messages_unacked", Kind::gauge,
     "Messages delivered to consumers but not yet acknowledged",
     [](const QueueView& q) { return q.unacked; }},
    {"queue_messages", Kind::gauge,
     "Ready, unacknowledged, delayed and dead-lettering messages - total queue depth", messages_of},
};

constexpr Field<QueueView> queue_consumer_fields[] = {
    {"queue_consumers", Kind::gauge, "Consumers on a queue",
     [](const QueueView& q) { return q.consumers; }},
};

constexpr Field<QueueView> queue_fields[] = {
    {"queue_messages_bytes", Kind::gauge, "Size in bytes of all messages in queues", bytes_of},
    {"queue_messages_ready_bytes", Kind::gauge, "Size in bytes of ready messages",
     [](const QueueView& q) { return q.ready_bytes; }},
    {"queue_messages_unacked_bytes", Kind::gauge, "Size in bytes of all unacknowledged messages",
     [](const QueueView& q) { return q.unacked_bytes; }},
    {"queue_messages_persistent", Kind::gauge, "Persistent messages",
     [](const QueueView& q) { return q.persistent_messages.count; }},
    {"queue_messages_persistent_bytes", Kind::gauge, "Size in bytes of persistent messages",
     [](const QueueView& q) { return q.persistent_messages.bytes; }},
    {"queue_messages_ram", Kind::gauge, "Messages in memory",
     [](const QueueView& q) { return messages_of(q) - q.paged_out.count - q.parked.count; }},
    {"queue_messages_ram_bytes", Kind::gauge, "Size in bytes of messages in memory",
     [](const QueueView& q) { return bytes_of(q) - q.paged_out.bytes - q.parked.bytes; }},
    {"queue_messages_paged_out", Kind::gauge, "Messages paged out to disk",
     [](const QueueView& q) { return q.paged_out.count; }},
    {"queue_messages_paged_out_bytes", Kind::gauge, "Size in bytes of messages paged out to disk",
     [](const QueueView& q) { return q.paged_out.bytes; }},
    {"queue_process_memory_bytes", Kind::gauge, "Memory used by a queue and its messages",
     [](const QueueView& q) { return q.memory_bytes; }},
};

constexpr Field<QueueView> queue_delivery_fields[] = {
    {"queue_get_ack_total", Kind::counter,
     "Total number of messages fetched from a queue with basic.get in manual acknowledgement mode",
     [](const QueueView& q) { return q.stats.consumed.got_manual_ack; }},
    {"queue_get_total", Kind::counter,
     "Total number of messages fetched from a queue with basic.get in automatic acknowledgement "
     "mode",
     [](const QueueView& q) { return q.stats.consumed.got_auto_ack; }},
    {"queue_messages_delivered_ack_total", Kind::counter,
     "Total number of messages delivered from a queue to consumers in manual acknowledgement mode",
     [](const QueueView& q) { return q.stats.consumed.delivered_manual_ack; }},
    {"queue_messages_delivered_total", Kind::counter,
     "Total number of messages delivered from a queue to consumers in automatic acknowledgement "
     "mode",
     [](const QueueView& q) { return q.stats.consumed.delivered_auto_ack; }},
    {"queue_messages_redelivered_total", Kind::counter,
     "Total number of messages redelivered from a queue to consumers",
     [](const QueueView& q) { return q.stats.consumed.redelivered; }},
    {"queue_messages_acked_total", Kind::counter,
     "Total number of messages acknowledged by consumers on a queue",
     [](const QueueView& q) { return q.stats.consumed.acknowledged; }},
    {"queue_get_empty_total", Kind::counter,
     "Total number of times basic.get operations fetched no message on a queue",
     [](const QueueView& q) { return q.stats.consumed.get_empty; }},
};

constexpr Field<QueueView> queue_publish_fields[] = {
    {"queue_messages_published_total", Kind::counter,
     "Total number of messages published into queues",
     [](const QueueView& q) { return q.stats.published; }},
};

constexpr Field<ExchangeView> exchange_fields[] = {
    {"exchange_messages_published_total", Kind::counter,
     "Total number of messages published into an exchange",
     [](const ExchangeView& x) { return x.published_in; }},
    {"exchange_messages_confirmed_total", Kind::counter,
     "Total number of messages published into an exchange and confirmed",
     [](const ExchangeView& x) { return x.confirmed; }},
    {"exchange_messages_unroutable_returned_total", Kind::counter,
     "Total number of messages published as mandatory into an exchange and returned as unroutable",
     [](const ExchangeView& x) { return x.unroutable_returned; }},
    {"exchange_messages_unroutable_dropped_total", Kind::counter,
     "Total number of messages published as non-mandatory into an exchange and dropped as "
     "unroutable",
     [](const ExchangeView& x) { return x.unroutable_dropped; }},
};

constexpr Field<ChannelView> channel_fields[] = {
    {"channel_consumers", Kind::gauge, "Consumers on a channel",
     [](const ChannelView& c) { return c.consumers; }},
    {"channel_messages_unacked", Kind::gauge, "Delivered but not yet acknowledged messages",
     [](const ChannelView& c) { return c.unacked; }},
    {"channel_messages_unconfirmed", Kind::gauge, "Published but not yet confirmed messages",
     [](const ChannelView& c) { return c.unconfirmed; }},
    {"channel_messages_uncommitted", Kind::gauge,
     "Messages received in a transaction but not yet committed",
     [](const ChannelView& c) { return c.uncommitted_messages; }},
    {"channel_acks_uncommitted", Kind::gauge,
     "Message acknowledgements in a transaction not yet committed",
     [](const ChannelView& c) { return c.uncommitted_settlements; }},
    {"consumer_prefetch", Kind::gauge, "Limit of unacknowledged messages for each consumer",
     [](const ChannelView& c) { return std::uint64_t{c.prefetch}; }},
    {"channel_prefetch", Kind::gauge,
     "Total limit of unacknowledged messages for all consumers on a channel",
     [](const ChannelView& c) { return std::uint64_t{c.global_prefetch}; }},
};

constexpr Field<ChannelView> channel_publish_fields[] = {
    {"channel_messages_published_total", Kind::counter,
     "Total number of messages published into an exchange on a channel",
     [](const ChannelView& c) { return c.stats.published; }},
    {"channel_messages_confirmed_total", Kind::counter,
     "Total number of messages published into an exchange and confirmed on the channel",
     [](const ChannelView& c) { return c.stats.confirmed; }},
    {"channel_messages_unroutable_returned_total", Kind::counter,
     "Total number of messages published as mandatory into an exchange and returned to the "
     "publisher as unroutable",
     [](const ChannelView& c) { return c.stats.unroutable_returned; }},
    {"channel_messages_unroutable_dropped_total", Kind::counter,
     "Total number of messages published as non-mandatory into an exchange and dropped as "
     "unroutable",
     [](const ChannelView& c) { return c.stats.unroutable_dropped; }},
};

constexpr Field<ChannelView> channel_delivery_fields[] = {
    {"channel_get_ack_total", Kind::counter,
     "Total number of messages fetched with basic.get in manual acknowledgement mode",
     [](const ChannelView& c) { return c.stats.consumed.got_manual_ack; }},
    {"channel_get_total", Kind::counter,
     "Total number of messages fetched with basic.get in automatic acknowledgement mode",
     [](const ChannelView& c) { return c.stats.consumed.got_auto_ack; }},
    {"channel_messages_delivered_ack_total", Kind::counter,
     "Total number of messages delivered to consumers in manual acknowledgement mode",
     [](const ChannelView& c) { return c.stats.consumed.delivered_manual_ack; }},
    {"channel_messages_delivered_total", Kind::counter,
     "Total number of messages delivered to consumers in automatic acknowledgement mode",
     [](const ChannelView& c) { return c.stats.consumed.delivered_auto_ack; }},
    {"channel_messages_redelivered_total", Kind::counter,
     "Total number of messages redelivered to consumers",
     [](const ChannelView& c) { return c.stats.consumed.redelivered; }},
    {"channel_messages_acked_total", Kind::counter,
     "Total number of messages acknowledged by consumers",
     [](const ChannelView& c) { return c.stats.consumed.acknowledged; }},
    {"channel_get_empty_total", Kind::counter,
     "Total number of times basic.get operations fetched no message",
     [](const ChannelView& c) { return c.stats.consumed.get_empty; }},
};

constexpr Field<ConnectionStats> connection_coarse_fields[] = {
    {"connection_incoming_bytes_total", Kind::counter,
     "Total number of bytes received on a connection",
     [](const ConnectionStats& c) { return c.traffic.received_bytes; }},
    {"connection_outgoing_bytes_total", Kind::counter, "Total number of bytes sent on a connection",
     [](const ConnectionStats& c) { return c.traffic.sent_bytes; }},
};

constexpr Field<ConnectionStats> connection_fields[] = {
    {"connection_incoming_packets_total", Kind::counter,
     "Total number of packets received on a connection",
     [](const ConnectionStats& c) { return c.traffic.received_count; }},
    {"connection_outgoing_packets_total", Kind::counter,
     "Total number of packets sent on a connection",
     [](const ConnectionStats& c) { return c.traffic.sent_count; }},
    {"connection_channels", Kind::gauge, "Channels on a connection",
     [](const ConnectionStats& c) { return c.channels; }},
};

constexpr std::string_view queue_families[] = {
    "queue_coarse_metrics",   "queue_consumer_count",           "queue_metrics",
    "queue_delivery_metrics", "channel_queue_exchange_metrics", "revenant_deaths"};
constexpr std::string_view channel_families[] = {"channel_metrics", "channel_exchange_metrics",
                                                 "channel_queue_metrics"};
constexpr std::string_view connection_families[] = {"connection_coarse_metrics",
                                                    "connection_metrics"};

bool any_wanted(const FamilyFilter& wants, std::span<const std::string_view> families) {
    return std::any_of(families.begin(), families.end(), wants);
}

template <typename Values>
struct Group {
    std::string_view family;
    std::span<const Field<Values>> fields;
};

template <typename Values>
void write_groups(PrometheusText& text, std::string_view prefix,
                  std::initializer_list<Group<Values>> groups,
                  const std::vector<MetricRow<Values>>& rows, const FamilyFilter& wants) {
    for (const Group<Values>& group : groups) {
        if (!wants(group.family)) continue;
        for (const Field<Values>& field : group.fields) {
            text.family(std::string(prefix) + std::string(field.name), field.kind, field.help);
            for (const auto& row : rows) text.sample_of(row.labels, field.value(row.values));
        }
    }
}

// Metrics that exist only per queue, because a total would be meaningless.
void write_single_queues(PrometheusText& text, const std::string& prefix,
                         const std::vector<MetricRow<QueueView>>& rows) {
    text.family(prefix + "queue_consumer_capacity", Kind::gauge, "Consumer capacity");
    for (const auto& row : rows) {
        if (!row.labels.empty()) text.sample_of(row.labels, consumer_capacity(row.values));
    }
    text.family(prefix + "queue_head_message_timestamp", Kind::gauge,
                "Timestamp of the first message in the queue, if any");
    for (const auto& row : rows) {
        const auto& timestamp = row.values.head_timestamp;
        if (row.labels.empty() || !timestamp) continue;
        text.sample_of(row.labels, static_cast<double>(*timestamp));
    }
}

void write_queues_by_exchange(PrometheusText& text, const std::string& prefix,
                              const std::vector<MetricRow<QueueView>>& rows) {
    text.family(prefix + "queue_exchange_messages_published_total", Kind::counter,
                "Total number of messages published into a queue through an exchange");
    for (const auto& row : rows) {
        if (row.labels.empty()) {
            text.sample_of("", row.values.stats.published);
            continue;
        }
        for (const auto& source : row.values.published_from) {
            text.sample({{"queue_vhost", row.values.vhost},
                         {"queue", row.values.name},
                         {"exchange_vhost", row.values.vhost},
                         {"exchange", source.exchange}},
                        source.published);
        }
    }
}

bool is_chosen(const VhostFilter& vhosts, const std::string& vhost) {
    return !vhosts || vhosts->contains(vhost);
}

void add_queues(Context& context, const std::string& vhost, MetricRows& rows) {
    auto queues = context.list(vhost, queues_in);
    if (!queues) return;
    for (QueueView& queue : *queues) {
        queue.vhost = vhost;
        rows.queues.push_back(
            {PrometheusText::render({{"vhost", vhost}, {"queue", queue.name}}), std::move(queue)});
    }
}

void add_exchanges(Context& context, const std::string& vhost, MetricRows& rows) {
    auto exchanges = context.list(vhost, exchanges_in);
    if (!exchanges) return;
    for (ExchangeView& exchange : *exchanges) {
        if (exchange.published_in == 0) continue;
        rows.exchanges.push_back(
            {PrometheusText::render({{"vhost", vhost}, {"exchange", exchange.name}}),
             std::move(exchange)});
    }
}

void add_channels(Context& context, const ConnectionNames& peers, const std::string& vhost,
                  MetricRows& rows) {
    auto channels = context.list(vhost, channels_in);
    if (!channels) return;
    for (ChannelView& channel : *channels) {
        const runtime::ConnectionView* const connection = peers.find(channel.connection);
        if (connection == nullptr) continue;  // closing
        const auto* const number = peers.find_channel(*connection, channel.id);
        if (number == nullptr) continue;
        rows.channels.push_back(
            {PrometheusText::render({{"vhost", vhost},
                                     {"connection", connection->name},
                                     {"channel", channel_name(*connection, number->number)}}),
             std::move(channel)});
    }
}

void add_connections(const ConnectionNames& peers, const VhostFilter& vhosts, MetricRows& rows) {
    for (const runtime::ConnectionView& connection : peers.all()) {
        if (!is_chosen(vhosts, connection.vhost)) continue;
        rows.connections.push_back(
            {PrometheusText::render({{"vhost", connection.vhost}, {"connection", connection.name}}),
             {{connection.received_bytes, connection.sent_bytes, connection.received_count,
               connection.sent_count},
              connection.channel_count()}});
    }
}

}  // namespace

MetricRows rows_of_objects(Context& context, const VhostFilter& vhosts, const FamilyFilter& wants) {
    MetricRows rows;
    const bool of_queues = any_wanted(wants, queue_families);
    const bool of_channels = any_wanted(wants, channel_families);
    const bool of_connections = any_wanted(wants, connection_families);
    std::optional<ConnectionNames> peers;
    if (of_channels || of_connections) peers.emplace(context);
    for (const auto& vhost : context.broker().vhosts()) {
        const std::string& name = vhost->name();
        if (!is_chosen(vhosts, name)) continue;
        if (of_queues) add_queues(context, name, rows);
        if (wants("exchange_metrics")) add_exchanges(context, name, rows);
        if (of_channels) add_channels(context, *peers, name, rows);
    }
    if (of_connections) add_connections(*peers, vhosts, rows);
    return rows;
}

MetricRows rows_of_counters(Context& context, const VhostCounters& sums) {
    const engine::Totals& totals = sums.totals;
    MetricRows rows;
    QueueView queue;
    queue.ready = totals.ready;
    queue.unacked = totals.unacked;
    queue.delayed = totals.delayed;
    queue.dead_letters_waiting = totals.dead_letters_waiting;
    queue.ready_bytes = totals.ready_bytes;
    queue.unacked_bytes = totals.unacked_bytes;
    queue.delayed_bytes = totals.delayed_bytes;
    queue.dead_letter_bytes_waiting = totals.dead_letter_bytes_waiting;
    queue.persistent_messages = totals.persistent_messages;
    queue.paged_out = totals.paged_out;
    queue.parked = totals.parked;
    queue.memory_bytes = totals.memory_bytes;
    queue.consumers = totals.consumers();
    const engine::MessageStats stats = totals.traffic.of_all_clients().stats();
    queue.stats = stats;
    queue.stats.published = totals.traffic.queue_publishes;
    rows.queues.push_back({"", std::move(queue)});
    ExchangeView exchange;
    exchange.published_in = stats.published;
    exchange.confirmed = stats.confirmed;
    exchange.unroutable_returned = stats.unroutable_returned;
    exchange.unroutable_dropped = stats.unroutable_dropped;
    rows.exchanges.push_back({"", std::move(exchange)});
    ChannelView channel;
    channel.consumers = totals.consumers();
    channel.unacked = totals.unacked;
    channel.unconfirmed = sums.unconfirmed;
    channel.prefetch = static_cast<std::uint32_t>(totals.prefetch);
    channel.global_prefetch = static_cast<std::uint32_t>(totals.global_prefetch);
    channel.uncommitted_messages = totals.uncommitted_messages;
    channel.uncommitted_settlements = totals.uncommitted_settlements;
    channel.stats = stats;
    rows.channels.push_back({"", std::move(channel)});
    const auto& traffic = context.settings().network_traffic;
    rows.connections.push_back(
        {"", {traffic ? traffic() : runtime::NetworkTraffic{}, totals.channels}});
    return rows;
}

void write_objects(PrometheusText& text, std::string_view prefix, const MetricRows& rows,
                   const FamilyFilter& wants) {
    // queue_metrics includes queue_consumer_count.
    const FamilyFilter wants_queues = [&](std::string_view family) {
        return wants(family) || (family == "queue_consumer_count" && wants("queue_metrics"));
    };
    write_groups<QueueView>(text, prefix,
                            {{"queue_coarse_metrics", queue_coarse_fields},
                             {"queue_consumer_count", queue_consumer_fields},
                             {"queue_metrics", queue_fields},
                             {"queue_delivery_metrics", queue_delivery_fields},
                             {"channel_queue_exchange_metrics", queue_publish_fields}},
                            rows.queues, wants_queues);
    if (wants("queue_metrics")) write_single_queues(text, std::string(prefix), rows.queues);
    if (wants("channel_queue_exchange_metrics")) {
        write_queues_by_exchange(text, std::string(prefix), rows.queues);
    }
    write_groups<ExchangeView>(text, prefix, {{"exchange_metrics", exchange_fields}},
                               rows.exchanges, wants);
    write_groups<ChannelView>(text, prefix,
                              {{"channel_metrics", channel_fields},
                               {"channel_exchange_metrics", channel_publish_fields},
                               {"channel_queue_metrics", channel_delivery_fields}},
                              rows.channels, wants);
    write_groups<ConnectionStats>(text, prefix,
                                  {{"connection_coarse_metrics", connection_coarse_fields},
                                   {"connection_metrics", connection_fields}},
                                  rows.connections, wants);
}

void write_queue_info(PrometheusText& text, std::string_view prefix, const MetricRows& rows) {
    text.family(std::string(prefix) + "queue_info", Kind::gauge,
                "A metric with a constant '1' value and labels that provide some queue details");
    for (const auto& row : rows.queues) {
        const bool quorum = row.values.kind == engine::QueueKind::quorum;
        text.sample_of(row.labels + ",queue_type=\"" +
                           (quorum ? "rabbit_quorum_queue" : "rabbit_classic_queue") +
                           "\",membership=\"leader\"",
                       std::uint64_t{1});
    }
}

void write_cluster_families(PrometheusText& text, Context& context, const VhostFilter& vhosts,
                            const FamilyFilter& wants) {
    std::vector<std::string> chosen;
    for (const auto& vhost : context.broker().vhosts()) {
        if (is_chosen(vhosts, vhost->name())) chosen.push_back(vhost->name());
    }
    if (wants("vhost_status")) {
        text.family("rabbitmq_cluster_vhost_status", Kind::gauge,
                    "Whether a given vhost is running");
        for (const std::string& vhost : chosen) text.sample({{"vhost", vhost}}, std::uint64_t{1});
    }
    for (const bool bindings : {true, false}) {
        if (!wants(bindings ? "exchange_bindings" : "exchange_names")) continue;
        text.family(
            bindings ? "rabbitmq_cluster_exchange_bindings" : "rabbitmq_cluster_exchange_name",
            Kind::gauge,
            bindings ? "Number of bindings for an exchange. This value is cluster-wide."
                     : "Enumerates exchanges without any additional info. This value is "
                       "cluster-wide. A cheaper alternative to `exchange_bindings`");
        for (const std::string& vhost : chosen) {
            const auto exchanges = context.list(vhost, exchanges_in);
            std::map<std::string, std::uint64_t> counts;
            if (bindings) {
                const auto all = context.list(vhost, explicit_bindings_in);
                if (all) {
                    for (const auto& binding : *all) counts[binding.source] += 1;
                }
            }
            if (!exchanges) continue;
            for (const ExchangeView& exchange : *exchanges) {
                if (exchange.internal || exchange.name.empty()) continue;
                text.sample(
                    {{"vhost", vhost}, {"exchange", exchange.name}, {"type", exchange.type}},
                    bindings ? counts[exchange.name] : 1);
            }
        }
    }
}

}  // namespace revenant::http
