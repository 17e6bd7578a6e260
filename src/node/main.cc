// revenant: reads its options, starts the node, and stops it cleanly on SIGTERM or SIGINT.
#include "node/config.h"
#include "node/node.h"

#include <CLI/CLI.hpp>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <sys/resource.h>
#include <sys/signalfd.h>

namespace {

void add_options(CLI::App& app, revenant::node::Config& config) {
    app.add_option("--bind", config.bind, "Address to listen on")->capture_default_str();
    app.add_option("--port", config.port, "AMQP port; 0 picks a free one")->capture_default_str();
    app.add_option("--http-port", config.http_port, "HTTP port; 0 picks a free one")
        ->capture_default_str();
    app.add_option("--prometheus-port", config.prometheus_port, "Metrics port; 0 picks a free one")
        ->capture_default_str();
    app.add_option("--data-dir", config.data_dir, "Where the broker keeps its data")
        ->capture_default_str();
    app.add_option("--config", config.config_file, "Configuration file");
    app.add_option("--reactors", config.reactors, "Threads that serve AMQP; 0 means one per core")
        ->check(CLI::Range(0U, 64U))
        ->capture_default_str();
    app.add_option("--placement", config.placement,
                   "Where connections are served: auto, home (their vhost's reactor) or spread")
        ->check(CLI::IsMember({"auto", "home", "spread"}))
        ->capture_default_str();
    app.add_option("--memory-limit", config.memory_limit_bytes,
                   "Bytes of memory in use at which publishers are blocked; 0 means 60 % of RAM")
        ->capture_default_str();
    app.add_option("--disk-free-limit", config.disk_free_limit_bytes,
                   "Bytes free on the disk below which publishers are blocked")
        ->capture_default_str();
    app.add_option(
           "--compat", config.compat,
           "RabbitMQ version whose dead-lettering is followed where the versions differ, for "
           "virtual hosts that name none")
        ->check(CLI::IsMember({"4.3", "3.12"}))
        ->capture_default_str();
    app.add_flag("--quorum-relaxed-checks-on-redeclaration",
                 config.quorum_relaxed_checks_on_redeclaration,
                 "Lets applications declare a quorum queue again as a classic one");
    app.add_option("--max-message-size", config.connection.max_message_size,
                   "Largest message body in bytes")
        ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{536870912}))
        ->capture_default_str();
}

// One descriptor per connection: as many as the system lets us have.
void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

// Blocked in every thread, so that they arrive at the descriptor alone.
int signals_descriptor() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &signals, SFD_CLOEXEC);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Revenant, a message broker for dead letters. Speaks AMQP 0-9-1.", "revenant"};
    revenant::node::Config config;
    add_options(app, config);
    app.set_version_flag("--version", std::string("revenant 0.1.0, compatible with RabbitMQ ") +
                                          config.connection.version);
    CLI11_PARSE(app, argc, argv);

    spdlog::set_default_logger(spdlog::stderr_logger_mt("revenant"));
    spdlog::set_pattern("%Y-%m-%d %H:%M:%S.%e [%l] %v");
    raise_descriptor_limit();
    const int signals = signals_descriptor();

    revenant::node::Node node(config);
    const auto ready = node.start();
    if (!ready) {
        std::fprintf(stderr, "revenant: %s\n", ready.error().c_str());
        return 1;
    }
    std::printf("revenant ready amqp=%s http=%s prometheus=%s\n", ready->amqp.c_str(),
                ready->http.c_str(), ready->prometheus.c_str());
    std::fflush(stdout);

    signalfd_siginfo signal{};
    while (::read(signals, &signal, sizeof signal) != static_cast<ssize_t>(sizeof signal)) {
    }
    spdlog::info("stopping on signal {}", signal.ssi_signo);
    node.stop();
    return 0;
}
