// Broker: the reactors, the virtual hosts on them, and the catalog of users and permissions. What
// the network, HTTP and the node share. Its functions may be called from any thread; those that may
// wait for the disk say so, and are not for reactors.
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

// Where a connection is served once its vhost is known.
enum class ConnectionPlacement : std::uint8_t {
    automatic,  // at the vhost's home, unless that reactor is busy and another is not
    home,       // always at the vhost's home
    spread,     // on all reactors in turn
};

// An operator policy of virtual hosts whose names match, given when they are made.
struct NewVhostPolicy {
    std::shared_ptr<const Pattern> pattern;  // absent: every name
    engine::Policy policy;
};

struct BrokerSettings {
    unsigned reactors = 1;
    ConnectionPlacement placement = ConnectionPlacement::automatic;
    std::optional<std::uint64_t> connections_max;
    std::optional<std::uint64_t> vhosts_max;
    std::optional<std::uint64_t> channels_max;  // of all connections
    engine::NodeLimits limits;
    std::vector<NewVhostLimits> new_vhost_limits;
    std::vector<NewVhostUser> new_vhost_users;
    std::vector<NewVhostPolicy> new_vhost_policies;
    std::string node_name = "rabbit@localhost";
    // Of virtual hosts that name none themselves.
    engine::Compatibility compatibility = engine::Compatibility::v4_3;
    bool quorum_relaxed_checks_on_redeclaration = false;  // DL-46
    std::int64_t consumer_timeout_ms = 1'800'000;         // amqp091 11.17; 0: any time
    bool permits_transient_queues = true;                 // amqp091 8.7
    Vhost::NoticeSink notice;  // what operators should know; from any thread

    // Where everything durable lies; without a disk all ends with the process.
    journal::Disk* disk = nullptr;
    std::string data_dir;
    bool adopt_vhosts = false;  // that the catalog has lost; otherwise the start is refused
    StoreSettings store;
    engine::MessageFormats formats;
    std::uint64_t memory_budget_bytes = 8 * 1024 * 1024;  // of messages, per virtual host
    std::function<void(bool)> disk_full;                  // never from a reactor's thread
    // The disk no longer does what it must. From any thread; must end the process.
    std::function<void(const std::string&)> fatal;
};

class Broker {
  public:
    explicit Broker(BrokerSettings settings);
    ~Broker();
    Broker(const Broker&) = delete;
    Broker& operator=(const Broker&) = delete;

    // Takes the data directory and brings back what is in it; true if it held a broker's data.
    Result<bool, std::string> open();
    void start();
    // Makes virtual hosts of the directories that the catalog does not know, if the settings say
    // so.
    Result<void, std::string> adopt_vhosts();
    // What is durable is written down for a quick start.
    void stop();

    std::size_t reactor_count() const { return reactors_.size(); }
    Reactor& reactor(std::size_t index) { return *reactors_[index]; }
    // The reactor that should serve a connection to this vhost.
    Reactor& place(Vhost& vhost);

    std::shared_ptr<Vhost> find_vhost(std::string_view name);
    std::vector<std::shared_ptr<Vhost>> vhosts();

    // Changes the catalog, makes and deletes vhosts accordingly and tells every reactor. Waits for
    // the disk.
    Result<CatalogRecord, CatalogRefusal> change(const CatalogCommand& command);
    std::shared_ptr<const AccessTable> access();

    // Counts a connection in, or says why it may not come in (amqp091 3.7).
    std::optional<std::string> admit(std::string_view vhost, std::string_view user);
    void release_connection(std::string_view vhost, std::string_view user);
    std::size_t connection_count();
    // The same for a channel of a connection (amqp091 5.2).
    std::optional<std::string> admit_channel(std::string_view user, Limit user_limit);
    void release_channels(std::string_view user, std::uint64_t count);

    // Runs work(engine) at the vhost's home and waits for what it returns. Never from a reactor.
    template <typename Work>
    auto ask(const std::shared_ptr<Vhost>& vhost, Work work) {
        return ask(vhost->home(), [vhost, work = std::move(work)](Reactor&) mutable {
            return work(vhost->engine());
        });
    }
    // Runs work(reactor) there and waits for what it returns. Never from a reactor.
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
    // What a change of the catalog does to the vhosts.
    struct VhostChanges {
        std::vector<std::shared_ptr<Vhost>> made;
        std::vector<std::string> deleted;
    };
    // Adds the vhosts that did not exist before to `created`.
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
    std::mutex channels_mutex_;  // guards the two below; never held for long
    std::map<std::string, std::uint64_t, std::less<>> channels_by_user_;
    std::uint64_t channels_ = 0;

    // One change of the catalog at a time. Held while the disk works, so no reactor may take it.
    std::mutex change_mutex_;  // guards the five below
    Catalog catalog_;
    std::unique_ptr<CatalogStore> catalog_store_;
    std::unique_ptr<VhostDirectories> directories_;
    // Vhosts that the catalog is to know again, by their names.
    std::map<std::string, FoundDirectory, std::less<>> lost_vhosts_;
    std::size_t next_home_ = 0;

    std::mutex mutex_;  // guards everything below; never held for long, and never over the disk
    std::shared_ptr<const AccessTable> access_;
    std::map<std::string, std::shared_ptr<Vhost>, std::less<>> vhosts_;
    std::map<std::string, std::uint64_t, std::less<>> connections_by_vhost_;
    std::map<std::string, std::uint64_t, std::less<>> connections_by_user_;
    std::uint64_t connections_ = 0;
    std::size_t next_place_ = 0;
    bool running_ = false;
};

}  // namespace revenant::runtime
