#include "cases.h"
#include "clock.h"
#include "disk.h"
#include "failure.h"
#include "loop.h"
#include "meter.h"
#include "stage.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace bench {

namespace {

void check_is_durable_load(const Options& options) {
    if (options.broker == 0) throw Failure("--broker-pid is missing");
    if (options.data_dir.empty()) throw Failure("--data-dir is missing");
    if (!options.persistent) throw Failure("transient messages cost no disk: --persistent 1");
}

// A broker that stores nothing on disk writes little, which is not an achievement.
void check_is_on_disk(const Options& options, uint64_t bytes) {
    if (unsaved_mb(options.data_dir, bytes) == 0) return;
    throw Failure("not on disk: of " + std::to_string(bytes / 1'000'000) +
                  " MB confirmed the data directory holds " +
                  std::to_string(static_cast<uint64_t>(allocated_mb(options.data_dir))) + " MB");
}

void report_disk(Report& report, const DiskCost& cost) {
    if (cost.device_mb) report.number("device_written_mb", *cost.device_mb);
    if (cost.background_mb_per_second)
        report.number("background_mb_per_second", *cost.background_mb_per_second);
    report.number("process_written_mb", cost.process_mb);
}

// Most messages are consumed and accepted. Some are evenly distributed among them and rejected;
// they are larger so that the consumer can identify them.
class MixedLoad {
  public:
    explicit MixedLoad(const Options& options)
        : options_(options),
          passing_count_(options.messages - options.letters),
          consumer_(consuming(options), options.settle_every),
          passing_(make_publisher(options, options.queue, passing_count_, Confirms::on)),
          letters_(make_publisher(letter_options(options), options.queue, options.letters,
                                  Confirms::on)) {
        consumer_.decide = [this](uint64_t) {
            return consumer_.body_bytes() == options_.letter_bytes ? Outcome::rejected
                                                                   : Outcome::accepted;
        };
        loop_.add(consumer_);
        loop_.add(*passing_);
        loop_.add(*letters_);
        loop_.on_turn = [this] { allow_more(); };
        allow_more();
    }

    void run() {
        loop_.run_until([this] { return is_over(); }, options_.endpoint.timeout, "the passage");
        consumer_.settle_pending();
        consumer_.ask_depth(options_.queue);
        loop_.run_until([this] { return consumer_.has_depth(); }, options_.endpoint.timeout,
                        "the last settlement");
        if (consumer_.depth() != 0) throw Failure("messages are left in the queue");
    }

  private:
    static Session consuming(const Options& options) {
        Session session(options.endpoint);
        session.set_prefetch(static_cast<uint16_t>(options.prefetch));
        session.consume(options.queue);
        return session;
    }

    static Options letter_options(const Options& options) {
        Options changed = options;
        changed.body_bytes = options.letter_bytes;
        return changed;
    }

    void allow_more() {
        const uint64_t delivered = consumer_.delivered_count();
        const uint64_t distance = std::max<uint64_t>(1, passing_count_ / options_.letters);
        passing_->allow(delivered + options_.in_flight);
        letters_->allow(delivered / distance + 1);
    }

    bool is_over() const {
        return consumer_.delivered_count() >= options_.messages && passing_->all_confirmed() &&
               letters_->all_confirmed();
    }

    const Options& options_;
    uint64_t passing_count_;
    Consumer consumer_;
    std::unique_ptr<Publisher> passing_;
    std::unique_ptr<Publisher> letters_;
    Loop loop_;
};

struct Occupied {
    double mb = 0;
    double seconds = 0;  // from the end of the load to the last change
};

// Compaction runs after the load. This waits, a minute at most, until the directory has not shrunk
// for ten seconds.
Occupied settled_directory(const std::string& directory) {
    constexpr uint64_t probe_ms = 500;
    constexpr double steady_seconds = 10;
    constexpr double seconds_max = 60;
    const uint64_t start_ns = now_ns();
    Occupied smallest{.mb = allocated_mb(directory)};
    while (seconds_since(start_ns) < std::min(seconds_max, smallest.seconds + steady_seconds)) {
        pause_ms(probe_ms);
        const double now_mb = allocated_mb(directory);
        if (now_mb < smallest.mb) smallest = {now_mb, seconds_since(start_ns)};
    }
    return {allocated_mb(directory), smallest.seconds};
}

void read_letters(const Options& options) {
    Session session(options.endpoint);
    session.set_prefetch(static_cast<uint16_t>(options.prefetch));
    session.consume(dead_letter_queue);
    Consumer consumer(std::move(session), options.settle_every);
    uint64_t damaged = 0;
    consumer.decide = [&](uint64_t) {
        if (consumer.body_bytes() != options.letter_bytes) ++damaged;
        return Outcome::accepted;
    };
    Loop loop;
    loop.add(consumer);
    loop.on_idle = [&] { consumer.settle_pending(); };
    loop.run_until([&] { return consumer.delivered_count() >= options.letters; },
                   options.endpoint.timeout, "the letters that were left");
    if (damaged != 0) throw Failure(std::to_string(damaged) + " letters have another size");
}

}  // namespace

// Measures the bytes written while a durable backlog is rejected, including all later work of the
// broker until it is idle.
void run_disk_reject(const Options& options, Report& report) {
    check_is_durable_load(options);
    Stage stage(options);
    stage.add_dead_letter_queue(dead_letter_queue);
    stage.add_queue(options.queue, dead_letters_to(dead_letter_queue));
    fill_queue(options, options.queue, {.count = options.messages});
    check_is_on_disk(options, options.all_body_bytes());
    const auto consumer = make_consumer(options, options.queue);
    wait_until_idle(options.broker);

    const DiskMeter disk(options.data_dir, options.broker);
    const Meter meter(options.broker);
    reject_all(options, stage, *consumer);
    report.cost(meter.stop(), options.messages);
    wait_until_idle(options.broker);
    report_disk(report, disk.stop());
    report_unsaved(options, report);
}

void run_letters(const Options& options, Report& report) {
    check_is_durable_load(options);
    if (options.letter_bytes == options.body_bytes)
        throw Failure("--letter-bytes must differ from --body-bytes");
    if (options.letters == 0 || options.letters > options.messages / 2)
        throw Failure("--letters is at least 1 and at most half of --messages");
    Stage stage(options);
    stage.add_dead_letter_queue(dead_letter_queue);
    stage.add_queue(options.queue, dead_letters_to(dead_letter_queue));
    wait_until_idle(options.broker);

    const Meter meter(options.broker);
    {
        MixedLoad load(options);
        load.run();
    }
    wait_for_depth(stage.session(), options, dead_letter_queue, options.letters);
    report.cost(meter.stop(), options.messages);
    report.number("occupied_at_first_mb", allocated_mb(options.data_dir));
    const Occupied occupied = settled_directory(options.data_dir);
    check_is_on_disk(options, options.letters * options.letter_bytes);
    report.number("occupied_mb", occupied.mb);
    report.number("compaction_seconds", occupied.seconds);
    read_letters(options);
}

}  // namespace bench
