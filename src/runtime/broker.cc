#include "runtime/broker.h"

#include "base/check.h"
#include "runtime/system_clock.h"

#include <algorithm>
#include <chrono>
#include <set>

namespace revenant::runtime {
namespace {

constexpr unsigned reactors_max = 64;
// A home busier than this sends new connections to a reactor that is idler by the margin.
constexpr unsigned busy_home_percent = 70;
constexpr unsigned busy_margin_percent = 20;
constexpr std::chrono::seconds close_patience{60};

}  // namespace

Broker::Broker(BrokerSettings settings) : settings_(std::move(settings)) {
    if (settings_.vhosts_max) catalog_.limit_vhosts(*settings_.vhosts_max);
    catalog_.limit_new_vhosts(settings_.new_vhost_limits);
    const unsigned count = std::clamp(settings_.reactors, 1U, reactors_max);
    std::vector<Reactor*> all;
    for (unsigned i = 0; i < count; ++i) {
        reactors_.push_back(std::make_unique<Reactor>(static_cast<std::uint8_t>(i)));
        all.push_back(reactors_.back().get());
    }
    for (auto& reactor : reactors_) reactor->meet(all);
}

Broker::~Broker() { stop(); }

Result<bool, std::string> Broker::open() {
    if (settings_.disk == nullptr) return false;
    const std::lock_guard lock(mutex_);
    journal::Disk& disk = *settings_.disk;
    if (auto made = disk.make_directory(settings_.data_dir); !made) {
        return Unexpected{std::move(made).error().text};
    }
    auto held = disk.lock(settings_.data_dir);
    if (!held) return Unexpected{std::move(held).error().text};
    lock_ = std::move(held).value();
    committer_ = std::make_unique<Committer>();
    REVENANT_TRY(catalog_store_, CatalogStore::open(disk, settings_.data_dir + "/catalog"));
    REVENANT_TRY(const bool found, catalog_store_->load(catalog_));
    directories_ = std::make_unique<VhostDirectories>(disk, settings_.data_dir + "/vhosts");
    REVENANT_TRY_VOID(look_for_strange_directories());
    for (const auto& [name, vhost] : catalog_.rules().vhosts) {
        REVENANT_TRY_VOID(add_vhost(name));
        set_compatibility(name, vhost.compat);
    }
    const auto table = catalog_.snapshot();
    for (auto& reactor : reactors_) reactor->set_access(table);
    return found;
}

void Broker::start() {
    const std::lock_guard lock(mutex_);
    CHECK(!running_);
    running_ = true;
    for (auto& reactor : reactors_) reactor->start();
}

void Broker::stop() {
    close_vhosts();
    for (auto& reactor : reactors_) reactor->stop();
    for (auto& reactor : reactors_) reactor->join();
    if (committer_) committer_->stop();
}

// Nothing is lost if it cannot be done in time: the next start has more to replay.
void Broker::close_vhosts() {
    {
        const std::lock_guard lock(mutex_);
        if (!running_ || settings_.disk == nullptr) return;
        running_ = false;
    }
    std::vector<std::future<void>> closing;
    for (const auto& vhost : vhosts()) {
        const auto closed = std::make_shared<std::promise<void>>();
        closing.push_back(closed->get_future());
        vhost->home().post(
            [vhost, closed](Reactor&) { vhost->close([closed] { closed->set_value(); }); });
    }
    for (auto& closed : closing) closed.wait_for(close_patience);
    const std::lock_guard lock(mutex_);
    catalog_store_->close(catalog_.rules());
}

void Broker::die(const std::string& text) {
    if (settings_.fatal) settings_.fatal(text);
    CHECK(false);  // never reached: the process has ended
}

std::shared_ptr<Vhost> Broker::find_vhost(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto found = vhosts_.find(name);
    return found == vhosts_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Vhost>> Broker::vhosts() {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Vhost>> all;
    for (const auto& [name, vhost] : vhosts_) all.push_back(vhost);
    return all;
}

// The catalog may have lost a virtual host; its messages are not thrown away for that.
Result<void, std::string> Broker::look_for_strange_directories() {
    std::set<std::string> vhosts;
    for (const auto& [name, vhost] : catalog_.rules().vhosts) vhosts.insert(name);
    REVENANT_TRY(const auto strangers, directories_->tidy(vhosts));
    for (const std::string& stranger : strangers) {
        const auto vhost = vhost_named_by(stranger);
        if (settings_.adopt_vhosts && vhost) {
            adopted_.push_back(*vhost);
            continue;
        }
        return Unexpected{"directory " + settings_.data_dir + "/vhosts/" + stranger +
                          " is that of a virtual host which the catalog does not know, so the "
                          "catalog may have been lost; see docs/formats/journal.md for ways out"};
    }
    return {};
}

Result<void, std::string> Broker::adopt_vhosts() {
    for (const std::string& vhost : std::exchange(adopted_, {})) {
        const auto changed = change(PutVhost{.name = vhost});
        if (!changed) return Unexpected{changed.error().text};
    }
    return {};
}

Result<std::unique_ptr<VhostStore>, std::string> Broker::open_store(const std::string& vhost,
                                                                    Reactor& home) {
    if (settings_.disk == nullptr) return std::unique_ptr<VhostStore>{};
    StoreSettings store = settings_.store;
    store.journal.now = &system_now;
    return VhostStore::open(*settings_.disk, std::make_unique<ReactorWorker>(*committer_, home),
                            directories_->path_of(vhost), store,
                            [this](const std::string& text) { die(text); });
}

Result<void, std::string> Broker::add_vhost(const std::string& name) {
    if (vhosts_.contains(name)) return {};
    Reactor& home = *reactors_[next_home_++ % reactors_.size()];
    REVENANT_TRY(auto store, open_store(name, home));
    engine::EngineSettings settings{
        .vhost = name,
        .relaxed_checks_on_redeclaration = settings_.quorum_relaxed_checks_on_redeclaration,
        .consumer_timeout_ms = settings_.consumer_timeout_ms,
        .formats = settings_.formats,
        .memory_budget_bytes = settings_.memory_budget_bytes,
        .permits_transient_queues = settings_.permits_transient_queues,
        .node_limits = settings_.limits};
    auto vhost = std::make_shared<Vhost>(std::move(settings), home, settings_.notice,
                                         std::move(store), census_);
    if (auto recovered = vhost->recover(system_now()); !recovered) {
        return Unexpected{"vhost '" + name + "': " + recovered.error()};
    }
    vhost->listen({.durable = {},
                   .failed = [this](const std::string& text) { die(text); },
                   .disk_full = settings_.disk_full});
    vhosts_.emplace(name, vhost);
    home.post([vhost](Reactor& reactor) { reactor.adopt_vhost(vhost); });
    return {};
}

void Broker::drop_vhost(const std::string& name) {
    const auto found = vhosts_.find(name);
    if (found == vhosts_.end()) return;
    const auto vhost = found->second;
    vhosts_.erase(found);
    if (settings_.disk != nullptr) {
        const std::lock_guard lock(removing_mutex_);
        removing_.insert(name);
    }
    vhost->home().post([this, vhost, name](Reactor& reactor) {
        reactor.drop_vhost(*vhost);
        if (settings_.disk == nullptr) return;
        const std::string directory = directories_->path_of(name);
        vhost->listen({});
        // What is left if this fails goes with the next start.
        committer_->run(
            reactor,
            [this, directory, name] {
                static_cast<void>(settings_.disk->remove_directory(directory).has_value());
                const std::lock_guard lock(removing_mutex_);
                removing_.erase(removing_.find(name));
                removed_.notify_all();
            },
            [] {});
    });
}

void Broker::await_removal(const std::string& vhost) {
    std::unique_lock lock(removing_mutex_);
    removed_.wait_for(lock, close_patience, [&] { return !removing_.contains(vhost); });
}

// Told after every change of the catalog; the engine knows whether that is news.
void Broker::set_compatibility(const std::string& name, std::string_view wished) {
    const engine::Compatibility compatibility =
        engine::parse_compatibility(wished).value_or(settings_.compatibility);
    const auto vhost = vhosts_.at(name);
    vhost->home().post([vhost, compatibility](Reactor& reactor) {
        vhost->engine().handle(engine::SetCompatibility{compatibility}, reactor.now());
    });
}

Result<CatalogRecord, CatalogRefusal> Broker::change(const CatalogCommand& command) {
    if (const auto* const wished = std::get_if<PutVhost>(&command)) await_removal(wished->name);
    const std::lock_guard lock(mutex_);
    if (catalog_store_ && !catalog_store_->has_room()) {
        return Unexpected{CatalogRefusal{CatalogRefusal::Kind::disk_is_full, "the disk is full"}};
    }
    REVENANT_TRY(const CatalogRecord record, catalog_.handle(command));
    if (catalog_store_) {
        const auto* const deletion = std::get_if<DeleteVhost>(&command);
        if (deletion != nullptr) {
            const auto marked = directories_->mark_deleted(deletion->name);
            if (!marked) die(marked.error());
        }
        const auto kept = catalog_store_->append(record, catalog_.rules());
        if (!kept) die(kept.error());
    }
    const auto table = catalog_.snapshot();
    for (const auto& [name, vhost] : table->rules().vhosts) {
        if (const auto added = add_vhost(name); !added) die(added.error());
        set_compatibility(name, vhost.compat);
    }
    std::vector<std::string> gone;
    for (const auto& [name, vhost] : vhosts_) {
        if (table->find_vhost(name) == nullptr) gone.push_back(name);
    }
    for (const std::string& name : gone) drop_vhost(name);
    for (auto& reactor : reactors_) {
        reactor->post([table](Reactor& there) { there.set_access(table); });
    }
    return record;
}

std::shared_ptr<const AccessTable> Broker::access() {
    const std::lock_guard lock(mutex_);
    return catalog_.snapshot();
}

Reactor& Broker::place(Vhost& vhost) {
    if (reactors_.size() == 1 || settings_.placement == Placement::home) return vhost.home();
    if (settings_.placement == Placement::spread) {
        const std::lock_guard lock(mutex_);
        return *reactors_[next_place_++ % reactors_.size()];
    }
    const unsigned home_busy = vhost.home().busy_percent();
    if (home_busy < busy_home_percent) return vhost.home();
    const auto idlest = std::min_element(
        reactors_.begin(), reactors_.end(),
        [](const auto& a, const auto& b) { return a->busy_percent() < b->busy_percent(); });
    return (*idlest)->busy_percent() + busy_margin_percent < home_busy ? **idlest : vhost.home();
}

std::optional<std::string> Broker::admit(std::string_view vhost, std::string_view user) {
    const std::lock_guard lock(mutex_);
    const auto table = catalog_.snapshot();
    if (settings_.connections_max && connections_ >= *settings_.connections_max) {
        return "connection refused: node connection limit (" +
               std::to_string(*settings_.connections_max) + ") is reached";
    }
    auto& in_vhost = connections_by_vhost_[std::string(vhost)];
    auto& of_user = connections_by_user_[std::string(user)];
    if (const auto* rule = table->find_vhost(vhost);
        rule != nullptr && limit_reached(rule->limits.max_connections, in_vhost)) {
        return "access to vhost '" + std::string(vhost) + "' refused for user '" +
               std::string(user) + "': connection limit (" +
               std::to_string(*rule->limits.max_connections) + ") is reached";
    }
    if (const auto* rule = table->find_user(user);
        rule != nullptr && limit_reached(rule->limits.max_connections, of_user)) {
        return "connection refused for user '" + std::string(user) + "': user connection limit (" +
               std::to_string(*rule->limits.max_connections) + ") is reached";
    }
    in_vhost += 1;
    of_user += 1;
    connections_ += 1;
    return std::nullopt;
}

void Broker::leave(std::string_view vhost, std::string_view user) {
    const std::lock_guard lock(mutex_);
    connections_ -= 1;
    const auto decrease = [](auto& counts, std::string_view name) {
        const auto found = counts.find(name);
        CHECK(found != counts.end() && found->second > 0);
        if (--found->second == 0) counts.erase(found);
    };
    decrease(connections_by_vhost_, vhost);
    decrease(connections_by_user_, user);
}

std::optional<std::string> Broker::admit_channel(std::string_view user, Limit user_limit) {
    const std::lock_guard lock(channels_mutex_);
    if (settings_.channels_max && channels_ >= *settings_.channels_max) {
        return "number of channels opened on node '" + settings_.node_name +
               "' has reached the maximum allowed limit of (" +
               std::to_string(*settings_.channels_max) + ")";
    }
    const auto found = channels_by_user_.find(user);
    if (limit_reached(user_limit, found == channels_by_user_.end() ? 0 : found->second)) {
        return "number of channels opened for user '" + std::string(user) +
               "' has reached the maximum allowed user limit of " + std::to_string(*user_limit);
    }
    channels_ += 1;
    if (found == channels_by_user_.end()) {
        channels_by_user_.emplace(user, 1);
    } else {
        found->second += 1;
    }
    return std::nullopt;
}

void Broker::leave_channels(std::string_view user, std::uint64_t count) {
    if (count == 0) return;
    const std::lock_guard lock(channels_mutex_);
    const auto found = channels_by_user_.find(user);
    CHECK(found != channels_by_user_.end() && found->second >= count && channels_ >= count);
    channels_ -= count;
    found->second -= count;
    if (found->second == 0) channels_by_user_.erase(found);
}

std::size_t Broker::connection_count() {
    const std::lock_guard lock(mutex_);
    return connections_;
}

}  // namespace revenant::runtime
