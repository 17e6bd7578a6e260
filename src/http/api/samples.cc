#include "http/api/samples.h"

#include "http/api/context.h"
#include "http/api/process.h"
#include "http/api/responses.h"
#include "runtime/system_clock.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace revenant::http {
namespace {

// Objects beyond this number have no rates.
constexpr std::size_t objects_max = 50'000;
constexpr std::size_t watched_max = 200;
constexpr Duration interest_lasts = seconds(300);
constexpr Duration watching_lasts = seconds(600);
constexpr std::int64_t samples_per_range_max = 1000;
constexpr std::int64_t range_seconds_max = duration_ms_max / 1000;

// The interval and the number of samples of a ring.
struct Level {
    std::int64_t seconds;
    std::size_t count;
};
constexpr std::array<Level, 4> levels = {{{5, 122}, {60, 62}, {600, 50}, {1800, 49}}};
constexpr std::size_t levels_of_object = 2;

constexpr std::array<std::string_view, stat_count> names = {
    "ack",
    "confirm",
    "deliver",
    "deliver_get",
    "deliver_no_ack",
    "drop_unroutable",
    "get",
    "get_empty",
    "get_no_ack",
    "publish",
    "publish_in",
    "publish_out",
    "redeliver",
    "return_unroutable",
    "messages",
    "messages_ready",
    "messages_unacknowledged",
    "recv_oct",
    "send_oct",
    "recv_cnt",
    "send_cnt",
    "connection_created",
    "connection_closed",
    "channel_created",
    "channel_closed",
    "queue_declared",
    "queue_created",
    "queue_deleted",
    "died_rejected",
    "died_expired",
    "died_maxlen",
    "died_delivery_limit",
    "mem_used",
    "fd_used",
    "sockets_used",
    "proc_used",
    "disk_free",
};

double per_second(std::uint64_t from, std::uint64_t to, double seconds) {
    // A counter that was reset has no rate yet.
    if (to < from || seconds <= 0) return 0;
    return static_cast<double>(to - from) / seconds;
}

// Unlike a counter, a gauge may decrease.
bool is_gauge(Stat stat) {
    return (stat >= Stat::messages && stat <= Stat::messages_unacknowledged) ||
           stat >= Stat::mem_used;
}

Result<std::optional<Range>, Response> asked_range(const Call& call, const std::string& kind) {
    const std::string_view age = call.query_parameter(kind + "_age");
    const std::string_view increment = call.query_parameter(kind + "_incr");
    if (age.empty() && increment.empty()) return std::optional<Range>{};
    Range range;
    for (const auto& [text, number] :
         {std::pair{age, &range.age}, std::pair{increment, &range.increment}}) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
        if (error != std::errc{} || end != text.data() + text.size() || *number <= 0 ||
            *number > range_seconds_max) {
            return Unexpected{
                bad_request(kind + "_age and " + kind +
                            "_incr must both be positive numbers of seconds, at most " +
                            std::to_string(range_seconds_max))};
        }
    }
    if (range.age / range.increment > samples_per_range_max) {
        return Unexpected{bad_request(kind + "_age is more than " +
                                      std::to_string(samples_per_range_max) + " times " + kind +
                                      "_incr")};
    }
    return std::optional{range};
}

}  // namespace

std::string_view to_string(Stat stat) { return names[static_cast<std::size_t>(stat)]; }

Stat died_stat(DeathReason reason) {
    return static_cast<Stat>(static_cast<std::size_t>(Stat::died_rejected) +
                             static_cast<std::size_t>(reason));
}

StatValues stats_of(const engine::MessageStats& counted) {
    StatValues stats;
    stats[Stat::ack] = counted.consumed.acknowledged;
    stats[Stat::confirm] = counted.confirmed;
    stats[Stat::deliver] = counted.consumed.delivered_manual_ack;
    stats[Stat::deliver_no_ack] = counted.consumed.delivered_auto_ack;
    stats[Stat::get] = counted.consumed.got_manual_ack;
    stats[Stat::get_no_ack] = counted.consumed.got_auto_ack;
    stats[Stat::deliver_get] = counted.consumed.delivered();
    stats[Stat::drop_unroutable] = counted.unroutable_dropped;
    stats[Stat::get_empty] = counted.consumed.get_empty;
    stats[Stat::publish] = counted.published;
    stats[Stat::redeliver] = counted.consumed.redelivered;
    stats[Stat::return_unroutable] = counted.unroutable_returned;
    return stats;
}

StatValues stats_of(const engine::Totals& totals) {
    const engine::Traffic& traffic = totals.traffic;
    StatValues stats = stats_of(traffic.of_all_clients().stats());
    stats[Stat::messages] = totals.messages();
    stats[Stat::messages_ready] = totals.ready;
    stats[Stat::messages_unacknowledged] = totals.unacked;
    stats[Stat::connection_created] = traffic.connections_opened;
    stats[Stat::connection_closed] = traffic.connections_closed;
    stats[Stat::channel_created] = traffic.channels_opened;
    stats[Stat::channel_closed] = traffic.channels_closed;
    stats[Stat::queue_declared] = traffic.queues_declared;
    stats[Stat::queue_created] = traffic.queues_created;
    stats[Stat::queue_deleted] = traffic.queues_deleted;
    for (std::size_t i = 0; i < death_reason_count; ++i) {
        const auto reason = static_cast<DeathReason>(i);
        stats[died_stat(reason)] = traffic.death_outcomes.of(reason);
    }
    return stats;
}

StatValues stats_of(const runtime::ConnectionView& connection) {
    StatValues stats;
    stats[Stat::recv_oct] = connection.received_bytes;
    stats[Stat::send_oct] = connection.sent_bytes;
    stats[Stat::recv_cnt] = connection.received_count;
    stats[Stat::send_cnt] = connection.sent_count;
    return stats;
}

StatValues stats_of_node(Context& context) {
    StatValues node = stats_of(context.totals());
    const ProcessView process = view_process();
    node[Stat::mem_used] = process.resident_bytes;
    node[Stat::fd_used] = process.open_descriptors;
    node[Stat::sockets_used] = context.broker().connection_count();
    node[Stat::proc_used] = process.threads;
    node[Stat::disk_free] = disk_free_bytes(context.settings().data_dir);
    return node;
}

std::string node_key() { return "n"; }
std::string vhost_key(std::string_view vhost) { return "v" + std::string(vhost); }
std::string queue_key(std::string_view vhost, QueueId queue) {
    return "q" + std::to_string(queue.value) + " " + std::string(vhost);
}
std::string exchange_key(std::string_view vhost, std::string_view exchange) {
    return "x" + std::to_string(vhost.size()) + " " + std::string(vhost) + std::string(exchange);
}
std::string channel_key(ChannelId channel) { return "c" + std::to_string(channel.value); }
std::string connection_key(std::string_view name) { return "t" + std::string(name); }

Result<Ranges, Response> requested_ranges(const Call& call) {
    Ranges ranges;
    REVENANT_TRY(ranges.lengths, asked_range(call, "lengths"));
    REVENANT_TRY(ranges.message_rates, asked_range(call, "msg_rates"));
    REVENANT_TRY(ranges.data_rates, asked_range(call, "data_rates"));
    REVENANT_TRY(ranges.node_stats, asked_range(call, "node_stats"));
    return ranges;
}

// -------------------------------------------------------------------------- trend of one object

double Trend::rate(Stat stat) const {
    if (samples_.size() < 2) return 0;
    const Sample& before = samples_[samples_.size() - 2];
    const Sample& last = samples_.back();
    const double passed = static_cast<double>((last.at - before.at).us) / 1e6;
    if (is_gauge(stat) && passed > 0) {
        return (static_cast<double>(last.stats[stat]) - static_cast<double>(before.stats[stat])) /
               passed;
    }
    return per_second(before.stats[stat], last.stats[stat], passed);
}

// The value of the last sample up to then; before the first sample, that of the first.
std::uint64_t Trend::value_at(Stat stat, std::int64_t second) const {
    const Sample* found = &samples_.front();
    for (const Sample& sample : samples_) {
        if (sample.at.whole_seconds() > second) break;
        found = &sample;
    }
    return found->stats[stat];
}

json::object Trend::details(Stat stat, const std::optional<Range>& range) const {
    json::object details{{"rate", rate(stat)}};
    if (!range || samples_.empty()) return details;
    const std::int64_t last = now_.whole_seconds() / range->increment * range->increment;
    const auto shown_ms = [ahead_us = runtime::wall_ahead().us](std::int64_t second) {
        return (second + std::llround(static_cast<double>(ahead_us) / 1e6)) * 1000;
    };
    json::array samples;
    double sum = 0;
    for (std::int64_t at = last; at >= last - range->age; at -= range->increment) {
        const std::uint64_t value = value_at(stat, at);
        sum += static_cast<double>(value);
        samples.push_back(json::object{{"sample", value}, {"timestamp", shown_ms(at)}});
    }
    const auto newest = static_cast<double>(value_at(stat, last));
    const auto oldest = static_cast<double>(value_at(stat, last - range->age));
    details["avg_rate"] = std::max(0.0, (newest - oldest) / static_cast<double>(range->age));
    details["avg"] = sum / static_cast<double>(samples.size());
    details["samples"] = std::move(samples);
    return details;
}

// -------------------------------------------------------------------------- all samples

Samples::History::History(std::size_t count) : rings_(count) {}

void Samples::History::add(const Sample& sample) {
    for (std::size_t i = 0; i < rings_.size(); ++i) {
        auto& ring = rings_[i];
        const bool due =
            i == 0 || ring.empty() || sample.at - ring.back().at >= seconds(levels[i].seconds);
        if (!due) continue;
        ring.push_back(sample);
        if (ring.size() > levels[i].count) ring.pop_front();
    }
}

std::vector<Sample> Samples::History::all() const {
    std::vector<Sample> samples;
    for (std::size_t i = rings_.size(); i-- > 0;) {
        // A coarse ring contributes the samples that are older than those of the finer one.
        const auto& finer = i == 0 ? rings_[0] : rings_[i - 1];
        for (const Sample& sample : rings_[i]) {
            const bool forgotten = i == 0 || finer.empty() || sample.at < finer.front().at;
            if (forgotten) samples.push_back(sample);
        }
    }
    return samples;
}

std::vector<std::pair<std::string, StatValues>> Samples::sample_objects(Context& context) {
    std::vector<std::pair<std::string, StatValues>> objects;
    std::unordered_map<std::string, StatValues> data_of_vhosts;
    for (const runtime::ConnectionView& connection : context.settings().connections()) {
        const StatValues stats = stats_of(connection);
        for (const Stat stat : {Stat::recv_oct, Stat::send_oct}) {
            data_of_vhosts[connection.vhost][stat] += stats[stat];
        }
        objects.emplace_back(connection_key(connection.name), stats);
    }
    for (const auto& vhost : context.broker().vhosts()) {
        StatValues totals = stats_of(totals_of(context.broker(), vhost));
        const StatValues& data = data_of_vhosts[vhost->name()];
        totals[Stat::recv_oct] = data[Stat::recv_oct];
        totals[Stat::send_oct] = data[Stat::send_oct];
        objects.emplace_back(vhost_key(vhost->name()), totals);
        const engine::ObjectCounters counters = counters_of(context.broker(), vhost);
        for (const auto& queue : counters.queues) {
            StatValues stats = stats_of(queue.stats);
            stats[Stat::messages] = queue.messages;
            stats[Stat::messages_ready] = queue.ready;
            stats[Stat::messages_unacknowledged] = queue.unacked;
            for (std::size_t i = 0; i < death_reason_count; ++i) {
                stats[died_stat(static_cast<DeathReason>(i))] = queue.deaths[i];
            }
            objects.emplace_back(queue_key(vhost->name(), queue.id), stats);
        }
        for (const auto& exchange : counters.exchanges) {
            StatValues stats;
            stats[Stat::publish_in] = exchange.published_in;
            stats[Stat::publish_out] = exchange.published_out;
            objects.emplace_back(exchange_key(vhost->name(), exchange.name), stats);
        }
        for (const auto& channel : counters.channels) {
            objects.emplace_back(channel_key(channel.id), stats_of(channel.stats));
        }
    }
    return objects;
}

void Samples::take(Context& context, Timestamp now) {
    const StatValues node = stats_of_node(context);
    bool interested = false;
    {
        const std::lock_guard lock(mutex_);
        if (!node_) node_.emplace(levels.size());
        node_->add({now, node});
        last_taken_ = now;
        interested = now < interested_until_;
        if (!interested) {
            objects_.clear();
            watched_.clear();
        }
    }
    if (interested) keep(sample_objects(context), now);
}

void Samples::keep(std::vector<std::pair<std::string, StatValues>> objects, Timestamp now) {
    const std::lock_guard lock(mutex_);
    Pairs pairs;
    // An object without a previous sample starts from 0.
    std::optional<Sample> beginning;
    if (!objects_.empty()) beginning = Sample{objects_taken_, StatValues{}};
    for (auto& [key, stats] : objects) {
        const Sample sample{now, stats};
        if (const auto watched = watched_.find(key); watched != watched_.end()) {
            watched->second.history.add(sample);
        }
        if (pairs.size() >= objects_max) continue;
        const auto known = objects_.find(key);
        pairs.emplace(
            std::move(key),
            Pair{known == objects_.end() ? beginning : std::optional(known->second.last), sample});
    }
    objects_ = std::move(pairs);
    objects_taken_ = now;
    std::erase_if(watched_,
                  [&](const auto& one) { return now - one.second.looked_at > watching_lasts; });
}

void Samples::forget_all() {
    const std::lock_guard lock(mutex_);
    node_.reset();
    objects_.clear();
    watched_.clear();
}

Trend Samples::of(const std::string& key) {
    const std::lock_guard lock(mutex_);
    if (key == node_key()) return node_ ? Trend(node_->all(), last_taken_) : Trend();
    const auto found = objects_.find(key);
    if (found == objects_.end()) return {};
    std::vector<Sample> samples;
    if (found->second.before) samples.push_back(*found->second.before);
    samples.push_back(found->second.last);
    return {std::move(samples), last_taken_};
}

Trend Samples::watch(const std::string& key, Timestamp now) {
    Trend pair = of(key);
    if (key == node_key()) return pair;
    const std::lock_guard lock(mutex_);
    const auto found = watched_.find(key);
    if (found != watched_.end()) {
        found->second.looked_at = now;
        auto samples = found->second.history.all();
        return samples.size() < 2 ? pair : Trend(std::move(samples), last_taken_);
    }
    if (watched_.size() >= watched_max) {
        watched_.erase(std::min_element(
            watched_.begin(), watched_.end(),
            [](const auto& a, const auto& b) { return a.second.looked_at < b.second.looked_at; }));
    }
    watched_.emplace(key, Watched{History(levels_of_object), now});
    return pair;
}

void Samples::extend_interest(Timestamp now) {
    const std::lock_guard lock(mutex_);
    interested_until_ = now + interest_lasts;
}

std::size_t Samples::object_count() {
    const std::lock_guard lock(mutex_);
    return objects_.size();
}

}  // namespace revenant::http
