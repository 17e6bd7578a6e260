// Message traffic of the node, by protocol and queue type. management 6.4
#include "http/metrics/metrics_page.h"

#include <iterator>
#include <string>

namespace revenant::http {
namespace {

using Kind = PrometheusText::Kind;
using engine::ClientProtocol;
using engine::ClientTraffic;
using engine::Consumption;
using engine::DeathStrategy;
using engine::QueueKind;

// All protocols have samples, even without clients.
constexpr ClientProtocol protocols[] = {ClientProtocol::amqp091, ClientProtocol::amqp10};
static_assert(std::size(protocols) == engine::client_protocol_count);

std::string_view protocol_label(ClientProtocol protocol) {
    return protocol == ClientProtocol::amqp10 ? "amqp10" : "amqp091";
}

std::string_view type_label(QueueKind kind) {
    return kind == QueueKind::quorum ? "rabbit_quorum_queue" : "rabbit_classic_queue";
}

struct PublishingFamily {
    std::string_view name;
    std::string_view help;
    std::uint64_t ClientTraffic::*value;
};

constexpr PublishingFamily publishing_families[] = {
    {"rabbitmq_global_messages_received_total", "Total number of messages received from publishers",
     &ClientTraffic::received},
    {"rabbitmq_global_messages_received_confirm_total",
     "Total number of messages received from publishers expecting confirmations",
     &ClientTraffic::received_confirm},
    {"rabbitmq_global_messages_routed_total",
     "Total number of messages routed to queues or streams", &ClientTraffic::routed},
    {"rabbitmq_global_messages_unroutable_dropped_total",
     "Total number of messages published as non-mandatory into an exchange and dropped as "
     "unroutable",
     &ClientTraffic::unroutable_dropped},
    {"rabbitmq_global_messages_unroutable_returned_total",
     "Total number of messages published as mandatory into an exchange and returned to the "
     "publisher as unroutable",
     &ClientTraffic::unroutable_returned},
    {"rabbitmq_global_messages_confirmed_total", "Total number of messages confirmed to publishers",
     &ClientTraffic::confirmed},
};

void write_publishing(PrometheusText& text, const engine::Traffic& traffic) {
    for (const PublishingFamily& family : publishing_families) {
        text.family(family.name, Kind::counter, family.help);
        for (const ClientProtocol protocol : protocols) {
            text.sample({{"protocol", protocol_label(protocol)}},
                        traffic.of(protocol).*family.value);
        }
    }
}

struct ConsumingFamily {
    std::string_view name;
    std::string_view help;
    std::uint64_t (*value)(const Consumption&);
};

constexpr ConsumingFamily consuming_families[] = {
    {"rabbitmq_global_messages_delivered_total", "Total number of messages delivered to consumers",
     [](const Consumption& c) { return c.delivered(); }},
    {"rabbitmq_global_messages_delivered_consume_auto_ack_total",
     "Total number of messages delivered to consumers using basic.consume with automatic "
     "acknowledgment",
     [](const Consumption& c) { return c.delivered_auto_ack; }},
    {"rabbitmq_global_messages_delivered_consume_manual_ack_total",
     "Total number of messages delivered to consumers using basic.consume with manual "
     "acknowledgment",
     [](const Consumption& c) { return c.delivered_manual_ack; }},
    {"rabbitmq_global_messages_delivered_get_auto_ack_total",
     "Total number of messages delivered to consumers using basic.get with automatic "
     "acknowledgment",
     [](const Consumption& c) { return c.got_auto_ack; }},
    {"rabbitmq_global_messages_delivered_get_manual_ack_total",
     "Total number of messages delivered to consumers using basic.get with manual acknowledgment",
     [](const Consumption& c) { return c.got_manual_ack; }},
    {"rabbitmq_global_messages_get_empty_total",
     "Total number of times basic.get operations fetched no message",
     [](const Consumption& c) { return c.get_empty; }},
    {"rabbitmq_global_messages_redelivered_total",
     "Total number of messages redelivered to consumers",
     [](const Consumption& c) { return c.redelivered; }},
    {"rabbitmq_global_messages_acknowledged_total",
     "Total number of messages acknowledged by consumers",
     [](const Consumption& c) { return c.acknowledged; }},
};

void write_consuming(PrometheusText& text, const engine::Traffic& traffic) {
    for (const ConsumingFamily& family : consuming_families) {
        text.family(family.name, Kind::counter, family.help);
        for (const ClientProtocol protocol : protocols) {
            for (const QueueKind kind : {QueueKind::classic, QueueKind::quorum}) {
                text.sample(
                    {{"protocol", protocol_label(protocol)}, {"queue_type", type_label(kind)}},
                    family.value(traffic.of(protocol).consumed_from(kind)));
            }
        }
    }
}

void write_clients(PrometheusText& text, const engine::Totals& totals) {
    text.family("rabbitmq_global_publishers", Kind::gauge, "Publishers currently connected");
    for (const ClientProtocol protocol : protocols) {
        text.sample({{"protocol", protocol_label(protocol)}},
                    totals.clients_of(protocol).publishers);
    }
    text.family("rabbitmq_global_consumers", Kind::gauge, "Consumers currently connected");
    for (const ClientProtocol protocol : protocols) {
        text.sample({{"protocol", protocol_label(protocol)}},
                    totals.clients_of(protocol).consumers);
    }
}

void write_message_sizes(PrometheusText& text, const engine::Traffic& traffic) {
    text.family("rabbitmq_message_size_bytes", Kind::histogram,
                "Size of messages received from publishers");
    for (const ClientProtocol protocol : protocols) {
        const engine::MessageSizes& sizes = traffic.of(protocol).message_sizes;
        text.histogram(PrometheusText::render({{"protocol", protocol_label(protocol)}}),
                       {engine::message_size_limits, sizes.counts, sizes.sum});
    }
}

// A row of the table in DL-209: the deaths for a reason, by queue type and strategy. Combinations
// that cannot happen are omitted: a classic queue is never at-least-once, and a full at-least-once
// queue does not drop messages.
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
                 "Total number of messages dead-lettered because their TTL expired");
    write_deaths(text, traffic.deaths, DeathReason::rejected,
                 "Total number of messages dead-lettered because a consumer rejected them");
    write_deaths(text, traffic.deaths, DeathReason::delivery_limit,
                 "Total number of messages dead-lettered because they exceeded the delivery limit");
    text.family("rabbitmq_global_messages_dead_lettered_confirmed_total", Kind::counter,
                "Total number of dead-lettered messages confirmed by all target queues");
    text.sample({{"queue_type", type_label(QueueKind::quorum)},
                 {"dead_letter_strategy", engine::to_string(DeathStrategy::at_least_once)}},
                traffic.dead_letters_confirmed);
}

}  // namespace

void write_global(PrometheusText& text, const engine::Totals& totals) {
    const engine::Traffic& traffic = totals.traffic;
    write_publishing(text, traffic);
    write_consuming(text, traffic);
    write_clients(text, totals);
    write_dead_lettering(text, traffic);
    write_message_sizes(text, traffic);
}

}  // namespace revenant::http
