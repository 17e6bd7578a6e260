// bench_load: a load generator for AMQP 0-9-1 and, in the cases marked so, AMQP 1.0, with prepared
// frames and one epoll thread.
//
//   bench_load CASE --port PORT [--broker-pid PID] [--messages N] [--name value]...
//
// Runs one case against a running broker, bounded by counts and by --timeout seconds per phase, and
// prints one JSON line. tests/bench/run starts the brokers, runs all cases and compares them.
#include "cases.h"
#include "failure.h"
#include "options.h"
#include "report.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Case {
    std::string_view name;
    void (*run)(const bench::Options&, bench::Report&);
    std::string_view meaning;
    bool speaks_amqp10 = false;
};

constexpr std::array cases{
    Case{"publish", bench::run_publish, "publish without confirms until the queues hold all"},
    Case{"confirm", bench::run_confirm,
         "publish with confirms, --window of them open per publisher", true},
    Case{"through", bench::run_through, "publish, consume and ack at once, --in-flight in between",
         true},
    Case{"backlog", bench::run_backlog, "consume and ack a queue filled before", true},
    Case{"reject", bench::run_reject, "consume and reject a backlog into a dead-letter queue",
         true},
    Case{"expire", bench::run_expire, "a backlog dies of age: --ttl-ms, --deadline queue|common"},
    Case{"maxlen", bench::run_maxlen, "publish to a queue of length 1, the rest is dead-lettered"},
    Case{"chain", bench::run_chain, "--hops queues with --ttl-ms, one dead-lettering to the next"},
    Case{"retry", bench::run_retry, "reject to a waiting queue and back, --retries times, then ack",
         true},
    Case{"drain", bench::run_drain,
         "consume a dead-letter queue beside a live backlog: --hops deaths or --via reject", true},
    Case{"latency", bench::run_latency,
         "end to end at --rate for --seconds, --via direct|ttl|reject"},
    Case{"memory", bench::run_memory,
         "resident memory with --messages queued, --via direct|reject"},
    Case{"disk-reject", bench::run_disk_reject,
         "what --data-dir's disk writes while a backlog is rejected into a dead-letter queue"},
    Case{"letters", bench::run_letters,
         "what --data-dir occupies with --letters left of --messages that passed"},
    Case{"fill", bench::run_fill, "fill --queue (--keep 1 leaves it there)"},
    Case{"recovered", bench::run_recovered,
         "after a restart: time to the first of --messages, then consume all"},
};

int usage() {
    std::cerr << "usage: bench_load CASE --port PORT [--broker-pid PID] [--messages N] [--name "
                 "value]...\n";
    for (const Case& each : cases) {
        std::cerr << "  " << each.name << std::string(13 - each.name.size(), ' ') << each.meaning
                  << (each.speaks_amqp10 ? "; --protocol 0-9-1|1.0" : "") << "\n";
    }
    return 2;
}

int run(const Case& chosen, const bench::Options& options) {
    bench::Report report;
    report.text("case", chosen.name);
    int status = 0;
    try {
        chosen.run(options, report);
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
    std::signal(SIGPIPE, SIG_IGN);  // writev on a lost connection returns an error instead
    try {
        const auto options = bench::parse_options({arguments + 1, arguments + argument_count});
        const auto* const chosen = std::find_if(cases.begin(), cases.end(), [&](const Case& each) {
            return each.name == options.case_name;
        });
        if (chosen == cases.end()) return usage();
        if (options.protocol == bench::Protocol::amqp10 && !chosen->speaks_amqp10)
            throw bench::Failure(options.case_name + " speaks AMQP 0-9-1 only");
        return run(*chosen, options);
    } catch (const std::exception& failure) {
        std::cerr << "bench_load: " << failure.what() << "\n";
        return usage();
    }
}
