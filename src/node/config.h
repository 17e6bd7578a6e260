// Config: what the node was told — by its options now, by a file and the environment as well with
// the management issue.
#pragma once

#include "base/result.h"
#include "net/network.h"
#include "runtime/broker.h"

#include <cstdint>
#include <string>
#include <vector>

namespace revenant::node {

struct Config {
    std::string bind = "127.0.0.1";
    std::uint16_t port = 5672;
    std::uint16_t http_port = 15672;
    std::uint16_t prometheus_port = 15692;
    std::string data_dir = "data";
    std::string config_file;
    unsigned reactors = 0;  // 0: one per core
    std::string placement = "auto";
    std::uint64_t memory_limit_bytes = 0;  // 0: 60 % of what the machine has
    std::uint64_t disk_free_limit_bytes = 50'000'000;
    std::string compat = "4.3";            // of virtual hosts that name none themselves
    bool quorum_relaxed_checks_on_redeclaration = false;
    amqp091::ConnectionSettings connection;
};

}  // namespace revenant::node
