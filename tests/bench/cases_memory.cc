#include "cases.h"
#include "failure.h"
#include "meter.h"
#include "stage.h"

namespace bench {

namespace {

enum class Place { queue, dead_letter_queue };

Place place_of(const Options& options) {
    if (options.via == "direct") return Place::queue;
    if (options.via == "reject") return Place::dead_letter_queue;
    throw Failure("--via is direct or reject");
}

void load(const Options& options, Stage& stage, Place place) {
    fill_queue(options, options.queue, {.count = options.messages});
    if (place == Place::queue)
        return wait_for_depth(stage.session(), options, options.queue, options.messages);
    const auto consumer = make_consumer(options, options.queue);
    reject_all(options, stage, *consumer);
}

}  // namespace

// Use a newly started broker to exclude memory retained from earlier work.
void run_memory(const Options& options, Report& report) {
    if (options.broker == 0) throw Failure("--broker-pid is missing");
    const Place place = place_of(options);
    Stage stage(options);
    if (place == Place::queue) {
        stage.add_queue(options.queue);
    } else {
        stage.add_dead_letter_queue(dead_letter_queue);
        stage.add_queue(options.queue, dead_letters_to(dead_letter_queue));
    }
    wait_until_idle(options.broker);
    const double before_mb = settled_memory(options.broker).resident_mb;

    const Meter meter(options.broker);
    load(options, stage, place);
    report.cost(meter.stop(), options.messages);
    const Memory memory = settled_memory(options.broker);
    report.number("rss_before_mb", before_mb);
    report.number("rss_settled_mb", memory.resident_mb);
    report.number("rss_anonymous_mb", memory.anonymous_mb);
    report.number("rss_peak_mb", memory.peak_mb);
    report.number("bytes_per_message",
                  (memory.resident_mb - before_mb) * 1e6 / static_cast<double>(options.messages));
    report_unsaved(options, report);
}

}  // namespace bench
