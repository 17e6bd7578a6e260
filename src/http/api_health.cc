// /health/checks: 200 while it holds, 503 when it does not. management 4.28
#include "http/api.h"
#include "http/responses.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace revenant::http {
namespace {

Response healthy(const json::object& details = {}) {
    json::object body{{"status", "ok"}};
    for (const auto& [name, value] : details) body[name] = value;
    return ok(body);
}

Response failed(std::string_view reason, const json::object& details) {
    json::object body{{"status", "failed"}, {"reason", reason}};
    for (const auto& [name, value] : details) body[name] = value;
    Response response = ok(body);
    response.status = 503;
    return response;
}

Response check_alarms(const Context& context, std::string_view where) {
    const ApiSettings& settings = context.settings();
    json::array alarms;
    const auto add = [&](const char* resource) {
        alarms.push_back(json::object{{"node", settings.node_name}, {"resource", resource}});
    };
    if (settings.memory_alarm()) add("memory");
    if (settings.disk_alarm && settings.disk_alarm()) add("disk");
    if (alarms.empty()) return healthy();
    return failed("There are alarms in effect " + std::string(where),
                  {{"alarms", std::move(alarms)}});
}

Response check_port(const Context& context, const Call& call) {
    const std::string& text = call.parameter(0);
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return bad_request("Invalid port");
    }
    json::array ports;
    for (const ListenerView& listener : context.settings().listeners) {
        if (listener.port == port) return healthy({{"port", port}});
        ports.emplace_back(listener.port);
    }
    return failed("No active listener", {{"missing", port}, {"ports", std::move(ports)}});
}

// amqp, amqp091 and amqp0.9.1 are the same listener; the first of a list that is there will do.
Response check_protocol(const Context& context, const Call& call) {
    std::string_view asked = call.parameter(0);
    json::array protocols;
    for (const ListenerView& listener : context.settings().listeners) {
        protocols.emplace_back(listener.protocol);
    }
    while (!asked.empty()) {
        std::string name(asked.substr(0, asked.find(',')));
        asked.remove_prefix(std::min(asked.size(), name.size() + 1));
        constexpr std::array<std::string_view, 3> amqp = {"amqp091", "amqp0.9.1", "amqp0-9-1"};
        if (std::find(amqp.begin(), amqp.end(), name) != amqp.end()) name = "amqp";
        const bool active =
            std::any_of(protocols.begin(), protocols.end(),
                        [&](const json::value& protocol) { return protocol.get_string() == name; });
        if (active) return healthy({{"protocol", call.parameter(0)}});
    }
    return failed("No active listener",
                  {{"missing", call.parameter(0)}, {"protocols", std::move(protocols)}});
}

}  // namespace

void add_health_routes(Router& router, Context& context) {
    const auto always = [](const Call&) { return healthy(); };
    const auto alone = [](const Call&) { return healthy({{"reason", "single node cluster"}}); };
    router.add("GET", "/health/checks/alarms", Role::management,
               [&](const Call&) { return check_alarms(context, "in the cluster"); });
    router.add("GET", "/health/checks/local-alarms", Role::management,
               [&](const Call&) { return check_alarms(context, "on the node"); });
    router.add("GET", "/health/checks/port-listener/*", Role::management,
               [&](const Call& call) { return check_port(context, call); });
    router.add("GET", "/health/checks/protocol-listener/*", Role::management,
               [&](const Call& call) { return check_protocol(context, call); });
    // A vhost whose engine answers is up; one that does not would let the check time out.
    router.add("GET", "/health/checks/virtual-hosts", Role::management, [&](const Call&) {
        static_cast<void>(context.totals());
        return healthy();
    });
    router.add("GET", "/health/checks/node-is-quorum-critical", Role::management, alone);
    router.add("GET", "/health/checks/is-in-service", Role::management, always);
    router.add("GET", "/health/checks/below-node-connection-limit", Role::management, always);
    router.add("GET", "/health/checks/ready-to-serve-clients", Role::management, always);
    // There is no TLS listener whose certificate could expire.
    router.add("GET", "/health/checks/certificate-expiration/*/*", Role::management, always);
    // What there is to be known of a cluster is in place once the API answers.
    router.add("GET", "/health/checks/metadata-store/initialized", Role::management, always);
    router.add("GET", "/health/checks/metadata-store/initialized/with-data", Role::management,
               always);
    router.add("GET", "/health/checks/reached-target-cluster-size", Role::management, alone);
    router.add("GET", "/health/checks/node-is-mirror-sync-critical", Role::management, alone);
    // A quorum queue of one node is its own leader.
    for (const char* where :
         {"all-vhosts", "all-vhosts/pattern/*", "vhost/*", "vhost/*/pattern/*"}) {
        router.add("GET",
                   std::string("/health/checks/quorum-queues-without-elected-leaders/") + where,
                   Role::management, always);
    }
    router.add("GET", "/aliveness-test/*", Role::vhost, always);
    router.add("GET", "/healthchecks/node", Role::management, always);
}

}  // namespace revenant::http
