// The metrics of queues, exchanges, channels and connections, per object or in total, with the same
// fields. management 6.5
#pragma once

#include "engine/view/query.h"
#include "http/api/context.h"
#include "http/metrics/prometheus.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::http {

// One object with its rendered labels, or the total of all objects, without labels.
template <typename Values>
struct MetricRow {
    std::string labels;
    Values values;
};

struct ConnectionStats {
    runtime::NetworkTraffic traffic;
    std::uint64_t channels = 0;
};

struct MetricRows {
    std::vector<MetricRow<engine::QueueView>> queues;
    std::vector<MetricRow<engine::ExchangeView>> exchanges;
    std::vector<MetricRow<engine::ChannelView>> channels;
    std::vector<MetricRow<ConnectionStats>> connections;
};

// The requested virtual hosts; absent: all.
using VhostFilter = std::optional<std::set<std::string>>;
// Whether a family of /metrics/detailed is requested.
using FamilyFilter = std::function<bool(std::string_view)>;

// One row per object. Reads only the objects that the requested families need.
MetricRows rows_of_objects(Context& context, const VhostFilter& vhosts, const FamilyFilter& wants);
// One row for all objects of a kind. Counters include objects that no longer exist.
MetricRows rows_of_counters(Context& context, const VhostCounters& sums);

// The prefix is rabbitmq_ or rabbitmq_detailed_.
void write_objects(PrometheusText& text, std::string_view prefix, const MetricRows& rows,
                   const FamilyFilter& wants);
// queue_info with the constant value 1 and the queue type as a label.
void write_queue_info(PrometheusText& text, std::string_view prefix, const MetricRows& rows);
// rabbitmq_cluster_…: the families vhost_status, exchange_bindings and exchange_names.
void write_cluster_families(PrometheusText& text, Context& context, const VhostFilter& vhosts,
                            const FamilyFilter& wants);

}  // namespace revenant::http
