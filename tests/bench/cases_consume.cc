#include "cases.h"
#include "failure.h"
#include "loop.h"
#include "meter.h"
#include "stage.h"

#include <memory>
#include <utility>

namespace bench {

namespace {

// The last settlements have been handled when the broker answers a question sent behind them.
void settle_to_the_end(const Options& options, Loop& loop, Consumer& consumer,
                       const std::string& queue) {
    consumer.settle_pending();
    consumer.ask_depth(queue);
    loop.run_until([&] { return consumer.has_depth(); }, options.endpoint.timeout,
                   "the last settlement");
    if (consumer.depth() != 0) throw Failure("the queue is not empty after all was consumed");
}

void check_count(const Consumer& consumer, uint64_t expected) {
    if (consumer.delivered_count() == expected) return;
    throw Failure(std::to_string(consumer.delivered_count()) + " deliveries of " +
                  std::to_string(expected));
}

}  // namespace

// Publishing, consuming and acknowledging at once, with a bounded number of messages in between: a
// queue that stays short, as in a healthy system.
void run_through(const Options& options, Report& report) {
    Stage stage(options);
    stage.add_queue(options.queue);
    Session session(options.endpoint);
    session.set_prefetch(static_cast<uint16_t>(options.prefetch));
    session.consume(options.queue);
    Consumer consumer(std::move(session), options.settle_every);
    const auto publisher = make_publisher(options, options.queue, options.messages, Confirms::off);
    publisher->allow(options.in_flight);
    Loop loop;
    loop.add(consumer);
    loop.add(*publisher);
    loop.on_turn = [&] { publisher->allow(consumer.delivered_count() + options.in_flight); };
    wait_until_idle(options.broker);

    const Meter meter(options.broker);
    loop.run_until([&] { return consumer.delivered_count() >= options.messages; },
                   options.endpoint.timeout, "deliveries");
    settle_to_the_end(options, loop, consumer, options.queue);
    report.cost(meter.stop(), options.messages);
    check_count(consumer, options.messages);
}

void run_backlog(const Options& options, Report& report) {
    Stage stage(options);
    stage.add_queue(options.queue);
    fill_queue(options, options.queue, {.count = options.messages});
    Session session(options.endpoint);
    session.set_prefetch(static_cast<uint16_t>(options.prefetch));
    wait_until_idle(options.broker);

    const Meter meter(options.broker);
    session.consume(options.queue);
    Consumer consumer(std::move(session), options.settle_every);
    Loop loop;
    loop.add(consumer);
    loop.run_until([&] { return consumer.delivered_count() >= options.messages; },
                   options.endpoint.timeout, "deliveries");
    settle_to_the_end(options, loop, consumer, options.queue);
    report.cost(meter.stop(), options.messages);
    check_count(consumer, options.messages);
}

}  // namespace bench
