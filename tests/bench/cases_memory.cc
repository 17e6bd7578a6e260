#include "cases.h"
#include "failure.h"
#include "meter.h"
#include "stage.h"

namespace bench {

// For a figure without memory kept from earlier work, give it a broker that has just started.
void run_memory(const Options& options, Report& report) {
    if (options.broker == 0) throw Failure("--broker-pid is missing");
    Stage stage(options);
    stage.add_queue(options.queue);
    wait_until_idle(options.broker);
    const double before = settled_resident_mib(options.broker);

    const Meter meter(options.broker);
    fill_queue(options, options.queue, {.count = options.messages});
    wait_for_depth(stage.session(), options, options.queue, options.messages);
    report.cost(meter.stop(), options.messages);
    const double settled = settled_resident_mib(options.broker);
    report.number("rss_before_mib", before);
    report.number("rss_settled_mib", settled);
    report.number("bytes_per_message",
                  (settled - before) * 1024 * 1024 / static_cast<double>(options.messages));
}

// For what surrounds the load, such as restarts: fill with --keep 1, later ask for the depth of
// --queue.
void run_fill(const Options& options, Report& report) {
    Stage stage(options);
    stage.add_queue(options.queue);
    const Meter meter(options.broker);
    fill_queue(options, options.queue, {.count = options.messages});
    report.cost(meter.stop(), options.messages);
}

void run_depth(const Options& options, Report& report) {
    Session session(options.endpoint);
    report.count("depth", session.queue_depth(options.queue));
}

}  // namespace bench
