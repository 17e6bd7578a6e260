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
class Wanted {
  public:
    // Whoever asks is interested in objects from now on. The error is for a range without sense.
    static Result<Wanted, Response> of(Context& context, const Call& call);

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
Trend known_or_flat(const Trend& trend, const Figures& now);

// name and name_details for each.
void add_figures(json::object& view, const Figures& now, const Trend& trend,
                 std::span<const Figure> which, const std::optional<Range>& range);
// The field message_stats; absent while nothing has ever happened, and where nobody measures it.
void add_message_stats(json::object& view, const Figures& now, const Trend& trend,
                       std::span<const Figure> which, const Wanted& wanted);

std::span<const Figure> queue_length_figures();
std::span<const Figure> queue_message_figures();
std::span<const Figure> exchange_message_figures();
std::span<const Figure> channel_message_figures();
std::span<const Figure> churn_figures();
std::span<const Figure> node_figures();

}  // namespace revenant::http
