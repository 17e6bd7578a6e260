#include "http/api/object_stats.h"

#include "runtime/system_clock.h"

#include <algorithm>
#include <array>

namespace revenant::http {

Result<StatsRequest, Response> StatsRequest::of(Context& context, const Call& call) {
    StatsRequest wanted;
    wanted.context_ = &context;
    REVENANT_TRY(wanted.ranges_, requested_ranges(call));
    const ApiSettings& settings = context.settings();
    wanted.stats_ = !settings.disable_stats && call.query_parameter("disable_stats") != "true";
    wanted.message_rates_ = settings.rates_mode != "none";
    if (wanted.stats_) context.samples().extend_interest(runtime::system_now());
    return wanted;
}

Trend StatsRequest::trend_of_one(const std::string& key) const {
    if (!ranges_.any()) return trend_of(key);
    return context_->samples().watch(key, runtime::system_now());
}

Trend StatsRequest::trend_of(const std::string& key) const { return context_->samples().of(key); }

Trend known_or_flat(const Trend& trend, const StatValues& now) {
    if (!trend.empty()) return trend;
    const Timestamp at = runtime::system_now();
    return {{{at, now}}, at};
}

void add_stats(json::object& view, const StatValues& now, const Trend& trend,
               std::span<const Stat> which, const std::optional<Range>& range) {
    const Trend shown = range ? known_or_flat(trend, now) : trend;
    for (const Stat stat : which) {
        const std::string name(to_string(stat));
        view[name] = now[stat];
        view[name + "_details"] = shown.details(stat, range);
    }
}

void add_message_stats(json::object& view, const StatValues& now, const Trend& trend,
                       std::span<const Stat> which, const StatsRequest& wanted) {
    if (!wanted.message_rates()) return;
    const bool any =
        std::any_of(which.begin(), which.end(), [&](Stat stat) { return now[stat] > 0; });
    if (!any) return;
    json::object stats;
    add_stats(stats, now, trend, which, wanted.ranges().message_rates);
    view["message_stats"] = std::move(stats);
}

std::span<const Stat> queue_length_stats() {
    static constexpr std::array figures = {Stat::messages, Stat::messages_ready,
                                           Stat::messages_unacknowledged};
    return figures;
}

std::span<const Stat> queue_message_stats() {
    static constexpr std::array figures = {
        Stat::ack,       Stat::deliver,    Stat::deliver_get, Stat::deliver_no_ack, Stat::get,
        Stat::get_empty, Stat::get_no_ack, Stat::publish,     Stat::redeliver,
    };
    return figures;
}

std::span<const Stat> exchange_message_stats() {
    static constexpr std::array figures = {Stat::publish_in, Stat::publish_out};
    return figures;
}

std::span<const Stat> channel_message_stats() {
    static constexpr std::array figures = {
        Stat::ack,         Stat::confirm,        Stat::deliver,
        Stat::deliver_get, Stat::deliver_no_ack, Stat::drop_unroutable,
        Stat::get,         Stat::get_empty,      Stat::get_no_ack,
        Stat::publish,     Stat::redeliver,      Stat::return_unroutable,
    };
    return figures;
}

std::span<const Stat> churn_stats() {
    static constexpr std::array figures = {
        Stat::channel_closed,     Stat::channel_created, Stat::connection_closed,
        Stat::connection_created, Stat::queue_created,   Stat::queue_declared,
        Stat::queue_deleted,
    };
    return figures;
}

std::span<const Stat> node_resource_stats() {
    static constexpr std::array figures = {Stat::mem_used, Stat::fd_used, Stat::sockets_used,
                                           Stat::proc_used, Stat::disk_free};
    return figures;
}

}  // namespace revenant::http
