#include "node/config/command_line.h"

#include "base/version.h"

#include <CLI/CLI.hpp>

#include <array>
#include <string>

namespace revenant::node {
namespace {

struct Option {
    const char* name;
    const char* key;
    const char* help;
};

constexpr std::array<Option, 12> options = {{
    {"--bind", "bind", "Address to listen on, where the configuration names none"},
    {"--port", "listeners.tcp.default", "AMQP port; 0 picks a free one"},
    {"--http-port", "management.tcp.port", "HTTP port; 0 picks a free one"},
    {"--prometheus-port", "prometheus.tcp.port", "Metrics port; 0 picks a free one"},
    {"--data-dir", "data_dir", "Where the broker keeps its data"},
    {"--reactors", "reactors", "Threads that serve AMQP; 0 means one per core"},
    {"--placement", "placement",
     "Where connections are served: auto, home (their vhost's reactor) or spread"},
    {"--memory-limit", "vm_memory_high_watermark.absolute",
     "Memory in use at which publishers are blocked, such as 2GB"},
    {"--disk-free-limit", "disk_free_limit.absolute",
     "Free space on the disk below which publishers are blocked, such as 50MB"},
    {"--compat", "compat",
     "RabbitMQ version whose dead-lettering is followed where the versions differ, 4.3 or 3.12, "
     "for virtual hosts that name none"},
    {"--max-message-size", "max_message_size", "Largest message body, such as 16MiB"},
    {"--log-level", "log.default.level", "Least level of log lines: debug, info, warning, error"},
}};

constexpr const char* relaxed_checks =
    "quorum_queue.property_equivalence.relaxed_checks_on_redeclaration";

std::string with_default(const Option& option) {
    const ConfigKey* const key = find_config_key(option.key);
    std::string text = option.help;
    if (key != nullptr && !key->default_value.empty())
        text += " [" + std::string(key->default_value) + "]";
    return text;
}

}  // namespace

std::optional<int> parse_command_line(int argc, char** argv, CommandLine& into) {
    CLI::App app{"Revenant, a message broker for dead letters. Speaks AMQP 0-9-1 and AMQP 1.0.",
                 "revenant"};
    app.add_option("--config", into.sources.config_file,
                   "Configuration file; those in the directory conf.d beside it are read, too");
    app.add_option("--rabbitmq-config", into.sources.rabbitmq_directory,
                   "Directory of RabbitMQ's configuration, read after that file: rabbitmq.conf or "
                   "what RABBITMQ_CONFIG_FILE names, and conf.d");
    app.add_flag("--check-config", into.check_config,
                 "Says everything that is wrong with the configuration, or shows it, and ends");
    app.add_flag("--list-config-keys", into.list_config_keys,
                 "Shows every key the configuration can have, as a table, and ends");
    const auto said = [&](const char* option, const char* key, std::string value) {
        into.sources.command_line.push_back({Source::command_line, option, key, std::move(value)});
    };
    for (const Option& option : options) {
        app.add_option_function<std::string>(
            option.name,
            [&said, &option](const std::string& value) { said(option.name, option.key, value); },
            with_default(option));
    }
    app.add_flag_callback(
        "--quorum-relaxed-checks-on-redeclaration",
        [&said] { said("--quorum-relaxed-checks-on-redeclaration", relaxed_checks, "true"); },
        "Lets applications declare a quorum queue again as a classic one");
    app.add_flag_callback(
        "--adopt-vhosts", [&said] { said("--adopt-vhosts", "adopt_vhosts", "true"); },
        "After the loss of the catalog: virtual hosts whose directories are there exist again");
    app.set_version_flag("--version", "revenant " + std::string(revenant_version) +
                                          ", compatible with RabbitMQ " +
                                          protocol::ConnectionSettings{}.version);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error);
    }
    return std::nullopt;
}

}  // namespace revenant::node
