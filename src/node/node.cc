#include "node/node.h"

#include "amqp091/properties.h"
#include "base/check.h"
#include "runtime/system_clock.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sys/random.h>
#include <utility>

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
    settings.reactors = config_.reactors != 0 ? config_.reactors
                                              : std::max(1U, std::thread::hardware_concurrency());
    settings.placement = placement_named(config_.placement);
    settings.compatibility = *engine::parse_compatibility(config_.compat);
    settings.quorum_relaxed_checks_on_redeclaration =
        config_.quorum_relaxed_checks_on_redeclaration;
    settings.notice = [](const engine::Notice& notice) {
        spdlog::log(notice.level == engine::Notice::Level::warning ? spdlog::level::warn
                                                                   : spdlog::level::info,
                    "{}", notice.text);
    };
    settings.disk = &disk_;
    settings.data_dir = config_.data_dir;
    settings.formats = {&amqp091::message_format()};
    settings.disk_full = [this](bool full) {
        full_disks_.fetch_add(full ? 1 : -1);
        set_alarms();
    };
    settings.fatal = [](const std::string& text) {
        spdlog::critical("{}; the broker stops so that nothing more is promised", text);
        spdlog::default_logger()->flush();
        std::_Exit(1);
    };
    broker_ = std::make_unique<runtime::Broker>(std::move(settings));
    REVENANT_TRY(const bool known, broker_->open());
    broker_->start();
    if (!known) {
        for (const CatalogCommand& command : default_content({}, random_salt())) {
            const auto record = broker_->change(command);
            CHECK(record);
        }
    }
    network_ =
        std::make_unique<net::Network>(net::NetworkSettings{config_.connection}, *broker_,
                                       [](std::string_view text) { spdlog::info("{}", text); });
    REVENANT_TRY(const std::uint16_t port, network_->listen(config_.bind, config_.port));
    resource_watch_ = std::thread([this] { watch_resources(); });
    REVENANT_TRY_VOID(start_http(port));
    Ready ready;
    ready.amqp = config_.bind + ":" + std::to_string(port);
    ready.http = config_.bind + ":" + std::to_string(http_server_->port());
    ready.prometheus = config_.bind + ":" + std::to_string(prometheus_server_->port());
    spdlog::info("AMQP listens on {}, HTTP on {}, metrics on {}", ready.amqp, ready.http,
                 ready.prometheus);
    return ready;
}

Result<void, std::string> Node::start_http(std::uint16_t amqp_port) {
    http::ApiSettings api;
    api.node_name = config_.connection.cluster_name;
    api.cluster_name = config_.connection.cluster_name;
    api.product_name = config_.connection.product;
    api.rabbitmq_version = config_.connection.version;
    api.data_dir = config_.data_dir;
    api.loopback_users = config_.connection.loopback_users;
    api.memory_limit_bytes = memory_limit_bytes();
    api.frame_max = config_.connection.frame_max;
    api.channel_max = config_.connection.channel_max;
    api.started_at = runtime::system_now();
    api.sample_interval = seconds(5);  // collect_statistics_interval of RabbitMQ
    api.max_message_bytes = config_.connection.max_message_size;
    api.disk_free_limit_bytes = config_.disk_free_limit_bytes;
    api.disk_alarm = [this] { return disk_alarm_.load() || full_disks_.load() > 0; };
    api.connections = [this] { return network_->connections(); };
    api.close_connections_if = [this](const auto& chosen, const std::string& reason) {
        network_->close_connections_if(chosen, reason);
    };
    api.memory_alarm = [this] { return memory_alarm_.load(); };
    http::ServerSettings settings;
    settings.address = config_.bind;
    settings.port = config_.prometheus_port;
    settings.threads = 1;
    REVENANT_TRY(prometheus_server_, http::Server::open(settings));
    settings.port = config_.http_port;
    settings.threads = 2;
    REVENANT_TRY(http_server_, http::Server::open(settings));
    api.listeners = {{"amqp", config_.bind, amqp_port},
                     {"http", config_.bind, http_server_->port()},
                     {"http/prometheus", config_.bind, prometheus_server_->port()}};
    api_ = std::make_unique<http::Api>(std::move(api), *broker_);
    metrics_ = std::make_unique<http::Metrics>(api_->context());
    prometheus_server_->start(*metrics_);
    http_server_->start(*api_);
    return {};
}

std::uint64_t Node::memory_limit_bytes() const {
    if (config_.memory_limit_bytes != 0) return config_.memory_limit_bytes;
    return static_cast<std::uint64_t>(static_cast<double>(machine_memory_bytes()) * memory_share);
}

void Node::watch_resources() {
    const std::uint64_t limit = memory_limit_bytes();
    while (!stopping_.load()) {
        memory_alarm_.store(resident_bytes() > limit);
        const auto free_bytes = disk_.free_bytes(config_.data_dir);
        disk_alarm_.store(free_bytes.has_value() && *free_bytes < config_.disk_free_limit_bytes);
        set_alarms();
        std::this_thread::sleep_for(std::chrono::milliseconds(250));
    }
}

// Publishers are told the first reason there is.
void Node::set_alarms() {
    const std::lock_guard lock(alarm_mutex_);
    std::string alarm;
    if (memory_alarm_.load()) alarm = "low on memory";
    if (disk_alarm_.load() || full_disks_.load() > 0) alarm = "low on disk";
    if (alarm == alarm_told_ || !network_) return;
    alarm_told_ = alarm;
    if (alarm.empty()) {
        spdlog::warn("alarm cleared: publishers go on");
    } else {
        spdlog::warn("alarm: {}; publishers are blocked", alarm);
    }
    network_->set_alarm(alarm);
}

void Node::stop() {
    if (!broker_ || stopping_.exchange(true)) return;
    if (resource_watch_.joinable()) resource_watch_.join();
    // HTTP first: it asks reactors, which must be there to answer.
    if (http_server_) http_server_->stop();
    if (prometheus_server_) prometheus_server_->stop();
    if (api_) api_->stop();
    if (network_) network_->shut_down(shutdown_patience);
    broker_->stop();
}

}  // namespace revenant::node
