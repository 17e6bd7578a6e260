#include "http/api/context.h"

#include "http/api/cluster_parameters.h"
#include "http/api/json.h"
#include "http/api/samples.h"

namespace revenant::http {

Context::Context(ApiSettings settings, runtime::Broker& broker)
    : settings_(std::move(settings)), broker_(broker), samples_(std::make_unique<Samples>()) {}

Context::~Context() = default;

std::string Context::global_text(std::string_view parameter, const std::string& otherwise) {
    const auto access = broker_.access();
    const auto& parameters = access->rules().global_parameters;
    const auto found = parameters.find(parameter);
    if (found == parameters.end()) return otherwise;
    const auto value = parse_json(found->second);
    return value && value->is_string() ? std::string(value->get_string()) : otherwise;
}

std::string Context::cluster_name() {
    return global_text(cluster_name_parameter, settings_.cluster_name);
}

std::string Context::cluster_id() {
    return global_text(cluster_id_parameter, settings_.cluster_name);
}

namespace {

VhostCounters ask_for_counters(runtime::Broker& broker,
                               const std::shared_ptr<runtime::Vhost>& vhost) {
    engine::Totals totals = totals_of(broker, vhost);
    VhostCounters sums{std::move(totals), {}, 0};
    broker.ask(vhost->home(), [&](runtime::Reactor&) {
        sums.journal = vhost->journal_view();
        sums.unconfirmed = vhost->deferred_effects().confirms_waiting();
    });
    return sums;
}

}  // namespace

NodeCounters Context::node_counters() {
    const std::lock_guard lock(mutex_);
    NodeCounters sums{retired_, {}, {}, settings_.log_lines_dropped()};
    for (const auto& vhost : broker_.vhosts()) {
        const VhostCounters& one =
            sums.by_vhost.emplace(vhost->name(), ask_for_counters(broker_, vhost)).first->second;
        sums.all.totals += one.totals;
        sums.all.journal += one.journal;
        sums.all.unconfirmed += one.unconfirmed;
    }
    for (std::size_t i = 0; i < broker_.reactor_count(); ++i) {
        sums.turns += broker_.ask(broker_.reactor(i), [](runtime::Reactor& reactor) {
            return reactor.turn_times().summary();
        });
    }
    return sums;
}

Result<CatalogRecord, CatalogRefusal> Context::delete_vhost(const std::string& name) {
    {
        const std::lock_guard lock(mutex_);
        const auto vhost = broker_.find_vhost(name);
        REVENANT_TRY(const CatalogRecord record, broker_.change(DeleteVhost{name}));
        if (vhost == nullptr) return record;
        const VhostCounters last = ask_for_counters(broker_, vhost);
        // The messages of a deleted virtual host count as removed with their queues.
        retired_.totals.accounts.of(engine::Ending::queue_deleted) += last.totals.messages();
        engine::Totals counters;
        counters.accounts = last.totals.accounts;
        counters.traffic = last.totals.traffic;
        // The connections are closed below.
        counters.traffic.queues_deleted += last.totals.queues;
        counters.traffic.connections_closed += last.totals.connections;
        counters.traffic.channels_closed += last.totals.channels;
        retired_.totals += counters;
        retired_.journal.counters += last.journal.counters;
    }
    settings_.close_connections_if(
        [&](const runtime::ConnectionView& connection) { return connection.vhost == name; },
        "vhost '" + name + "' is deleted");
    return CatalogRecord{};
}

std::vector<std::string> Context::visible_vhosts(const Call& call) const {
    std::vector<std::string> names;
    for (const auto& [name, vhost] : call.access->rules().vhosts) {
        if (can_see_vhost(*call.access, *call.user, name)) names.push_back(name);
    }
    return names;
}

std::vector<LoginsOfProtocol> logins_by_protocol(Context& context) {
    std::vector<LoginsOfProtocol> logins;
    const auto add = [&](std::string_view protocol, const runtime::LoginAttempts& attempts) {
        const LoginsOfProtocol one{protocol, attempts.succeeded.load(), attempts.failed.load()};
        if (one.succeeded + one.failed > 0 || protocol == "http") logins.push_back(one);
    };
    runtime::ClientLogins& clients = *context.settings().client_logins;
    add("amqp091", clients.of(engine::ClientProtocol::amqp091));
    add("amqp10", clients.of(engine::ClientProtocol::amqp10));
    add("http", context.login_attempts());
    return logins;
}

}  // namespace revenant::http
