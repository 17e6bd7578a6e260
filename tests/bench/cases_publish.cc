#include "cases.h"
#include "failure.h"
#include "loop.h"
#include "meter.h"
#include "stage.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace bench {

namespace {

using Publishers = std::vector<std::unique_ptr<Publisher>>;

// Each publisher has a queue of its own, so that several of them load the broker and not one queue.
Publishers make_publishers(const Options& options, Stage& stage, Loop& loop, Confirms confirms) {
    Publishers publishers;
    for (uint64_t index = 0; index < options.publishers; ++index) {
        stage.add_queue(queue_name(index));
        publishers.push_back(make_publisher(options, queue_name(index),
                                            options.messages / options.publishers, confirms));
        loop.add(*publishers.back());
    }
    return publishers;
}

template <typename Predicate>
bool all(const Publishers& publishers, Predicate predicate) {
    return std::all_of(publishers.begin(), publishers.end(),
                       [&](const auto& each) { return predicate(*each); });
}

}  // namespace

// Without confirms a publish is over when the queue holds the message, not when the socket took its
// bytes.
void run_publish(const Options& options, Report& report) {
    Stage stage(options);
    Loop loop;
    const Publishers publishers = make_publishers(options, stage, loop, Confirms::off);
    const uint64_t each_count = options.messages / options.publishers;
    wait_until_idle(options.broker);

    const Meter meter(options.broker);
    const auto limit = options.endpoint.timeout;
    loop.run_until([&] { return all(publishers, [](auto& each) { return each.all_sent(); }); },
                   limit, "publishing");
    for (uint64_t index = 0; index < publishers.size(); ++index)
        publishers[index]->ask_depth(queue_name(index));
    loop.run_until([&] { return all(publishers, [](auto& each) { return each.has_depth(); }); },
                   limit, "the answer behind the last message");
    for (uint64_t index = 0; index < publishers.size(); ++index) {
        if (publishers[index]->depth() == each_count) continue;
        wait_for_depth(stage.session(), options, queue_name(index), each_count);
    }
    report.cost(meter.stop(), each_count * options.publishers);
}

void run_confirm(const Options& options, Report& report) {
    Stage stage(options);
    Loop loop;
    const Publishers publishers = make_publishers(options, stage, loop, Confirms::on);
    const uint64_t each_count = options.messages / options.publishers;
    wait_until_idle(options.broker);

    const Meter meter(options.broker);
    loop.run_until([&] { return all(publishers, [](auto& each) { return each.all_confirmed(); }); },
                   options.endpoint.timeout, "confirms");
    report.cost(meter.stop(), each_count * options.publishers);
    for (uint64_t index = 0; index < publishers.size(); ++index) {
        if (publishers[index]->refused_count() != 0) throw Failure("the broker refused messages");
        wait_for_depth(stage.session(), options, queue_name(index), each_count);
    }
    report_unsaved(options, report);
}

}  // namespace bench
