// revenant: reads the configuration, starts the node, reloads settings on SIGHUP and stops cleanly
// on SIGTERM or SIGINT.
#include "http/web/web_assets.h"
#include "node/config/command_line.h"
#include "node/config/configuration.h"
#include "node/log/last_words.h"
#include "node/log/log.h"
#include "node/node.h"
#include "node/supervisor.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <utility>

// jemalloc options. Free memory is returned to the system within one second instead of ten, by a
// background thread instead of a reactor. With the default oversize_threshold, freeing a body of 8
// MiB or more would return it immediately on the calling thread: a millisecond per 16 MiB.
extern "C" const char* malloc_conf;
const char* malloc_conf =
    "dirty_decay_ms:1000,muzzy_decay_ms:0,oversize_threshold:0,background_thread:true";

namespace {

using namespace revenant::node;

// Every connection needs a descriptor, so the limit is raised to the maximum.
void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

// Blocked in every thread, so that signals only arrive at the descriptor.
int signals_descriptor() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &signals, SFD_CLOEXEC);
}

int next_signal(int descriptor) {
    signalfd_siginfo signal{};
    while (::read(descriptor, &signal, sizeof signal) != static_cast<ssize_t>(sizeof signal)) {
    }
    return static_cast<int>(signal.ssi_signo);
}

void print_warnings(const Configuration& configuration) {
    for (const std::string& warning : configuration.warnings) {
        std::fprintf(stderr, "warning: %s\n", warning.c_str());
    }
}

int check_config(const Configuration& configuration) {
    print_warnings(configuration);
    if (!configuration.errors.empty()) {
        std::fputs(format_errors(configuration).c_str(), stderr);
        return 1;
    }
    std::fputs(format_configuration(configuration).c_str(), stdout);
    return 0;
}

// An invalid configuration changes nothing.
void reload(const Sources& sources, Configuration& configuration, Node& node, Log& log) {
    notify_supervisor("RELOADING=1");
    Configuration fresh = load_configuration(sources);
    if (const auto opened = log.open_file(); !opened) log.warn(opened.error());
    if (!fresh.errors.empty()) {
        for (const ConfigError& fault : fresh.errors) {
            log.write(LogLevel::error, "node", "configuration not reloaded: " + fault.text,
                      {{"at", fault.origin}});
        }
    } else {
        log.set_levels(fresh.config.log);
        node.reload(fresh.config);
        const auto changes = format_changes(configuration, fresh);
        for (const std::string& change : changes) log.info(change);
        log.info("configuration reloaded", {{"changes", std::to_string(changes.size())}});
        configuration = std::move(fresh);
    }
    notify_supervisor("READY=1");
}

int run(const Sources& sources, Configuration configuration) {
    raise_descriptor_limit();
    const int signals = signals_descriptor();
    Log log(configuration.config.log);
    if (const auto opened = log.open_file(); !opened) {
        std::fprintf(stderr, "revenant: %s\n", opened.error().c_str());
        return 1;
    }
    const LastWordsInLog last_words(log);
    for (const std::string& warning : configuration.warnings) log.warn(warning);
    Node node(configuration.config, log, revenant::http::web_assets());
    const auto ready = node.start();
    if (!ready) {
        log.write(LogLevel::critical, "node", "cannot start: " + ready.error());
        log.drain(log_patience);
        write_patiently(STDERR_FILENO, "revenant: " + ready.error() + "\n");
        return 1;
    }
    // The addresses of the listeners must be in the log before readiness is reported.
    log.drain(log_patience);
    write_patiently(STDOUT_FILENO, "revenant ready amqp=" + ready->amqp + " http=" + ready->http +
                                       " prometheus=" + ready->prometheus + "\n");
    notify_supervisor("READY=1\nSTATUS=AMQP on " + ready->amqp + ", HTTP on " + ready->http);
    int signal = next_signal(signals);
    for (; signal == SIGHUP; signal = next_signal(signals)) {
        reload(sources, configuration, node, log);
    }
    notify_supervisor("STOPPING=1");
    log.info("stopping", {{"signal", std::to_string(signal)}});
    node.stop();
    log.info("stopped");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    CommandLine command_line;
    if (const auto status = parse_command_line(argc, argv, command_line)) return *status;
    if (command_line.list_config_keys) {
        std::fputs(format_keys_as_markdown().c_str(), stdout);
        return 0;
    }
    Configuration configuration = load_configuration(command_line.sources);
    if (command_line.check_config) return check_config(configuration);
    if (!configuration.errors.empty()) {
        std::fprintf(stderr, "revenant: invalid configuration, not starting\n%s",
                     format_errors(configuration).c_str());
        return 1;
    }
    return run(command_line.sources, std::move(configuration));
}
