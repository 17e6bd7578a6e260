// Context: the settings, the broker and the counters that the routes of the API use.
#pragma once

#include "auth/password_rules.h"
#include "auth/sasl.h"
#include "base/time.h"
#include "base/version.h"
#include "engine/view/query.h"
#include "http/api/deed.h"
#include "http/api/login.h"
#include "http/api/object_lists.h"
#include "http/api/router.h"
#include "protocol/session_info.h"
#include "runtime/broker.h"
#include "runtime/client_logins.h"
#include "runtime/connection_view.h"
#include "tls/context.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace revenant::http {

// A listener of the node, for listings.
struct ListenerView {
    std::string protocol;  // amqp, amqp/ssl, http, https, http/prometheus, https/prometheus
    std::string address;
    std::uint16_t port = 0;
    std::shared_ptr<tls::ReloadableTlsContext> tls = nullptr;  // null without TLS
};

struct ApiSettings {
    std::string node_name = "rabbit@localhost";
    std::string cluster_name = "rabbit@localhost";
    std::string product_name = "Revenant";
    std::string product_version{revenant_version};
    std::string rabbitmq_version = "4.3.0";  // the compatible release
    std::string data_dir;
    std::vector<std::string> loopback_users = {"guest"};
    std::shared_ptr<runtime::LoginThrottle> login_throttle;  // null: no address is throttled
    // Logins over AMQP.
    std::shared_ptr<runtime::ClientLogins> client_logins =
        std::make_shared<runtime::ClientLogins>();
    std::uint32_t frame_max = 131072;
    std::uint16_t channel_max = 2047;
    std::string compat = "4.3";  // for virtual hosts without their own
    std::uint64_t max_message_bytes = 16777216;
    std::optional<std::uint64_t> connections_max;  // AMQP connections
    std::string default_queue_type = "classic";    // for virtual hosts without their own
    Timestamp started_at;
    std::vector<ListenerView> listeners;
    // Origins whose pages may send requests; `*` matches all.
    std::vector<std::string> cors_allow_origins;
    std::int64_t cors_max_age_seconds = 1800;
    // How long a page keeps an unused login; absent: the page decides.
    std::optional<std::int64_t> login_session_minutes;
    PasswordRules passwords;
    bool disable_stats = false;        // omit rates even if a request asks for them
    bool enable_queue_totals = false;  // with disable_stats: show queue depths
    std::string rates_mode = "basic";  // "none" disables message rates
    bool operator_policies_are_fixed = false;
    // Deprecated features that the configuration denies.
    std::set<std::string, std::less<>> denied_features;
    std::map<std::string, std::string, std::less<>> cluster_tags;
    std::map<std::string, std::string, std::less<>> node_tags;
    Duration sample_interval;  // 0: no sampling thread
    std::vector<std::string> config_files;
    std::vector<std::string> log_files = {"<stderr>"};
    std::function<std::uint64_t()> log_lines_dropped = [] { return std::uint64_t{0}; };
    std::function<void(const Deed&)> note_deed = [](const Deed&) {};
    std::vector<Mechanism> mechanisms = {Mechanism::plain, Mechanism::amqplain,
                                         Mechanism::anonymous};

    // The interface to the net module. All functions may be called from any thread.
    std::function<std::vector<runtime::ConnectionView>()> connections;
    std::function<void(const std::function<bool(const runtime::ConnectionView&)>& chosen,
                       const std::string& reason)>
        close_connections_if;
    std::function<std::vector<protocol::SessionInfo>(const std::string& connection)>
        sessions;                                              // may be empty
    std::function<runtime::NetworkTraffic()> network_traffic;  // may be empty
    // Stops or resumes accepting AMQP connections; may be empty.
    std::function<Result<void, std::string>(bool suspended)> suspend_listeners;
    std::function<bool()> listeners_are_suspended = [] { return false; };
    // The two limits may change while the node runs.
    std::function<std::uint64_t()> memory_limit_bytes = [] { return 0; };
    std::function<std::uint64_t()> disk_free_limit_bytes = [] { return 0; };
    std::function<bool()> memory_alarm;
    std::function<bool()> disk_alarm;  // may be empty
    // The effective settings by configuration key; may be empty.
    std::function<std::map<std::string, std::string>()> configuration;
};

class Samples;

// The counters of one virtual host or of all.
struct VhostCounters {
    engine::Totals totals;
    runtime::JournalView journal;
    std::uint64_t unconfirmed = 0;  // publishes whose confirms are deferred until a sync
};
struct NodeCounters {
    VhostCounters all;  // its monotonic counters include deleted virtual hosts
    std::map<std::string, VhostCounters> by_vhost;
    runtime::TurnTimes::Summary turns;  // all reactors
    std::uint64_t log_lines_dropped = 0;
};

class Context {
  public:
    Context(ApiSettings settings, runtime::Broker& broker);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    const ApiSettings& settings() const { return settings_; }
    runtime::Broker& broker() { return broker_; }
    Samples& samples() { return *samples_; }
    // Login attempts over HTTP. management 4.30
    runtime::LoginAttempts& login_attempts() { return login_attempts_; }
    LoginRules login_rules() const {
        return {settings_.loopback_users, settings_.login_throttle.get()};
    }
    // The name that was set last, or the configured one.
    std::string cluster_name();
    // Created at the first startup of the node.
    std::string cluster_id();

    NodeCounters node_counters();
    engine::Totals totals() { return node_counters().all.totals; }
    // Deletes the virtual host and retains its counters, so that no total decreases.
    Result<CatalogRecord, CatalogRefusal> delete_vhost(const std::string& name);

    // Names of the virtual hosts that the caller may see, sorted.
    std::vector<std::string> visible_vhosts(const Call& call) const;
    // Runs `work` on the engine of a virtual host; absent if the virtual host does not exist.
    template <typename Work>
    auto ask(std::string_view vhost, Work work)
        -> std::optional<std::invoke_result_t<Work&, engine::Engine&>> {
        const auto found = broker_.find_vhost(vhost);
        if (found == nullptr) return std::nullopt;
        return broker_.ask(found, std::move(work));
    }
    // Calls a function of object_lists.h; absent if the virtual host does not exist.
    template <typename Listing, typename... Filter>
    auto list(std::string_view vhost, Listing listing, const Filter&... filter) -> std::optional<
        std::invoke_result_t<Listing&, runtime::Broker&, const VhostRef&, const Filter&...>> {
        const auto found = broker_.find_vhost(vhost);
        if (found == nullptr) return std::nullopt;
        return listing(broker_, found, filter...);
    }

  private:
    std::string global_text(std::string_view parameter, const std::string& otherwise);

    ApiSettings settings_;
    runtime::Broker& broker_;
    std::unique_ptr<Samples> samples_;
    runtime::LoginAttempts login_attempts_;
    std::mutex mutex_;  // guards retired_; a deletion is atomic with respect to node_counters()
    VhostCounters retired_;
};

struct LoginsOfProtocol {
    std::string_view protocol;
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
};
// Protocols with login attempts; HTTP is always included.
std::vector<LoginsOfProtocol> logins_by_protocol(Context& context);

}  // namespace revenant::http
