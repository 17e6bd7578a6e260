// Samples: past values of the counters of the node and its objects, for rates and charts.
// management 2.5, 2.6
//
// Every five seconds a thread of the API copies the counters of the engines. Sampling adds no code
// to the path of a message. Memory is bounded:
// - For the node, a history of one day is kept, with decreasing precision (about 80 KB).
// - For every virtual host, queue, exchange, channel and connection, the last two samples are kept,
//   enough for a rate, and only if a request has asked for objects in the last five minutes. 10,000
//   queues take about 7 MB, and the number of objects is limited.
// - For the few objects that are requested individually with a time range, a history of one hour is
//   kept from the first request on. It is dropped some minutes after the last request.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "engine/view/query.h"
#include "http/api/json.h"
#include "http/api/router.h"
#include "runtime/connection_view.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace revenant::http {

class Context;

// All sampled values. Values that do not apply to an object are 0.
enum class Stat : std::uint8_t {
    ack,
    confirm,
    deliver,
    deliver_get,
    deliver_no_ack,
    drop_unroutable,
    get,
    get_empty,
    get_no_ack,
    publish,
    publish_in,
    publish_out,
    redeliver,
    return_unroutable,
    messages,
    messages_ready,
    messages_unacknowledged,
    recv_oct,
    send_oct,
    recv_cnt,
    send_cnt,
    connection_created,
    connection_closed,
    channel_created,
    channel_closed,
    queue_declared,
    queue_created,
    queue_deleted,
    died_rejected,  // in the order of DeathReason
    died_expired,
    died_maxlen,
    died_delivery_limit,
    mem_used,
    fd_used,
    sockets_used,
    proc_used,
    disk_free,
};
constexpr std::size_t stat_count = static_cast<std::size_t>(Stat::disk_free) + 1;
// The name of the field: ack, confirm, …
std::string_view to_string(Stat stat);

struct StatValues {
    std::array<std::uint64_t, stat_count> values{};
    std::uint64_t& operator[](Stat stat) { return values[static_cast<std::size_t>(stat)]; }
    std::uint64_t operator[](Stat stat) const { return values[static_cast<std::size_t>(stat)]; }
};
// The number of deaths with this reason.
Stat died_stat(DeathReason reason);
StatValues stats_of(const engine::Totals& totals);
StatValues stats_of(const engine::MessageStats& stats);
StatValues stats_of(const runtime::ConnectionView& connection);
// Totals of all virtual hosts and of the process. Must not be called from a reactor thread.
StatValues stats_of_node(Context& context);

// Keys of the sampled objects.
std::string node_key();
std::string vhost_key(std::string_view vhost);
std::string queue_key(std::string_view vhost, QueueId queue);
std::string exchange_key(std::string_view vhost, std::string_view exchange);
std::string channel_key(ChannelId channel);
std::string connection_key(std::string_view name);

// A time range in seconds, such as lengths_age=60&lengths_incr=5.
struct Range {
    std::int64_t age = 0;
    std::int64_t increment = 0;
};
struct Ranges {
    std::optional<Range> lengths;
    std::optional<Range> message_rates;
    std::optional<Range> data_rates;
    std::optional<Range> node_stats;
    bool any() const { return lengths || message_rates || data_rates || node_stats; }
};
Result<Ranges, Response> requested_ranges(const Call& call);

struct Sample {
    Timestamp at;
    StatValues stats;
};

// A copy of the samples of one object.
class Trend {
  public:
    Trend() = default;
    Trend(std::vector<Sample> samples, Timestamp now) : samples_(std::move(samples)), now_(now) {}

    bool empty() const { return samples_.empty(); }
    // The change per second between the last two samples.
    double rate(Stat stat) const;
    // {"rate": …}; with a range also avg, avg_rate and samples.
    json::object details(Stat stat, const std::optional<Range>& range) const;

  private:
    std::uint64_t value_at(Stat stat, std::int64_t seconds) const;

    std::vector<Sample> samples_;  // oldest first
    Timestamp now_;
};

class Samples {
  public:
    // Takes one sample of everything. Must not be called from a reactor thread.
    void take(Context& context, Timestamp now);
    void forget_all();

    Trend of(const std::string& key);
    // As of(), and starts or extends the history of the object.
    Trend watch(const std::string& key, Timestamp now);
    // Samples objects for the next five minutes.
    void extend_interest(Timestamp now);
    std::size_t object_count();

  private:
    // Rings of decreasing precision; the first contains every sample.
    class History {
      public:
        explicit History(std::size_t levels);
        void add(const Sample& sample);
        // Sorted by time, without duplicates.
        std::vector<Sample> all() const;

      private:
        std::vector<std::deque<Sample>> rings_;
    };
    struct Pair {
        std::optional<Sample> before;
        Sample last;
    };
    struct Watched {
        History history;
        Timestamp looked_at;
    };
    using Pairs = std::unordered_map<std::string, Pair>;

    std::vector<std::pair<std::string, StatValues>> sample_objects(Context& context);
    void keep(std::vector<std::pair<std::string, StatValues>> objects, Timestamp now);

    std::mutex mutex_;  // guards everything below
    std::optional<History> node_;
    Pairs objects_;
    Timestamp objects_taken_;
    std::unordered_map<std::string, Watched> watched_;
    Timestamp interested_until_;
    Timestamp last_taken_;
};

}  // namespace revenant::http
