// Config: the settings of the node from files, the environment and the command line. config_keys is
// the table of all keys; configuration combines the sources.
#pragma once

#include "auth/password_rules.h"
#include "catalog/catalog.h"
#include "engine/words/other_vhosts.h"
#include "net/network.h"
#include "protocol/host.h"
#include "tls/peer.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace revenant::node {

// A listener address. Without an address, a port in a file or in the environment means all
// interfaces, as in RabbitMQ; a default listener is for this machine only.
struct Endpoint {
    enum class BindScope : std::uint8_t { loopback, all_interfaces };
    std::string address;  // empty: Config::bind, or the default for the scope
    std::uint16_t port = 0;
    BindScope reach = BindScope::loopback;
    friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// In order of severity. RabbitMQ's alert and emergency have no level of their own.
enum class LogLevel : std::uint8_t { debug, info, notice, warning, error, critical, none };

enum class LogFormat : std::uint8_t { plaintext, json };

struct LogConfig {
    bool console = true;
    LogLevel console_level = LogLevel::info;
    LogFormat console_format = LogFormat::plaintext;
    std::string file;  // empty: no file
    std::string directory = "/var/log/revenant";
    LogLevel file_level = LogLevel::info;
    LogFormat file_format = LogFormat::plaintext;
    std::uint64_t rotation_bytes = 0;  // 0: no rotation
    unsigned rotation_count = 10;
    LogLevel default_level = LogLevel::info;
    std::map<std::string, LogLevel, std::less<>> levels;  // by component
    friend bool operator==(const LogConfig&, const LogConfig&) = default;
};

// TLS parameters of a listener. Absent values are those of AMQP, or the default.
struct TlsRules {
    std::map<std::string, std::string, std::less<>> versions;
    std::map<std::string, std::string, std::less<>> ciphers;  // of all TLS versions
    std::optional<int> depth;
    std::optional<bool> honor_cipher_order;
};

// HTTP over TLS. Absent values are those of AMQP, except that no client certificate is requested.
struct HttpsConfig {
    std::optional<Endpoint> endpoint;  // absent: no such listener
    std::string address;               // set before the port
    std::string ca_file;
    std::string certificate_file;
    std::string key_file;
    std::string key_password;
    bool verify_peer = false;
    bool fail_if_no_peer_certificate = false;
    TlsRules rules;
};

// Certificates, and the listeners that use them.
struct TlsConfig {
    std::map<std::string, Endpoint, std::less<>> amqp;  // by the name after listeners.ssl
    std::string ca_file;
    std::string certificate_file;
    std::string key_file;
    std::string key_password;
    bool verify_peer = false;
    bool fail_if_no_peer_certificate = false;
    TlsRules rules;
    tls::CertificateLogin login;

    HttpsConfig http;
    HttpsConfig prometheus;
};

// A user that is created with the first matching virtual host and gets permissions in each.
struct DefaultUser {
    std::shared_ptr<const Pattern> pattern;  // absent: all names
    std::optional<std::string> password;
    std::vector<std::string> tags;
    Permissions permissions = {".*", ".*", ".*"};
};

struct Config {
    std::string bind;  // for endpoints without an address; empty: the default for their scope
    std::map<std::string, Endpoint, std::less<>> amqp = {{"default", {.port = 5672}}};
    // Absent if only TLS is configured.
    std::optional<Endpoint> http = Endpoint{.port = 15672};
    std::optional<Endpoint> prometheus = Endpoint{.port = 15692};
    TlsConfig tls;

    std::string data_dir = "data";
    bool adopt_vhosts =
        false;  // recreate vhosts whose directories exist but which the catalog has lost
    unsigned reactors = 0;  // 0: one per core
    std::string placement = "home";
    std::string compat = "4.3";  // for virtual hosts that do not set one
    std::string node_name = "rabbit@localhost";

    // The absolute limit has precedence over the fraction of total memory.
    std::optional<std::uint64_t> memory_limit_bytes;
    double memory_limit_share = 0.6;
    std::optional<std::uint64_t> memory_total_bytes;  // absent: detected
    std::optional<std::uint64_t> disk_free_limit_bytes = 50'000'000;
    double disk_free_limit_share = 0;  // as a multiple of total memory

    protocol::ConnectionSettings connection;
    net::SocketOptions sockets;
    // By the name after auth_mechanisms. If empty, the connection settings apply.
    std::map<std::string, Mechanism, std::less<>> mechanisms;
    LoginLimits logins;
    PasswordRules passwords;
    std::optional<std::uint64_t> connections_max;
    std::optional<std::uint64_t> vhosts_max;
    std::optional<std::uint64_t> channels_max;  // over all connections
    engine::NodeLimits limits;                  // over all virtual hosts
    std::map<std::string, NewVhostLimits, std::less<>>
        new_vhost_limits;  // by name, which is also the order
    std::map<std::string, DefaultUser, std::less<>> default_users;                 // by name
    std::map<std::string, runtime::NewVhostPolicy, std::less<>> default_policies;  // by name
    std::set<std::string, std::less<>> denied_features;
    std::string default_queue_type = "classic";
    bool quorum_relaxed_checks_on_redeclaration = false;
    std::int64_t consumer_timeout_ms = 1'800'000;  // 0: no timeout
    InitialDefinitions initial_definitions;        // for the first startup
    bool user_tags_named = false;                  // the default tags are replaced

    std::string http_path_prefix;
    std::uint64_t http_body_bytes_max = 20'000'000;
    std::map<std::string, std::string, std::less<>> cors_origins;  // by number
    std::int64_t cors_max_age_seconds = 1800;
    std::int64_t login_session_minutes = 0;  // 0: decided by the web page
    Duration sample_interval = seconds(5);
    bool disable_stats = false;
    bool enable_queue_totals = false;
    std::string rates_mode = "basic";
    bool operator_policies_are_fixed = false;
    std::map<std::string, std::string, std::less<>> cluster_tags;
    std::map<std::string, std::string, std::less<>> node_tags;
    std::string prometheus_path = "/metrics";
    bool prometheus_per_object = false;
    std::string definitions_path;  // imported at every startup; empty: none
    bool definitions_skip_if_unchanged = false;

    LogConfig log;

    // For display: names and values without secrets, and their sources.
    std::map<std::string, std::string> explicit_settings;
    std::vector<std::string> files;
};

}  // namespace revenant::node
