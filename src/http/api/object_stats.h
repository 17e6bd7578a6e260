// The statistics and rates of an object, as fields of its view. management 2.6, 2.7
#pragma once

#include "base/result.h"
#include "http/api/context.h"
#include "http/api/json.h"
#include "http/api/samples.h"

#include <optional>
#include <span>
#include <string>

namespace revenant::http {

// The statistics that a request asks for: rates, time ranges, or none.
class StatsRequest {
  public:
    // Also extends the sampling of objects. Fails if a time range is invalid.
    static Result<StatsRequest, Response> of(Context& context, const Call& call);

    bool stats() const { return stats_; }
    bool message_rates() const { return message_rates_; }
    const Ranges& ranges() const { return ranges_; }
    // For a request about one object: with a history if the request has a range.
    Trend trend_of_one(const std::string& key) const;
    // For an object in a list: rates only.
    Trend trend_of(const std::string& key) const;

  private:
    Context* context_ = nullptr;
    Ranges ranges_;
    bool stats_ = true;          // false with disable_stats=true, or by configuration
    bool message_rates_ = true;  // false only by configuration
};

// The trend, or a constant one if there is no sample yet, so that charts show a line immediately.
Trend known_or_flat(const Trend& trend, const StatValues& now);

// Adds the fields NAME and NAME_details for each statistic.
void add_stats(json::object& view, const StatValues& now, const Trend& trend,
               std::span<const Stat> which, const std::optional<Range>& range);
// Adds the field message_stats, unless all values are 0 or message rates are disabled.
void add_message_stats(json::object& view, const StatValues& now, const Trend& trend,
                       std::span<const Stat> which, const StatsRequest& wanted);

std::span<const Stat> queue_length_stats();
std::span<const Stat> queue_message_stats();
std::span<const Stat> exchange_message_stats();
std::span<const Stat> channel_message_stats();
std::span<const Stat> churn_stats();
std::span<const Stat> node_resource_stats();

}  // namespace revenant::http
