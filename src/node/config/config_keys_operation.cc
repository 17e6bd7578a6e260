// The node: name, data directory, definitions, logging and statistics.
#include "node/config/config_keys.h"
#include "node/config/definitions_file.h"

namespace revenant::node {
namespace {

using enum KeyStatus;
using enum Trait;

using Outcome = Assignment::Outcome;

Outcome any_flag(Assignment& to) {
    bool ignored = false;
    return to.flag(ignored);
}

Outcome definitions(Assignment& to) {
    REVENANT_TRY_VOID(to.readable_file(to.config.definitions_path));
    if (const auto files = read_definitions(to.setting.value); !files) {
        return Unexpected{files.error()};
    }
    return {};
}

Outcome log_file(Assignment& to) {
    REVENANT_TRY_VOID(to.text(to.config.log.file));
    if (to.setting.value == "false") to.config.log.file.clear();
    return {};
}

Outcome component_level(Assignment& to) {
    LogLevel level = LogLevel::info;
    REVENANT_TRY_VOID(to.level(level));
    to.config.log.levels[std::string(to.variable)] = level;
    return {};
}

std::vector<ConfigKey> node_keys() {
    return {
        {"data_dir", "data", active, plain, "Data directory (Revenant only)",
         [](Assignment& to) { return to.text(to.config.data_dir); }},
        {"adopt_vhosts", "false", active, plain,
         "Recreate virtual hosts from their directories after the catalog was lost (Revenant only)",
         [](Assignment& to) { return to.flag(to.config.adopt_vhosts); }},
        {"reactors", "0", active, plain, "Threads that serve AMQP; 0: one per core (Revenant only)",
         [](Assignment& to) { return to.number(to.config.reactors, 0, 64); }},
        {"placement", "home", active, plain,
         "Reactors that serve connections: `auto`, `home` or `spread` (Revenant only)",
         [](Assignment& to) {
             return to.one_of(to.config.placement, {"auto", "home", "spread"});
         }},
        {"compat", "4.3", active, plain,
         "RabbitMQ version whose dead-lettering behaviour is followed: `4.3` or `3.12` (Revenant "
         "only)",
         [](Assignment& to) {
             return to.one_of(to.config.compat, {"4.3", "3.12"});
         }},
        {"node_name", "", active, plain,
         "Node name; default `rabbit@` and the short host name (Revenant only)",
         [](Assignment& to) { return to.text(to.config.node_name); }},
        {"cluster_name", "", active, plain, "Cluster name; default the node name",
         [](Assignment& to) { return to.text(to.config.connection.cluster_name); }},
        {"product.name", "RabbitMQ", active, plain,
         "`product` in the connection properties; some clients refuse any other",
         [](Assignment& to) { return to.text(to.config.connection.product); }},
        {"product.version", "4.3.0", active, plain,
         "`version` in the connection properties and `rabbitmq_version` in the HTTP API; clients "
         "compare it",
         [](Assignment& to) { return to.text(to.config.connection.version); }},
        {"management.product_name", "Revenant", active, plain,
         "`product_name` in the HTTP API and in the connection properties (Revenant only)",
         [](Assignment& to) { return to.text(to.config.connection.product_name); }},
        {"management.product_version", "", active, plain,
         "`product_version` in the HTTP API and in the connection properties; default the program "
         "version (Revenant only)",
         [](Assignment& to) { return to.text(to.config.connection.product_version); }},
        {"cluster_tags.$key", "", active, plain, "Shown in the HTTP API",
         [](Assignment& to) { return to.text(to.config.cluster_tags[std::string(to.variable)]); }},
        {"node_tags.$key", "", active, plain, "Shown in the HTTP API",
         [](Assignment& to) { return to.text(to.config.node_tags[std::string(to.variable)]); }},
        {"load_definitions", "", active, plain,
         "Definitions file, or directory of such files, to import at startup", definitions},
        {"definitions.local.path", "", active, plain, "The same as `load_definitions`",
         definitions},
        {"definitions.import_backend", "local_filesystem", active, plain,
         "Only `local_filesystem` is supported",
         [](Assignment& to) {
             std::string ignored;
             return to.one_of(ignored, {"local_filesystem"});
         }},
        {"definitions.skip_if_unchanged", "false", active, plain,
         "Skip the import if the definitions have not changed since the last one",
         [](Assignment& to) { return to.flag(to.config.definitions_skip_if_unchanged); }},
        {"management.load_definitions", "", active, plain, "The same as `load_definitions`",
         definitions},
        {"cluster_formation.*", "", cluster_only, plain, "Peer discovery", any_text},
        {"cluster_partition_handling", "ignore", cluster_only, plain, "", any_text},
        {"cluster_partition_handling.*", "", cluster_only, plain, "", any_text},
        {"queue_leader_locator", "client-local", cluster_only, plain, "", any_text},
    };
}

std::vector<ConfigKey> log_keys() {
    return {
        {"log.console", "true", active, plain, "Log to standard error",
         [](Assignment& to) { return to.flag(to.config.log.console); }},
        {"log.console.level", "info", active, reloadable,
         "Minimum level for this output: `debug`, `info`, `notice`, `warning`, `error`, "
         "`critical`, `none`",
         [](Assignment& to) { return to.level(to.config.log.console_level); }},
        {"log.console.formatter", "plaintext", active, plain, "`plaintext` or `json`",
         [](Assignment& to) { return to.format(to.config.log.console_format); }},
        {"log.file", "false", active, plain, "Name of the log file, or `false`", log_file},
        {"log.file.level", "info", active, reloadable, "Minimum level for this output",
         [](Assignment& to) { return to.level(to.config.log.file_level); }},
        {"log.file.formatter", "plaintext", active, plain, "`plaintext` or `json`",
         [](Assignment& to) { return to.format(to.config.log.file_format); }},
        {"log.dir", "/var/log/revenant", active, plain, "Directory of the log file",
         [](Assignment& to) { return to.text(to.config.log.directory); }},
        {"log.file.rotation.size", "", active, plain, "Size at which the log file is rotated",
         [](Assignment& to) { return to.bytes(to.config.log.rotation_bytes); }},
        {"log.file.rotation.count", "10", active, plain, "Number of rotated files to keep",
         [](Assignment& to) { return to.number(to.config.log.rotation_count, 0, 1000); }},
        {"log.file.rotation.date", "", without_effect, plain,
         "Time of rotation; use logrotate and SIGHUP instead", any_text},
        {"log.default.level", "info", active, reloadable,
         "Minimum log level of components without their own",
         [](Assignment& to) { return to.level(to.config.log.default_level); }},
        {"log.$component.level", "", active, reloadable,
         "Minimum log level of one component: `connection`, `queue`, `http`, `node`",
         component_level},
    };
}

std::vector<ConfigKey> statistics_keys() {
    return {
        {"collect_statistics", "none", without_effect, plain,
         "Statistics to collect; Revenant collects all",
         [](Assignment& to) {
             std::string ignored;
             return to.one_of(ignored, {"none", "coarse", "fine"});
         }},
        {"collect_statistics_interval", "5000", active, plain,
         "Time in ms between the samples for rates",
         [](Assignment& to) { return to.milliseconds(to.config.sample_interval); }},
        {"management.disable_stats", "false", active, plain, "Disable rates in the HTTP API",
         [](Assignment& to) { return to.flag(to.config.disable_stats); }},
        {"management.enable_queue_totals", "false", active, plain,
         "With `disable_stats`, show queue depths and nothing else about queues",
         [](Assignment& to) { return to.flag(to.config.enable_queue_totals); }},
        {"management.rates_mode", "basic", active, plain,
         "`none`: no message rates in the HTTP API; `basic` and `detailed` are the same",
         [](Assignment& to) {
             return to.one_of(to.config.rates_mode, {"basic", "detailed", "none"});
         }},
        {"management_agent.disable_metrics_collector", "false", without_effect, plain, "",
         any_flag},
        {"management.restrictions.operator_policy_changes.disabled", "false", active, plain,
         "Make operator policies read-only in the HTTP API",
         [](Assignment& to) { return to.flag(to.config.operator_policies_are_fixed); }},
    };
}

}  // namespace

std::vector<ConfigKey> operation_keys() {
    std::vector<ConfigKey> all = node_keys();
    for (const auto& group : {log_keys(), statistics_keys()}) {
        all.insert(all.end(), group.begin(), group.end());
    }
    return all;
}

}  // namespace revenant::node
