#include "cases.h"
#include "failure.h"
#include "loop.h"
#include "meter.h"
#include "stage.h"

#include <string>

namespace bench {

namespace {

const std::string live_queue = "bench.live";

// Every message expires in one queue after the other, so that all end in the dead-letter queue with
// --hops deaths in their history.
void fill_with_dead_letters(const Options& options, Stage& stage, const Table& arguments) {
    stage.add_dead_letter_queue(dead_letter_queue, arguments);
    std::string target = dead_letter_queue;
    for (uint64_t hop = options.hops; hop > 0; --hop) {
        Table dying = dead_letters_to(target);
        dying.number("x-message-ttl", static_cast<int64_t>(options.ttl_ms));
        target = queue_name(hop - 1);
        stage.add_dead_letter_queue(target, dying);
    }
    fill_queue(options, target, {.count = options.messages});
    wait_for_depth(stage.session(), options, dead_letter_queue, options.messages);
}

// One death each. All messages rejected by one settlement share an envelope, however slow the
// broker is.
void fill_with_rejected(const Options& options, Stage& stage, const Table& arguments) {
    stage.add_dead_letter_queue(dead_letter_queue, arguments);
    stage.add_queue(options.queue, dead_letters_to(dead_letter_queue));
    fill_queue(options, options.queue, {.count = options.messages});
    const auto consumer = make_consumer(options, options.queue);
    reject_all(options, stage, *consumer);
}

struct Emptied {
    Cost cost;
    uint64_t received_bytes = 0;

    double cpu_us_per(uint64_t messages) const {
        return cost.broker_cpu_seconds * 1e6 / static_cast<double>(messages);
    }
};

Emptied consume_all(const Options& options, const std::string& queue) {
    const auto consumer = make_consumer(options, queue);
    wait_until_idle(options.broker);
    const Meter meter(options.broker);
    consumer->start();
    Connection& connection = consumer->connection();
    Loop loop;
    loop.add(connection);
    loop.run_until([&] { return consumer->delivered_count() >= options.messages; },
                   options.endpoint.timeout, "deliveries");
    consumer->settle_pending();
    connection.ask_depth(queue);
    loop.run_until([&] { return connection.has_depth(); }, options.endpoint.timeout,
                   "the last settlement");
    const Cost cost = meter.stop();
    if (connection.depth() != 0) throw Failure(queue + " is not empty after all was consumed");
    return {cost, connection.received_bytes()};
}

// A history is sent with every message, so a live message of the same total size is the fairer
// comparison.
Emptied consume_as_long(const Options& options, uint64_t more_bytes) {
    Options longer = options;
    longer.body_bytes += more_bytes / options.messages;
    fill_queue(longer, live_queue, {.count = longer.messages});
    return consume_all(longer, live_queue);
}

}  // namespace

// Drains a dead-letter queue and, for comparison, two live backlogs of as many messages: one with
// the same bodies, one with messages of the same size on the wire.
void run_drain(const Options& options, Report& report) {
    Table arguments;
    if (options.quorum) arguments.text("x-queue-type", "quorum");
    Stage stage(options);
    stage.add_queue(live_queue, arguments);
    fill_queue(options, live_queue, {.count = options.messages});
    const Emptied live = consume_all(options, live_queue);
    if (options.via == "reject") {
        fill_with_rejected(options, stage, arguments);
    } else {
        fill_with_dead_letters(options, stage, arguments);
    }
    const Emptied drain = consume_all(options, dead_letter_queue);
    report.cost(drain.cost, options.messages);
    report.number("live_cpu_us_per_message", live.cpu_us_per(options.messages));
    report.number("drain_to_live", drain.cost.broker_cpu_seconds / live.cost.broker_cpu_seconds);
    report.number("wire_bytes_per_message", static_cast<double>(drain.received_bytes) /
                                                static_cast<double>(options.messages));
    if (drain.received_bytes <= live.received_bytes || !options.as_long) return;
    const Emptied as_long = consume_as_long(options, drain.received_bytes - live.received_bytes);
    report.number("as_long_cpu_us_per_message", as_long.cpu_us_per(options.messages));
    report.number("drain_to_as_long",
                  drain.cost.broker_cpu_seconds / as_long.cost.broker_cpu_seconds);
}

}  // namespace bench
