#include "cases.h"
#include "failure.h"
#include "loop.h"
#include "meter.h"
#include "stage.h"

#include <memory>
#include <string>

namespace bench {

namespace {

// The broker has handled the last settlements when it replies to a request sent after them.
void settle_to_the_end(const Options& options, Loop& loop, Consuming& consumer) {
    Connection& connection = consumer.connection();
    consumer.settle_pending();
    connection.ask_depth(options.queue);
    loop.run_until([&] { return connection.has_depth(); }, options.endpoint.timeout,
                   "the last settlement");
    if (connection.depth() != 0) throw Failure("the queue is not empty after all was consumed");
}

void check_count(const Consuming& consumer, uint64_t expected) {
    if (consumer.delivered_count() == expected) return;
    throw Failure(std::to_string(consumer.delivered_count()) + " deliveries of " +
                  std::to_string(expected));
}

// AMQP 1.0 always waits for outcomes, which correspond to confirms.
std::unique_ptr<Publishing> make_publisher_of_through(const Options& options) {
    if (options.confirms || options.protocol == Protocol::amqp10)
        return make_confirmed_publisher(options, options.queue, options.messages);
    return make_publisher(options, options.queue, options.messages, Confirms::off);
}

}  // namespace

// Publishes, consumes and acknowledges concurrently with a bounded number of messages in flight:
// the queue stays short, as in a healthy system.
void run_through(const Options& options, Report& report) {
    Stage stage(options);
    stage.add_queue(options.queue);
    const auto consumer = make_consumer(options, options.queue);
    const auto publisher = make_publisher_of_through(options);
    publisher->allow(options.in_flight);
    Loop loop;
    loop.add(consumer->connection());
    loop.add(publisher->connection());
    loop.on_turn = [&] { publisher->allow(consumer->delivered_count() + options.in_flight); };
    wait_until_idle(options.broker);

    const Meter meter(options.broker);
    consumer->start();
    loop.run_until([&] { return consumer->delivered_count() >= options.messages; },
                   options.endpoint.timeout, "deliveries");
    settle_to_the_end(options, loop, *consumer);
    report.cost(meter.stop(), options.messages);
    check_count(*consumer, options.messages);
    if (publisher->refused_count() != 0) throw Failure("the broker refused messages");
}

void run_backlog(const Options& options, Report& report) {
    Stage stage(options);
    stage.add_queue(options.queue);
    fill_queue(options, options.queue, {.count = options.messages});
    const auto consumer = make_consumer(options, options.queue);
    wait_until_idle(options.broker);

    const Meter meter(options.broker);
    consumer->start();
    Loop loop;
    loop.add(consumer->connection());
    loop.run_until([&] { return consumer->delivered_count() >= options.messages; },
                   options.endpoint.timeout, "deliveries");
    settle_to_the_end(options, loop, *consumer);
    report.cost(meter.stop(), options.messages);
    check_count(*consumer, options.messages);
}

}  // namespace bench
