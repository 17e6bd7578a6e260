// Metrics: the pages for Prometheus, with RabbitMQ's metric names. START READING HERE;
// metrics_page.h lists the parts of a page. management 6
//
// /metrics has totals of all objects, /metrics/per-object has every object,
// /metrics/detailed?family=F&vhost=V has the requested families, and /metrics/memory-breakdown has
// memory by category.
#pragma once

#include "http/api/context.h"
#include "http/metrics/prometheus.h"
#include "http/server/request.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace revenant::http {

struct Target;

// The content of /metrics.
enum class MetricsDefault : std::uint8_t { aggregated, per_object };

class Metrics final : public Responder {
  public:
    explicit Metrics(Context& context, MetricsDefault plain = MetricsDefault::aggregated)
        : context_(context), plain_(plain) {}

    Response respond(const Request& request) override;

  private:
    using Format = PrometheusText::Format;
    std::string aggregated(Format format);
    std::string per_object(Format format);
    std::string detailed(Format format, const Target& target);
    std::string memory_breakdown(Format format);

    Context& context_;
    const MetricsDefault plain_;
};

// OpenMetrics if the Accept header prefers it, otherwise the text format.
PrometheusText::Format accepted_format(std::string_view accept);

}  // namespace revenant::http
