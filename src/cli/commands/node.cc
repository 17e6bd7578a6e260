// Commands about the node: reachability, startup, status and environment.
#include "cli/commands/alarms.h"
#include "cli/commands/command_tables.h"
#include "cli/console/information_unit.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <poll.h>

#include <chrono>
#include <iostream>

namespace revenant::cli {
namespace {

namespace json = boost::json;

constexpr int startup_poll_ms = 100;
constexpr double startup_timeout_seconds = 300;

std::string milliseconds(double seconds) {
    return std::to_string(static_cast<std::int64_t>(seconds * 1000));
}

// Any response counts as a success, even one that rejects the user.
Outcome ping(const Invocation& invocation) {
    const ClientSettings& settings = invocation.client.settings();
    invocation.banner("Will ping " + settings.url + ". This only checks if the node answers. " +
                      "Timeout: " + milliseconds(settings.timeout_seconds) + " ms.");
    const auto reply = invocation.client.send("GET", "/whoami");
    if (!reply) return no_answer("Failed to connect to " + settings.url + ": ", reply.error());
    invocation.say("Ping succeeded");
    return {};
}

Outcome await_startup(const Invocation& invocation) {
    const double given = invocation.client.settings().timeout_seconds;
    const auto begin =
        std::chrono::steady_clock::now();  // tidy-allow: banned-word: a client's patience
    const auto patience = std::chrono::duration<double>(
        given == ClientSettings{}.timeout_seconds ? startup_timeout_seconds : given);
    while (true) {
        const auto reply = invocation.client.send("GET", "/health/checks/ready-to-serve-clients");
        if (reply && reply->status < 500) return {};
        // tidy-allow: banned-word: a client's patience
        if (std::chrono::steady_clock::now() - begin > patience) {
            return Unexpected{
                Failure{ExitCode::unavailable,
                        "the node at " + invocation.client.settings().url +
                            " is not up: " + (reply ? reply->reason() : reply.error().text)}};
        }
        // There is no descriptor to wait on before the node listens.
        ::poll(nullptr, 0, startup_poll_ms);
    }
}

struct Status {
    json::object overview;
    json::object node;
};

Result<Status, Failure> ask_status(const Invocation& invocation) {
    REVENANT_TRY(const json::value overview, invocation.get("/overview"));
    REVENANT_TRY(const json::value nodes, invocation.get("/nodes"));
    if (!overview.is_object() || !nodes.is_array() || nodes.get_array().empty() ||
        !nodes.get_array().front().is_object()) {
        return Unexpected{Failure{ExitCode::software, "cannot parse the node's response"}};
    }
    return Status{overview.get_object(), nodes.get_array().front().get_object()};
}

json::object status_object(const Status& status, std::size_t vhosts) {
    const auto& [overview, node] = status;
    const json::object& totals = overview.at("object_totals").get_object();
    return {{"pid", std::stoll(std::string(node.at("os_pid").get_string()))},
            {"uptime", node.at("uptime").to_number<std::int64_t>() / 1000},
            {"rabbitmq_version", overview.at("rabbitmq_version")},
            {"product_name", overview.at("product_name")},
            {"product_version", overview.at("product_version")},
            {"erlang_version", overview.at("erlang_version")},
            {"node_name", node.at("name")},
            {"data_directory", node.at("db_dir")},
            {"alarms", alarms_of(node)},
            {"memory", {{"total", {{"rss", node.at("mem_used")}}}, {"strategy", "rss"}}},
            {"vm_memory_limit", node.at("mem_limit")},
            {"file_descriptors",
             {{"total_used", node.at("fd_used")}, {"total_limit", node.at("fd_total")}}},
            {"disk_free", node.at("disk_free")},
            {"disk_free_limit", node.at("disk_free_limit")},
            {"totals",
             {{"connection_count", totals.at("connections")},
              {"queue_count", totals.at("queues")},
              {"virtual_host_count", vhosts}}},
            {"listeners", overview.at("listeners")}};
}

void print_status(const json::object& status, const std::string& unit) {
    const auto text = [&](const char* key) { return plain_text(status.at(key)); };
    const auto inside = [&](const char* key, const char* field) {
        return plain_text(status.at(key).at(field));
    };
    const auto amount = [&](const json::value& bytes) {
        return format_in_unit(bytes.to_number<double>(), unit);
    };
    const auto section = [](const char* title) { std::cout << '\n' << title << "\n\n"; };
    section("Runtime");
    std::cout << "OS PID: " << text("pid") << "\nUptime (seconds): " << text("uptime")
              << "\nRabbitMQ version: " << text("rabbitmq_version")
              << "\nProduct: " << text("product_name") << ' ' << text("product_version")
              << "\nNode name: " << text("node_name") << '\n';
    section("Data directory");
    std::cout << "Node data directory: " << text("data_directory") << '\n';
    section("Alarms");
    const json::array& alarms = status.at("alarms").get_array();
    for (const json::value& alarm : alarms) std::cout << alarm_line(alarm) << '\n';
    if (alarms.empty()) std::cout << "(none)\n";
    section("Memory");
    std::cout << "Total memory used: " << amount(status.at("memory").at("total").at("rss"))
              << "\nCalculation strategy: rss\nMemory high watermark: "
              << amount(status.at("vm_memory_limit")) << '\n';
    section("File Descriptors");
    std::cout << "Total: " << inside("file_descriptors", "total_used")
              << ", limit: " << inside("file_descriptors", "total_limit") << '\n';
    section("Free Disk Space");
    std::cout << "Low free disk space watermark: " << amount(status.at("disk_free_limit"))
              << "\nFree disk space: " << amount(status.at("disk_free")) << '\n';
    section("Totals");
    std::cout << "Connection count: " << inside("totals", "connection_count")
              << "\nQueue count: " << inside("totals", "queue_count")
              << "\nVirtual host count: " << inside("totals", "virtual_host_count") << '\n';
    section("Listeners");
    for (const json::value& listener : status.at("listeners").get_array()) {
        std::cout << "Interface: " << plain_text(listener.at("ip_address"))
                  << ", port: " << plain_text(listener.at("port"))
                  << ", protocol: " << plain_text(listener.at("protocol")) << '\n';
    }
}

Outcome status(const Invocation& invocation) {
    REVENANT_TRY(const Status answers, ask_status(invocation));
    REVENANT_TRY(const json::value vhosts, invocation.get("/vhosts?columns=name"));
    const json::object object =
        status_object(answers, vhosts.is_array() ? vhosts.get_array().size() : 0);
    if (invocation.options.formatter == "json") {
        std::cout << json::serialize(object) << '\n';
        return {};
    }
    invocation.banner("Status of node " + plain_text(object.at("node_name")) + " ...");
    print_status(object, invocation.options.unit);
    return {};
}

// Only settings that were configured; `revenant --check-config` also shows defaults.
Outcome environment(const Invocation& invocation) {
    invocation.banner("Application environment of the node at " + invocation.client.settings().url +
                      " ...");
    REVENANT_TRY(const json::value settings, invocation.get("/config/effective"));
    if (!settings.is_object()) {
        return Unexpected{Failure{ExitCode::software, "cannot parse the node's response"}};
    }
    invocation.print(settings.get_object());
    return {};
}

}  // namespace

std::span<const Command> node_commands() {
    static constexpr Command commands[] = {
        {"ping", 0, 0, "", "Checks that the node responds.", "-q ping", ping},
        {"await_startup", 0, 0, "[-t SECONDS]", "Waits until the node serves clients.",
         "await_startup -t 30", await_startup},
        {"wait", 0, 1, "[PIDFILE] [-t SECONDS]", "Same as await_startup; PIDFILE is ignored.",
         "wait -t 30", await_startup},
        {"status", 0, 0, "[--unit UNIT]", "Shows the status of the node.",
         "status --formatter json", status},
        {"environment", 0, 0, "", "Lists the configured settings, without secrets.",
         "environment --formatter json", environment},
    };
    return commands;
}

}  // namespace revenant::cli
