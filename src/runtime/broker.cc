#include "runtime/broker.h"

#include "base/check.h"

#include <algorithm>

namespace revenant::runtime {
namespace {

constexpr unsigned reactors_max = 64;
// A home busier than this sends new connections to a reactor that is idler by the margin.
constexpr unsigned busy_home_percent = 70;
constexpr unsigned busy_margin_percent = 20;

}  // namespace

Broker::Broker(BrokerSettings settings) : settings_(std::move(settings)) {
    const unsigned count = std::clamp(settings_.reactors, 1U, reactors_max);
    std::vector<Reactor*> all;
    for (unsigned i = 0; i < count; ++i) {
        reactors_.push_back(std::make_unique<Reactor>(static_cast<std::uint8_t>(i)));
        all.push_back(reactors_.back().get());
    }
    for (auto& reactor : reactors_) reactor->meet(all);
}

Broker::~Broker() { stop(); }

void Broker::start() {
    const std::lock_guard lock(mutex_);
    CHECK(!running_);
    running_ = true;
    for (auto& reactor : reactors_) reactor->start();
}

void Broker::stop() {
    for (auto& reactor : reactors_) reactor->stop();
    for (auto& reactor : reactors_) reactor->join();
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

void Broker::add_vhost(const std::string& name) {
    if (vhosts_.contains(name)) return;
    Reactor& home = *reactors_[next_home_++ % reactors_.size()];
    engine::EngineSettings settings{
        .vhost = name,
        .relaxed_checks_on_redeclaration = settings_.quorum_relaxed_checks_on_redeclaration};
    auto vhost = std::make_shared<Vhost>(std::move(settings), home, settings_.notice);
    vhosts_.emplace(name, vhost);
    home.post([vhost](Reactor& reactor) { reactor.adopt_vhost(vhost); });
}

void Broker::drop_vhost(const std::string& name) {
    const auto found = vhosts_.find(name);
    if (found == vhosts_.end()) return;
    const auto vhost = found->second;
    vhosts_.erase(found);
    vhost->home().post([vhost](Reactor& reactor) { reactor.drop_vhost(*vhost); });
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
    const std::lock_guard lock(mutex_);
    REVENANT_TRY(const CatalogRecord record, catalog_.handle(command));
    const auto table = catalog_.snapshot();
    for (const auto& [name, vhost] : table->rules().vhosts) {
        add_vhost(name);
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

std::size_t Broker::connection_count() {
    const std::lock_guard lock(mutex_);
    return connections_;
}

}  // namespace revenant::runtime
