// Node: wires the rooms together. The only room that knows all rooms.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "base/result.h"
#include "node/config.h"

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
    void watch_memory();

    Config config_;
    std::unique_ptr<runtime::Broker> broker_;
    std::unique_ptr<net::Network> network_;
    std::thread memory_watch_;
    std::atomic<bool> stopping_{false};
};

}  // namespace revenant::node
