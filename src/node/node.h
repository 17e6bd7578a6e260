// Node: connects all modules. The only module that knows all others.
#pragma once

#include "base/result.h"
#include "http/api.h"
#include "http/metrics/metrics.h"
#include "http/server/server.h"
#include "http/web/web_pages.h"
#include "journal/disk_posix.h"
#include "net/network.h"
#include "node/ballast.h"
#include "node/config/config.h"
#include "node/config/definitions_file.h"
#include "node/log/log.h"
#include "node/path_prefix.h"
#include "runtime/descriptors.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace revenant::node {

// Addresses of the listeners as HOST:PORT; "none" if there is none.
struct Ready {
    std::string amqp;
    std::string http;
    std::string prometheus;
};

class Node {
  public:
    // The log and the web pages must outlive the node.
    Node(Config config, Log& log, std::span<const http::WebAsset> pages = {});
    ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    // On return, every listener accepts connections.
    Result<Ready, std::string> start();
    void stop();
    // Applies memory and disk limits and reloads certificates; other settings need a restart.
    void reload(const Config& config);

  private:
    void watch_resources();
    void set_alarms();
    void set_limits(const Config& config);
    runtime::BrokerSettings broker_settings();
    // Creates the default user and virtual host of a new node, and imports definitions.
    Result<void, std::string> initialize(bool known);
    Result<void, std::string> ensure_cluster_id();
    Result<void, std::string> import(const std::vector<DefinitionsFile>& files);
    Result<void, std::string> listen();
    // Starts the HTTP API and the metrics listener. Both show the AMQP listeners.
    Result<void, std::string> start_http();
    using HttpListeners = std::vector<std::unique_ptr<http::Server>>;
    Result<void, std::string> open_http(std::string_view name, const Endpoint& endpoint,
                                        http::ServerSettings settings, HttpListeners& into);
    Result<void, std::string> open_https(std::string_view name, const HttpsConfig& https,
                                         http::ServerSettings settings, HttpListeners& into);
    http::ApiSettings api_settings();

    const Config config_;
    Log& log_;
    const std::span<const http::WebAsset> pages_;
    std::vector<http::ListenerView> listeners_;
    journal::PosixDisk disk_{runtime::read_files_open_max()};  // outlives the broker
    Ballast ballast_;
    std::shared_ptr<runtime::LoginThrottle> login_throttle_;
    std::shared_ptr<runtime::ClientLogins> client_logins_ =
        std::make_shared<runtime::ClientLogins>();
    std::unique_ptr<runtime::Broker> broker_;
    std::unique_ptr<net::Network> network_;
    std::vector<std::shared_ptr<tls::ReloadableTlsContext>> certificates_;  // of all TLS listeners
    std::unique_ptr<http::Api> api_;
    std::unique_ptr<http::Metrics> metrics_;
    std::unique_ptr<http::WebPages> web_;  // serves pages before the API
    std::unique_ptr<PathPrefix> moved_web_;
    std::unique_ptr<PathPrefix> prefixed_metrics_;
    HttpListeners api_servers_;
    HttpListeners metrics_servers_;
    std::thread resource_watch_;
    std::mutex alarm_mutex_;  // serializes alarm notifications
    std::string reported_alarm_;
    std::atomic<std::uint64_t> memory_limit_bytes_{0};
    std::atomic<std::uint64_t> disk_free_limit_bytes_{0};
    std::atomic<bool> memory_alarm_{false};
    std::atomic<bool> disk_alarm_{false};
    std::atomic<int> vhosts_with_full_disk_{0};  // vhosts whose journals found the disk full
    std::atomic<bool> stopping_{false};
};

}  // namespace revenant::node
