#include "http/api/views.h"

#include "http/api/router.h"
#include "message/erlang_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <utility>

namespace revenant::http {
namespace {

struct Endpoint {
    std::string_view host;
    std::int64_t port = 0;
};

Endpoint split_endpoint(std::string_view text) {
    Endpoint endpoint;
    const std::size_t colon = text.rfind(':');
    endpoint.host = text.substr(0, colon);
    if (colon != std::string_view::npos) {
        std::from_chars(text.data() + colon + 1, text.data() + text.size(), endpoint.port);
    }
    return endpoint;
}

// The two endpoints in the name of a connection: 127.0.0.1:5000 -> 127.0.0.1:5672
struct ConnectionEnds {
    Endpoint peer;
    Endpoint host;
};

ConnectionEnds ends_of(const runtime::ConnectionView& connection) {
    constexpr std::string_view arrow = " -> ";
    const std::string_view name = connection.name;
    const std::size_t at = name.find(arrow);
    if (at == std::string_view::npos) return {split_endpoint(name), {}};
    return {split_endpoint(name.substr(0, at)), split_endpoint(name.substr(at + arrow.size()))};
}

std::string quote_plus(std::string_view text) {
    std::string quoted;
    for (const char c : text) {
        if (c == ' ') {
            quoted += '+';
        } else if (c == '~') {
            quoted += "%7E";
        } else {
            quoted += percent_encode({&c, 1});
        }
    }
    return quoted;
}

std::string_view shown_protocol(engine::ClientProtocol protocol) {
    return protocol == engine::ClientProtocol::amqp10 ? "AMQP 1-0" : "AMQP 0-9-1";
}

}  // namespace

json::array to_json(const std::vector<std::string>& strings) {
    json::array array;
    for (const std::string& text : strings) array.emplace_back(to_json_string(text));
    return array;
}

json::value name_or_null(const std::string& name) {
    return name.empty() ? json::value(nullptr) : json::value(to_json_string(name));
}

json::array exchange_types() {
    constexpr std::array<std::array<const char*, 2>, 7> known = {{
        {"direct", "AMQP direct exchange, as per the AMQP specification"},
        {"fanout", "AMQP fanout exchange, as per the AMQP specification"},
        {"headers", "AMQP headers exchange, as per the AMQP specification"},
        {"topic", "AMQP topic exchange, as per the AMQP specification"},
        {"x-consistent-hash", "Consistent Hashing Exchange"},
        {"x-local-random", "Picks one random local binding (queue) to route via (to)."},
        {"x-modulus-hash", "Modulus Hashing Exchange"},
    }};
    json::array types;
    for (const auto& [name, description] : known) {
        types.push_back(
            json::object{{"name", name}, {"description", description}, {"enabled", true}});
    }
    return types;
}

json::object view_login(const ApiSettings& settings, const User& user) {
    json::object view{{"name", to_json_string(user.name)},
                      {"tags", to_json(user.tags)},
                      {"is_internal_user", true}};
    if (settings.login_session_minutes) {
        view["login_session_timeout"] = *settings.login_session_minutes;
    }
    return view;
}

json::array view_contexts(const ApiSettings& settings) {
    json::array contexts;
    for (const ListenerView& listener : settings.listeners) {
        if (!listener.protocol.starts_with("http")) continue;
        const bool is_prometheus = listener.protocol.ends_with("/prometheus");
        json::object context{
            {"description", is_prometheus ? "RabbitMQ Prometheus" : "RabbitMQ Management"},
            {"path", "/"},
            {"cowboy_opts", "[]"},
            {"ip", listener.address},
            {"port", std::to_string(listener.port)},
            {"ssl_opts", json::array{}}};
        if (listener.tls) {
            const tls::TlsSettings& files = listener.tls->settings();
            context["ssl_opts"] = {{"certfile", to_json_string(files.certificate_file)},
                                   {"keyfile", to_json_string(files.key_file)},
                                   {"cacertfile", to_json_string(files.ca_file)}};
        }
        contexts.push_back(std::move(context));
    }
    return contexts;
}

std::string date_and_time(Timestamp at) {
    const std::time_t seconds = at.whole_seconds();
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}+00:00", parts.tm_year + 1900,
                       parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                       at.whole_ms() % 1000);
}

ConnectionNames::ConnectionNames(const Context& context)
    : connections_(context.settings().connections()) {
    std::sort(connections_.begin(), connections_.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    for (const auto& connection : connections_) {
        if (connection.id) by_id_.emplace(connection.id, &connection);
    }
}

const runtime::ConnectionView* ConnectionNames::find(ConnectionId connection) const {
    const auto found = by_id_.find(connection);
    return found == by_id_.end() ? nullptr : found->second;
}

const runtime::ConnectionView* ConnectionNames::find(std::string_view name) const {
    const auto found = std::find_if(connections_.begin(), connections_.end(),
                                    [&](const auto& one) { return one.name == name; });
    return found == connections_.end() ? nullptr : &*found;
}

const runtime::ChannelNumber* ConnectionNames::find_channel(
    const runtime::ConnectionView& connection, ChannelId channel) const {
    const auto found = std::find_if(connection.channels.begin(), connection.channels.end(),
                                    [&](const auto& one) { return one.id == channel; });
    return found == connection.channels.end() ? nullptr : &*found;
}

bool sees(const Call& call, const runtime::ConnectionView& connection) {
    return is_monitor(*call.user) || connection.user == call.user->name;
}

json::object view_connection(const ApiSettings& settings,
                             const runtime::ConnectionView& connection) {
    const ConnectionEnds ends = ends_of(connection);
    json::object view{
        {"auth_mechanism", connection.mechanism},
        {"channel_max", settings.channel_max},
        {"channels", connection.channel_count()},
        {"client_properties", to_json(connection.client_properties)},
        {"connected_at", connection.connected_at.whole_ms()},
        {"frame_max", connection.frame_max},
        {"host", ends.host.host},
        {"name", connection.name},
        {"node", settings.node_name},
        {"peer_host", ends.peer.host},
        {"peer_port", ends.peer.port},
        {"port", ends.host.port},
        {"protocol", shown_protocol(connection.protocol)},
        {"recv_oct", connection.received_bytes},
        {"recv_cnt", connection.received_count},
        {"send_oct", connection.sent_bytes},
        {"send_cnt", connection.sent_count},
        {"ssl", connection.tls.has_value()},
        {"state", connection.state},
        {"timeout", connection.heartbeat_seconds},
        {"type", "network"},
        {"user", to_json_string(connection.user)},
        {"user_who_performed_action", to_json_string(connection.user)},
        {"vhost", to_json_string(connection.vhost)},
    };
    if (!connection.container_id.empty()) {
        view["container_id"] = to_json_string(connection.container_id);
    }
    if (connection.tls) {
        view["ssl_protocol"] = connection.tls->protocol;
        view["ssl_cipher"] = connection.tls->cipher;
        view["ssl_key_exchange"] = connection.tls->key_exchange;
        view["ssl_hash"] = connection.tls->hash;
        view["peer_cert_subject"] = to_json_string(connection.tls->peer_subject);
        view["peer_cert_issuer"] = to_json_string(connection.tls->peer_issuer);
        view["peer_cert_validity"] = connection.tls->peer_validity;
    }
    const Value* const given = find(connection.client_properties, "connection_name");
    if (given != nullptr && given->as_string() != nullptr) {
        view["user_provided_name"] = to_json_string(*given->as_string());
    }
    return view;
}

json::object connection_details(const runtime::ConnectionView& connection) {
    const ConnectionEnds ends = ends_of(connection);
    return {
        {"name", connection.name}, {"peer_host", ends.peer.host}, {"peer_port", ends.peer.port}};
}

std::string channel_name(const runtime::ConnectionView& connection, std::uint16_t number) {
    return connection.name + " (" + std::to_string(number) + ")";
}

json::array view_consumers(const ApiSettings& settings, const ConnectionNames& peers,
                           std::string_view vhost,
                           const std::vector<engine::ConsumerView>& consumers) {
    json::array views;
    for (const engine::ConsumerView& consumer : consumers) {
        json::object channel;
        if (const auto* const connection = peers.find(consumer.connection)) {
            const auto* const number = peers.find_channel(*connection, consumer.channel);
            channel = connection_details(*connection);
            channel["connection_name"] = connection->name;
            channel["name"] = channel_name(*connection, number == nullptr ? 0 : number->number);
            channel["number"] = number == nullptr ? 0 : number->number;
            channel["node"] = settings.node_name;
            channel["user"] = to_json_string(consumer.user);
        }
        views.push_back(json::object{
            {"arguments", to_json(consumer.arguments)},
            {"ack_required", !consumer.no_ack},
            {"active", consumer.active},
            {"activity_status", !consumer.active         ? "waiting"
                                : consumer.single_active ? "single_active"
                                                         : "up"},
            {"channel_details", std::move(channel)},
            {"consumer_tag", to_json_string(consumer.tag)},
            {"consumer_timeout", consumer.timeout_ms},
            {"exclusive", consumer.exclusive},
            {"prefetch_count", consumer.prefetch},
            {"queue",
             {{"name", to_json_string(consumer.queue)}, {"vhost", to_json_string(vhost)}}}});
    }
    return views;
}

bool wants_typed_arguments(const Call& call) {
    return call.query_parameter("arguments") == "typed";
}

double consumer_capacity(const engine::QueueView& queue) {
    return queue.consumers > 0 && queue.ready == 0 ? 1 : 0;
}

std::string properties_key(const engine::BindingView& binding) {
    if (binding.arguments.empty()) {
        return binding.routing_key.empty() ? "~" : quote_plus(binding.routing_key);
    }
    return quote_plus(binding.routing_key) + "~" + arguments_hash(binding.arguments);
}

json::object view_binding(std::string_view vhost, const engine::BindingView& binding) {
    return {{"source", to_json_string(binding.source)},
            {"vhost", to_json_string(vhost)},
            {"destination", to_json_string(binding.destination)},
            {"destination_type",
             binding.destination_kind == engine::DestinationKind::queue ? "queue" : "exchange"},
            {"routing_key", to_json_string(binding.routing_key)},
            {"arguments", to_json(binding.arguments)},
            {"properties_key", properties_key(binding)}};
}

}  // namespace revenant::http
