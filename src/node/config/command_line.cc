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
    {"--bind", "bind", "Address of all listeners without their own"},
    {"--port", "listeners.tcp.default", "AMQP port; 0: any free port"},
    {"--http-port", "management.tcp.port", "HTTP port; 0: any free port"},
    {"--prometheus-port", "prometheus.tcp.port", "Metrics port; 0: any free port"},
    {"--data-dir", "data_dir", "Data directory"},
    {"--reactors", "reactors", "Threads that serve AMQP; 0: one per core"},
    {"--placement", "placement",
     "Reactors that serve connections: auto, home (the reactor of the vhost) or spread"},
    {"--memory-limit", "vm_memory_high_watermark.absolute",
     "Memory use at which publishers are blocked, such as 2GB"},
    {"--disk-free-limit", "disk_free_limit.absolute",
     "Free disk space below which publishers are blocked, such as 50MB"},
    {"--compat", "compat",
     "RabbitMQ version whose dead-lettering behaviour is followed (4.3 or 3.12), for virtual "
     "hosts that do not set one"},
    {"--max-message-size", "max_message_size", "Maximum size of a message body, such as 16MiB"},
    {"--log-level", "log.default.level", "Minimum log level: debug, info, warning, error"},
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
                   "Configuration file; files in conf.d next to it are read as well");
    app.add_option("--rabbitmq-config", into.sources.rabbitmq_directory,
                   "RabbitMQ configuration directory, read after that file: rabbitmq.conf (or the "
                   "file in RABBITMQ_CONFIG_FILE) and conf.d");
    app.add_flag("--check-config", into.check_config,
                 "Check the configuration, print all errors or all effective settings, and exit");
    app.add_flag("--list-config-keys", into.list_config_keys,
                 "Print all configuration keys as a table and exit");
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
        "Accept redeclaring a quorum queue as classic");
    app.add_flag_callback(
        "--adopt-vhosts", [&said] { said("--adopt-vhosts", "adopt_vhosts", "true"); },
        "Recreate virtual hosts from their directories after the catalog was lost");
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
