// The parts of the metrics pages. Each writes complete families. management 6
#pragma once

#include "engine/view/query.h"
#include "http/api/context.h"
#include "http/metrics/metrics_objects.h"
#include "http/metrics/prometheus.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace revenant::http {

// Writes rabbitmq_identity_info and rabbitmq_build_info, once per page. The endpoint is aggregated,
// per-object, detailed or memory-breakdown.
void write_identity(PrometheusText& text, Context& context, std::string_view endpoint);

// --- the node (metrics_node.cc) ---

void write_process(PrometheusText& text, const Context& context);
void write_object_counts(PrometheusText& text, Context& context, const engine::Totals& totals);
// The requested ones of the families connection_churn_metrics, node_coarse_metrics,
// node_persister_metrics, auth_attempt_metrics and node_metrics.
void write_node(PrometheusText& text, std::string_view prefix, Context& context,
                const engine::Totals& totals, const FamilyFilter& wants);
void write_alarms(PrometheusText& text, const ApiSettings& settings);
void write_memory_breakdown(PrometheusText& text, Context& context);

// --- rabbitmq_global_… and message sizes (metrics_global.cc) ---

void write_global(PrometheusText& text, const engine::Totals& totals);

// --- revenant_… (metrics_own.cc) ---

enum class Aggregation : std::uint8_t { whole_node, per_object };
void write_own(PrometheusText& text, const NodeCounters& sums, const MetricRows& rows,
               Aggregation grain);
// Deaths by queue, reason and outcome, without zeros, and the outbox, delayed and parked messages.
// The prefix is revenant_ or revenant_detailed_.
void write_deaths_of_queues(PrometheusText& text, const std::string& prefix,
                            const MetricRows& rows);

}  // namespace revenant::http
