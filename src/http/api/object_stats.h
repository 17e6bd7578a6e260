// Measured: the numbers of one object and how they change, as fields of its view.
// management 2.6, 2.7
#pragma once

#include "base/result.h"
#include "http/api/context.h"
#include "http/api/json.h"
#include "http/api/samples.h"

#include <optional>
#include <span>
#include <string>

namespace revenant::http {

// What a request wants to know of numbers: rates, ranges of time, or nothing of the kind.
class StatsRequest {
  public:
    // Whoever asks is interested in objects from now on. The error is for a range without sense.
    static Result<StatsRequest, Response> of(Context& context, const Call& call);

    bool stats() const { return stats_; }
    bool message_rates() const { return message_rates_; }
    const Ranges& ranges() const { return ranges_; }
    // With a history if a range was asked for.
    Trend trend_of_one(const std::string& key) const;
    // Of one among many: rates only.
    Trend trend_of(const std::string& key) const;

  private:
    Context* context_ = nullptr;
    Ranges ranges_;
    bool stats_ = true;          // false by disable_stats=true, or by configuration
    bool message_rates_ = true;  // false by configuration
};

// What nobody has sampled yet was always as it is now: charts want a line from the first look.
Trend known_or_flat(const Trend& trend, const StatValues& now);

// name and name_details for each.
void add_stats(json::object& view, const StatValues& now, const Trend& trend,
               std::span<const Stat> which, const std::optional<Range>& range);
// The field message_stats; absent while nothing has ever happened, and where nobody measures it.
void add_message_stats(json::object& view, const StatValues& now, const Trend& trend,
                       std::span<const Stat> which, const StatsRequest& wanted);

std::span<const Stat> queue_length_stats();
std::span<const Stat> queue_message_stats();
std::span<const Stat> exchange_message_stats();
std::span<const Stat> channel_message_stats();
std::span<const Stat> churn_stats();
std::span<const Stat> node_resource_stats();

}  // namespace revenant::http
