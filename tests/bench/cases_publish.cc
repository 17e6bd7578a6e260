#include "cases.h"
#include "failure.h"
#include "loop.h"
#include "meter.h"
#include "stage.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace bench {

namespace {

// Each publisher has its own queue, so that several of them load the broker and not one queue.
template <typename Make>
auto make_publishers(const Options& options, Stage& stage, Loop& loop, Make make) {
    const uint64_t count = options.messages / options.publishers;
    std::vector<decltype(make(std::string(), count))> publishers;
    for (uint64_t index = 0; index < options.publishers; ++index) {
        stage.add_queue(queue_name(index));
        publishers.push_back(make(queue_name(index), count));
        loop.add(publishers.back()->connection());
    }
    return publishers;
}

template <typename Publishers, typename Predicate>
bool all(const Publishers& publishers, Predicate predicate) {
    return std::all_of(publishers.begin(), publishers.end(),
                       [&](const auto& each) { return predicate(*each); });
}

}  // namespace

// Without confirms a publish is complete when the queue contains the message, not when the socket
// has taken its bytes.
void run_publish(const Options& options, Report& report) {
    Stage stage(options);
    Loop loop;
    const auto publishers =
        make_publishers(options, stage, loop, [&](const std::string& queue, uint64_t count) {
            return make_publisher(options, queue, count, Confirms::off);
        });
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
    const auto publishers =
        make_publishers(options, stage, loop, [&](const std::string& queue, uint64_t count) {
            return make_confirmed_publisher(options, queue, count);
        });
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
