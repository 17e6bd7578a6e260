// Listeners and connections.
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

// The first configured listener replaces the default one.
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

// The minimum depends on `compat` and is checked later.
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

// Setting a port or an address restores a listener that `none` removed.
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
         "AMQP listener: a port, or an address and a port. Any number, with names of your choice",
         amqp_listener},
        {"bind", "", active, plain, "Address of all listeners without their own (Revenant only)",
         [](Assignment& to) -> Outcome {
             REVENANT_TRY(to.config.bind, parse_address(to.setting.value));
             return {};
         }},
        {"listeners.ssl", "none", active, plain, "`none`: no AMQP listener with TLS",
         [](Assignment& to) { return none(to, to.config.tls.amqp); }},
        {"listeners.ssl.$name", "", active, plain,
         "AMQP listener with TLS: a port, or an address and a port",
         [](Assignment& to) { return to.listener(to.config.tls.amqp); }},
        {"ssl_options.cacertfile", "", active, plain, "Trusted CA certificates",
         [](Assignment& to) { return to.readable_file(to.config.tls.ca_file); }},
        {"ssl_options.certfile", "", active, plain, "Certificate of the node",
         [](Assignment& to) { return to.readable_file(to.config.tls.certificate_file); }},
        {"ssl_options.keyfile", "", active, plain, "Private key of the certificate",
         [](Assignment& to) { return to.readable_file(to.config.tls.key_file); }},
        {"ssl_options.password", "", active, Trait::secret, "Password of the private key",
         [](Assignment& to) { return to.text(to.config.tls.key_password); }},
        {"ssl_options.verify", "verify_none", active, plain,
         "`verify_peer` requests a certificate from clients",
         [](Assignment& to) { return verify(to, to.config.tls.verify_peer); }},
        {"ssl_options.fail_if_no_peer_cert", "false", active, plain,
         "Refuse clients without a certificate",
         [](Assignment& to) { return to.flag(to.config.tls.fail_if_no_peer_certificate); }},
        {"ssl_options.versions.$n", "tlsv1.3, tlsv1.2", active, plain,
         "TLS versions: `tlsv1.3`, `tlsv1.2`",
         [](Assignment& to) { return tls_version(to, to.config.tls.rules); }},
        {"ssl_options.depth", "1", active, plain, "Maximum number of intermediate certificates",
         [](Assignment& to) { return to.number(to.config.tls.rules.depth.emplace(), 0, 100); }},
        {"ssl_options.ciphers.$n", "", active, plain,
         "Enabled ciphers, by their OpenSSL names; a TLS version without any is disabled",
         [](Assignment& to) { return tls_cipher(to, to.config.tls.rules); }},
        {"ssl_options.honor_cipher_order", "true", active, plain,
         "Prefer this order of ciphers to the client's",
         [](Assignment& to) { return to.flag(to.config.tls.rules.honor_cipher_order.emplace()); }},
        {"ssl_options.honor_ecc_order", "true", without_effect, plain,
         "Prefer this order of curves to the client's", ignored_flag},
        {"ssl_cert_login_from", "distinguished_name", active, plain,
         "Certificate field that is the user name for EXTERNAL: `distinguished_name`, "
         "`common_name` or `subject_alternative_name`",
         login_from},
        {"ssl_cert_login_san_type", "dns", active, plain,
         "Type of the alternative name: `dns`, `email`, `uri` or `ip`", login_san_type},
        {"ssl_cert_login_san_index", "0", active, plain,
         "Index of the alternative name of that type, from 0",
         [](Assignment& to) { return to.number(to.config.tls.login.index, 0, 1000); }},
    };
}

std::vector<ConfigKey> connection_keys() {
    return {
        {"heartbeat", "60", active, plain,
         "Heartbeat interval in seconds offered to clients; 0: none",
         [](Assignment& to) {
             return to.number(to.config.connection.heartbeat_seconds, 0, UINT16_MAX);
         }},
        {"frame_max", "131072", active, plain,
         "Maximum frame size in bytes, at least 8192 (4096 with `compat = 3.12`); 0: no limit",
         frame_max},
        {"channel_max", "2047", active, plain, "Maximum channels per connection; 0: no limit",
         [](Assignment& to) { return to.number(to.config.connection.channel_max, 0, UINT16_MAX); }},
        {"max_channels_per_connection", "", active, plain, "The same as `channel_max`",
         [](Assignment& to) { return to.number(to.config.connection.channel_max, 0, UINT16_MAX); }},
        {"initial_frame_max", "8192", active, plain, "Maximum frame size before login",
         [](Assignment& to) {
             return to.number(to.config.connection.initial_frame_max, 4096, 1U << 20);
         }},
        {"handshake_timeout", "10000", active, plain,
         "Time in ms for a client to log in; `infinity` is one day",
         [](Assignment& to) -> Outcome {
             if (to.setting.value != "infinity") {
                 return to.milliseconds(to.config.connection.handshake_timeout);
             }
             to.config.connection.handshake_timeout = revenant::milliseconds(86'400'000);
             return {};
         }},
        {"session_max_per_connection", "64", active, plain,
         "AMQP 1.0: maximum sessions per connection",
         [](Assignment& to) { return to.number(to.config.connection.session_max, 1, UINT16_MAX); }},
        {"link_max_per_session", "256", active, plain, "AMQP 1.0: maximum links per session",
         [](Assignment& to) { return to.number(to.config.connection.link_max, 1, 1U << 20); }},
        {"tcp_listen_options.backlog", "4096", active, plain,
         "Maximum connections waiting to be accepted; the system may allow fewer",
         [](Assignment& to) { return to.number(to.config.sockets.backlog, 1, 1U << 20); }},
        {"tcp_listen_options.nodelay", "true", active, plain, "Disable Nagle's algorithm",
         [](Assignment& to) { return to.flag(to.config.sockets.nodelay); }},
        {"tcp_listen_options.keepalive", "false", active, plain, "Enable TCP keep-alive",
         [](Assignment& to) { return to.flag(to.config.sockets.keepalive); }},
        {"tcp_listen_options.sndbuf", "", active, plain, "Size of the socket send buffer in bytes",
         [](Assignment& to) {
             return to.number(to.config.sockets.send_buffer_bytes, 1, 1U << 30);
         }},
        {"tcp_listen_options.recbuf", "", active, plain,
         "Size of the socket receive buffer in bytes",
         [](Assignment& to) {
             return to.number(to.config.sockets.receive_buffer_bytes, 1, 1U << 30);
         }},
        {"proxy_protocol", "false", active, plain,
         "Require a PROXY protocol header, version 1 or 2, on every AMQP connection",
         [](Assignment& to) { return to.flag(to.config.sockets.proxy_protocol); }},
    };
}

std::vector<ConfigKey> http_keys() {
    return {
        {"management.tcp.port", "15672", active, plain,
         "HTTP API port; not served if `management.ssl.port` is set and neither this key nor "
         "`management.tcp.ip` is",
         [](Assignment& to) { return to.port(*to.config.http); }},
        {"management.tcp.ip", "", active, plain, "Address of the HTTP API",
         [](Assignment& to) { return to.address(*to.config.http); }},
        {"management.listener.port", "", active, plain, "The same as `management.tcp.port`",
         [](Assignment& to) { return to.port(*to.config.http); }},
        {"management.listener.ip", "", active, plain, "The same as `management.tcp.ip`",
         [](Assignment& to) { return to.address(*to.config.http); }},
        {"management.path_prefix", "", active, plain,
         "Prefix of every path, before the web pages and /api",
         [](Assignment& to) { return prefix(to, to.config.http_path_prefix); }},
        {"management.http.max_body_size", "20000000", active, plain,
         "Maximum size of a request body",
         [](Assignment& to) { return to.bytes(to.config.http_body_bytes_max); }},
        {"management.ssl.port", "", active, plain, "HTTP API port with TLS",
         [](Assignment& to) { return tls_port(to, to.config.tls.http); }},
        {"management.ssl.ip", "", active, plain, "Address of the HTTP API with TLS",
         [](Assignment& to) { return tls_address(to, to.config.tls.http); }},
        {"management.ssl.cacertfile", "", active, plain, "Trusted CA certificates",
         [](Assignment& to) { return to.readable_file(to.config.tls.http.ca_file); }},
        {"management.ssl.certfile", "", active, plain, "Certificate of the HTTP API",
         [](Assignment& to) { return to.readable_file(to.config.tls.http.certificate_file); }},
        {"management.ssl.keyfile", "", active, plain, "Private key of the certificate",
         [](Assignment& to) { return to.readable_file(to.config.tls.http.key_file); }},
        {"management.ssl.password", "", active, Trait::secret, "Password of the private key",
         [](Assignment& to) { return to.text(to.config.tls.http.key_password); }},
        {"management.ssl.verify", "verify_none", active, plain,
         "`verify_peer` requests a certificate from clients",
         [](Assignment& to) { return verify(to, to.config.tls.http.verify_peer); }},
        {"management.ssl.fail_if_no_peer_cert", "false", active, plain,
         "Refuse clients without a certificate",
         [](Assignment& to) { return to.flag(to.config.tls.http.fail_if_no_peer_certificate); }},
        {"management.ssl.versions.$n", "", active, plain, "TLS versions, as `ssl_options.versions`",
         [](Assignment& to) { return tls_version(to, to.config.tls.http.rules); }},
        {"management.ssl.ciphers.$n", "", active, plain,
         "Enabled ciphers, as `ssl_options.ciphers`",
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
        {"management.cors.allow_origins", "none", active, plain, "`none`: no other origins",
         [](Assignment& to) -> Outcome {
             std::string word;
             REVENANT_TRY_VOID(to.one_of(word, {"none"}));
             to.config.cors_origins.clear();
             return {};
         }},
        {"management.cors.max_age", "1800", active, plain,
         "Seconds a browser may cache CORS permissions",
         [](Assignment& to) { return to.number(to.config.cors_max_age_seconds, 0, 86'400); }},
        {"management.cors.allow_origins.$n", "", active, plain,
         "Origins whose pages may use the API; `*`: all. Default: its own origin only",
         [](Assignment& to) { return to.text(to.config.cors_origins[std::string(to.variable)]); }},
        {"management.login_session_timeout", "480", active, plain,
         "Minutes of inactivity after which a web page logs out",
         [](Assignment& to) {
             return to.number(to.config.login_session_minutes, 1, login_session_minutes_max);
         }},
    };
}

std::vector<ConfigKey> prometheus_keys() {
    return {
        {"prometheus.tcp.port", "15692", active, plain,
         "Metrics port; not served if `prometheus.ssl.port` is set and neither this key nor "
         "`prometheus.tcp.ip` is",
         [](Assignment& to) { return to.port(metrics_endpoint(to)); }},
        {"prometheus.tcp.listener", "", active, plain,
         "Address and port of the metrics; `none`: not served without TLS", prometheus_listener},
        {"prometheus.tcp.ip", "", active, plain, "Address of the metrics",
         [](Assignment& to) { return to.address(metrics_endpoint(to)); }},
        {"prometheus.ssl.port", "", active, plain, "Metrics port with TLS",
         [](Assignment& to) { return tls_port(to, to.config.tls.prometheus); }},
        {"prometheus.ssl.ip", "", active, plain, "Address of the metrics with TLS",
         [](Assignment& to) { return tls_address(to, to.config.tls.prometheus); }},
        {"prometheus.ssl.cacertfile", "", active, plain, "Trusted CA certificates",
         [](Assignment& to) { return to.readable_file(to.config.tls.prometheus.ca_file); }},
        {"prometheus.ssl.certfile", "", active, plain, "Certificate of the metrics listener",
         [](Assignment& to) {
             return to.readable_file(to.config.tls.prometheus.certificate_file);
         }},
        {"prometheus.ssl.keyfile", "", active, plain, "Private key of the certificate",
         [](Assignment& to) { return to.readable_file(to.config.tls.prometheus.key_file); }},
        {"prometheus.ssl.password", "", active, Trait::secret, "Password of the private key",
         [](Assignment& to) { return to.text(to.config.tls.prometheus.key_password); }},
        {"prometheus.ssl.verify", "verify_none", active, plain,
         "`verify_peer` requests a certificate from clients",
         [](Assignment& to) { return verify(to, to.config.tls.prometheus.verify_peer); }},
        {"prometheus.ssl.fail_if_no_peer_cert", "false", active, plain,
         "Refuse clients without a certificate",
         [](Assignment& to) {
             return to.flag(to.config.tls.prometheus.fail_if_no_peer_certificate);
         }},
        {"prometheus.ssl.versions.$n", "", active, plain, "TLS versions, as `ssl_options.versions`",
         [](Assignment& to) { return tls_version(to, to.config.tls.prometheus.rules); }},
        {"prometheus.ssl.ciphers.$n", "", active, plain,
         "Enabled ciphers, as `ssl_options.ciphers`",
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
        {"prometheus.path", "/metrics", active, plain, "Path of the metrics",
         [](Assignment& to) { return prefix(to, to.config.prometheus_path); }},
        {"prometheus.return_per_object_metrics", "false", active, plain,
         "Per-object metrics on the default path",
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
