// load_connections: opens many simultaneous connections to a running broker; prints one JSON line.
//
//   load_connections idle --port PORT --broker-pid PID --connections N
//       opens all connections with a channel each, measures the broker's memory, and sends a
//       thousand messages through another connection while they are open.
//   load_connections busy --port PORT --connections N --messages M
//       opens all connections; then each declares its own queue and sends M messages through it.
#include "cases.h"
#include "crowd.h"
#include "failure.h"
#include "meter.h"
#include "options.h"
#include "report.h"

#include <csignal>
#include <exception>
#include <iostream>
#include <string>

namespace {

void run_idle(const bench::Options& options, bench::Report& report) {
    const double before = bench::settled_resident_mib(options.broker);
    load::Crowd crowd(options.endpoint);
    crowd.open(options.connections);
    const double after = bench::settled_resident_mib(options.broker);
    report.count("opened", crowd.open_count());
    report.number("rss_before_mib", before);
    report.number("rss_after_mib", after);
    report.number("kib_per_connection",
                  (after - before) * 1024 / static_cast<double>(options.connections));

    bench::Options through = options;
    through.messages = 1000;
    through.broker = 0;
    bench::Report ignored;
    bench::run_through(through, ignored);
    report.count("passed_through", through.messages);
    report.count("disturbed", crowd.disturbed_count());
}

void run_busy(const bench::Options& options, bench::Report& report) {
    load::Crowd crowd(options.endpoint);
    crowd.open(options.connections);
    report.count("opened", crowd.open_count());
    crowd.work(options.messages);
    report.count("received", crowd.received_count());
    report.count("disturbed", crowd.disturbed_count());
}

int run(const bench::Options& options) {
    constexpr uint64_t files_besides = 64;
    load::raise_open_files_limit(options.connections + files_besides);
    bench::Report report;
    report.text("case", options.case_name);
    int status = 0;
    try {
        if (options.case_name == "idle") {
            run_idle(options, report);
        } else if (options.case_name == "busy") {
            run_busy(options, report);
        } else {
            throw bench::Failure("the case is idle or busy");
        }
        report.boolean("ok", true);
    } catch (const std::exception& failure) {
        report.boolean("ok", false);
        report.text("error", failure.what());
        status = 1;
    }
    std::cout << report.line() << std::endl;
    return status;
}

}  // namespace

int main(int argument_count, char** arguments) {
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return run(bench::parse_options({arguments + 1, arguments + argument_count}));
    } catch (const std::exception& failure) {
        std::cerr
            << "load_connections: " << failure.what() << "\n"
            << "usage: load_connections idle|busy --port PORT --broker-pid PID --connections N\n";
        return 2;
    }
}
