// Reports about the node: logs, policies, deprecated features, message sizes, and all combined.
#include "cli/commands/command_tables.h"
#include "cli/commands/help.h"
#include "pattern/pattern.h"

#include <boost/json.hpp>

#include <algorithm>
#include <deque>
#include <fstream>
#include <iostream>

namespace revenant::cli {
namespace {

namespace json = boost::json;

Result<std::vector<std::string>, Failure> ask_log_files(const Invocation& invocation) {
    REVENANT_TRY(const json::value nodes, invocation.get("/nodes"));
    std::vector<std::string> files;
    for (const json::value& file : nodes.at(0).at("log_files").as_array()) {
        files.push_back(plain_text(file));
    }
    return files;
}

Outcome log_location(const Invocation& invocation) {
    invocation.banner("Log file location(s) on node " + invocation.client.settings().url + " ...");
    REVENANT_TRY(const auto files, ask_log_files(invocation));
    for (const std::string& file : files) std::cout << file << '\n';
    return {};
}

Outcome log_tail(const Invocation& invocation) {
    const auto wanted = static_cast<std::size_t>(invocation.options.number);
    REVENANT_TRY(const auto files, ask_log_files(invocation));
    const auto path = std::find_if(files.begin(), files.end(),
                                   [](const std::string& one) { return one.starts_with('/'); });
    if (path == files.end()) {
        return operation_failed(
            "the node writes no log file: set log.file in revenant.conf, or use the log of the "
            "service manager (journalctl -u revenant)");
    }
    invocation.banner("Last " + std::to_string(wanted) + " log lines on node " +
                      invocation.client.settings().url + " ...");
    std::ifstream file(*path);
    if (!file) return operation_failed("cannot read " + *path);
    std::deque<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        lines.push_back(std::move(line));
        if (lines.size() > wanted) lines.pop_front();
    }
    for (const std::string& line : lines) std::cout << line << '\n';
    return {};
}

bool applies(const std::string& apply_to, const std::string& type) {
    return apply_to == "all" || apply_to == "queues" || apply_to == type + "_queues";
}

// Lists all matching policies, highest priority first. Only the first is effective.
Outcome list_policies_that_match(const Invocation& invocation) {
    const std::string& vhost = invocation.options.vhost;
    const std::string& name = invocation.argument(0);
    invocation.banner("Listing policies that match queue '" + name + "' in vhost '" + vhost +
                      "' ...");
    REVENANT_TRY_VOID(invocation.require_vhost());
    REVENANT_TRY(const Reply queue,
                 invocation.ask("GET", "/queues/" + escape(vhost) + "/" + escape(name)));
    if (queue.status == 404) {
        return Unexpected{Failure{ExitCode::data_error,
                                  "Queue '" + name + "' in vhost '" + vhost + "' does not exist"}};
    }
    if (queue.status != 200) return refused(queue);
    const std::string type = plain_text(queue.json().at("type"));
    REVENANT_TRY(const json::value policies, invocation.get("/policies/" + escape(vhost)));
    std::vector<json::value> matching;
    for (const json::value& policy : policies.as_array()) {
        const auto pattern = Pattern::compile(plain_text(policy.at("pattern")));
        if (!pattern || !pattern->matches(name)) continue;
        if (!applies(plain_text(policy.at("apply-to")), type)) continue;
        matching.push_back(policy);
        matching.back().at("definition") = json::serialize(policy.at("definition"));
    }
    std::stable_sort(
        matching.begin(), matching.end(), [](const json::value& a, const json::value& b) {
            return a.at("priority").to_number<double>() > b.at("priority").to_number<double>();
        });
    std::vector<Column> columns;
    for (const char* column : {"vhost", "name", "pattern", "apply-to", "definition", "priority"}) {
        columns.push_back({column, column});
    }
    invocation.print(make_table(json::array(matching.begin(), matching.end()), columns));
    return {};
}

Outcome list_deprecated_features(const Invocation& invocation) {
    const std::vector<Column> known = {
        {"name", "name"},   {"deprecation_phase", "deprecation_phase"},
        {"state", "state"}, {"provided_by", "provided_by"},
        {"desc", "desc"},   {"doc_url", "doc_url"}};
    const std::vector<std::string> otherwise = {"name", "deprecation_phase", "state"};
    REVENANT_TRY(const auto columns, invocation.columns(known, otherwise));
    const bool used = invocation.options.only_used;
    invocation.banner(used ? "Listing deprecated features in use ..."
                           : "Listing deprecated features ...");
    REVENANT_TRY(const json::value features,
                 invocation.get(used ? "/deprecated-features/used" : "/deprecated-features"));
    return invocation.list(features, known, otherwise);
}

Outcome message_size_stats(const Invocation& invocation) {
    invocation.banner("Gathering message size statistics across the cluster using node " +
                      invocation.client.settings().url + " ...");
    REVENANT_TRY(const json::value sizes, invocation.get("/message-sizes"));
    std::vector<Column> columns;
    for (const char* column : {"Message Size", "Count", "Percentage"}) {
        columns.push_back({column, column});
    }
    invocation.print(make_table(sizes.as_array(), columns));
    return {};
}

Outcome list_auth_attempts(const Invocation& invocation) {
    REVENANT_TRY(const json::value overview, invocation.get("/overview"));
    const std::string node = plain_text(overview.at("node"));
    invocation.banner("Listing authentication attempts for node " + quoted(node) + " ...");
    REVENANT_TRY(const json::value attempts, invocation.get("/auth/attempts/" + escape(node)));
    std::vector<Column> columns;
    for (const char* column :
         {"protocol", "auth_attempts", "auth_attempts_failed", "auth_attempts_succeeded"}) {
        columns.push_back({column, column});
    }
    invocation.print(make_table(attempts.as_array(), columns));
    return {};
}

Outcome reset_auth_attempts(const Invocation& invocation) {
    REVENANT_TRY(const json::value overview, invocation.get("/overview"));
    const std::string node = plain_text(overview.at("node"));
    invocation.banner("Reset auth attempt metrics on node " + quoted(node) + " ...");
    REVENANT_TRY(const Reply reply, invocation.ask("DELETE", "/auth/attempts/" + escape(node)));
    if (reply.status >= 300) return refused(reply);
    invocation.say("");
    return {};
}

// Runs the commands whose output a support request needs.
Outcome report(const Invocation& invocation) {
    invocation.banner("Reporting server status of node " + invocation.client.settings().url +
                      " ...\n");
    const auto run = [&](std::string_view name, const std::string& vhost) -> Outcome {
        Options options = invocation.options;
        if (!vhost.empty()) options.vhost = vhost;
        std::cout << '\n';
        const Command* const command = find_command(invocation.program, name);
        return command->run(Invocation{options, invocation.client, {}, invocation.program});
    };
    for (const std::string_view name :
         {"status", "cluster_status", "environment", "list_connections", "list_channels"}) {
        REVENANT_TRY_VOID(run(name, ""));
    }
    REVENANT_TRY(const json::value vhosts, invocation.get("/vhosts"));
    for (const json::value& vhost : vhosts.as_array()) {
        for (const std::string_view name :
             {"list_queues", "list_exchanges", "list_bindings", "list_permissions", "list_policies",
              "list_global_parameters", "list_parameters", "list_consumers"}) {
            REVENANT_TRY_VOID(run(name, plain_text(vhost.at("name"))));
        }
    }
    return {};
}

Outcome tls_versions(const Invocation& invocation) {
    invocation.banner("Listing all TLS versions supported by the node ...");
    REVENANT_TRY(const json::value nodes, invocation.get("/nodes"));
    for (const json::value& version : nodes.at(0).at("tls_versions").as_array()) {
        std::cout << plain_text(version) << '\n';
    }
    return {};
}

// The queues of a node that responds also respond, so the list is always empty.
Outcome list_unresponsive_queues(const Invocation& invocation) {
    invocation.banner("Listing unresponsive queues for vhost " + invocation.options.vhost + " ...");
    REVENANT_TRY_VOID(invocation.require_vhost());
    invocation.print(make_table({}, {{"name", "name"}}));
    return {};
}

Outcome force_gc(const Invocation& invocation) {
    invocation.banner("Will ask all nodes to run garbage collection ...");
    REVENANT_TRY(const json::value me, invocation.get("/whoami"));
    invocation.say("");
    return {};
}

}  // namespace

std::span<const Command> report_commands() {
    static constexpr Command commands[] = {
        {"report", 0, 0, "", "Prints a report for support requests.", "report", report},
        {"log_location", 0, 0, "", "Prints the paths of the node's log files.", "log_location",
         log_location},
        {"log_tail", 0, 0, "[--number|-N COUNT]", "Prints the end of the node's log file.",
         "log_tail -N 100", log_tail},
        {"list_policies_that_match", 1, 1, "[-p VHOST] QUEUE",
         "Lists the policies that match a queue, the effective one first.",
         "list_policies_that_match orders", list_policies_that_match},
        {"list_deprecated_features", 0, SIZE_MAX, "[--used] [COLUMN ...]",
         "Lists deprecated features.", "list_deprecated_features --used", list_deprecated_features},
        {"message_size_stats", 0, 0, "", "Shows the distribution of published message sizes.",
         "message_size_stats", message_size_stats},
        {"list_node_auth_attempt_stats", 0, 0, "", "Lists the number of login attempts.",
         "list_node_auth_attempt_stats", list_auth_attempts},
        {"reset_node_auth_attempt_metrics", 0, 0, "", "Resets the number of login attempts to 0.",
         "reset_node_auth_attempt_metrics", reset_auth_attempts},
        {"tls_versions", 0, 0, "", "Lists the TLS versions that the node supports.", "tls_versions",
         tls_versions},
        {"list_unresponsive_queues", 0, SIZE_MAX, "[-p VHOST]",
         "Lists nothing: a node that responds has no unresponsive queues.",
         "list_unresponsive_queues", list_unresponsive_queues},
        {"force_gc", 0, 0, "", "Does nothing: there is no garbage collection.", "force_gc",
         force_gc},
    };
    return commands;
}

}  // namespace revenant::cli
