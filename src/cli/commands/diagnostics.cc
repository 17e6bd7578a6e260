// Health checks of rabbitmq-diagnostics. Exit status 0 means healthy, 69 unhealthy.
#include "cli/commands/alarms.h"
#include "cli/commands/command_tables.h"
#include "cli/console/information_unit.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>

namespace revenant::cli {
namespace {

namespace json = boost::json;

Unexpected<Failure> unhealthy(std::string text) {
    return Unexpected{Failure{ExitCode::unavailable, std::move(text)}};
}

Outcome check(const Invocation& invocation, const std::string& path, const std::string& healthy) {
    REVENANT_TRY(const Reply reply, invocation.ask("GET", "/health/checks/" + path));
    if (reply.status != 200) return unhealthy(reply.reason());
    invocation.say(healthy);
    return {};
}

// With -s, these checks of rabbitmq-diagnostics print nothing if they pass.
std::string unless_silent(const Invocation& invocation, std::string healthy) {
    return invocation.options.silent ? "" : std::move(healthy);
}

std::string node_name(const Invocation& invocation) { return invocation.client.settings().url; }

Outcome check_running(const Invocation& invocation) {
    invocation.banner("Checking if RabbitMQ is running on node " + node_name(invocation) + " ...");
    return check(invocation, "is-in-service",
                 "RabbitMQ on node " + node_name(invocation) + " is fully booted and running");
}

Outcome check_local_alarms(const Invocation& invocation) {
    invocation.banner("Asking node " + node_name(invocation) +
                      " to report any local resource "
                      "alarms ...");
    return check(
        invocation, "local-alarms",
        unless_silent(invocation, "Node " + node_name(invocation) + " reported no local alarms"));
}

Outcome check_alarms(const Invocation& invocation) {
    invocation.banner("Asking node " + node_name(invocation) +
                      " to report any known resource "
                      "alarms ...");
    return check(invocation, "alarms",
                 unless_silent(invocation, "Node " + node_name(invocation) +
                                               " reported no alarms, local or clusterwide"));
}

Outcome check_virtual_hosts(const Invocation& invocation) {
    invocation.banner("Checking if all vhosts are running on node " + node_name(invocation) +
                      " ...");
    return check(invocation, "virtual-hosts",
                 unless_silent(invocation, "Node " + node_name(invocation) +
                                               " reported all vhosts as running"));
}

Outcome check_port_listener(const Invocation& invocation) {
    const std::string& port = invocation.argument(0);
    invocation.banner("Asking node " + node_name(invocation) +
                      " if there's an active listener on "
                      "port " +
                      port + " ...");
    return check(invocation, "port-listener/" + escape(port),
                 "A listener for port " + port + " is running on node " + node_name(invocation));
}

Outcome check_protocol_listener(const Invocation& invocation) {
    const std::string& protocol = invocation.argument(0);
    invocation.banner("Asking node " + node_name(invocation) +
                      " if there's an active listener "
                      "for protocol " +
                      protocol + " ...");
    return check(
        invocation, "protocol-listener/" + escape(protocol),
        "A listener for protocol " + protocol + " is running on node " + node_name(invocation));
}

Result<json::array, Failure> ask_listeners(const Invocation& invocation) {
    REVENANT_TRY(const json::value overview, invocation.get("/overview"));
    const json::value* const listeners =
        overview.is_object() ? overview.get_object().if_contains("listeners") : nullptr;
    if (listeners == nullptr || !listeners->is_array()) {
        return Unexpected{Failure{ExitCode::software, "cannot parse the node's response"}};
    }
    return listeners->get_array();
}

// The loopback address for a listener on all addresses.
std::string reachable(const std::string& address) {
    if (address == "0.0.0.0") return "127.0.0.1";
    return address == "::" ? "::1" : address;
}

Outcome check_port_connectivity(const Invocation& invocation) {
    invocation.banner("Testing TCP connections to all active listeners on node " +
                      node_name(invocation) + " ...");
    REVENANT_TRY(const json::array listeners, ask_listeners(invocation));
    std::string refused_ports;
    for (const json::value& listener : listeners) {
        const std::string address = reachable(plain_text(listener.at("ip_address")));
        const std::string port = plain_text(listener.at("port"));
        if (const auto reason =
                Client::try_connect(address, port, invocation.client.settings().timeout_seconds)) {
            refused_ports.append("\n").append(address).append(":").append(port);
            refused_ports.append(": ").append(*reason);
        }
    }
    if (!refused_ports.empty()) return unhealthy("Connection failed:" + refused_ports);
    invocation.say("Successfully connected to all listeners of " + node_name(invocation));
    return {};
}

Outcome listeners(const Invocation& invocation) {
    REVENANT_TRY(const json::array all, ask_listeners(invocation));
    if (invocation.options.formatter == "json") {
        std::cout << json::serialize(json::object{{"result", "ok"}, {"listeners", all}}) << '\n';
        return {};
    }
    invocation.banner("Asking node " + node_name(invocation) +
                      " to report its protocol listeners "
                      "...");
    for (const json::value& listener : all) {
        std::cout << "Interface: " << plain_text(listener.at("ip_address"))
                  << ", port: " << plain_text(listener.at("port"))
                  << ", protocol: " << plain_text(listener.at("protocol")) << '\n';
    }
    return {};
}

Outcome alarms(const Invocation& invocation) {
    invocation.banner("Asking node " + node_name(invocation) +
                      " to report any known resource "
                      "alarms ...");
    REVENANT_TRY(const json::value nodes, invocation.get("/nodes"));
    const json::value& node = nodes.as_array().at(0);
    const json::array found = alarms_of(node);
    if (invocation.options.formatter == "json") {
        std::cout << json::serialize(json::object{{"result", "ok"}, {"alarms", found}}) << '\n';
        return {};
    }
    for (const json::value& one : found) std::cout << alarm_line(one) << '\n';
    if (found.empty()) {
        invocation.say("Node " + node_name(invocation) +
                       " reported no alarms, local or clusterwide");
    }
    return {};
}

Outcome server_version(const Invocation& invocation) {
    REVENANT_TRY(const json::value overview, invocation.get("/overview"));
    invocation.banner("Asking node " + node_name(invocation) + " for its RabbitMQ version...");
    std::cout << plain_text(overview.at("rabbitmq_version")) << '\n';
    return {};
}

Outcome is_running(const Invocation& invocation) {
    REVENANT_TRY(const Reply reply, invocation.ask("GET", "/health/checks/is-in-service"));
    invocation.say("RabbitMQ on node " + node_name(invocation) +
                   (reply.status == 200 ? " is fully booted and running" : " is not running"));
    return {};
}

// A node that responds has finished booting.
Outcome is_booting(const Invocation& invocation) {
    const auto reply = invocation.client.send("GET", "/whoami");
    invocation.say("RabbitMQ on node " + node_name(invocation) +
                   (reply ? " is fully booted (check with is_running), stopped or has not started "
                            "booting yet"
                          : " has not started booting yet"));
    return {};
}

struct MemoryPart {
    std::string name;
    double bytes = 0;
    double percentage = 0;  // of the resident set size, rounded to two decimal places
};

// Sorted by size, largest first.
Result<std::vector<MemoryPart>, Failure> ask_memory(const Invocation& invocation) {
    REVENANT_TRY(const json::value overview, invocation.get("/overview"));
    const std::string name = plain_text(overview.at("node"));
    REVENANT_TRY(const json::value answer, invocation.get("/nodes/" + escape(name) + "/memory"));
    const json::object& memory = answer.at("memory").as_object();
    const auto total = memory.at("total").at("rss").to_number<double>();
    std::vector<MemoryPart> parts;
    for (const auto& [part, bytes] : memory) {
        if (!bytes.is_number()) continue;  // the strategy, the totals
        const auto size = bytes.to_number<double>();
        const double share = total > 0 ? size / total : 0;
        parts.push_back({part, size, std::round(share * 1e4) / 1e2});
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const MemoryPart& a, const MemoryPart& b) { return a.bytes > b.bytes; });
    return parts;
}

Outcome memory_breakdown(const Invocation& invocation) {
    invocation.banner("Reporting memory breakdown on node " + node_name(invocation) + "...");
    REVENANT_TRY(const std::vector<MemoryPart> parts, ask_memory(invocation));
    json::object object;
    for (const MemoryPart& part : parts) {
        object[part.name] = {{"bytes", static_cast<std::int64_t>(part.bytes)},
                             {"percentage", part.percentage}};
    }
    if (invocation.options.formatter == "json") {
        std::cout << json::serialize(object) << '\n';
        return {};
    }
    for (const MemoryPart& part : parts) {
        std::cout << part.name << ": " << format_in_unit(part.bytes, invocation.options.unit)
                  << " (" << decimal(part.percentage) << "%)\n";
    }
    return {};
}

Outcome check_quorum_critical(const Invocation& invocation) {
    invocation.banner("Checking if node " + node_name(invocation) +
                      " is critical for quorum of "
                      "any quorum queues ...");
    return check(invocation, "node-is-quorum-critical",
                 unless_silent(invocation, "Node " + node_name(invocation) +
                                               " reported no quorum queues with minimum quorum"));
}

// The quorums of a single node are always complete.
Outcome await_quorum(const Invocation& invocation) {
    REVENANT_TRY(const Reply reply, invocation.ask("GET", "/health/checks/is-in-service"));
    if (reply.status != 200) return unhealthy(reply.reason());
    return {};
}

}  // namespace

std::span<const Command> diagnostic_commands() {
    static constexpr Command commands[] = {
        {"check_running", 0, 0, "", "Fails unless the node serves clients.", "check_running",
         check_running},
        {"check_local_alarms", 0, 0, "", "Fails if the node has a memory or disk alarm.",
         "-q check_local_alarms", check_local_alarms},
        {"check_alarms", 0, 0, "", "Fails if any node has a memory or disk alarm.", "check_alarms",
         check_alarms},
        {"check_port_connectivity", 0, 0, "", "Fails unless every listener accepts a connection.",
         "check_port_connectivity", check_port_connectivity},
        {"check_port_listener", 1, 1, "PORT", "Fails unless a listener is active on the port.",
         "check_port_listener 5672", check_port_listener},
        {"check_protocol_listener", 1, 1, "PROTOCOL",
         "Fails unless there is a listener for the protocol: amqp, http, http/prometheus.",
         "check_protocol_listener amqp", check_protocol_listener},
        {"check_virtual_hosts", 0, 0, "", "Fails unless every virtual host is up.",
         "check_virtual_hosts", check_virtual_hosts},
        {"node_health_check", 0, 0, "", "Same as check_running.", "node_health_check",
         check_running},
        {"check_if_node_is_quorum_critical", 0, 0, "",
         "Fails if a quorum queue would lose its quorum without the node.",
         "check_if_node_is_quorum_critical", check_quorum_critical},
        {"await_online_quorum_plus_one", 0, 0, "[-t SECONDS]",
         "Waits until the node can be stopped; a single node always can.",
         "await_online_quorum_plus_one -t 60", await_quorum},
        {"listeners", 0, 0, "", "Lists the listeners of the node.", "listeners --formatter json",
         listeners},
        {"alarms", 0, 0, "", "Lists alarms.", "alarms", alarms},
        {"server_version", 0, 0, "",
         "Prints the RabbitMQ release that the node is compatible with.", "server_version",
         server_version},
        {"is_running", 0, 0, "", "Prints whether the node serves clients.", "is_running",
         is_running},
        {"is_booting", 0, 0, "", "Prints whether the node is still starting.", "is_booting",
         is_booting},
        {"memory_breakdown", 0, 0, "[--unit UNIT]", "Shows memory usage by category.",
         "memory_breakdown", memory_breakdown},
    };
    return commands;
}

}  // namespace revenant::cli
