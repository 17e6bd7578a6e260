#include "cases.h"
#include "clock.h"
#include "failure.h"
#include "loop.h"
#include "meter.h"
#include "stage.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace bench {

namespace {

void publish_all(const Options& options, const std::string& queue) {
    const auto publisher = make_publisher(options, queue, options.messages, Confirms::off);
    Loop loop;
    loop.add(*publisher);
    loop.run_until([&] { return publisher->all_sent(); }, options.endpoint.timeout, "publishing");
    publisher->ask_depth(queue);
    loop.run_until([&] { return publisher->has_depth(); }, options.endpoint.timeout,
                   "the answer behind the last message");
}

struct Expiry {
    uint64_t first_ns = 0;  // earliest time of the first death
    bool filled_in_time = false;
};

Expiry fill_with_expiring(const Options& options, Stage& stage, uint64_t ttl_ms) {
    constexpr uint64_t rest_ns = 300'000'000;  // the measurement starts before the first death
    const bool common = options.deadline == "common";
    if (!common && options.deadline != "queue") throw Failure("--deadline is queue or common");
    stage.add_dead_letter_queue(dead_letter_queue);
    Table arguments = dead_letters_to(dead_letter_queue);
    if (!common) arguments.number("x-message-ttl", static_cast<int64_t>(ttl_ms));
    stage.add_queue(options.queue, arguments);
    const uint64_t first_ns = now_ns() + ttl_ms * 1'000'000;
    fill_queue(options, options.queue,
               {.count = options.messages, .deadline_ns = common ? first_ns : 0});
    return {first_ns, now_ns() + rest_ns < first_ns};
}

struct Deaths {
    uint64_t last_empty_ns = 0;  // when the last request was sent that found no dead letter
    uint64_t early_ns = 0;       // how much too early a dead letter was seen
};

Deaths watch_deaths(const Options& options, Session& session, uint64_t first_ns) {
    Deaths deaths;
    const auto end = Clock::now() + options.endpoint.timeout;
    while (true) {
        const uint64_t asked_ns = now_ns();
        const uint64_t depth = session.queue_depth(dead_letter_queue);
        if (depth == 0) {
            deaths.last_empty_ns = asked_ns;
        } else if (now_ns() < first_ns) {
            deaths.early_ns = std::max(deaths.early_ns, first_ns - now_ns());
        }
        if (depth >= options.messages) break;
        if (Clock::now() > end)
            throw Failure("time is up: " + std::to_string(depth) + " dead letters");
        pause_ms(5);
    }
    if (deaths.last_empty_ns == 0) throw Failure("messages died before they were watched");
    return deaths;
}

}  // namespace

// Consumes a backlog and rejects all of it, until the dead-letter queue contains every message.
void run_reject(const Options& options, Report& report) {
    Stage stage(options);
    stage.add_dead_letter_queue(dead_letter_queue);
    stage.add_queue(options.queue, dead_letters_to(dead_letter_queue));
    fill_queue(options, options.queue, {.count = options.messages});
    const auto consumer = make_consumer(options, options.queue);
    wait_until_idle(options.broker);

    const Meter meter(options.broker);
    reject_all(options, stage, *consumer);
    report.cost(meter.stop(), options.messages);
}

// Messages expire in a queue. The time runs from the last moment without a dead letter until all
// have arrived; filling the queue is not included.
void run_expire(const Options& options, Report& report) {
    constexpr int attempts_max = 4;
    Stage stage(options);
    uint64_t ttl_ms = options.ttl_ms;
    Expiry expiry;
    for (int attempt = 0; attempt < attempts_max && !expiry.filled_in_time; ++attempt) {
        if (attempt > 0) ttl_ms *= 2;  // filling the queue takes longer than the TTL
        expiry = fill_with_expiring(options, stage, ttl_ms);
    }
    if (!expiry.filled_in_time) throw Failure("messages died before all were published");
    constexpr uint64_t lead_ms = 200;
    const uint64_t left_ms = (expiry.first_ns - now_ns()) / 1'000'000;
    pause_ms(left_ms > lead_ms ? left_ms - lead_ms : 0);

    Meter meter(options.broker);
    const Deaths deaths = watch_deaths(options, stage.session(), expiry.first_ns);
    meter.started_at(deaths.last_empty_ns);
    report.cost(meter.stop(), options.messages);
    report.number("early_ms", static_cast<double>(deaths.early_ns) * 1e-6);
    report.count("ttl_ms", ttl_ms);
}

// A queue of length 1: every publish except the first dead-letters the previous message.
void run_maxlen(const Options& options, Report& report) {
    Stage stage(options);
    stage.add_dead_letter_queue(dead_letter_queue);
    stage.add_queue(options.queue, dead_letters_to(dead_letter_queue).number("x-max-length", 1));
    wait_until_idle(options.broker);

    const Meter meter(options.broker);
    publish_all(options, options.queue);
    wait_for_depth(stage.session(), options, dead_letter_queue, options.messages - 1);
    report.cost(meter.stop(), options.messages - 1);
}

// Every message expires in one queue after the other. Publishing is included; deaths are counted.
void run_chain(const Options& options, Report& report) {
    Stage stage(options);
    stage.add_dead_letter_queue(queue_name(options.hops));
    for (uint64_t hop = options.hops; hop > 0; --hop) {
        Table arguments = dead_letters_to(queue_name(hop));
        arguments.number("x-message-ttl", static_cast<int64_t>(options.ttl_ms));
        stage.add_dead_letter_queue(queue_name(hop - 1), arguments);
    }
    wait_until_idle(options.broker);

    const Meter meter(options.broker);
    publish_all(options, queue_name(0));
    wait_for_depth(stage.session(), options, queue_name(options.hops), options.messages);
    report.cost(meter.stop(), options.messages * options.hops);
}

// A work queue whose consumer rejects and a retry queue whose TTL requeues the message, a few
// times; then the consumer accepts. Deaths are counted: two per retry.
void run_retry(const Options& options, Report& report) {
    const std::string work = queue_name(0);
    const std::string waiting = queue_name(1);
    Stage stage(options);
    stage.add_dead_letter_queue(work, dead_letters_to(waiting));
    stage.add_dead_letter_queue(
        waiting,
        dead_letters_to(work).number("x-message-ttl", static_cast<int64_t>(options.ttl_ms)));
    fill_queue(options, work, {.count = options.messages});
    const auto consumer = make_consumer(options, work);
    wait_until_idle(options.broker);

    const uint64_t rejections = options.messages * options.retries;
    const Meter meter(options.broker);
    consumer->decide = [rejections](uint64_t ordinal) {
        return ordinal < rejections ? Outcome::rejected : Outcome::accepted;
    };
    consumer->start();
    Connection& connection = consumer->connection();
    Loop loop;
    loop.add(connection);
    loop.on_idle = [&] { consumer->settle_pending(); };
    loop.run_until([&] { return consumer->delivered_count() >= rejections + options.messages; },
                   options.endpoint.timeout, "deliveries");
    consumer->settle_pending();
    connection.ask_depth(waiting);
    loop.run_until([&] { return connection.has_depth(); }, options.endpoint.timeout,
                   "the last settlement");
    const Cost cost = meter.stop();
    report.cost(cost, rejections * 2);
    report.number("cpu_us_per_round",
                  cost.broker_cpu_seconds * 1e6 / static_cast<double>(options.messages));
    if (connection.depth() != 0) throw Failure("messages are left in the waiting queue");
}

}  // namespace bench
