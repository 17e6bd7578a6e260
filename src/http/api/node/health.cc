// /health/checks: 200 if the check passes, 503 if it fails. management 4.28
#include "http/api/responses.h"
#include "http/api/routes.h"
#include "http/api/views.h"
#include "http/server/ascii_text.h"
#include "runtime/system_clock.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

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

// The health check of RabbitMQ 3, which RabbitMQ 4.3 still supports.
Response check_node(const Context& context) {
    const ApiSettings& settings = context.settings();
    std::string alarms;
    if (settings.memory_alarm()) alarms = "memory";
    if (settings.disk_alarm && settings.disk_alarm()) {
        alarms += alarms.empty() ? "disk" : ",disk";
    }
    if (alarms.empty()) return healthy();
    return failed("resource alarm(s) in effect:[" + alarms + "]", {});
}

// Not in RabbitMQ. Parked messages need an operator.
Response check_parked(Context& context) {
    const engine::MessageTotals parked = context.totals().parked;
    if (parked.count == 0) return healthy();
    return failed("There are messages that cannot be read from disk",
                  {{"messages_parked", parked.count}});
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

// Maps the alternative names of a protocol to its listener.
std::string listener_of(std::string_view protocol) {
    struct Names {
        std::string_view listener;
        std::vector<std::string_view> protocols;
    };
    static const std::array<Names, 4> known = {
        Names{"amqp",
              {"amqp091", "amqp0.9.1", "amqp0-9-1", "amqp0_9_1", "amqp10", "amqp1.0", "amqp1-0",
               "amqp1_0"}},
        Names{"amqp/ssl", {"amqps"}},
        Names{"http", {"http1", "http1.1", "http_api", "management", "management_ui", "ui"}},
        Names{"http/prometheus", {"prometheus"}}};
    std::string name = to_lower_ascii(protocol);
    for (const Names& names : known) {
        const auto& aliases = names.protocols;
        if (std::find(aliases.begin(), aliases.end(), name) != aliases.end()) {
            return std::string(names.listener);
        }
    }
    return name;
}

// Passes if a listener for any of the protocols exists.
Response check_protocol(const Context& context, const Call& call) {
    json::array protocols;
    for (const ListenerView& listener : context.settings().listeners) {
        protocols.emplace_back(listener.protocol);
    }
    std::string missing;
    for (const std::string_view asked : split(call.parameter(0), ',')) {
        const std::string name = listener_of(trim(asked));
        const bool active =
            std::any_of(protocols.begin(), protocols.end(),
                        [&](const json::value& protocol) { return protocol.get_string() == name; });
        if (active) return healthy({{"protocol", name}});
        missing += (missing.empty() ? "" : ",") + name;
    }
    return failed("No active listener",
                  {{"missing", to_json_string(missing)}, {"protocols", std::move(protocols)}});
}

Response check_connection_limit(Context& context) {
    const auto limit = context.settings().connections_max;
    const std::uint64_t connections = context.broker().connection_count();
    const json::object details{{"limit", limit ? json::value(*limit) : json::value("infinity")},
                               {"connections", connections}};
    if (!limit || connections < *limit) return healthy(details);
    return failed("node connection limit is reached", details);
}

constexpr std::int64_t day_seconds = 24 * 3600;

// As in RabbitMQ, a month is a twelfth of 365 days.
std::optional<std::int64_t> seconds_of_unit(std::string_view unit) {
    const std::string name = to_lower_ascii(unit);
    if (name == "days") return day_seconds;
    if (name == "weeks") return 7 * day_seconds;
    if (name == "months") return 365 * day_seconds / 12;
    if (name == "years") return 365 * day_seconds;
    return std::nullopt;
}

json::array date_if_before(std::optional<std::int64_t> end, std::int64_t limit) {
    if (!end || *end >= limit) return {};
    std::string date = date_and_time({*end * 1'000'000}).substr(0, 19);
    date[date.find('T')] = ' ';
    return json::array{date};
}

// Checks the certificates in use, including those reloaded since startup.
Response check_certificates(const Context& context, const Call& call) {
    constexpr std::int64_t number_max = 10'000;  // large enough, and no product overflows
    const std::string& text = call.parameter(0);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error != std::errc::invalid_argument && end == text.data() + text.size();
    if (error == std::errc::result_out_of_range && text.front() != '-') number = number_max;
    if (!is_number || number <= 0) return bad_request("Invalid expiration value.");
    const auto unit = seconds_of_unit(call.parameter(1));
    if (!unit) {
        return bad_request(
            "Time unit not recognised. Supported units: days, weeks, months, years.");
    }
    const std::int64_t limit =
        runtime::wall_now().whole_seconds() + std::min(number, number_max) * *unit;
    json::array expired;
    for (const ListenerView& listener : context.settings().listeners) {
        if (!listener.tls) continue;
        const auto certificates = listener.tls->current();
        const tls::TlsSettings& files = listener.tls->settings();
        json::array own = date_if_before(certificates->expires_at(), limit);
        json::array authorities = date_if_before(certificates->authorities_expire_at(), limit);
        if (own.empty() && authorities.empty()) continue;
        expired.push_back(json::object{{"node", context.settings().node_name},
                                       {"protocol", listener.protocol},
                                       {"interface", listener.address},
                                       {"port", listener.port},
                                       {"certfile", to_json_string(files.certificate_file)},
                                       {"cacertfile", to_json_string(files.ca_file)},
                                       {"certfile_expires_on", std::move(own)},
                                       {"cacertfile_expires_on", std::move(authorities)}});
    }
    if (expired.empty()) return healthy();
    return failed("Certificates expiring", {{"expired", std::move(expired)}});
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
    // Asks every engine for its totals. If an engine does not respond, the check times out.
    router.add("GET", "/health/checks/virtual-hosts", Role::management, [&](const Call&) {
        static_cast<void>(context.totals());
        return healthy();
    });
    router.add("GET", "/health/checks/parked-messages", Role::management,
               [&](const Call&) { return check_parked(context); });
    router.add("GET", "/health/checks/node-is-quorum-critical", Role::management, alone);
    const auto in_service = [&](const Call&) {
        if (!context.settings().listeners_are_suspended()) return healthy();
        return failed("this rabbit node is being drained or has been drained", {});
    };
    router.add("GET", "/health/checks/is-in-service", Role::management, in_service);
    router.add("GET", "/health/checks/below-node-connection-limit", Role::management,
               [&](const Call&) { return check_connection_limit(context); });
    router.add("GET", "/health/checks/ready-to-serve-clients", Role::management, in_service);
    router.add("GET", "/health/checks/certificate-expiration/*/*", Role::management,
               [&](const Call& call) { return check_certificates(context, call); });
    // The catalog is loaded before the API accepts requests.
    router.add("GET", "/health/checks/metadata-store/initialized", Role::management, always);
    router.add("GET", "/health/checks/metadata-store/initialized/with-data", Role::management,
               always);
    router.add("GET", "/health/checks/reached-target-cluster-size", Role::management, alone);
    router.add("GET", "/health/checks/node-is-mirror-sync-critical", Role::management, alone);
    // On a single node, every quorum queue has a leader.
    for (const char* where :
         {"all-vhosts", "all-vhosts/pattern/*", "vhost/*", "vhost/*/pattern/*"}) {
        router.add("GET",
                   std::string("/health/checks/quorum-queues-without-elected-leaders/") + where,
                   Role::management, always);
    }
    router.add("GET", "/aliveness-test/*", Role::vhost, always);
    router.add("GET", "/healthchecks/node", Role::management,
               [&](const Call&) { return check_node(context); });
    router.add("GET", "/healthchecks/node/*", Role::management, [&](const Call& call) {
        if (call.parameter(0) != context.settings().node_name) return not_found();
        return check_node(context);
    });
}

}  // namespace revenant::http
