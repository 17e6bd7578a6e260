// The two halves of a restart; tests/bench/restart.py stops and starts the broker in between.
#include "cases.h"
#include "clock.h"
#include "failure.h"
#include "loop.h"
#include "meter.h"
#include "stage.h"

#include <string>
#include <utility>

namespace bench {

namespace {

void wait_for_answer(const Options& options, Loop& loop, const Consumer& consumer) {
    loop.run_until([&] { return consumer.has_depth(); }, options.endpoint.timeout,
                   "the depth of the queue");
}

// Takes one message without settling it, so that the others stay in the queue and can be counted.
// Returns the number of messages, including this one.
uint64_t receive_first(const Options& options, Report& report) {
    constexpr uint16_t prefetch = 1;
    const uint64_t connect_ns = now_ns();
    Session session(options.endpoint);
    session.set_prefetch(prefetch);
    session.consume(options.queue);
    Consumer consumer(std::move(session), prefetch + 1);
    Loop loop;
    loop.add(consumer);
    consumer.ask_depth(options.queue);
    const auto nothing_there = [&] { return consumer.has_depth() && consumer.depth() == 0; };
    loop.run_until([&] { return consumer.delivered_count() > 0 || nothing_there(); },
                   options.endpoint.timeout, "the first message");
    if (consumer.delivered_count() > 0) {
        report.number("first_seconds",
                      seconds_since(options.started_ns != 0 ? options.started_ns : connect_ns));
        report.number("connect_to_first_seconds", seconds_since(connect_ns));
    }
    wait_for_answer(options, loop, consumer);
    consumer.ask_depth(options.queue);  // the first reply may be older than the delivery
    wait_for_answer(options, loop, consumer);
    return consumer.depth() + consumer.delivered_count();
}

void consume_all(const Options& options, Report& report, uint64_t count) {
    Session session(options.endpoint);
    session.set_prefetch(static_cast<uint16_t>(options.prefetch));
    const Meter meter(options.broker);
    session.consume(options.queue);
    Consumer consumer(std::move(session), options.settle_every);
    Loop loop;
    loop.add(consumer);
    loop.run_until([&] { return consumer.delivered_count() >= count; }, options.endpoint.timeout,
                   "the recovered messages");
    consumer.settle_pending();
    consumer.ask_depth(options.queue);
    loop.run_until([&] { return consumer.has_depth(); }, options.endpoint.timeout,
                   "the last settlement");
    report.cost(meter.stop(), count);
    if (consumer.depth() != 0 || consumer.delivered_count() != count)
        throw Failure("there are more messages than the queue had said");
}

}  // namespace

void run_fill(const Options& options, Report& report) {
    Stage stage(options);
    stage.add_queue(options.queue);
    const Meter meter(options.broker);
    fill_queue(options, options.queue, {.count = options.messages});
    report.cost(meter.stop(), options.messages);
    report_unsaved(options, report);
}

void run_recovered(const Options& options, Report& report) {
    const uint64_t found = receive_first(options, report);
    report.count("found", found);
    if (found != options.messages) return;  // the caller reports what is missing
    consume_all(options, report, found);
}

}  // namespace bench
