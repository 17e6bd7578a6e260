#include "node/node.h"

#include "amqp091/message/properties.h"
#include "amqp10/message/message_format.h"
#include "base/base64.h"
#include "base/check.h"
#include "http/api/cluster_parameters.h"
#include "http/api/definitions/definitions.h"
#include "node/config/addresses.h"
#include "node/free_memory.h"
#include "node/machine_memory.h"
#include "runtime/descriptors.h"
#include "runtime/system_clock.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sys/random.h>
#include <utility>

namespace revenant::node {
namespace {

constexpr Duration shutdown_timeout = seconds(2);
constexpr std::uint64_t descriptors_min = 48;
// The node does not start if it could serve fewer connections.
constexpr std::uint64_t connections_min = 4;

// The allocator returns freed memory to the system about a second later. More than this at a time is
// returned now: after a burst, it would be most of what the process occupies.
constexpr std::uint64_t free_memory_bytes_max = 8 * 1024 * 1024;

std::uint64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t size_pages = 0;
    std::uint64_t resident_pages = 0;
    file >> size_pages >> resident_pages;
    return resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

Unexpected<std::string> too_few_descriptors(std::uint64_t needed) {
    return Unexpected{"open file limit is " + std::to_string(runtime::descriptor_limit()) +
                      ", at least " + std::to_string(needed) +
                      " is required; see ulimit -n or LimitNOFILE"};
}

Salt random_salt() {
    Salt salt{};
    CHECK(getrandom(salt.data(), salt.size(), 0) == static_cast<ssize_t>(salt.size()));
    return salt;
}

// A random name of 128 bits in URL-safe characters.
std::string random_name() {
    std::array<char, 16> bytes{};
    CHECK(getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    std::string name = base64_encode({bytes.data(), bytes.size()});
    std::replace(name.begin(), name.end(), '+', '-');
    std::replace(name.begin(), name.end(), '/', '_');
    std::erase(name, '=');
    return name;
}

runtime::ConnectionPlacement placement_named(const std::string& name) {
    if (name == "home") return runtime::ConnectionPlacement::home;
    if (name == "spread") return runtime::ConnectionPlacement::spread;
    return runtime::ConnectionPlacement::automatic;
}

// If ciphers are configured, they are the only ones: a TLS version without any is disabled.
void add_ciphers(const TlsRules& rules, tls::TlsSettings& settings) {
    if (rules.ciphers.empty()) return;
    settings.ciphers.clear();
    settings.cipher_suites.clear();
    for (const auto& [n, cipher] : rules.ciphers) {
        std::string& list =
            tls::is_cipher_suite(cipher) ? settings.cipher_suites : settings.ciphers;
        if (!list.empty()) list += ':';
        list += cipher;
    }
}

void leave_out_versions_without_cipher(tls::TlsSettings& settings) {
    if (settings.ciphers.empty() && settings.cipher_suites.empty()) return;
    if (settings.ciphers.empty()) std::erase(settings.versions, "tlsv1.2");
    if (settings.cipher_suites.empty()) std::erase(settings.versions, "tlsv1.3");
}

void add_rules(const TlsRules& rules, tls::TlsSettings& settings) {
    settings.depth = rules.depth.value_or(settings.depth);
    settings.prefers_own_ciphers = rules.honor_cipher_order.value_or(settings.prefers_own_ciphers);
    if (!rules.versions.empty()) settings.versions.clear();
    for (const auto& [n, version] : rules.versions) settings.versions.push_back(version);
    add_ciphers(rules, settings);
}

tls::TlsSettings amqps_settings(const TlsConfig& config) {
    tls::TlsSettings settings;
    settings.certificate_file = config.certificate_file;
    settings.key_file = config.key_file;
    settings.key_password = config.key_password;
    settings.ca_file = config.ca_file;
    settings.verify = config.verify_peer ? tls::Verify::peer : tls::Verify::none;
    settings.fail_if_no_peer_certificate = config.fail_if_no_peer_certificate;
    add_rules(config.rules, settings);
    leave_out_versions_without_cipher(settings);
    return settings;
}

// Settings absent for HTTP are taken from AMQP.
tls::TlsSettings https_settings(const TlsConfig& config, const HttpsConfig& https) {
    tls::TlsSettings settings = amqps_settings(config);
    if (!https.rules.ciphers.empty() && https.rules.versions.empty()) {
        settings.versions = tls::TlsSettings{}.versions;
    }
    add_rules(https.rules, settings);
    leave_out_versions_without_cipher(settings);
    settings.verify = https.verify_peer ? tls::Verify::peer : tls::Verify::none;
    settings.fail_if_no_peer_certificate = https.fail_if_no_peer_certificate;
    if (!https.ca_file.empty()) settings.ca_file = https.ca_file;
    if (https.certificate_file.empty()) return settings;
    settings.certificate_file = https.certificate_file;
    settings.key_file = https.key_file;
    settings.key_password = https.key_password;
    return settings;
}

// Splits "connection NAME: event" into the name and the event.
std::pair<std::string_view, std::string_view> split_connection_name(std::string_view text) {
    constexpr std::string_view beginning = "connection ";
    const std::size_t end = text.find(": ");
    if (!text.starts_with(beginning) || end == std::string_view::npos) return {{}, text};
    return {text.substr(beginning.size(), end - beginning.size()), text.substr(end + 2)};
}

}  // namespace

Node::Node(Config config, Log& log, std::span<const http::WebAsset> pages)
    : config_(std::move(config)), log_(log), pages_(pages), ballast_(disk_, config_.data_dir) {
    set_limits(config_);
    login_throttle_ =
        std::make_shared<runtime::LoginThrottle>(config_.logins, [this](std::string_view source) {
            log_.write(LogLevel::warning, "connection",
                       "too many failed logins: throttling logins from this address",
                       {{"address", source}});
        });
}

Node::~Node() { stop(); }

void Node::set_limits(const Config& config) {
    const auto total =
        static_cast<double>(config.memory_total_bytes.value_or(machine_memory_bytes()));
    memory_limit_bytes_.store(config.memory_limit_bytes.value_or(
        static_cast<std::uint64_t>(total * config.memory_limit_share)));
    disk_free_limit_bytes_.store(config.disk_free_limit_bytes.value_or(
        static_cast<std::uint64_t>(total * config.disk_free_limit_share)));
}

void Node::reload(const Config& config) {
    set_limits(config);
    for (const auto& keeper : certificates_) {
        if (const auto loaded = keeper->reload(); !loaded) {
            log_.write(LogLevel::error, "node", "certificates not reloaded: " + loaded.error());
        }
    }
}

runtime::BrokerSettings Node::broker_settings() {
    runtime::BrokerSettings settings;
    settings.reactors = config_.reactors != 0 ? config_.reactors
                                              : std::max(1U, std::thread::hardware_concurrency());
    settings.placement = placement_named(config_.placement);
    settings.connections_max = config_.connections_max;
    settings.vhosts_max = config_.vhosts_max;
    settings.channels_max = config_.channels_max;
    settings.limits = config_.limits;
    for (const auto& [name, limits] : config_.new_vhost_limits) {
        settings.new_vhost_limits.push_back(limits);
    }
    for (const auto& [name, one] : config_.default_users) {
        PasswordHash password;  // without one, password logins are disabled
        if (one.password) {
            password = make_hash(*one.password, random_salt(), config_.passwords.algorithm);
        }
        settings.new_vhost_users.push_back(
            {one.pattern, {name, std::move(password), one.tags, {}}, one.permissions});
    }
    for (const auto& [name, policy] : config_.default_policies) {
        settings.new_vhost_policies.push_back(policy);
    }
    settings.permits_transient_queues =
        !config_.denied_features.contains("transient_nonexcl_queues");
    settings.node_name = config_.node_name;
    settings.compatibility = *engine::parse_compatibility(config_.compat);
    settings.quorum_relaxed_checks_on_redeclaration =
        config_.quorum_relaxed_checks_on_redeclaration;
    settings.consumer_timeout_ms = config_.consumer_timeout_ms;
    settings.notice = [this](const engine::Notice& notice) {
        log_.write(
            notice.level == engine::Notice::Level::warning ? LogLevel::warning : LogLevel::info,
            "queue", notice.text);
    };
    settings.disk = &disk_;
    settings.data_dir = config_.data_dir;
    settings.adopt_vhosts = config_.adopt_vhosts;
    settings.formats = {&amqp091::message_format(), &amqp10::message_format()};
    settings.disk_full = [this](bool full) {
        vhosts_with_full_disk_.fetch_add(full ? 1 : -1);
        if (full) {
            ballast_.release();
            disk_alarm_.store(true);  // the released space is not for publishers
        }
        set_alarms();
    };
    settings.fatal = [this](const std::string& text) {
        log_.write(LogLevel::critical, "node",
                   text + "; stopping the node because durability can no longer be guaranteed");
        log_.drain(log_patience);
        std::_Exit(1);
    };
    return settings;
}

// The cluster id is permanent. A new node may get it from its definitions; otherwise, and whatever
// is imported later, it has its own.
Result<void, std::string> Node::ensure_cluster_id() {
    if (broker_->access()->rules().global_parameters.contains(http::cluster_id_parameter)) {
        return {};
    }
    const auto record = broker_->change(SetGlobalParameter{
        std::string(http::cluster_id_parameter), "\"rabbitmq-cluster-id-" + random_name() + "\""});
    if (!record) return Unexpected{"cannot set the cluster id: " + record.error().text};
    return {};
}

// Definitions with users and virtual hosts replace the default ones, as in RabbitMQ.
Result<void, std::string> Node::initialize(bool known) {
    std::vector<DefinitionsFile> files;
    if (!config_.definitions_path.empty()) {
        REVENANT_TRY(files, read_definitions(config_.definitions_path));
    }
    const bool brings_users =
        std::any_of(files.begin(), files.end(), [](const auto& file) { return file.has_users; });
    const bool brings_vhosts =
        std::any_of(files.begin(), files.end(), [](const auto& file) { return file.has_vhosts; });
    if (!known && !(brings_users && brings_vhosts)) {
        for (const CatalogCommand& command : initial_commands(
                 config_.initial_definitions, random_salt(), config_.passwords.algorithm)) {
            const auto record = broker_->change(command);
            if (!record)
                return Unexpected{"cannot create the default user and virtual host: " +
                                  record.error().text};
        }
    }
    REVENANT_TRY_VOID(broker_->adopt_vhosts());
    REVENANT_TRY_VOID(import(files));
    return ensure_cluster_id();
}

Result<void, std::string> Node::import(const std::vector<DefinitionsFile>& files) {
    if (files.empty()) return {};
    const std::string name(imported_definitions_parameter);
    const std::string digest = digest_of(files);
    const auto table = broker_->access();
    const auto found = table->rules().global_parameters.find(name);
    const bool noted = found != table->rules().global_parameters.end();
    if (config_.definitions_skip_if_unchanged && noted && found->second == digest) {
        log_.info("definitions unchanged since the last import, not imported",
                  {{"path", config_.definitions_path}});
        return {};
    }
    // The digest of an earlier import is no longer valid, even if this import fails.
    if (noted) {
        const auto forgotten = broker_->change(ClearGlobalParameter{name});
        if (!forgotten) return Unexpected{forgotten.error().text};
    }
    for (const DefinitionsFile& file : files) {
        const auto imported =
            http::import_definitions(*broker_, file.json, "rmq-internal", config_.passwords);
        if (!imported) return Unexpected{file.path + ": " + imported.error()};
        log_.info("definitions imported", {{"file", file.path}});
    }
    if (!config_.definitions_skip_if_unchanged) return {};
    const auto kept = broker_->change(SetGlobalParameter{name, digest});
    if (!kept) return Unexpected{kept.error().text};
    return {};
}

Result<void, std::string> Node::listen() {
    for (const auto& [name, endpoint] : config_.amqp) {
        const std::string address = address_of(endpoint, config_.bind);
        REVENANT_TRY(const std::uint16_t port, network_->listen({address, endpoint.port}));
        listeners_.push_back({"amqp", address, port});
    }
    if (config_.tls.amqp.empty()) return {};
    REVENANT_TRY(const auto tls, tls::ReloadableTlsContext::open(amqps_settings(config_.tls)));
    certificates_.push_back(tls);
    for (const auto& [name, endpoint] : config_.tls.amqp) {
        const std::string address = address_of(endpoint, config_.bind);
        REVENANT_TRY(const std::uint16_t port, network_->listen({address, endpoint.port, tls}));
        listeners_.push_back({"amqp/ssl", address, port, tls});
    }
    return {};
}

Result<Ready, std::string> Node::start() {
    if (config_.data_dir.empty())
        return Unexpected{std::string("data_dir (--data-dir) must not be empty")};
    if (runtime::descriptor_limit() < descriptors_min) return too_few_descriptors(descriptors_min);
    const protocol::ConnectionSettings own;
    log_.info("starting", {{"product", own.product_name},
                           {"version", own.product_version},
                           {"compatible_with", config_.connection.version},
                           {"node", config_.node_name},
                           {"data_dir", config_.data_dir},
                           {"memory_limit", std::to_string(memory_limit_bytes_.load())}});
    broker_ = std::make_unique<runtime::Broker>(broker_settings());
    auto opened = broker_->open();
    // Every virtual host keeps one file open.
    if (runtime::next_descriptor() + descriptors_min / 2 > runtime::descriptor_limit()) {
        return too_few_descriptors(runtime::next_descriptor() + descriptors_min);
    }
    REVENANT_TRY(const bool known, std::move(opened));
    broker_->start();
    REVENANT_TRY_VOID(initialize(known));
    protocol::ConnectionSettings connection = config_.connection;
    connection.default_queue_type = config_.default_queue_type;
    connection.compat = config_.compat;
    if (config_.compat == "3.12") connection.frame_max_min = 4096;
    connection.permits_global_qos = !config_.denied_features.contains("global_qos");
    network_ = std::make_unique<net::Network>(
        net::NetworkSettings{std::move(connection), config_.tls.login, config_.sockets,
                             login_throttle_, client_logins_},
        *broker_, [this](std::string_view text) {
            const auto [name, rest] = split_connection_name(text);
            if (name.empty()) {
                log_.write(LogLevel::warning, "connection", rest);
            } else {
                log_.write(LogLevel::warning, "connection", rest, {{"name", name}});
            }
        });
    REVENANT_TRY_VOID(listen());
    resource_watch_ = std::thread([this] { watch_resources(); });
    REVENANT_TRY_VOID(start_http());
    const std::uint64_t needed =
        runtime::next_descriptor() + runtime::descriptors_kept_for_files() + connections_min;
    if (needed > runtime::descriptor_limit()) return too_few_descriptors(needed);
    Ready ready;
    const auto first = [&](std::initializer_list<std::string_view> protocols) -> std::string {
        for (const std::string_view protocol : protocols) {
            for (const auto& one : listeners_) {
                if (one.protocol == protocol) return show(one.address, one.port);
            }
        }
        return "none";
    };
    ready.amqp = first({"amqp"});
    ready.http = first({"http", "https"});
    ready.prometheus = first({"http/prometheus", "https/prometheus"});
    for (const auto& one : listeners_) {
        log_.info("listening",
                  {{"protocol", one.protocol}, {"address", show(one.address, one.port)}});
    }
    return ready;
}

http::ApiSettings Node::api_settings() {
    http::ApiSettings api;
    api.node_name = config_.node_name;
    api.cluster_name = config_.connection.cluster_name;
    api.product_name = config_.connection.product_name;
    api.product_version = config_.connection.product_version;
    api.rabbitmq_version = config_.connection.version;
    api.data_dir = config_.data_dir;
    api.loopback_users = config_.connection.loopback_users;
    api.login_throttle = login_throttle_;
    api.client_logins = client_logins_;
    api.suspend_listeners = [this](bool suspended) {
        log_.info(suspended ? "listeners suspended" : "listeners resumed");
        return network_->suspend_listeners(suspended);
    };
    api.listeners_are_suspended = [this] { return network_->listeners_are_suspended(); };
    api.passwords = config_.passwords;
    api.disable_stats = config_.disable_stats;
    api.enable_queue_totals = config_.enable_queue_totals;
    api.rates_mode = config_.rates_mode;
    api.operator_policies_are_fixed = config_.operator_policies_are_fixed;
    api.denied_features = config_.denied_features;
    api.cluster_tags = config_.cluster_tags;
    api.node_tags = config_.node_tags;
    api.memory_limit_bytes = [this] { return memory_limit_bytes_.load(); };
    api.frame_max = config_.connection.frame_max;
    api.channel_max = config_.connection.channel_max;
    api.connections_max = config_.connections_max;
    api.started_at = runtime::system_now();
    api.sample_interval = config_.sample_interval;
    if (config_.login_session_minutes > 0) {
        api.login_session_minutes = config_.login_session_minutes;
    }
    api.cors_max_age_seconds = config_.cors_max_age_seconds;
    for (const auto& [n, origin] : config_.cors_origins) api.cors_allow_origins.push_back(origin);
    api.config_files = config_.files;
    api.log_files = log_.destinations();
    api.log_lines_dropped = [this] { return log_.lines_dropped(); };
    api.note_deed = [this](const http::Deed& deed) {
        log_.write(LogLevel::info, "http", deed.text,
                   {{"path", deed.path}, {"user", deed.user}, {"address", deed.address}});
    };
    api.mechanisms = config_.connection.mechanisms;
    if (config_.connection.anonymous_login_user.empty()) {
        std::erase(api.mechanisms, Mechanism::anonymous);
    }
    api.configuration = [this] { return config_.explicit_settings; };
    api.compat = config_.compat;
    api.max_message_bytes = config_.connection.max_message_size;
    api.default_queue_type = config_.default_queue_type;
    api.disk_free_limit_bytes = [this] { return disk_free_limit_bytes_.load(); };
    api.disk_alarm = [this] { return disk_alarm_.load() || vhosts_with_full_disk_.load() > 0; };
    api.listeners = listeners_;
    api.connections = [this] { return network_->connections(); };
    api.close_connections_if = [this](const auto& chosen, const std::string& reason) {
        network_->close_connections_if(chosen, reason);
    };
    api.sessions = [this](const std::string& name) { return network_->sessions(name); };
    api.network_traffic = [this] { return network_->traffic(); };
    api.memory_alarm = [this] { return memory_alarm_.load(); };
    return api;
}

Result<void, std::string> Node::open_http(std::string_view name, const Endpoint& endpoint,
                                          http::ServerSettings settings, HttpListeners& into) {
    settings.address = address_of(endpoint, config_.bind);
    settings.port = endpoint.port;
    REVENANT_TRY(auto server, http::Server::open(settings));
    listeners_.push_back({std::string(name), settings.address, server->port(), settings.tls});
    into.push_back(std::move(server));
    return {};
}

Result<void, std::string> Node::open_https(std::string_view name, const HttpsConfig& https,
                                           http::ServerSettings settings, HttpListeners& into) {
    REVENANT_TRY(settings.tls, tls::ReloadableTlsContext::open(https_settings(config_.tls, https)));
    certificates_.push_back(settings.tls);
    return open_http(name, *https.endpoint, settings, into);
}

Result<void, std::string> Node::start_http() {
    http::ServerSettings settings;
    settings.threads = 2;
    settings.body_bytes_max = config_.http_body_bytes_max;
    settings.note_failure = [this](const http::Request& request, std::string_view what) {
        log_.write(LogLevel::error, "http", "request failed: internal error",
                   {{"method", request.method}, {"path", request.path()}, {"error", what}});
    };
    if (config_.http) REVENANT_TRY_VOID(open_http("http", *config_.http, settings, api_servers_));
    const HttpsConfig& https = config_.tls.http;
    if (https.endpoint) REVENANT_TRY_VOID(open_https("https", https, settings, api_servers_));
    settings.threads = 1;
    if (config_.prometheus) {
        REVENANT_TRY_VOID(
            open_http("http/prometheus", *config_.prometheus, settings, metrics_servers_));
    }
    if (config_.tls.prometheus.endpoint) {
        REVENANT_TRY_VOID(
            open_https("https/prometheus", config_.tls.prometheus, settings, metrics_servers_));
    }
    api_ = std::make_unique<http::Api>(api_settings(), *broker_);
    metrics_ = std::make_unique<http::Metrics>(
        api_->context(), config_.prometheus_per_object ? http::MetricsDefault::per_object
                                                       : http::MetricsDefault::aggregated);
    web_ = std::make_unique<http::WebPages>(*api_, pages_);
    moved_web_ = std::make_unique<PathPrefix>(*web_, config_.http_path_prefix, "");
    prefixed_metrics_ =
        std::make_unique<PathPrefix>(*metrics_, config_.prometheus_path, "/metrics");
    http::Responder& metrics = config_.prometheus_path == "/metrics"
                                   ? static_cast<http::Responder&>(*metrics_)
                                   : *prefixed_metrics_;
    for (const auto& server : metrics_servers_) server->start(metrics);
    http::Responder& web =
        config_.http_path_prefix.empty() ? static_cast<http::Responder&>(*web_) : *moved_web_;
    for (const auto& server : api_servers_) server->start(web);
    return {};
}

void Node::watch_resources() {
    while (!stopping_.load()) {
        if (free_memory_bytes() > free_memory_bytes_max) return_free_memory();
        memory_alarm_.store(resident_bytes() > memory_limit_bytes_.load());
        const auto free_bytes = disk_.free_bytes(config_.data_dir);
        if (free_bytes && vhosts_with_full_disk_.load() == 0) {
            const bool roomy = ballast_.hold(*free_bytes);
            disk_alarm_.store(!roomy || *free_bytes < disk_free_limit_bytes_.load());
        }
        set_alarms();
        std::this_thread::sleep_for(std::chrono::milliseconds(250));
    }
}

// Publishers are sent only one reason.
void Node::set_alarms() {
    const std::lock_guard lock(alarm_mutex_);
    std::string alarm;
    if (memory_alarm_.load()) alarm = "low on memory";
    if (disk_alarm_.load() || vhosts_with_full_disk_.load() > 0) alarm = "low on disk";
    if (alarm == reported_alarm_ || !network_) return;
    reported_alarm_ = alarm;
    if (alarm.empty()) {
        log_.warn("alarm cleared: publishers unblocked");
    } else {
        log_.warn("alarm raised: publishers blocked", {{"reason", alarm}});
    }
    network_->set_alarm(alarm);
}

void Node::stop() {
    if (!broker_ || stopping_.exchange(true)) return;
    if (resource_watch_.joinable()) resource_watch_.join();
    // HTTP stops first, because its requests wait for reactors.
    for (const auto& server : api_servers_) server->stop();
    for (const auto& server : metrics_servers_) server->stop();
    if (api_) api_->stop();
    if (network_) network_->shut_down(shutdown_timeout);
    broker_->stop();
}

}  // namespace revenant::node
