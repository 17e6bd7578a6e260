#include "node/node.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <utility>

#include <sys/random.h>
#include <unistd.h>

#include <spdlog/spdlog.h>

#include "base/check.h"

namespace revenant::node {
namespace {

constexpr double memory_share = 0.6;  // of RAM; amqp091 appendix B
constexpr Duration shutdown_patience = seconds(2);

std::uint64_t machine_memory_bytes() {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t size_pages = 0;
    std::uint64_t resident_pages = 0;
    file >> size_pages >> resident_pages;
    return resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

Salt random_salt() {
    Salt salt{};
    CHECK(getrandom(salt.data(), salt.size(), 0) == static_cast<ssize_t>(salt.size()));
    return salt;
}

runtime::Placement placement_named(const std::string& name) {
    if (name == "home") return runtime::Placement::home;
    if (name == "spread") return runtime::Placement::spread;
    return runtime::Placement::automatic;
}

}  // namespace

Node::Node(Config config) : config_(std::move(config)) {}

Node::~Node() { stop(); }

Result<Ready, std::string> Node::start() {
    runtime::BrokerSettings settings;
    settings.reactors =
        config_.reactors != 0 ? config_.reactors : std::max(1U, std::thread::hardware_concurrency());
    settings.placement = placement_named(config_.placement);
    broker_ = std::make_unique<runtime::Broker>(settings);
    broker_->start();
    for (const CatalogCommand& command : default_content({}, random_salt())) {
        const auto record = broker_->change(command);
        CHECK(record);
    }
    network_ = std::make_unique<net::Network>(net::NetworkSettings{config_.connection}, *broker_,
                                              [](std::string_view text) { spdlog::info("{}", text); });
    REVENANT_TRY(const std::uint16_t port, network_->listen(config_.bind, config_.port));
    memory_watch_ = std::thread([this] { watch_memory(); });
    Ready ready;
    ready.amqp = config_.bind + ":" + std::to_string(port);
    spdlog::info("AMQP listens on {}", ready.amqp);
    return ready;
}

void Node::watch_memory() {
    const std::uint64_t limit = config_.memory_limit_bytes != 0
                                    ? config_.memory_limit_bytes
                                    : static_cast<std::uint64_t>(
                                          static_cast<double>(machine_memory_bytes()) * memory_share);
    bool alarm = false;
    while (!stopping_.load()) {
        const bool over = resident_bytes() > limit;
        if (over != alarm) {
            alarm = over;
            spdlog::warn("memory alarm {}: limit is {} bytes", alarm ? "set" : "cleared", limit);
            network_->set_alarm(alarm ? "low on memory" : "");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(250));
    }
}

void Node::stop() {
    if (!broker_ || stopping_.exchange(true)) return;
    if (memory_watch_.joinable()) memory_watch_.join();
    if (network_) network_->shut_down(shutdown_patience);
    broker_->stop();
}

}  // namespace revenant::node
