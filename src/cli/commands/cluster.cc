// The cluster, which is always one node, and its feature flags.
#include "cli/commands/alarms.h"
#include "cli/commands/command_tables.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <iostream>

namespace revenant::cli {
namespace {

namespace json = boost::json;

Outcome cluster_status(const Invocation& invocation) {
    REVENANT_TRY(const json::value overview, invocation.get("/overview"));
    REVENANT_TRY(const json::value flags, invocation.get("/feature-flags"));
    REVENANT_TRY(const json::value nodes, invocation.get("/nodes"));
    const json::value& name = overview.at("node");
    const json::object status = {
        {"cluster_name", overview.at("cluster_name")},
        {"disk_nodes", json::array{name}},
        {"ram_nodes", json::array{}},
        {"running_nodes", json::array{name}},
        {"versions", json::object{{name.as_string(),
                                   {{"rabbitmq_version", overview.at("rabbitmq_version")},
                                    {"erlang_version", overview.at("erlang_version")}}}}},
        {"maintenance_status", json::object{{name.as_string(), "not under maintenance"}}},
        {"alarms", alarms_of(nodes.at(0))},
        {"partitions", json::object{}},
        {"listeners", json::object{{name.as_string(), overview.at("listeners")}}},
        {"feature_flags", flags}};
    if (invocation.options.formatter == "json") {
        std::cout << json::serialize(status) << '\n';
        return {};
    }
    invocation.banner("Cluster status of node " + plain_text(name) + " ...");
    std::cout << "Basics\n\nCluster name: " << plain_text(status.at("cluster_name"))
              << "\n\nDisk Nodes\n\n"
              << plain_text(name) << "\n\nRunning Nodes\n\n"
              << plain_text(name) << "\n\nVersions\n\n"
              << plain_text(name) << ": RabbitMQ " << plain_text(overview.at("rabbitmq_version"))
              << " (" << plain_text(overview.at("product_name")) << " "
              << plain_text(overview.at("product_version")) << ")\n\nAlarms\n\n";
    const json::array& alarms = status.at("alarms").get_array();
    for (const json::value& alarm : alarms) std::cout << alarm_line(alarm) << '\n';
    if (alarms.empty()) std::cout << "(none)\n";
    std::cout << "\nNetwork Partitions\n\n(none)\n";
    return {};
}

Outcome list_feature_flags(const Invocation& invocation) {
    const std::vector<Column> known = {{"name", "name"},           {"state", "state"},
                                       {"stability", "stability"}, {"provided_by", "provided_by"},
                                       {"desc", "desc"},           {"doc_url", "doc_url"}};
    REVENANT_TRY(const auto columns, invocation.columns(known, {"name", "state"}));
    invocation.banner("Listing feature flags ...");
    REVENANT_TRY(const json::value flags, invocation.get("/feature-flags"));
    return invocation.list(flags, known, {"name", "state"});
}

Outcome enable_feature_flag(const Invocation& invocation) {
    const std::string& name = invocation.argument(0);
    if (name == "all") {
        invocation.banner("Enabling all feature flags ...");
        // All flags are always enabled. The request only checks that the node is reachable.
        REVENANT_TRY(const json::value flags, invocation.get("/feature-flags"));
        invocation.say("");
        return {};
    }
    invocation.banner("Enabling feature flag " + quoted(name) + " ...");
    REVENANT_TRY(const Reply reply,
                 invocation.ask("PUT", "/feature-flags/" + escape(name) + "/enable",
                                json::object{{"name", name}}));
    if (reply.status >= 300) {
        return Unexpected{
            Failure{ExitCode::usage, "feature flag " + quoted(name) + " is not supported"}};
    }
    invocation.say("");
    return {};
}

Outcome set_cluster_name(const Invocation& invocation) {
    invocation.banner("Setting cluster name to " + invocation.argument(0) + " ...");
    REVENANT_TRY(const Reply reply, invocation.ask("PUT", "/cluster-name",
                                                   json::object{{"name", invocation.argument(0)}}));
    if (reply.status == 404 || reply.status == 405) {
        return Unexpected{Failure{ExitCode::unavailable,
                                  "cannot change the cluster name of a running node; set "
                                  "cluster_name in revenant.conf"}};
    }
    if (reply.status >= 300) return refused(reply);
    invocation.say("");
    return {};
}

// Tracing is not supported. Only the `tracing` field of the virtual host is cleared.
Outcome trace_off(const Invocation& invocation) {
    const std::string& vhost = invocation.options.vhost;
    invocation.banner("Stopping tracing for vhost " + quoted(vhost) + " ...");
    REVENANT_TRY_VOID(invocation.require_vhost());
    REVENANT_TRY(const Reply reply, invocation.ask("PUT", "/vhosts/" + escape(vhost),
                                                   json::object{{"tracing", false}}));
    if (reply.status >= 300) return refused(reply);
    invocation.say("Trace disabled for vhost " + vhost);
    return {};
}

// The node is the leader and the only member.
Outcome quorum_status(const Invocation& invocation) {
    const std::string& vhost = invocation.options.vhost;
    const std::string& name = invocation.argument(0);
    invocation.banner("Status of quorum queue " + name + " on node " +
                      invocation.client.settings().url + " ...");
    REVENANT_TRY_VOID(invocation.require_vhost());
    REVENANT_TRY(const Reply reply,
                 invocation.ask("GET", "/queues/" + escape(vhost) + "/" + escape(name)));
    if (reply.status == 404) return Unexpected{Failure{ExitCode::unavailable, "not_found"}};
    if (reply.status != 200) return refused(reply);
    const json::value queue = reply.json();
    if (queue.at("type") != json::value("quorum")) {
        return Unexpected{
            Failure{ExitCode::unavailable, "Cannot get quorum status of a classic queue"}};
    }
    invocation.print(make_table(
        {json::object{{"node", queue.at("node")}}},
        {{"Node Name", "node"}, {"Raft State", "\"leader\""}, {"Membership", "\"voter\""}}));
    return {};
}

Outcome rebalance(const Invocation& invocation) {
    invocation.banner("Rebalancing " + invocation.argument(0) + " queues...");
    REVENANT_TRY(const Reply reply, invocation.ask("POST", "/rebalance/queues"));
    if (reply.status >= 300) return refused(reply);
    invocation.say("Nothing to rebalance: there is only one node");
    return {};
}

}  // namespace

std::span<const Command> cluster_commands() {
    static constexpr Command commands[] = {
        {"cluster_status", 0, 0, "", "Shows the cluster: one node.",
         "cluster_status --formatter json", cluster_status},
        {"list_feature_flags", 0, SIZE_MAX, "[COLUMN ...]", "Lists feature flags.",
         "list_feature_flags name state", list_feature_flags},
        {"enable_feature_flag", 1, 1, "NAME|all",
         "Enables a feature flag; all flags are always enabled.", "enable_feature_flag all",
         enable_feature_flag},
        {"set_cluster_name", 1, 1, "NAME", "Sets the cluster name.", "set_cluster_name london",
         set_cluster_name},
        {"trace_off", 0, 0, "[-p VHOST]", "Does nothing: tracing is not supported.",
         "trace_off -p qa", trace_off},
        {"quorum_status", 1, 1, "[-p VHOST] QUEUE", "Shows the members of a quorum queue.",
         "quorum_status orders", quorum_status},
        {"rebalance", 1, 1, "all|classic|quorum|stream", "Does nothing: there is only one node.",
         "rebalance all", rebalance},
    };
    return commands;
}

}  // namespace revenant::cli
