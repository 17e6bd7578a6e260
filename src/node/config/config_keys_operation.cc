// The node itself: its name, where it keeps things, what it tells.
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
        {"data_dir", "data", active, plain, "Where everything is kept (Revenant's own)",
         [](Assignment& to) { return to.text(to.config.data_dir); }},
        {"adopt_vhosts", "false", active, plain,
         "After the loss of the catalog: virtual hosts whose directories are there exist again "
         "(Revenant's own)",
         [](Assignment& to) { return to.flag(to.config.adopt_vhosts); }},
        {"reactors", "0", active, plain,
         "Threads that serve AMQP; 0 means one per core (Revenant's own)",
         [](Assignment& to) { return to.number(to.config.reactors, 0, 64); }},
        {"placement", "home", active, plain,
         "Where connections are served: `auto`, `home` or `spread` (Revenant's own)",
         [](Assignment& to) {
             return to.one_of(to.config.placement, {"auto", "home", "spread"});
         }},
        {"compat", "4.3", active, plain,
         "Whose dead-lettering is followed where RabbitMQ's versions differ: `4.3` or `3.12` "
         "(Revenant's own)",
         [](Assignment& to) {
             return to.one_of(to.config.compat, {"4.3", "3.12"});
         }},
        {"node_name", "", active, plain,
         "What the node calls itself; `rabbit@` and the machine's short name unless said "
         "(Revenant's own)",
         [](Assignment& to) { return to.text(to.config.node_name); }},
        {"cluster_name", "", active, plain, "What clients are told; the same unless said",
         [](Assignment& to) { return to.text(to.config.connection.cluster_name); }},
        {"product.name", "RabbitMQ", active, plain,
         "`product` in the properties of a connection; some clients refuse any other",
         [](Assignment& to) { return to.text(to.config.connection.product); }},
        {"product.version", "4.3.0", active, plain,
         "`version` there and `rabbitmq_version` in the API; clients compare it",
         [](Assignment& to) { return to.text(to.config.connection.version); }},
        {"management.product_name", "Revenant", active, plain,
         "`product_name` in the API and in the properties of a connection (Revenant's own)",
         [](Assignment& to) { return to.text(to.config.connection.product_name); }},
        {"management.product_version", "", active, plain,
         "`product_version` there; the version of the program unless said (Revenant's own)",
         [](Assignment& to) { return to.text(to.config.connection.product_version); }},
        {"cluster_tags.$key", "", active, plain, "Told in the API",
         [](Assignment& to) { return to.text(to.config.cluster_tags[std::string(to.variable)]); }},
        {"node_tags.$key", "", active, plain, "Told in the API",
         [](Assignment& to) { return to.text(to.config.node_tags[std::string(to.variable)]); }},
        {"load_definitions", "", active, plain, "A file, or a directory of them, read at the start",
         definitions},
        {"definitions.local.path", "", active, plain, "The same", definitions},
        {"definitions.import_backend", "local_filesystem", active, plain,
         "`local_filesystem` is the only one",
         [](Assignment& to) {
             std::string ignored;
             return to.one_of(ignored, {"local_filesystem"});
         }},
        {"definitions.skip_if_unchanged", "false", active, plain,
         "Definitions that are as they were at the last start are not imported again",
         [](Assignment& to) { return to.flag(to.config.definitions_skip_if_unchanged); }},
        {"management.load_definitions", "", active, plain, "The same as `load_definitions`",
         definitions},
        {"cluster_formation.*", "", cluster_only, plain, "How a node finds others", any_text},
        {"cluster_partition_handling", "ignore", cluster_only, plain, "", any_text},
        {"cluster_partition_handling.*", "", cluster_only, plain, "", any_text},
        {"queue_leader_locator", "client-local", cluster_only, plain, "", any_text},
    };
}

std::vector<ConfigKey> log_keys() {
    return {
        {"log.console", "true", active, plain, "Lines go to standard error",
         [](Assignment& to) { return to.flag(to.config.log.console); }},
        {"log.console.level", "info", active, reloadable,
         "Least level of the lines there: `debug`, `info`, `notice`, `warning`, `error`, "
         "`critical`, `none`",
         [](Assignment& to) { return to.level(to.config.log.console_level); }},
        {"log.console.formatter", "plaintext", active, plain, "`plaintext` or `json`",
         [](Assignment& to) { return to.format(to.config.log.console_format); }},
        {"log.file", "false", active, plain, "Name of a file for them, or `false`", log_file},
        {"log.file.level", "info", active, reloadable, "Least level of the lines there",
         [](Assignment& to) { return to.level(to.config.log.file_level); }},
        {"log.file.formatter", "plaintext", active, plain, "`plaintext` or `json`",
         [](Assignment& to) { return to.format(to.config.log.file_format); }},
        {"log.dir", "/var/log/revenant", active, plain, "Where the file lies",
         [](Assignment& to) { return to.text(to.config.log.directory); }},
        {"log.file.rotation.size", "", active, plain, "Size at which a new file is begun",
         [](Assignment& to) { return to.bytes(to.config.log.rotation_bytes); }},
        {"log.file.rotation.count", "10", active, plain, "Old files that are kept",
         [](Assignment& to) { return to.number(to.config.log.rotation_count, 0, 1000); }},
        {"log.file.rotation.date", "", without_effect, plain,
         "When a new file is begun; use logrotate and SIGHUP", any_text},
        {"log.default.level", "info", active, reloadable,
         "Least level of components that have none of their own",
         [](Assignment& to) { return to.level(to.config.log.default_level); }},
        {"log.$component.level", "", active, reloadable,
         "Least level of one component: `connection`, `queue`, `http`, `node`", component_level},
    };
}

std::vector<ConfigKey> statistics_keys() {
    return {
        {"collect_statistics", "none", without_effect, plain, "What is counted (everything here)",
         [](Assignment& to) {
             std::string ignored;
             return to.one_of(ignored, {"none", "coarse", "fine"});
         }},
        {"collect_statistics_interval", "5000", active, plain,
         "Milliseconds between the samples that rates are made of",
         [](Assignment& to) { return to.milliseconds(to.config.sample_interval); }},
        {"management.disable_stats", "false", active, plain, "The API tells no rates",
         [](Assignment& to) { return to.flag(to.config.disable_stats); }},
        {"management.enable_queue_totals", "false", active, plain,
         "It then still tells the depth of queues, and of them nothing else",
         [](Assignment& to) { return to.flag(to.config.enable_queue_totals); }},
        {"management.rates_mode", "basic", active, plain,
         "`none`: the API tells no rates of messages; `basic`, and `detailed` the same",
         [](Assignment& to) {
             return to.one_of(to.config.rates_mode, {"basic", "detailed", "none"});
         }},
        {"management_agent.disable_metrics_collector", "false", without_effect, plain, "",
         any_flag},
        {"management.restrictions.operator_policy_changes.disabled", "false", active, plain,
         "Nobody changes operator policies by /api/operator-policies",
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
