// Node: wires the rooms together. The only room that knows all rooms.
#pragma once

#include "base/result.h"
#include "http/api.h"
#include "http/metrics.h"
#include "http/server.h"
#include "journal/disk_posix.h"
#include "node/config.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace revenant::node {

// Where the node can be reached, as HOST:PORT.
struct Ready {
    std::string amqp;
    std::string http;
    std::string prometheus;
};

class Node {
  public:
    explicit Node(Config config);
    ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    // After it returned, every listener accepts.
    Result<Ready, std::string> start();
    void stop();

  private:
    void watch_resources();
    void set_alarms();
    std::uint64_t memory_limit_bytes() const;
    // The HTTP API and the page for Prometheus; both know where AMQP listens.
    Result<void, std::string> start_http(std::uint16_t amqp_port);

    Config config_;
    journal::PosixDisk disk_;  // outlives the broker
    std::unique_ptr<runtime::Broker> broker_;
    std::unique_ptr<net::Network> network_;
    std::unique_ptr<http::Api> api_;
    std::unique_ptr<http::Metrics> metrics_;
    std::unique_ptr<http::Server> http_server_;
    std::unique_ptr<http::Server> prometheus_server_;
    std::thread resource_watch_;
    std::mutex alarm_mutex_;  // guards the telling of alarms
    std::string alarm_told_;
    std::atomic<bool> memory_alarm_{false};
    std::atomic<bool> disk_alarm_{false};
    std::atomic<int> full_disks_{0};  // vhosts whose journals found no room
    std::atomic<bool> stopping_{false};
};

}  // namespace revenant::node
