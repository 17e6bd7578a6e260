// The metrics of queues, exchanges, channels and connections, of each one or of all together: the
// same fields either way. management 6.5
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

// One object with its labels as they are printed, or all of them, without labels.
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

// The vhosts asked for; none: all.
using VhostFilter = std::optional<std::set<std::string>>;
// Whether a group of metrics is wanted, by the name /metrics/detailed knows it by.
using FamilyFilter = std::function<bool(std::string_view)>;

// A row for each object. Looks only for those that a wanted group tells about.
MetricRows rows_of_objects(Context& context, const VhostFilter& vhosts, const FamilyFilter& wants);
// One row for all objects of a kind. What only ever grows counts those that are gone as well.
MetricRows rows_of_counters(Context& context, const VhostCounters& sums);

// rabbitmq_queue_messages and the like; the prefix is rabbitmq_ or rabbitmq_detailed_.
void write_objects(PrometheusText& text, std::string_view prefix, const MetricRows& rows,
                   const FamilyFilter& wants);
// With a constant 1: what type a queue has.
void write_queue_info(PrometheusText& text, std::string_view prefix, const MetricRows& rows);
// vhost_status, exchange_bindings, exchange_names: rabbitmq_cluster_…
void write_cluster_families(PrometheusText& text, Context& context, const VhostFilter& vhosts,
                            const FamilyFilter& wants);

}  // namespace revenant::http
