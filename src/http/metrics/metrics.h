// Metrics: the pages that Prometheus reads, with the names RabbitMQ gives to the same things.
// START READING HERE; metrics_page.h names the parts. management 6
//
// /metrics tells of all objects together, /metrics/per-object of each one,
// /metrics/detailed?family=F&vhost=V of what is asked for, /metrics/memory-breakdown of memory.
#pragma once

#include "http/api/context.h"
#include "http/metrics/prometheus.h"
#include "http/server/request.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace revenant::http {

struct Target;

// What /metrics itself tells.
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

// Whether an Accept header prefers OpenMetrics to the plain format.
PrometheusText::Format accepted_format(std::string_view accept);

}  // namespace revenant::http
