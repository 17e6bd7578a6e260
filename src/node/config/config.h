// Config: what the node was told, by a file, the environment and its command line together.
// config_keys is the table of everything that can be said; configuration puts the sources together.
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

// Where to listen. How wide an entry without an address is meant depends on who wrote it: somebody
// who configures a port means all interfaces, as in RabbitMQ; what nobody configured is for this
// machine alone.
struct Endpoint {
    enum class BindScope : std::uint8_t { loopback, all_interfaces };
    std::string address;  // empty: that of Config::bind, or what the reach says
    std::uint16_t port = 0;
    BindScope reach = BindScope::loopback;
    friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// In the order of severity. RabbitMQ's notice, alert and emergency are kept apart from their
// neighbours only in what is written.
enum class LogLevel : std::uint8_t { debug, info, notice, warning, error, critical, none };

enum class LogFormat : std::uint8_t { plaintext, json };

struct LogConfig {
    bool console = true;
    LogLevel console_level = LogLevel::info;
    LogFormat console_format = LogFormat::plaintext;
    std::string file;  // empty: none
    std::string directory = "/var/log/revenant";
    LogLevel file_level = LogLevel::info;
    LogFormat file_format = LogFormat::plaintext;
    std::uint64_t rotation_bytes = 0;  // 0: never
    unsigned rotation_count = 10;
    LogLevel default_level = LogLevel::info;
    std::map<std::string, LogLevel, std::less<>> levels;  // by component, where set
    friend bool operator==(const LogConfig&, const LogConfig&) = default;
};

// HTTP over TLS. What is not said is as for AMQP, except that nobody is asked for a certificate.
// What a TLS listener negotiates; what is absent is as for AMQP, or the default.
struct TlsRules {
    std::map<std::string, std::string, std::less<>> versions;
    std::map<std::string, std::string, std::less<>> ciphers;  // of every version
    std::optional<int> depth;
    std::optional<bool> honor_cipher_order;
};

struct HttpsConfig {
    std::optional<Endpoint> endpoint;  // absent: there is no such listener
    std::string address;               // said before the port was
    std::string ca_file;
    std::string certificate_file;
    std::string key_file;
    std::string key_password;
    bool verify_peer = false;
    bool fail_if_no_peer_certificate = false;
    TlsRules rules;
};

// Certificates and listeners that use them.
struct TlsConfig {
    std::map<std::string, Endpoint, std::less<>> amqp;  // by the name behind listeners.ssl
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

// Made with the first virtual host whose name matches, with permissions in each such one.
struct DefaultUser {
    std::shared_ptr<const Pattern> pattern;  // absent: every name
    std::optional<std::string> password;
    std::vector<std::string> tags;
    Permissions permissions = {".*", ".*", ".*"};
};

struct Config {
    std::string bind;  // of endpoints without an address; empty: what their reach says
    std::map<std::string, Endpoint, std::less<>> amqp = {{"default", {.port = 5672}}};
    // None where TLS alone is served: somebody configured it, and nobody the other.
    std::optional<Endpoint> http = Endpoint{.port = 15672};
    std::optional<Endpoint> prometheus = Endpoint{.port = 15692};
    TlsConfig tls;

    std::string data_dir = "data";
    bool adopt_vhosts = false;  // whose directories are there though the catalog has lost them
    unsigned reactors = 0;      // 0: one per core
    std::string placement = "home";
    std::string compat = "4.3";  // of virtual hosts that name none themselves
    std::string node_name = "rabbit@localhost";

    // Absolute limits rule; where there is none the share of the machine's memory does.
    std::optional<std::uint64_t> memory_limit_bytes;
    double memory_limit_share = 0.6;
    std::optional<std::uint64_t> memory_total_bytes;  // absent: what the machine has
    std::optional<std::uint64_t> disk_free_limit_bytes = 50'000'000;
    double disk_free_limit_share = 0;  // of the machine's memory

    protocol::ConnectionSettings connection;
    net::SocketOptions sockets;
    // By the name behind auth_mechanisms; none: those of the connection settings.
    std::map<std::string, Mechanism, std::less<>> mechanisms;
    LoginLimits logins;
    PasswordRules passwords;
    std::optional<std::uint64_t> connections_max;
    std::optional<std::uint64_t> vhosts_max;
    std::optional<std::uint64_t> channels_max;  // of all connections together
    engine::NodeLimits limits;                  // of all virtual hosts together
    std::map<std::string, NewVhostLimits, std::less<>> new_vhost_limits;  // by name, in its order
    std::map<std::string, DefaultUser, std::less<>> default_users;        // by name
    std::map<std::string, runtime::NewVhostPolicy, std::less<>> default_policies;  // by name
    std::set<std::string, std::less<>> denied_features;
    std::string default_queue_type = "classic";
    bool quorum_relaxed_checks_on_redeclaration = false;
    std::int64_t consumer_timeout_ms = 1'800'000;  // 0: any time
    InitialDefinitions initial_definitions;        // of a node that starts for the first time
    bool user_tags_named = false;  // those of the first user are not the default any more

    std::string http_path_prefix;
    std::uint64_t http_body_bytes_max = 20'000'000;
    std::map<std::string, std::string, std::less<>> cors_origins;  // by number
    std::int64_t cors_max_age_seconds = 1800;
    std::int64_t login_session_minutes = 0;  // 0: as long as a page thinks fit
    Duration sample_interval = seconds(5);
    bool disable_stats = false;
    bool enable_queue_totals = false;
    std::string rates_mode = "basic";
    bool operator_policies_are_fixed = false;
    std::map<std::string, std::string, std::less<>> cluster_tags;
    std::map<std::string, std::string, std::less<>> node_tags;
    std::string prometheus_path = "/metrics";
    bool prometheus_per_object = false;
    std::string definitions_path;  // imported at every start; empty: none
    bool definitions_skip_if_unchanged = false;

    LogConfig log;

    // For those who ask what is in force: names and values without secrets, and where they stand.
    std::map<std::string, std::string> explicit_settings;
    std::vector<std::string> files;
};

}  // namespace revenant::node
