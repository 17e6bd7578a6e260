#include "stage.h"

#include "amqp10_peer.h"
#include "clock.h"
#include "disk.h"
#include "failure.h"
#include "loop.h"
#include "meter.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>
#include <utility>

namespace bench {

namespace {

const std::string dead_letter_exchange = "bench.dead.exchange";
constexpr uint64_t fill_window_max = 5000;
constexpr uint64_t fill_bytes_max = uint64_t{8} * 1024 * 1024;  // unconfirmed at a time
constexpr uint64_t poll_ms = 5;

uint64_t fill_window(uint64_t body_bytes) {
    return std::clamp<uint64_t>(fill_bytes_max / std::max<uint64_t>(body_bytes, 1), 1,
                                fill_window_max);
}

MessageShape shape_of(const Options& options, const std::string& queue, const Session& session) {
    return {.routing_key = queue,
            .body_bytes = options.body_bytes,
            .persistent = options.persistent,
            .header_count = options.headers,
            .frame_bytes_max = session.frame_bytes_max()};
}

std::unique_ptr<Publisher> make_expiring_publisher(const Options& options, const std::string& queue,
                                                   const Filling& filling) {
    Session session(options.endpoint);
    session.select_confirms();
    MessageShape shape = shape_of(options, queue, session);
    shape.expiration = Publisher::expiration_placeholder;
    auto publisher =
        std::make_unique<Publisher>(std::move(session), prepare_publish(shape), filling.count);
    publisher->expire_all_at(filling.deadline_ns);
    return publisher;
}

}  // namespace

Stage::Stage(const Options& options) : options_(options), session_(options.endpoint) {}

Stage::~Stage() {
    if (options_.keep) return;
    try {
        delete_queues();
    } catch (const Failure& failure) {
        std::cerr << "bench_load: cannot delete queues: " << failure.what() << "\n";
    }
}

void Stage::add_queue(const std::string& name, const Table& arguments) {
    session_.delete_queue(name);
    const Durability durability = options_.quorum ? Durability::durable : options_.durability();
    session_.declare_queue(name, durability, arguments);
    queues_.push_back(name);
}

void Stage::add_dead_letter_queue(const std::string& name, const Table& arguments) {
    session_.declare_exchange(dead_letter_exchange, "direct");
    add_queue(name, arguments);
    session_.bind_queue(name, dead_letter_exchange, name);
}

void Stage::delete_queues() {
    for (const std::string& name : queues_) session_.delete_queue(name);
    queues_.clear();
}

std::string queue_name(uint64_t index) { return "bench.queue." + std::to_string(index); }

Table dead_letters_to(const std::string& queue) {
    Table arguments;
    arguments.text("x-dead-letter-exchange", dead_letter_exchange);
    arguments.text("x-dead-letter-routing-key", queue);
    return arguments;
}

std::unique_ptr<Publisher> make_publisher(const Options& options, const std::string& queue,
                                          uint64_t count, Confirms confirms) {
    Session session(options.endpoint);
    if (confirms == Confirms::on) session.select_confirms();
    const MessageShape shape = shape_of(options, queue, session);
    auto publisher = std::make_unique<Publisher>(std::move(session), prepare_publish(shape), count);
    if (confirms == Confirms::on) publisher->limit_unconfirmed(options.window);
    return publisher;
}

std::unique_ptr<Publishing> make_confirmed_publisher(const Options& options,
                                                     const std::string& queue, uint64_t count) {
    if (options.protocol == Protocol::amqp091)
        return make_publisher(options, queue, count, Confirms::on);
    Session10 session(options.endpoint);
    session.attach_sender(queue);
    const TransferShape shape{.body_bytes = options.body_bytes,
                              .durable = options.persistent,
                              .frame_bytes_max = session.frame_bytes_max()};
    auto publisher =
        std::make_unique<Publisher10>(std::move(session), prepare_transfer(shape), count);
    publisher->limit_unconfirmed(options.window);
    return publisher;
}

std::unique_ptr<Consuming> make_consumer(const Options& options, const std::string& queue) {
    if (options.protocol == Protocol::amqp091) {
        Session session(options.endpoint);
        session.set_prefetch(static_cast<uint16_t>(options.prefetch));
        return std::make_unique<Consumer>(std::move(session), options.settle_every, queue);
    }
    Session10 session(options.endpoint);
    session.attach_receiver(queue);
    return std::make_unique<Consumer10>(std::move(session), options.settle_every,
                                        static_cast<uint32_t>(options.prefetch));
}

void fill_queue(const Options& options, const std::string& queue, const Filling& filling) {
    std::unique_ptr<Publishing> publisher;
    if (filling.deadline_ns != 0) {
        publisher = make_expiring_publisher(options, queue, filling);
    } else {
        publisher = make_confirmed_publisher(options, queue, filling.count);
    }
    publisher->limit_unconfirmed(fill_window(options.body_bytes));
    Loop loop;
    loop.add(publisher->connection());
    loop.run_until([&] { return publisher->all_confirmed(); }, options.endpoint.timeout,
                   "filling the queue");
    if (publisher->refused_count() != 0)
        throw Failure("the broker refused messages while filling the queue");
}

void wait_for_depth(Session& session, const Options& options, const std::string& queue,
                    uint64_t depth) {
    const auto end = Clock::now() + options.endpoint.timeout;
    while (true) {
        const uint64_t found = session.queue_depth(queue);
        if (found == depth) return;
        const std::string state = queue + " holds " + std::to_string(found) + " of " +
                                  std::to_string(depth) + " messages";
        if (found > depth) throw Failure(state);
        if (Clock::now() > end) throw Failure("time is up: " + state);
        pause_ms(poll_ms);
    }
}

void reject_all(const Options& options, Stage& stage, Consuming& consumer) {
    consumer.decide = [](uint64_t) { return Outcome::rejected; };
    consumer.start();
    Loop loop;
    loop.add(consumer.connection());
    loop.run_until([&] { return consumer.delivered_count() >= options.messages; },
                   options.endpoint.timeout, "deliveries");
    consumer.settle_pending();
    consumer.connection().ask_depth(options.queue);
    loop.run_until([&] { return consumer.connection().has_depth(); }, options.endpoint.timeout,
                   "the last rejection");
    wait_for_depth(stage.session(), options, dead_letter_queue, options.messages);
}

void report_unsaved(const Options& options, Report& report) {
    if (!options.persistent || options.data_dir.empty()) return;
    report.number("unsaved_mb", unsaved_mb(options.data_dir, options.all_body_bytes()));
}

void wait_until_idle(pid_t broker) {
    if (broker == 0) return;
    constexpr uint64_t probe_ms = 100;
    constexpr int probes_max = 30;
    constexpr double idle_share = 0.05;
    for (int probe = 0; probe < probes_max; ++probe) {
        const Meter meter(broker);
        pause_ms(probe_ms);
        const Cost cost = meter.stop();
        if (cost.broker_cpu_seconds < idle_share * cost.seconds) return;
    }
}

void pause_ms(uint64_t milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

}  // namespace bench
