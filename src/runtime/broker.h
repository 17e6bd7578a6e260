// Broker: the reactors, the virtual hosts on them, and the catalog of users and permissions. What
// the network, HTTP and the node share. Its functions may be called from any thread.
#pragma once

#include "auth/access.h"
#include "base/result.h"
#include "catalog/catalog.h"
#include "journal/disk.h"
#include "runtime/catalog_store.h"
#include "runtime/committer.h"
#include "runtime/reactor.h"
#include "runtime/vhost.h"
#include "runtime/vhost_directories.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <future>
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

namespace revenant::runtime {

// Where a connection is served once its vhost is known.
enum class Placement : std::uint8_t {
    automatic,  // at the vhost's home, unless that reactor is busy and another is not
    home,       // always at the vhost's home
    spread,     // on all reactors in turn
};

struct BrokerSettings {
    unsigned reactors = 1;
    Placement placement = Placement::automatic;
    std::optional<std::uint64_t> connections_max;
    std::optional<std::uint64_t> vhosts_max;
    std::optional<std::uint64_t> channels_max;  // of all connections
    engine::NodeLimits limits;
    std::vector<NewVhostLimits> new_vhost_limits;
    std::string node_name = "revenant@localhost";
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
    std::function<void(bool)> disk_full;                  // from any thread
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

    // Changes the catalog, makes and deletes vhosts accordingly and tells every reactor.
    Result<CatalogRecord, CatalogRefusal> change(const CatalogCommand& command);
    std::shared_ptr<const AccessTable> access();

    // Counts a connection in, or says why it may not come in (amqp091 3.7).
    std::optional<std::string> admit(std::string_view vhost, std::string_view user);
    void leave(std::string_view vhost, std::string_view user);
    std::size_t connection_count();
    // The same for a channel of a connection (amqp091 5.2).
    std::optional<std::string> admit_channel(std::string_view user, Limit user_limit);
    void leave_channels(std::string_view user, std::uint64_t count);

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
    Result<void, std::string> add_vhost(const std::string& name);
    Result<std::unique_ptr<VhostStore>, std::string> open_store(const std::string& vhost,
                                                                Reactor& home);
    Result<void, std::string> look_for_strange_directories();
    void close_vhosts();
    void die(const std::string& text);
    void drop_vhost(const std::string& name);
    void await_removal(const std::string& vhost);
    void set_compatibility(const std::string& name, std::string_view wished);

    const BrokerSettings settings_;
    std::unique_ptr<journal::DirectoryLock> lock_;
    std::unique_ptr<CatalogStore> catalog_store_;
    std::unique_ptr<VhostDirectories> directories_;
    // Deleted virtual hosts whose directories are still there: one of the same name waits for them,
    // or it would be removed with its predecessor.
    std::mutex removing_mutex_;
    std::condition_variable removed_;
    std::multiset<std::string, std::less<>> removing_;
    std::vector<std::string> adopted_;  // virtual hosts that the catalog is to know again
    std::unique_ptr<Committer> committer_;
    const std::shared_ptr<Census> census_ = std::make_shared<Census>();
    std::vector<std::unique_ptr<Reactor>> reactors_;
    std::mutex channels_mutex_;  // guards the two below; never held for long
    std::map<std::string, std::uint64_t, std::less<>> channels_by_user_;
    std::uint64_t channels_ = 0;
    std::mutex mutex_;  // guards everything below
    Catalog catalog_;
    std::map<std::string, std::shared_ptr<Vhost>, std::less<>> vhosts_;
    std::map<std::string, std::uint64_t, std::less<>> connections_by_vhost_;
    std::map<std::string, std::uint64_t, std::less<>> connections_by_user_;
    std::uint64_t connections_ = 0;
    std::size_t next_home_ = 0;
    std::size_t next_place_ = 0;
    bool running_ = false;
};

}  // namespace revenant::runtime
