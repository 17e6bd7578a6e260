// Node: wires the rooms together. The only room that knows all rooms.
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

// Where the node can be reached, as HOST:PORT; "none" if it cannot.
struct Ready {
    std::string amqp;
    std::string http;
    std::string prometheus;
};

class Node {
  public:
    // The log outlives the node, and so do the web pages.
    Node(Config config, Log& log, std::span<const http::WebAsset> pages = {});
    ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    // After it returned, every listener accepts.
    Result<Ready, std::string> start();
    void stop();
    // Limits of memory and disk; the rest of the configuration needs a restart.
    void reload(const Config& config);

  private:
    void watch_resources();
    void set_alarms();
    void set_limits(const Config& config);
    runtime::BrokerSettings broker_settings();
    // Users and virtual hosts of a node that has none, definitions it is to have.
    Result<void, std::string> initialize(bool known);
    Result<void, std::string> ensure_cluster_id();
    Result<void, std::string> import(const std::vector<DefinitionsFile>& files);
    Result<void, std::string> listen();
    // The HTTP API and the page for Prometheus; both know where AMQP listens.
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
    std::vector<std::shared_ptr<tls::ReloadableTlsContext>> certificates_;  // of every TLS listener
    std::unique_ptr<http::Api> api_;
    std::unique_ptr<http::Metrics> metrics_;
    std::unique_ptr<http::WebPages> web_;  // in front of the API
    std::unique_ptr<PathPrefix> moved_web_;
    std::unique_ptr<PathPrefix> prefixed_metrics_;
    HttpListeners api_servers_;
    HttpListeners metrics_servers_;
    std::thread resource_watch_;
    std::mutex alarm_mutex_;  // guards the telling of alarms
    std::string reported_alarm_;
    std::atomic<std::uint64_t> memory_limit_bytes_{0};
    std::atomic<std::uint64_t> disk_free_limit_bytes_{0};
    std::atomic<bool> memory_alarm_{false};
    std::atomic<bool> disk_alarm_{false};
    std::atomic<int> vhosts_with_full_disk_{0};  // vhosts whose journals found no room
    std::atomic<bool> stopping_{false};
};

}  // namespace revenant::node
