#include "http/metrics/metrics.h"

#include "http/api/responses.h"
#include "http/api/router.h"
#include "http/metrics/metrics_page.h"
#include "http/server/ascii_text.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

namespace revenant::http {
namespace {

using Format = PrometheusText::Format;

bool everything(std::string_view /*family*/) { return true; }

std::string_view take_until(std::string_view& rest, char end) {
    const std::size_t at = rest.find(end);
    const std::string_view part = rest.substr(0, at);
    rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
    return trim(part);
}

// The weight of a media range: the parameter q, or 1 without it.
double weight_of(std::string_view parameters) {
    while (!parameters.empty()) {
        const std::string_view parameter = take_until(parameters, ';');
        if (!parameter.starts_with("q=")) continue;
        double weight = 0;
        std::from_chars(parameter.data() + 2, parameter.data() + parameter.size(), weight);
        return weight;
    }
    return 1;
}

struct DetailedRequest {
    std::set<std::string, std::less<>> families;
    VhostFilter vhosts;
};

DetailedRequest parse_detailed_request(const Target& target) {
    DetailedRequest wishes;
    for (const auto& [name, value] : target.query_pairs) {
        if (name == "family") wishes.families.insert(value);
        if (name != "vhost") continue;
        if (!wishes.vhosts) wishes.vhosts.emplace();
        wishes.vhosts->insert(value);
    }
    return wishes;
}

}  // namespace

PrometheusText::Format accepted_format(std::string_view accept) {
    double open_metrics = 0;
    double plain = 0;
    while (!accept.empty()) {
        std::string_view parameters = take_until(accept, ',');
        const std::string_view type = take_until(parameters, ';');
        const double weight = weight_of(parameters);
        if (type == "application/openmetrics-text") open_metrics = std::max(open_metrics, weight);
        if (type == "text/plain") plain = std::max(plain, weight);
    }
    return open_metrics > 0 && open_metrics >= plain ? Format::open_metrics : Format::text;
}

Response Metrics::respond(const Request& request) {
    const auto target = parse_target(request.target);
    if (!target || target->segments.empty() || target->segments.size() > 2 ||
        target->segments.front() != "metrics") {
        return not_found();
    }
    const std::string page = target->segments.size() == 2 ? target->segments[1] : "";
    if (!page.empty() && page != "per-object" && page != "detailed" && page != "memory-breakdown") {
        return not_found();
    }
    Response response;
    if (request.method != "GET") {
        response.status = 405;
        response.headers = {{"allow", "GET, HEAD"}};
        return response;
    }
    const std::string* const accept = request.find_header("accept");
    const Format format = accept == nullptr ? Format::text : accepted_format(*accept);
    response.content_type = format == Format::open_metrics
                                ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                : "text/plain; version=0.0.4; charset=utf-8";
    if (page == "detailed") {
        response.body = detailed(format, *target);
    } else if (page == "memory-breakdown") {
        response.body = memory_breakdown(format);
    } else if (page == "per-object" || plain_ == MetricsDefault::per_object) {
        response.body = per_object(format);
    } else {
        response.body = aggregated(format);
    }
    return response;
}

std::string Metrics::aggregated(Format format) {
    PrometheusText text(format);
    const NodeCounters sums = context_.node_counters();
    const engine::Totals& totals = sums.all.totals;
    const MetricRows rows = rows_of_counters(context_, sums.all);
    write_identity(text, context_, "aggregated");
    write_object_counts(text, context_, totals);
    write_node(text, "rabbitmq_", context_, totals, everything);
    write_objects(text, "rabbitmq_", rows, everything);
    write_process(text, context_);
    write_global(text, totals);
    write_alarms(text, context_.settings());
    write_own(text, sums, rows, Aggregation::whole_node);
    return text.finish();
}

std::string Metrics::per_object(Format format) {
    PrometheusText text(format);
    const NodeCounters sums = context_.node_counters();
    const engine::Totals& totals = sums.all.totals;
    const MetricRows rows = rows_of_objects(context_, std::nullopt, everything);
    write_identity(text, context_, "per-object");
    write_object_counts(text, context_, totals);
    write_node(text, "rabbitmq_", context_, totals, everything);
    write_objects(text, "rabbitmq_", rows, everything);
    write_queue_info(text, "rabbitmq_", rows);
    write_process(text, context_);
    write_global(text, totals);
    write_alarms(text, context_.settings());
    write_own(text, sums, rows, Aggregation::per_object);
    return text.finish();
}

// As in RabbitMQ, unknown families are ignored, so that one request works with every version.
std::string Metrics::detailed(Format format, const Target& target) {
    PrometheusText text(format);
    const DetailedRequest wishes = parse_detailed_request(target);
    const FamilyFilter wants = [&](std::string_view family) {
        return wishes.families.contains(family);
    };
    const MetricRows rows = rows_of_objects(context_, wishes.vhosts, wants);
    write_identity(text, context_, "detailed");
    if (wants("connection_churn_metrics") || wants("node_coarse_metrics") ||
        wants("node_metrics") || wants("node_persister_metrics") || wants("auth_attempt_metrics")) {
        write_node(text, "rabbitmq_detailed_", context_, context_.totals(), wants);
    }
    write_objects(text, "rabbitmq_detailed_", rows, wants);
    if (wants("queue_coarse_metrics") || wants("queue_consumer_count") || wants("queue_metrics")) {
        write_queue_info(text, "rabbitmq_detailed_", rows);
    }
    write_cluster_families(text, context_, wishes.vhosts, wants);
    if (wants("revenant_deaths")) write_deaths_of_queues(text, "revenant_detailed_", rows);
    return text.finish();
}

std::string Metrics::memory_breakdown(Format format) {
    PrometheusText text(format);
    write_identity(text, context_, "memory-breakdown");
    write_memory_breakdown(text, context_);
    return text.finish();
}

}  // namespace revenant::http
