#include "runtime/broker.h"

#include "base/check.h"
#include "runtime/engine_call.h"
#include "runtime/system_clock.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace revenant::runtime {
namespace {

constexpr unsigned reactors_max = 64;
// A home reactor busier than this gives new connections to a reactor that is less busy by the
// margin.
constexpr unsigned busy_home_percent = 70;
constexpr unsigned busy_margin_percent = 20;
constexpr std::chrono::seconds vhost_close_timeout{60};

}  // namespace

Broker::Broker(BrokerSettings settings) : settings_(std::move(settings)) {
    if (settings_.vhosts_max) catalog_.limit_vhosts(*settings_.vhosts_max);
    catalog_.limit_new_vhosts(settings_.new_vhost_limits);
    catalog_.give_new_vhosts(settings_.new_vhost_users);
    const unsigned count = std::clamp(settings_.reactors, 1U, reactors_max);
    std::vector<Reactor*> all;
    for (unsigned i = 0; i < count; ++i) {
        reactors_.push_back(std::make_unique<Reactor>(static_cast<std::uint8_t>(i)));
        all.push_back(reactors_.back().get());
    }
    for (auto& reactor : reactors_) reactor->set_peers(all);
    access_ = catalog_.snapshot();
}

Broker::~Broker() { stop(); }

Result<bool, std::string> Broker::open() {
    if (settings_.disk == nullptr) return false;
    const std::lock_guard changing(change_mutex_);
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
    REVENANT_TRY_VOID(look_for_lost_vhosts());
    const auto table = catalog_.snapshot();
    for (const auto& [name, rules] : table->rules().vhosts) {
        REVENANT_TRY(const auto vhost, open_vhost(rules));
        vhost->home().post([vhost](Reactor& reactor) { reactor.adopt_vhost(vhost); });
        set_compatibility(vhost, rules.compat);
        const std::lock_guard lock(mutex_);
        vhosts_.emplace(name, vhost);
    }
    for (auto& reactor : reactors_) reactor->set_access(table);
    const std::lock_guard lock(mutex_);
    access_ = table;
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
    removals_->stop();
}

// If this does not finish in time, nothing is lost; the next startup has more to replay.
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
    for (auto& closed : closing) closed.wait_for(vhost_close_timeout);
    const std::lock_guard changing(change_mutex_);
    catalog_store_->close(catalog_.rules());
}

void Broker::fail_fatally(const std::string& text) {
    if (settings_.fatal) settings_.fatal(text);
    CHECK(false);  // not reached: the process has ended
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

// ------------------------------------------------------------------------- catalog

// The catalog may have lost a virtual host. Its messages are not removed in that case.
Result<void, std::string> Broker::look_for_lost_vhosts() {
    REVENANT_TRY(const auto found, directories_->remove_deleted(catalog_.rules().vhosts));
    catalog_.reserve_vhost_ids(found.last_id);
    for (const VhostDirectories::Stray& stray : found.strays) {
        if (!settings_.adopt_vhosts || !stray.vhost) {
            return Unexpected{
                "directory " + stray.directory +
                " belongs to a virtual host that is not in the catalog; the catalog may have been "
                "lost; see docs/formats/journal.md for recovery"};
        }
        const bool is_new =
            lost_vhosts_.emplace(*stray.vhost, FoundDirectory{stray.id, stray.id == 0}).second;
        if (is_new && !catalog_.rules().vhosts.contains(*stray.vhost)) continue;
        return Unexpected{
            "directory " + stray.directory + " belongs to the virtual host '" + *stray.vhost +
            "', which has another directory; see docs/formats/journal.md for recovery"};
    }
    return {};
}

Result<void, std::string> Broker::adopt_vhosts() {
    std::vector<std::string> names;
    {
        const std::lock_guard changing(change_mutex_);
        for (const auto& [name, directory] : lost_vhosts_) names.push_back(name);
    }
    for (const std::string& name : names) {
        const auto changed = change(PutVhost{.name = name});
        if (!changed) return Unexpected{changed.error().text};
    }
    return {};
}

// Recreating a vhost that the catalog has lost attaches the directory that was found.
CatalogCommand Broker::with_lost_directory(const CatalogCommand& command) const {
    const auto* const wished = std::get_if<PutVhost>(&command);
    if (wished == nullptr) return command;
    const auto found = lost_vhosts_.find(wished->name);
    if (found == lost_vhosts_.end()) return command;
    PutVhost completed = *wished;
    completed.directory = found->second;
    return completed;
}

Result<CatalogRecord, CatalogRefusal> Broker::change(const CatalogCommand& command) {
    std::vector<std::shared_ptr<Vhost>> created;
    auto record = change_catalog(command, created);
    for (const auto& vhost : created) set_default_policies(vhost);
    return record;
}

Result<CatalogRecord, CatalogRefusal> Broker::change_catalog(
    const CatalogCommand& command, std::vector<std::shared_ptr<Vhost>>& created) {
    const std::lock_guard changing(change_mutex_);
    if (catalog_store_ && !catalog_store_->has_room()) {
        return Unexpected{CatalogRefusal{CatalogRefusal::Kind::disk_is_full, "the disk is full"}};
    }
    // Changes a copy, because the disk may be too full for the change.
    Catalog changed = catalog_;
    REVENANT_TRY(const CatalogRecord record, changed.handle(with_lost_directory(command)));
    if (record.empty()) return record;
    REVENANT_TRY(const VhostChanges changes, prepare(record, changed.rules()));
    if (catalog_store_) {
        const auto kept = catalog_store_->append(record, changed.rules());
        if (!kept) fail_fatally(kept.error());
    }
    catalog_ = std::move(changed);
    for (const auto& vhost : changes.made) {
        // A recovered vhost keeps its own policies.
        if (!lost_vhosts_.contains(vhost->name())) created.push_back(vhost);
    }
    announce(record, changes);
    return record;
}

// Runs every step that may be refused, before the change is written.
Result<Broker::VhostChanges, CatalogRefusal> Broker::prepare(const CatalogRecord& record,
                                                             const AccessRules& rules) {
    VhostChanges changes;
    for (const CatalogEvent& event : record) {
        if (const auto* const added = std::get_if<VhostAdded>(&event)) {
            REVENANT_TRY(auto vhost, make_vhost(rules.vhosts.at(added->vhost.name)));
            changes.made.push_back(std::move(vhost));
        } else if (const auto* const deleted = std::get_if<VhostDeleted>(&event)) {
            changes.deleted.push_back(deleted->name);
            if (!directories_) continue;
            const revenant::Vhost& gone = catalog_.rules().vhosts.at(deleted->name);
            const auto marked = directories_->mark_deleted(gone);
            if (marked) continue;
            if (!marked.error().disk_full) fail_fatally(marked.error().text);
            static_cast<void>(directories_->keep(gone).has_value());
            return Unexpected{
                CatalogRefusal{CatalogRefusal::Kind::disk_is_full, "the disk is full"}};
        }
    }
    return changes;
}

Result<std::shared_ptr<Vhost>, CatalogRefusal> Broker::make_vhost(const revenant::Vhost& rules) {
    const bool is_found = lost_vhosts_.contains(rules.name);
    journal::IoError error;
    if (directories_ && !is_found) {
        if (auto made = directories_->make(rules); !made) error = std::move(made).error();
    }
    if (error.text.empty()) {
        auto vhost = open_vhost(rules);
        if (vhost) return std::move(vhost).value();
        error.text = std::move(vhost).error();
        error.disk_full = !is_found && !catalog_store_->has_room();
    }
    if (!error.disk_full) fail_fatally(error.text);
    // The id was not published, but parts of its directory may remain until the next startup.
    catalog_.reserve_vhost_ids(rules.id);
    static_cast<void>(
        remove_vhost_directory(*settings_.disk, directories_->path_of(rules)).has_value());
    return Unexpected{CatalogRefusal{CatalogRefusal::Kind::disk_is_full, "the disk is full"}};
}

// The change is durable; publishes it to all readers.
void Broker::announce(const CatalogRecord& record, const VhostChanges& changes) {
    const auto table = catalog_.snapshot();
    for (const auto& vhost : changes.made) {
        lost_vhosts_.erase(vhost->name());
        if (!directories_) continue;
        const auto kept = directories_->keep(table->rules().vhosts.at(vhost->name()));
        if (!kept) fail_fatally(kept.error().text);
    }
    std::vector<std::shared_ptr<Vhost>> deleted;
    {
        const std::lock_guard lock(mutex_);
        access_ = table;
        for (const std::string& name : changes.deleted) {
            const auto found = vhosts_.find(name);
            found->second->set_deleted();
            deleted.push_back(std::move(found->second));
            vhosts_.erase(found);
        }
        for (const auto& vhost : changes.made) vhosts_.emplace(vhost->name(), vhost);
    }
    for (const auto& vhost : changes.made) {
        vhost->home().post([vhost](Reactor& reactor) { reactor.adopt_vhost(vhost); });
    }
    for (const CatalogEvent& event : record) {
        const auto* const added = std::get_if<VhostAdded>(&event);
        const auto* const changed = std::get_if<VhostChanged>(&event);
        if (added == nullptr && changed == nullptr) continue;
        const revenant::Vhost& rules = added != nullptr ? added->vhost : changed->vhost;
        set_compatibility(find_vhost(rules.name), rules.compat);
    }
    for (const auto& vhost : deleted) drop_vhost(vhost);
    for (auto& reactor : reactors_) {
        reactor->post([table](Reactor& there) { there.set_access(table); });
    }
}

// ------------------------------------------------------------------------- vhosts

void Broker::set_default_policies(const std::shared_ptr<Vhost>& vhost) {
    std::vector<engine::Command> commands;
    std::vector<std::string> names;
    for (const NewVhostPolicy& rule : settings_.new_vhost_policies) {
        if (rule.pattern && !rule.pattern->matches(vhost->name())) continue;
        commands.emplace_back(
            engine::SetPolicy{{}, engine::PolicyScope::operator_only, rule.policy});
        names.push_back(rule.policy.name);
    }
    if (commands.empty()) return;
    const auto answers = execute_all(vhost, "rmq-internal", std::move(commands));
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i] || !settings_.notice) continue;
        settings_.notice({engine::Notice::Level::warning,
                          "default operator policy '" + names[i] + "' not set in vhost '" +
                              vhost->name() + "': " + answers[i].error().text});
    }
}

Result<std::unique_ptr<VhostStore>, std::string> Broker::open_store(const revenant::Vhost& rules,
                                                                    Reactor& home) {
    if (settings_.disk == nullptr) return std::unique_ptr<VhostStore>{};
    StoreSettings store = settings_.store;
    store.journal.now = &system_now;
    return VhostStore::open(*settings_.disk, std::make_unique<ReactorWorker>(*committer_, home),
                            directories_->path_of(rules), store,
                            [this](const std::string& text) { fail_fatally(text); });
}

Result<std::shared_ptr<Vhost>, std::string> Broker::open_vhost(const revenant::Vhost& rules) {
    Reactor& home = *reactors_[next_home_++ % reactors_.size()];
    REVENANT_TRY(auto store, open_store(rules, home));
    engine::EngineSettings settings{
        .vhost = rules.name,
        .relaxed_checks_on_redeclaration = settings_.quorum_relaxed_checks_on_redeclaration,
        .consumer_timeout_ms = settings_.consumer_timeout_ms,
        .formats = settings_.formats,
        .memory_budget_bytes = settings_.memory_budget_bytes,
        .permits_transient_queues = settings_.permits_transient_queues,
        .node_limits = settings_.limits};
    // The last reference to a deleted vhost may be released by a connection, on any thread.
    const auto free = [removals = removals_, disk = settings_.disk,
                       directory = directories_ ? directories_->path_of(rules)
                                                : std::string()](Vhost* vhost) {
        if (!vhost->is_deleted()) {
            delete vhost;
            return;
        }
        removals->run([vhost, disk, directory] {
            delete vhost;
            // If this fails, the next startup removes the rest.
            if (disk == nullptr) return;
            static_cast<void>(remove_vhost_directory(*disk, directory).has_value());
        });
    };
    std::shared_ptr<Vhost> vhost(
        new Vhost(std::move(settings), home, settings_.notice, std::move(store), node_counts_),
        free);
    if (auto recovered = vhost->recover(system_now()); !recovered) {
        return Unexpected{"vhost '" + rules.name + "': " + recovered.error()};
    }
    journal::Journal::Listener listener;
    listener.failed = [this](const std::string& text) { fail_fatally(text); };
    // The listener may access the disk, which a reactor must not.
    if (settings_.disk_full) {
        listener.disk_full = [this, &home](bool full) {
            committer_->run(
                home, [this, full] { settings_.disk_full(full); }, [] {});
        };
    }
    vhost->listen(std::move(listener));
    return vhost;
}

void Broker::drop_vhost(const std::shared_ptr<Vhost>& vhost) {
    vhost->home().post([this, vhost](Reactor& reactor) {
        reactor.drop_vhost(*vhost);
        vhost->retire();
        // Holds the vhost until the committer has finished the work of its journal, even if the
        // last connection ends earlier.
        if (committer_)
            committer_->run(
                reactor, [] {}, [vhost] {});
    });
}

// The engine ignores the command if nothing changes.
void Broker::set_compatibility(const std::shared_ptr<Vhost>& vhost, std::string_view wished) {
    const engine::Compatibility compatibility =
        engine::parse_compatibility(wished).value_or(settings_.compatibility);
    vhost->home().post([vhost, compatibility](Reactor& reactor) {
        vhost->engine().handle(engine::SetCompatibility{compatibility}, reactor.now());
    });
}

std::shared_ptr<const AccessTable> Broker::access() {
    const std::lock_guard lock(mutex_);
    return access_;
}

// ------------------------------------------------------------------------- connections

Reactor& Broker::place(Vhost& vhost) {
    if (reactors_.size() == 1 || settings_.placement == ConnectionPlacement::home)
        return vhost.home();
    if (settings_.placement == ConnectionPlacement::spread) {
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
    const auto& table = access_;
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

void Broker::release_connection(std::string_view vhost, std::string_view user) {
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

void Broker::release_channels(std::string_view user, std::uint64_t count) {
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
