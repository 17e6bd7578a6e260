// Listeners and what goes over them.
#include "node/config/config_keys.h"
#include "tls/context.h"

namespace revenant::node {
namespace {

using enum KeyStatus;
using enum Trait;

using Outcome = Assignment::Outcome;

Outcome none(Assignment& to, std::map<std::string, Endpoint, std::less<>>& listeners) {
    std::string word;
    REVENANT_TRY_VOID(to.one_of(word, {"none"}));
    listeners.clear();
    return {};
}

// The first listener that somebody configures takes the place of the default one.
Outcome amqp_listener(Assignment& to) {
    auto& listeners = to.config.amqp;
    const bool untouched = listeners.size() == 1 && listeners.begin()->first == "default" &&
                           listeners.begin()->second == Config{}.amqp.at("default");
    if (untouched) listeners.clear();
    auto done = to.listener(listeners);
    if (!done && untouched) listeners = Config{}.amqp;
    return done;
}

Outcome prefix(Assignment& to, std::string& field) {
    if (!to.setting.value.starts_with('/')) {
        return Unexpected{"'" + to.setting.value + "' is not a path that begins with /"};
    }
    field = to.setting.value;
    while (field.ends_with('/')) field.pop_back();
    return {};
}

Outcome verify(Assignment& to, bool& field) {
    std::string word;
    REVENANT_TRY_VOID(to.one_of(word, {"verify_none", "verify_peer"}));
    field = word == "verify_peer";
    return {};
}

Outcome tls_version(Assignment& to, TlsRules& rules) {
    return to.one_of(rules.versions[std::string(to.variable)], {"tlsv1.2", "tlsv1.3"});
}

Outcome tls_cipher(Assignment& to, TlsRules& rules) {
    if (!tls::knows_cipher(to.setting.value)) {
        return Unexpected{"'" + to.setting.value + "' is not the name of a cipher"};
    }
    return to.text(rules.ciphers[std::string(to.variable)]);
}

Outcome tls_port(Assignment& to, HttpsConfig& https) {
    Endpoint endpoint = https.endpoint.value_or(Endpoint{.address = https.address});
    REVENANT_TRY_VOID(to.port(endpoint));
    https.endpoint = endpoint;
    return {};
}

Outcome tls_address(Assignment& to, HttpsConfig& https) {
    REVENANT_TRY(https.address, parse_address(to.setting.value));
    if (https.endpoint) https.endpoint->address = https.address;
    return {};
}

// Whether it is too small is known when `compat` is.
Outcome frame_max(Assignment& to) {
    std::uint64_t bytes = 0;
    REVENANT_TRY_VOID(to.bytes(bytes));
    if (bytes > UINT32_MAX) return Unexpected{std::string(frame_max_range)};
    to.config.connection.frame_max = static_cast<std::uint32_t>(bytes);
    return {};
}

Outcome prometheus_listener(Assignment& to) {
    if (to.setting.value == "none") {
        to.config.prometheus.reset();
        return {};
    }
    REVENANT_TRY(to.config.prometheus, parse_endpoint(to.setting.value, to.reach()));
    return {};
}

// A port or an address of its own brings back a listener that `none` took away.
Endpoint& metrics_endpoint(Assignment& to) {
    if (!to.config.prometheus) to.config.prometheus = Config{}.prometheus;
    return *to.config.prometheus;
}

Outcome ignored_flag(Assignment& to) {
    bool ignored = false;
    return to.flag(ignored);
}

constexpr std::uint64_t login_session_minutes_max = 5'256'000;  // ten years

Outcome login_from(Assignment& to) {
    using tls::LoginFrom;
    std::string name;
    REVENANT_TRY_VOID(to.one_of(name, {"distinguished_name", "common_name",
                                       "subject_alternative_name", "subject_alt_name"}));
    to.config.tls.login.from = name == "common_name"          ? LoginFrom::common_name
                               : name == "distinguished_name" ? LoginFrom::distinguished_name
                                                              : LoginFrom::subject_alternative_name;
    return {};
}

Outcome login_san_type(Assignment& to) {
    using tls::AlternativeName;
    std::string name;
    REVENANT_TRY_VOID(to.one_of(name, {"dns", "email", "uri", "ip"}));
    to.config.tls.login.kind = name == "dns"     ? AlternativeName::dns
                               : name == "email" ? AlternativeName::email
                               : name == "uri"   ? AlternativeName::uri
                                                 : AlternativeName::ip;
    return {};
}

std::vector<ConfigKey> listener_keys() {
    return {
        {"listeners.tcp", "", active, plain, "`none`: no AMQP listener without TLS",
         [](Assignment& to) { return none(to, to.config.amqp); }},
        {"listeners.tcp.$name", "5672", active, plain,
         "AMQP: a port, or an address and a port; any number of them, named as you like",
         amqp_listener},
        {"bind", "", active, plain,
         "Address of all listeners for which none is given (Revenant's own)",
         [](Assignment& to) -> Outcome {
             REVENANT_TRY(to.config.bind, parse_address(to.setting.value));
             return {};
         }},
        {"listeners.ssl", "none", active, plain, "`none`: no AMQP listener with TLS",
         [](Assignment& to) { return none(to, to.config.tls.amqp); }},
        {"listeners.ssl.$name", "", active, plain, "AMQP over TLS: a port, or address and port",
         [](Assignment& to) { return to.listener(to.config.tls.amqp); }},
        {"ssl_options.cacertfile", "", active, plain, "Certificates that are trusted",
         [](Assignment& to) { return to.readable_file(to.config.tls.ca_file); }},
        {"ssl_options.certfile", "", active, plain, "The node's certificate",
         [](Assignment& to) { return to.readable_file(to.config.tls.certificate_file); }},
        {"ssl_options.keyfile", "", active, plain, "Its key",
         [](Assignment& to) { return to.readable_file(to.config.tls.key_file); }},
        {"ssl_options.password", "", active, Trait::secret, "The password of the key",
         [](Assignment& to) { return to.text(to.config.tls.key_password); }},
        {"ssl_options.verify", "verify_none", active, plain,
         "`verify_peer` asks clients for a certificate",
         [](Assignment& to) { return verify(to, to.config.tls.verify_peer); }},
        {"ssl_options.fail_if_no_peer_cert", "false", active, plain,
         "Refuses clients without a certificate",
         [](Assignment& to) { return to.flag(to.config.tls.fail_if_no_peer_certificate); }},
        {"ssl_options.versions.$n", "tlsv1.3, tlsv1.2", active, plain,
         "Versions of TLS: `tlsv1.3`, `tlsv1.2`",
         [](Assignment& to) { return tls_version(to, to.config.tls.rules); }},
        {"ssl_options.depth", "1", active, plain,
         "Certificates there may be between that of a client and one that is trusted",
         [](Assignment& to) { return to.number(to.config.tls.rules.depth.emplace(), 0, 100); }},
        {"ssl_options.ciphers.$n", "", active, plain,
         "The only ciphers, by their names in OpenSSL; of a version without one nothing is offered",
         [](Assignment& to) { return tls_cipher(to, to.config.tls.rules); }},
        {"ssl_options.honor_cipher_order", "true", active, plain,
         "Which of them is taken is decided by their order here, not by the client's",
         [](Assignment& to) { return to.flag(to.config.tls.rules.honor_cipher_order.emplace()); }},
        {"ssl_options.honor_ecc_order", "true", without_effect, plain, "The same for curves",
         ignored_flag},
        {"ssl_cert_login_from", "distinguished_name", active, plain,
         "What of a client's certificate names the user for EXTERNAL: `distinguished_name`, "
         "`common_name` or `subject_alternative_name`",
         login_from},
        {"ssl_cert_login_san_type", "dns", active, plain,
         "Which alternative name: `dns`, `email`, `uri` or `ip`", login_san_type},
        {"ssl_cert_login_san_index", "0", active, plain, "Which of several, counted from 0",
         [](Assignment& to) { return to.number(to.config.tls.login.index, 0, 1000); }},
    };
}

std::vector<ConfigKey> connection_keys() {
    return {
        {"heartbeat", "60", active, plain, "Seconds; what clients are offered, 0 for none",
         [](Assignment& to) {
             return to.number(to.config.connection.heartbeat_seconds, 0, UINT16_MAX);
         }},
        {"frame_max", "131072", active, plain,
         "Largest frame in bytes, at least 8192 (4096 with `compat = 3.12`); 0 for any", frame_max},
        {"channel_max", "2047", active, plain, "Channels of a connection; 0 for no limit",
         [](Assignment& to) { return to.number(to.config.connection.channel_max, 0, UINT16_MAX); }},
        {"max_channels_per_connection", "", active, plain, "The same as `channel_max`",
         [](Assignment& to) { return to.number(to.config.connection.channel_max, 0, UINT16_MAX); }},
        {"initial_frame_max", "8192", active, plain,
         "Largest frame before the client has logged in",
         [](Assignment& to) {
             return to.number(to.config.connection.initial_frame_max, 4096, 1U << 20);
         }},
        {"handshake_timeout", "10000", active, plain,
         "Milliseconds a client has to log in; `infinity` is a day",
         [](Assignment& to) -> Outcome {
             if (to.setting.value != "infinity") {
                 return to.milliseconds(to.config.connection.handshake_timeout);
             }
             to.config.connection.handshake_timeout = revenant::milliseconds(86'400'000);
             return {};
         }},
        {"session_max_per_connection", "64", active, plain, "AMQP 1.0: sessions of a connection",
         [](Assignment& to) { return to.number(to.config.connection.session_max, 1, UINT16_MAX); }},
        {"link_max_per_session", "256", active, plain, "AMQP 1.0: links of a session",
         [](Assignment& to) { return to.number(to.config.connection.link_max, 1, 1U << 20); }},
        {"tcp_listen_options.backlog", "4096", active, plain,
         "Connections waiting to be accepted; the system may allow less",
         [](Assignment& to) { return to.number(to.config.sockets.backlog, 1, 1U << 20); }},
        {"tcp_listen_options.nodelay", "true", active, plain, "Small packets are not held back",
         [](Assignment& to) { return to.flag(to.config.sockets.nodelay); }},
        {"tcp_listen_options.keepalive", "false", active, plain, "TCP's own keep-alive",
         [](Assignment& to) { return to.flag(to.config.sockets.keepalive); }},
        {"tcp_listen_options.sndbuf", "", active, plain, "Bytes of the system's send buffer",
         [](Assignment& to) {
             return to.number(to.config.sockets.send_buffer_bytes, 1, 1U << 30);
         }},
        {"tcp_listen_options.recbuf", "", active, plain, "Bytes of the system's receive buffer",
         [](Assignment& to) {
             return to.number(to.config.sockets.receive_buffer_bytes, 1, 1U << 30);
         }},
        {"proxy_protocol", "false", active, plain,
         "Every AMQP connection must begin with a header of the PROXY protocol, 1 or 2",
         [](Assignment& to) { return to.flag(to.config.sockets.proxy_protocol); }},
    };
}

std::vector<ConfigKey> http_keys() {
    return {
        {"management.tcp.port", "15672", active, plain,
         "HTTP API; not served if `management.ssl.port` is said and neither this nor its address",
         [](Assignment& to) { return to.port(*to.config.http); }},
        {"management.tcp.ip", "", active, plain, "Its address",
         [](Assignment& to) { return to.address(*to.config.http); }},
        {"management.listener.port", "", active, plain, "The same as `management.tcp.port`",
         [](Assignment& to) { return to.port(*to.config.http); }},
        {"management.listener.ip", "", active, plain, "The same as `management.tcp.ip`",
         [](Assignment& to) { return to.address(*to.config.http); }},
        {"management.path_prefix", "", active, plain,
         "What stands before the paths of the web pages and of /api",
         [](Assignment& to) { return prefix(to, to.config.http_path_prefix); }},
        {"management.http.max_body_size", "20000000", active, plain, "Largest body of a request",
         [](Assignment& to) { return to.bytes(to.config.http_body_bytes_max); }},
        {"management.ssl.port", "", active, plain, "HTTP API over TLS",
         [](Assignment& to) { return tls_port(to, to.config.tls.http); }},
        {"management.ssl.ip", "", active, plain, "Its address",
         [](Assignment& to) { return tls_address(to, to.config.tls.http); }},
        {"management.ssl.cacertfile", "", active, plain, "Certificates that are trusted",
         [](Assignment& to) { return to.readable_file(to.config.tls.http.ca_file); }},
        {"management.ssl.certfile", "", active, plain, "Its certificate",
         [](Assignment& to) { return to.readable_file(to.config.tls.http.certificate_file); }},
        {"management.ssl.keyfile", "", active, plain, "Its key",
         [](Assignment& to) { return to.readable_file(to.config.tls.http.key_file); }},
        {"management.ssl.password", "", active, Trait::secret, "The password of the key",
         [](Assignment& to) { return to.text(to.config.tls.http.key_password); }},
        {"management.ssl.verify", "verify_none", active, plain,
         "`verify_peer` asks clients for a certificate",
         [](Assignment& to) { return verify(to, to.config.tls.http.verify_peer); }},
        {"management.ssl.fail_if_no_peer_cert", "false", active, plain,
         "Refuses clients without a certificate",
         [](Assignment& to) { return to.flag(to.config.tls.http.fail_if_no_peer_certificate); }},
        {"management.ssl.versions.$n", "", active, plain,
         "Versions of TLS, as `ssl_options.versions`",
         [](Assignment& to) { return tls_version(to, to.config.tls.http.rules); }},
        {"management.ssl.ciphers.$n", "", active, plain,
         "The only ciphers, as `ssl_options.ciphers`",
         [](Assignment& to) { return tls_cipher(to, to.config.tls.http.rules); }},
        {"management.ssl.honor_cipher_order", "", active, plain,
         "As `ssl_options.honor_cipher_order`",
         [](Assignment& to) {
             return to.flag(to.config.tls.http.rules.honor_cipher_order.emplace());
         }},
        {"management.ssl.depth", "", active, plain, "As `ssl_options.depth`",
         [](Assignment& to) {
             return to.number(to.config.tls.http.rules.depth.emplace(), 0, 100);
         }},
        {"management.cors.allow_origins", "none", active, plain, "`none`: pages of no other origin",
         [](Assignment& to) -> Outcome {
             std::string word;
             REVENANT_TRY_VOID(to.one_of(word, {"none"}));
             to.config.cors_origins.clear();
             return {};
         }},
        {"management.cors.max_age", "1800", active, plain,
         "Seconds a browser remembers that they may",
         [](Assignment& to) { return to.number(to.config.cors_max_age_seconds, 0, 86'400); }},
        {"management.cors.allow_origins.$n", "", active, plain,
         "Pages of these origins may use the API; `*` is every one, none are only its own",
         [](Assignment& to) { return to.text(to.config.cors_origins[std::string(to.variable)]); }},
        {"management.login_session_timeout", "480", active, plain,
         "Minutes after which a page that nobody touches logs out",
         [](Assignment& to) {
             return to.number(to.config.login_session_minutes, 1, login_session_minutes_max);
         }},
    };
}

std::vector<ConfigKey> prometheus_keys() {
    return {
        {"prometheus.tcp.port", "15692", active, plain,
         "Metrics; not served if `prometheus.ssl.port` is said and neither this nor their address",
         [](Assignment& to) { return to.port(metrics_endpoint(to)); }},
        {"prometheus.tcp.listener", "", active, plain,
         "Address and port of the metrics; `none`: they are not served without TLS",
         prometheus_listener},
        {"prometheus.tcp.ip", "", active, plain, "Their address",
         [](Assignment& to) { return to.address(metrics_endpoint(to)); }},
        {"prometheus.ssl.port", "", active, plain, "Metrics over TLS",
         [](Assignment& to) { return tls_port(to, to.config.tls.prometheus); }},
        {"prometheus.ssl.ip", "", active, plain, "Their address",
         [](Assignment& to) { return tls_address(to, to.config.tls.prometheus); }},
        {"prometheus.ssl.cacertfile", "", active, plain, "Certificates that are trusted",
         [](Assignment& to) { return to.readable_file(to.config.tls.prometheus.ca_file); }},
        {"prometheus.ssl.certfile", "", active, plain, "Their certificate",
         [](Assignment& to) {
             return to.readable_file(to.config.tls.prometheus.certificate_file);
         }},
        {"prometheus.ssl.keyfile", "", active, plain, "Its key",
         [](Assignment& to) { return to.readable_file(to.config.tls.prometheus.key_file); }},
        {"prometheus.ssl.password", "", active, Trait::secret, "The password of the key",
         [](Assignment& to) { return to.text(to.config.tls.prometheus.key_password); }},
        {"prometheus.ssl.verify", "verify_none", active, plain,
         "`verify_peer` asks clients for a certificate",
         [](Assignment& to) { return verify(to, to.config.tls.prometheus.verify_peer); }},
        {"prometheus.ssl.fail_if_no_peer_cert", "false", active, plain,
         "Refuses clients without a certificate",
         [](Assignment& to) {
             return to.flag(to.config.tls.prometheus.fail_if_no_peer_certificate);
         }},
        {"prometheus.ssl.versions.$n", "", active, plain,
         "Versions of TLS, as `ssl_options.versions`",
         [](Assignment& to) { return tls_version(to, to.config.tls.prometheus.rules); }},
        {"prometheus.ssl.ciphers.$n", "", active, plain,
         "The only ciphers, as `ssl_options.ciphers`",
         [](Assignment& to) { return tls_cipher(to, to.config.tls.prometheus.rules); }},
        {"prometheus.ssl.honor_cipher_order", "", active, plain,
         "As `ssl_options.honor_cipher_order`",
         [](Assignment& to) {
             return to.flag(to.config.tls.prometheus.rules.honor_cipher_order.emplace());
         }},
        {"prometheus.ssl.depth", "", active, plain, "As `ssl_options.depth`",
         [](Assignment& to) {
             return to.number(to.config.tls.prometheus.rules.depth.emplace(), 0, 100);
         }},
        {"prometheus.path", "/metrics", active, plain, "Their path",
         [](Assignment& to) { return prefix(to, to.config.prometheus_path); }},
        {"prometheus.return_per_object_metrics", "false", active, plain,
         "The plain path tells of every queue",
         [](Assignment& to) { return to.flag(to.config.prometheus_per_object); }},
    };
}

}  // namespace

std::vector<ConfigKey> network_keys() {
    std::vector<ConfigKey> all = listener_keys();
    for (const auto& group : {connection_keys(), http_keys(), prometheus_keys()}) {
        all.insert(all.end(), group.begin(), group.end());
    }
    return all;
}

}  // namespace revenant::node
