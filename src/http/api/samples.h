// Samples: what the counters of the node and of its objects were a while ago, for rates and charts.
// management 2.5, 2.6
//
// Every five seconds a thread of the API copies the counters that the engines keep anyway; nothing
// on the path of a message knows of it. What is kept is chosen so that memory stays bounded:
// - of the node as a whole, always a history of a day, coarser the older it is (about 80 KB);
// - of every vhost, queue, exchange, channel and connection only the last two samples, which is all
//   that a rate needs, and those only while somebody has lately asked about objects: a broker that
//   nobody looks at copies nothing. 10,000 queues take about 7 MB, and there is a limit;
// - of the few objects that somebody looks at alone, with a range of time, a history of an hour
// from
//   that moment on. They are forgotten some minutes after the last look.
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

// Everything that is sampled. An object has those that concern it; the others stay 0.
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
// ack, confirm, …: the name of the field.
std::string_view to_string(Stat stat);

struct StatValues {
    std::array<std::uint64_t, stat_count> values{};
    std::uint64_t& operator[](Stat stat) { return values[static_cast<std::size_t>(stat)]; }
    std::uint64_t operator[](Stat stat) const { return values[static_cast<std::size_t>(stat)]; }
};
// How often messages have died of a reason.
Stat died_stat(DeathReason reason);
StatValues stats_of(const engine::Totals& totals);
StatValues stats_of(const engine::MessageStats& stats);
StatValues stats_of(const runtime::ConnectionView& connection);
// Of all virtual hosts and of the process. Asks the reactors.
StatValues stats_of_node(Context& context);

// What an object is known by here.
std::string node_key();
std::string vhost_key(std::string_view vhost);
std::string queue_key(std::string_view vhost, QueueId queue);
std::string exchange_key(std::string_view vhost, std::string_view exchange);
std::string channel_key(ChannelId channel);
std::string connection_key(std::string_view name);

// lengths_age=60&lengths_incr=5 and the like, in seconds.
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

// One object's past, as a value: outlives the samples it was made from.
class Trend {
  public:
    Trend() = default;
    Trend(std::vector<Sample> samples, Timestamp now) : samples_(std::move(samples)), now_(now) {}

    bool empty() const { return samples_.empty(); }
    // Per second, between the last two samples.
    double rate(Stat stat) const;
    // {"rate": …} and, for a range, avg, avg_rate and samples as well.
    json::object details(Stat stat, const std::optional<Range>& range) const;

  private:
    std::uint64_t value_at(Stat stat, std::int64_t seconds) const;

    std::vector<Sample> samples_;  // the newest last
    Timestamp now_;
};

class Samples {
  public:
    // One of everything, at this moment. Asks the reactors: never from one of them.
    void take(Context& context, Timestamp now);
    void forget_all();

    Trend of(const std::string& key);
    // The same, and from now on with a history.
    Trend watch(const std::string& key, Timestamp now);
    // Objects are being looked at: their rates are wanted for a while.
    void extend_interest(Timestamp now);
    std::size_t object_count();

  private:
    // Rings of falling precision; the first holds every sample.
    class History {
      public:
        explicit History(std::size_t levels);
        void add(const Sample& sample);
        // In the order of time, each moment once.
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
