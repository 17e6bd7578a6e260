#include "http/api/measured.h"

#include "runtime/system_clock.h"

#include <algorithm>
#include <array>

namespace revenant::http {

Result<Wanted, Response> Wanted::of(Context& context, const Call& call) {
    Wanted wanted;
    wanted.context_ = &context;
    REVENANT_TRY(wanted.ranges_, asked_ranges(call));
    const ApiSettings& settings = context.settings();
    wanted.stats_ = !settings.disable_stats && call.asked("disable_stats") != "true";
    wanted.message_rates_ = settings.rates_mode != "none";
    if (wanted.stats_) context.samples().note_interest(runtime::system_now());
    return wanted;
}

Trend Wanted::trend_of_one(const std::string& key) const {
    if (!ranges_.any()) return trend_of(key);
    return context_->samples().watch(key, runtime::system_now());
}

Trend Wanted::trend_of(const std::string& key) const { return context_->samples().of(key); }

Trend known_or_flat(const Trend& trend, const Figures& now) {
    if (!trend.empty()) return trend;
    const Timestamp at = runtime::system_now();
    return {{{at, now}}, at};
}

void add_figures(json::object& view, const Figures& now, const Trend& trend,
                 std::span<const Figure> which, const std::optional<Range>& range) {
    const Trend shown = range ? known_or_flat(trend, now) : trend;
    for (const Figure figure : which) {
        const std::string name(to_string(figure));
        view[name] = now[figure];
        view[name + "_details"] = shown.details(figure, range);
    }
}

void add_message_stats(json::object& view, const Figures& now, const Trend& trend,
                       std::span<const Figure> which, const Wanted& wanted) {
    if (!wanted.message_rates()) return;
    const bool any =
        std::any_of(which.begin(), which.end(), [&](Figure figure) { return now[figure] > 0; });
    if (!any) return;
    json::object stats;
    add_figures(stats, now, trend, which, wanted.ranges().message_rates);
    view["message_stats"] = std::move(stats);
}

std::span<const Figure> queue_length_figures() {
    static constexpr std::array figures = {Figure::messages, Figure::messages_ready,
                                           Figure::messages_unacknowledged};
    return figures;
}

std::span<const Figure> queue_message_figures() {
    static constexpr std::array figures = {
        Figure::ack,       Figure::deliver,   Figure::deliver_get, Figure::deliver_no_ack,
        Figure::get,       Figure::get_empty, Figure::get_no_ack,  Figure::publish,
        Figure::redeliver,
    };
    return figures;
}

std::span<const Figure> exchange_message_figures() {
    static constexpr std::array figures = {Figure::publish_in, Figure::publish_out};
    return figures;
}

std::span<const Figure> channel_message_figures() {
    static constexpr std::array figures = {
        Figure::ack,         Figure::confirm,        Figure::deliver,
        Figure::deliver_get, Figure::deliver_no_ack, Figure::drop_unroutable,
        Figure::get,         Figure::get_empty,      Figure::get_no_ack,
        Figure::publish,     Figure::redeliver,      Figure::return_unroutable,
    };
    return figures;
}

std::span<const Figure> churn_figures() {
    static constexpr std::array figures = {
        Figure::channel_closed,     Figure::channel_created, Figure::connection_closed,
        Figure::connection_created, Figure::queue_created,   Figure::queue_declared,
        Figure::queue_deleted,
    };
    return figures;
}

std::span<const Figure> node_figures() {
    static constexpr std::array figures = {Figure::mem_used, Figure::fd_used, Figure::sockets_used,
                                           Figure::proc_used, Figure::disk_free};
    return figures;
}

}  // namespace revenant::http
