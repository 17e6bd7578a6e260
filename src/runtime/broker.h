// Broker: the reactors, their virtual hosts, and the catalog of users and permissions. The network,
// HTTP and node modules share it. All functions may be called from any thread. Functions that may
// wait for the disk say so; reactors must not call them.
#pragma once

#include "auth/access.h"
#include "base/result.h"
#include "catalog/catalog.h"
#include "journal/disk.h"
#include "runtime/catalog_store.h"
#include "runtime/committer.h"
#include "runtime/reactor.h"
#include "runtime/removals.h"
#include "runtime/vhost.h"
#include "runtime/vhost_directories.h"

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace revenant::runtime {

// The reactor that serves a connection once its vhost is known.
enum class ConnectionPlacement : std::uint8_t {
    automatic,  // on the vhost's home reactor, unless it is busy and another is not
    home,       // always on the vhost's home reactor
    spread,     // on all reactors, round-robin
};

// An operator policy that is set in new virtual hosts with a matching name.
struct NewVhostPolicy {
    std::shared_ptr<const Pattern> pattern;  // absent: every name
    engine::Policy policy;
};

struct BrokerSettings {
    unsigned reactors = 1;
    ConnectionPlacement placement = ConnectionPlacement::automatic;
    std::optional<std::uint64_t> connections_max;
    std::optional<std::uint64_t> vhosts_max;
    std::optional<std::uint64_t> channels_max;  // over all connections
    engine::NodeLimits limits;
    std::vector<NewVhostLimits> new_vhost_limits;
    std::vector<NewVhostUser> new_vhost_users;
    std::vector<NewVhostPolicy> new_vhost_policies;
    std::string node_name = "rabbit@localhost";
    // For virtual hosts that do not set one.
    engine::Compatibility compatibility = engine::Compatibility::v4_3;
    bool quorum_relaxed_checks_on_redeclaration = false;  // DL-46
    std::int64_t consumer_timeout_ms = 1'800'000;         // amqp091 11.17; 0: no timeout
    bool permits_transient_queues = true;                 // amqp091 8.7
    Vhost::NoticeSink notice;                             // called from any thread

    // The storage of all durable state. Without a disk, all state ends with the process.
    journal::Disk* disk = nullptr;
    std::string data_dir;
    bool adopt_vhosts =
        false;  // recreate vhosts missing from the catalog instead of failing at startup
    StoreSettings store;
    engine::MessageFormats formats;
    std::uint64_t memory_budget_bytes = 8 * 1024 * 1024;  // for messages, per virtual host
    std::function<void(bool)> disk_full;                  // never called on a reactor's thread
    // Called from any thread when the disk fails. Must end the process.
    std::function<void(const std::string&)> fatal;
};

class Broker {
  public:
    explicit Broker(BrokerSettings settings);
    ~Broker();
    Broker(const Broker&) = delete;
    Broker& operator=(const Broker&) = delete;

    // Locks the data directory and recovers its contents. Returns true if it contained a broker's
    // data.
    Result<bool, std::string> open();
    void start();
    // Recreates virtual hosts from directories that are not in the catalog, if the settings allow
    // it.
    Result<void, std::string> adopt_vhosts();
    // Writes snapshots for a fast restart.
    void stop();

    std::size_t reactor_count() const { return reactors_.size(); }
    Reactor& reactor(std::size_t index) { return *reactors_[index]; }
    // Selects the reactor that serves a connection to this vhost.
    Reactor& place(Vhost& vhost);

    std::shared_ptr<Vhost> find_vhost(std::string_view name);
    std::vector<std::shared_ptr<Vhost>> vhosts();

    // Changes the catalog, creates and deletes vhosts accordingly and updates every reactor. Waits
    // for the disk.
    Result<CatalogRecord, CatalogRefusal> change(const CatalogCommand& command);
    std::shared_ptr<const AccessTable> access();

    // Counts the connection, or returns the reason why it is refused (amqp091 3.7).
    std::optional<std::string> admit(std::string_view vhost, std::string_view user);
    void release_connection(std::string_view vhost, std::string_view user);
    std::size_t connection_count();
    // Counts the channel, or returns the reason why it is refused (amqp091 5.2).
    std::optional<std::string> admit_channel(std::string_view user, Limit user_limit);
    void release_channels(std::string_view user, std::uint64_t count);

    // Runs work(engine) on the vhost's home reactor and waits for the result. Not for reactors.
    template <typename Work>
    auto ask(const std::shared_ptr<Vhost>& vhost, Work work) {
        return ask(vhost->home(), [vhost, work = std::move(work)](Reactor&) mutable {
            return work(vhost->engine());
        });
    }
    // Runs work(reactor) on that reactor's thread and waits for the result. Not for reactors.
    template <typename Work>
    auto ask(Reactor& reactor, Work work) {
        using Answer = std::invoke_result_t<Work&, Reactor&>;
        const auto promise = std::make_shared<std::promise<Answer>>();
        auto answer = promise->get_future();
        reactor.post([promise, work = std::move(work)](Reactor& there) mutable {
            if constexpr (std::is_void_v<Answer>) {
                work(there);
                promise->set_value();
            } else {
                promise->set_value(work(there));
            }
        });
        return answer.get();
    }

  private:
    Result<std::shared_ptr<Vhost>, std::string> open_vhost(const revenant::Vhost& rules);
    Result<std::unique_ptr<VhostStore>, std::string> open_store(const revenant::Vhost& rules,
                                                                Reactor& home);
    Result<void, std::string> look_for_lost_vhosts();
    // Vhosts that a catalog change creates and deletes.
    struct VhostChanges {
        std::vector<std::shared_ptr<Vhost>> made;
        std::vector<std::string> deleted;
    };
    // Adds the new vhosts to `created`.
    Result<CatalogRecord, CatalogRefusal> change_catalog(
        const CatalogCommand& command, std::vector<std::shared_ptr<Vhost>>& created);
    void set_default_policies(const std::shared_ptr<Vhost>& vhost);
    CatalogCommand with_lost_directory(const CatalogCommand& command) const;
    Result<VhostChanges, CatalogRefusal> prepare(const CatalogRecord& record,
                                                 const AccessRules& rules);
    Result<std::shared_ptr<Vhost>, CatalogRefusal> make_vhost(const revenant::Vhost& rules);
    void announce(const CatalogRecord& record, const VhostChanges& changes);
    void close_vhosts();
    void fail_fatally(const std::string& text);
    void drop_vhost(const std::shared_ptr<Vhost>& vhost);
    void set_compatibility(const std::shared_ptr<Vhost>& vhost, std::string_view wished);

    const BrokerSettings settings_;
    std::unique_ptr<journal::DirectoryLock> lock_;
    std::unique_ptr<Committer> committer_;
    const std::shared_ptr<Removals> removals_ = std::make_shared<Removals>();
    const std::shared_ptr<NodeObjectCounts> node_counts_ = std::make_shared<NodeObjectCounts>();
    std::vector<std::unique_ptr<Reactor>> reactors_;
    std::mutex channels_mutex_;  // guards the two members below; held briefly
    std::map<std::string, std::uint64_t, std::less<>> channels_by_user_;
    std::uint64_t channels_ = 0;

    // Serializes catalog changes. Held during disk writes, so reactors must not lock it.
    std::mutex change_mutex_;  // guards the five members below
    Catalog catalog_;
    std::unique_ptr<CatalogStore> catalog_store_;
    std::unique_ptr<VhostDirectories> directories_;
    // Vhosts missing from the catalog, by name, until they are recreated.
    std::map<std::string, FoundDirectory, std::less<>> lost_vhosts_;
    std::size_t next_home_ = 0;

    std::mutex mutex_;  // guards all members below; held briefly, never during disk access
    std::shared_ptr<const AccessTable> access_;
    std::map<std::string, std::shared_ptr<Vhost>, std::less<>> vhosts_;
    std::map<std::string, std::uint64_t, std::less<>> connections_by_vhost_;
    std::map<std::string, std::uint64_t, std::less<>> connections_by_user_;
    std::uint64_t connections_ = 0;
    std::size_t next_place_ = 0;
    bool running_ = false;
};

}  // namespace revenant::runtime
