// Maintenance: rabbitmq-upgrade, and taking a node out of service temporarily.
#include "cli/commands/command_tables.h"

#include <boost/json.hpp>

#include <chrono>
#include <iostream>
#include <thread>

namespace revenant::cli {
namespace {

namespace json = boost::json;

Result<std::string, Failure> ask_node_name(const Invocation& invocation) {
    REVENANT_TRY(const json::value overview, invocation.get("/overview"));
    return plain_text(overview.at("node"));
}

Outcome set_suspended(const Invocation& invocation, std::string_view method) {
    REVENANT_TRY(const std::string node, ask_node_name(invocation));
    REVENANT_TRY(const Reply reply,
                 invocation.ask(method, "/nodes/" + escape(node) + "/listeners/suspended"));
    if (reply.status >= 300) return operation_failed(reply.reason());
    return {};
}

Outcome suspend_listeners(const Invocation& invocation) {
    invocation.banner("Will suspend client connection listeners on node " +
                      invocation.client.settings().url + " ...");
    REVENANT_TRY_VOID(set_suspended(invocation, "PUT"));
    invocation.say("");
    return {};
}

Outcome resume_listeners(const Invocation& invocation) {
    invocation.banner("Will resume client connection listeners on node " +
                      invocation.client.settings().url + " ...");
    REVENANT_TRY_VOID(set_suspended(invocation, "DELETE"));
    invocation.say("");
    return {};
}

// Suspends the listeners and closes all connections, so that clients reconnect to another node.
Outcome drain(const Invocation& invocation) {
    invocation.banner("Will put node " + invocation.client.settings().url +
                      " into maintenance mode. The node will no longer serve any client traffic!");
    REVENANT_TRY_VOID(set_suspended(invocation, "PUT"));
    REVENANT_TRY(const json::value connections, invocation.get("/connections"));
    for (const json::value& connection : connections.as_array()) {
        REVENANT_TRY(
            const Reply reply,
            invocation.ask("DELETE", "/connections/" + escape(plain_text(connection.at("name"))),
                           nullptr, {{"X-Reason", "Node was put into maintenance mode"}}));
        if (reply.status >= 300 && reply.status != 404) return refused(reply);
    }
    invocation.say("");
    return {};
}

Outcome revive(const Invocation& invocation) {
    invocation.banner("Will revive node " + invocation.client.settings().url + " ...");
    REVENANT_TRY_VOID(set_suspended(invocation, "DELETE"));
    invocation.say("");
    return {};
}

Outcome post_upgrade(const Invocation& invocation) {
    invocation.banner("Executing post upgrade tasks ...");
    REVENANT_TRY(const Reply reply, invocation.ask("POST", "/rebalance/queues"));
    if (reply.status >= 300) return refused(reply);
    invocation.say("");
    return {};
}

Outcome await_online_nodes(const Invocation& invocation) {
    const std::string& count = invocation.argument(0);
    if (count.empty() || count.find_first_not_of("0123456789") != std::string::npos) {
        return Unexpected{Failure{ExitCode::usage, "the argument must be a number of nodes",
                                  /*shows_usage=*/true}};
    }
    invocation.banner("Will wait for at least " + count + " nodes to join the cluster of " +
                      invocation.client.settings().url + ".");
    REVENANT_TRY(const json::value nodes, invocation.get("/nodes"));
    if (count != "0" && count != "1") {
        return Unexpected{Failure{ExitCode::temporary, "this is a single node: " + count +
                                                           " nodes will never be online"}};
    }
    invocation.say("");
    return {};
}

}  // namespace

std::span<const Command> maintenance_commands() {
    static constexpr Command commands[] = {
        {"suspend_listeners", 0, 0, "",
         "Stops accepting AMQP connections; open connections stay open.", "suspend_listeners",
         suspend_listeners},
        {"resume_listeners", 0, 0, "", "Accepts AMQP connections again.", "resume_listeners",
         resume_listeners},
        {"drain", 0, 0, "", "Stops accepting AMQP connections and closes open ones.", "drain",
         drain},
        {"revive", 0, 0, "", "Accepts AMQP connections again.", "revive", revive},
        {"post_upgrade", 0, 0, "", "Runs post-upgrade tasks: none on a single node.",
         "post_upgrade", post_upgrade},
        {"await_online_nodes", 1, 1, "COUNT",
         "Waits for nodes; fails for more than one, because there is only one node.",
         "await_online_nodes 1", await_online_nodes},
    };
    return commands;
}

}  // namespace revenant::cli
