// Checks of rabbitmq-diagnostics, rabbitmq-queues and rabbitmq-upgrade in addition to the basic
// health checks. Exit status 0 means passed, 69 failed.
#include "cli/commands/command_tables.h"

#include <boost/json.hpp>

#include <iostream>

namespace revenant::cli {
namespace {

namespace json = boost::json;

Outcome pass(const Invocation& invocation, const std::string& path, const std::string& well) {
    REVENANT_TRY(const Reply reply, invocation.ask("GET", "/health/checks/" + path));
    if (reply.status == 400) {
        return Unexpected{Failure{ExitCode::usage, reply.reason(), /*shows_usage=*/true}};
    }
    if (reply.status != 200) return operation_failed(reply.reason());
    invocation.hint(well);
    return {};
}

Outcome certificate_expiration(const Invocation& invocation) {
    const std::string unit =
        invocation.options.unit_given ? invocation.options.unit : std::string("weeks");
    const std::string within = std::to_string(invocation.options.within);
    invocation.banner("Checking certificate expiration for all certificates on node " +
                      invocation.client.settings().url + " ...");
    return pass(invocation, "certificate-expiration/" + within + "/" + escape(unit),
                "No certificates are expiring within " + within + " " +
                    (within == "1" ? unit.substr(0, unit.size() - 1) : unit) + ".");
}

Outcome elected_leaders(const Invocation& invocation) {
    const std::string pattern = "/pattern/" + escape(invocation.argument(0));
    const Options& options = invocation.options;
    if (options.across_all_vhosts) {
        return pass(invocation, "quorum-queues-without-elected-leaders/all-vhosts" + pattern,
                    "Node reported all quorum queue as having responsive leader replicas");
    }
    REVENANT_TRY_VOID(invocation.require_vhost());
    return pass(invocation,
                "quorum-queues-without-elected-leaders/vhost/" + escape(options.vhost) + pattern,
                "Node reported all quorum queue as having responsive leader replicas");
}

Outcome deprecated_features(const Invocation& invocation) {
    invocation.banner("Checking if any deprecated features are used ...");
    REVENANT_TRY(const json::value used, invocation.get("/deprecated-features/used"));
    if (used.as_array().empty()) {
        invocation.hint("Cluster reported no deprecated features in use");
        return {};
    }
    std::string names;
    for (const json::value& one : used.get_array()) {
        names += (names.empty() ? "" : ", ") + plain_text(one.at("name"));
    }
    return operation_failed("Cluster reported deprecated features in use: " + names);
}

Outcome metadata_store(const Invocation& invocation) {
    return pass(invocation, "metadata-store/initialized",
                "Metadata store on node has completed its initialization");
}

Outcome metadata_store_with_data(const Invocation& invocation) {
    return pass(invocation, "metadata-store/initialized/with-data",
                "Metadata store on node has completed its initialization and has data");
}

// No queue is mirrored, and a quorum queue has one member, so a response from the node is enough.
Outcome single_replicas(const Invocation& invocation) {
    REVENANT_TRY(const json::value me, invocation.get("/whoami"));
    invocation.hint("Queues on this node have no other replicas");
    return {};
}

Outcome cluster_size(const Invocation& invocation) {
    return pass(invocation, "reached-target-cluster-size",
                "Cluster has reached its target size: there is only one node");
}

}  // namespace

std::span<const Command> check_commands() {
    static constexpr Command commands[] = {
        {"check_certificate_expiration", 0, 0, "--within N [--unit days|weeks|months|years]",
         "Fails if a listener's certificate expires within that time.",
         "check_certificate_expiration --within 2 --unit weeks", certificate_expiration},
        {"check_for_quorum_queues_without_an_elected_leader", 1, 1,
         "[-p VHOST] [--across-all-vhosts] PATTERN",
         "Fails if a matching quorum queue has no leader.",
         "check_for_quorum_queues_without_an_elected_leader --across-all-vhosts '.*'",
         elected_leaders},
        {"check_if_any_deprecated_features_are_used", 0, 0, "",
         "Fails if a deprecated feature is in use.", "check_if_any_deprecated_features_are_used",
         deprecated_features},
        {"check_if_metadata_store_is_initialized", 0, 0, "",
         "Fails unless the definitions can be read.", "check_if_metadata_store_is_initialized",
         metadata_store},
        {"check_if_metadata_store_is_initialized_with_data", 0, 0, "",
         "Fails unless there are definitions.", "check_if_metadata_store_is_initialized_with_data",
         metadata_store_with_data},
        {"check_if_cluster_has_classic_queue_mirroring_policy", 0, 0, "",
         "Succeeds: no queue is mirrored.", "check_if_cluster_has_classic_queue_mirroring_policy",
         single_replicas},
        {"check_if_node_is_mirror_sync_critical", 0, 0, "", "Succeeds: no queue is mirrored.",
         "check_if_node_is_mirror_sync_critical", single_replicas},
        {"check_if_new_quorum_queue_replicas_have_finished_initial_sync", 0, 0, "",
         "Succeeds: a quorum queue has one member.",
         "check_if_new_quorum_queue_replicas_have_finished_initial_sync", single_replicas},
        {"has_reached_target_cluster_size", 0, 0, "", "Fails while nodes are missing.",
         "has_reached_target_cluster_size", cluster_size},
    };
    return commands;
}

}  // namespace revenant::cli
