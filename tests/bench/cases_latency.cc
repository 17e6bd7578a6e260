#include "cases.h"
#include "clock.h"
#include "failure.h"
#include "loop.h"
#include "meter.h"
#include "stage.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <sys/prctl.h>
#include <utility>
#include <vector>

namespace bench {

namespace {

constexpr uint64_t warm_up_ns = 500'000'000;

// The times at which messages are due. A message contains its due time, not the time it was sent,
// so that delays of the generator caused by the broker count.
class Schedule {
  public:
    Schedule(uint64_t start_ns, uint64_t rate, uint64_t count)
        : start_ns_(start_ns), interval_ns_(1e9 / static_cast<double>(rate)), count_(count) {}

    bool finished() const { return next_ == count_; }
    uint64_t due_ns() const {
        return start_ns_ + static_cast<uint64_t>(static_cast<double>(next_) * interval_ns_);
    }
    void advance() { ++next_; }

  private:
    uint64_t start_ns_;
    double interval_ns_;
    uint64_t count_;
    uint64_t next_ = 0;
};

double percentile(const std::vector<double>& sorted, double share) {
    if (sorted.empty()) throw Failure("no message was measured");
    const auto index = static_cast<size_t>(share * static_cast<double>(sorted.size()));
    return sorted[std::min(index, sorted.size() - 1)];
}

// The queue to publish to and the queue to consume from.
struct Way {
    std::string first;
    std::string last;
    uint64_t expected_ns = 0;  // the intended part of the latency
};

Way build_way(const Options& options, Stage& stage) {
    if (options.via == "direct") {
        stage.add_queue(options.queue);
        return {options.queue, options.queue};
    }
    stage.add_dead_letter_queue(dead_letter_queue);
    Table arguments = dead_letters_to(dead_letter_queue);
    if (options.via == "ttl") {
        stage.add_queue(options.queue,
                        arguments.number("x-message-ttl", static_cast<int64_t>(options.ttl_ms)));
        return {options.queue, dead_letter_queue, options.ttl_ms * 1'000'000};
    }
    if (options.via != "reject" && options.via != "random-ttl") {
        throw Failure("--via is direct, ttl, random-ttl or reject");
    }
    stage.add_queue(options.queue, arguments);
    return {options.queue, dead_letter_queue};
}

std::unique_ptr<Consumer> make_single_consumer(const Options& options, const std::string& queue) {
    Session session(options.endpoint);
    session.set_prefetch(static_cast<uint16_t>(options.prefetch));
    session.consume(queue);
    return std::make_unique<Consumer>(std::move(session), 1);
}

void report_latencies(Report& report, std::vector<double>& latencies_us) {
    std::sort(latencies_us.begin(), latencies_us.end());
    report.count("samples", latencies_us.size());
    report.number("min_us", percentile(latencies_us, 0));
    report.number("p50_us", percentile(latencies_us, 0.5));
    report.number("p99_us", percentile(latencies_us, 0.99));
    report.number("p999_us", percentile(latencies_us, 0.999));
    report.number("max_us", percentile(latencies_us, 1));
    const auto early =
        std::lower_bound(latencies_us.begin(), latencies_us.end(), 0.0) - latencies_us.begin();
    report.number("early_share",
                  static_cast<double>(early) / static_cast<double>(latencies_us.size()));
}

}  // namespace

void run_latency(const Options& options, Report& report) {
    if (options.body_bytes < sizeof(uint64_t))
        throw Failure("the body must have room for a time stamp");
    ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // the default allows timers to be 50 us late
    Stage stage(options);
    const Way way = build_way(options, stage);
    const auto consumer = make_single_consumer(options, way.last);
    std::unique_ptr<Consumer> rejecter;
    Session session(options.endpoint);
    MessageShape shape{.routing_key = way.first,
                       .body_bytes = options.body_bytes,
                       .persistent = options.persistent,
                       .frame_bytes_max = session.frame_bytes_max()};
    const bool random_ttl = options.via == "random-ttl";
    if (random_ttl) shape.expiration = "00000";
    std::mt19937_64 random(1);
    StampedPublisher publisher(std::move(session), prepare_publish(shape));
    Loop loop;
    loop.add(*consumer);
    loop.add(publisher);
    if (options.via == "reject") {
        rejecter = make_single_consumer(options, way.first);
        rejecter->decide = [](uint64_t) { return Outcome::rejected; };
        loop.add(*rejecter);
    }
    wait_until_idle(options.broker);

    const uint64_t count = options.rate * options.seconds;
    const uint64_t start_ns = now_ns() + 10'000'000;
    Schedule schedule(start_ns, options.rate, count);
    std::vector<double> latencies_us;
    latencies_us.reserve(count);
    consumer->on_first_body = [&](std::string_view body) {
        uint64_t due_ns = 0;
        std::memcpy(&due_ns, body.data(), sizeof due_ns);
        if (due_ns < start_ns + warm_up_ns) return;
        const auto wanted_ns = static_cast<int64_t>(due_ns + way.expected_ns);
        latencies_us.push_back(static_cast<double>(static_cast<int64_t>(now_ns()) - wanted_ns) /
                               1000);
    };
    loop.wake_at_ns = [&] { return schedule.finished() ? UINT64_MAX : schedule.due_ns(); };
    loop.on_turn = [&] {
        const uint64_t now = now_ns();
        for (; !schedule.finished() && schedule.due_ns() <= now; schedule.advance()) {
            if (random_ttl) {  // between 0.5 and 1.5 times the given TTL
                const uint64_t ttl_ms = options.ttl_ms / 2 + random() % (options.ttl_ms + 1);
                publisher.publish(schedule.due_ns() + ttl_ms * 1'000'000, ttl_ms);
            } else {
                publisher.publish(schedule.due_ns());
            }
        }
    };
    const Meter meter(options.broker);
    loop.run_until([&] { return consumer->delivered_count() >= count; },
                   options.endpoint.timeout + std::chrono::seconds(options.seconds), "deliveries");
    report.cost(meter.stop(), count);
    report_latencies(report, latencies_us);
}

}  // namespace bench
