// /queues: listing, declaring, deleting and purging. management 4.19, 4.20
#include "http/api/body.h"
#include "http/api/engine_call.h"
#include "http/api/listing.h"
#include "http/api/object_stats.h"
#include "http/api/objects/dead_letter_queues.h"
#include "http/api/resource_json.h"
#include "http/api/responses.h"
#include "http/api/routes.h"
#include "http/api/streamed_listing.h"
#include "http/api/views.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace revenant::http {
namespace {

// Deaths in the queue since startup. Not in RabbitMQ, which counts only per node.
json::object view_deaths(const engine::DeathOutcomes& deaths) {
    json::object view;
    for (const DeathReason reason : {DeathReason::rejected, DeathReason::expired,
                                     DeathReason::maxlen, DeathReason::delivery_limit}) {
        view[to_string(reason)] = deaths.of(reason);
    }
    return view;
}

// Fields of quorum queues only. DL-211
void add_quorum_fields(const ApiSettings& settings, const engine::QueueView& queue,
                       json::object& view) {
    view["leader"] = settings.node_name;
    view["members"] = json::array{settings.node_name};
    view["online"] = json::array{settings.node_name};
    view["messages_ready_returned"] = queue.ready_returned;
    view["messages_delayed"] = queue.delayed;
    view["messages_dlx"] = queue.dead_letters_waiting;
    view["message_bytes_dlx"] = queue.dead_letter_bytes_waiting;
    if (queue.settings.delivery_limit) view["delivery_limit"] = *queue.settings.delivery_limit;
}

void add_numbers(const engine::QueueView& queue, const StatsRequest& wanted, const Trend& trend,
                 json::object& view) {
    StatValues now = stats_of(queue.stats);
    now[Stat::messages] = view.at("messages").to_number<std::uint64_t>();
    now[Stat::messages_ready] = queue.ready;
    now[Stat::messages_unacknowledged] = queue.unacked;
    add_stats(view, now, trend, queue_length_stats(), wanted.ranges().lengths);
    add_message_stats(view, now, trend, queue_message_stats(), wanted);
}

json::object view_queue(const ApiSettings& settings, std::string_view vhost,
                        const engine::QueueView& queue) {
    const std::uint64_t messages = queue.ready + queue.unacked + queue.delayed +
                                   queue.dead_letters_waiting + queue.parked.count;
    const std::uint64_t bytes = queue.ready_bytes + queue.unacked_bytes + queue.delayed_bytes +
                                queue.dead_letter_bytes_waiting + queue.parked.bytes;
    json::object view{
        {"name", to_json_string(queue.name)},
        {"vhost", to_json_string(vhost)},
        {"type", engine::to_string(queue.kind)},
        {"node", settings.node_name},
        {"state", "running"},
        {"durable", queue.durable},
        {"auto_delete", queue.auto_delete},
        {"exclusive", queue.exclusive},
        {"internal", false},
        {"arguments", to_json(queue.arguments)},
        {"policy", name_or_null(queue.policy.policy)},
        {"operator_policy", name_or_null(queue.policy.operator_policy)},
        {"effective_policy_definition", to_json(queue.policy.definition)},
        {"messages", messages},
        {"messages_ready", queue.ready},
        {"messages_unacknowledged", queue.unacked},
        {"messages_persistent", queue.persistent_messages.count},
        {"messages_ram", messages - queue.paged_out.count - queue.parked.count},
        {"messages_ready_ram", queue.ready - std::min(queue.ready, queue.paged_out.count)},
        {"messages_unacknowledged_ram", queue.unacked},
        {"messages_paged_out", queue.paged_out.count},
        {"messages_parked", queue.parked.count},
        {"message_bytes", bytes},
        {"message_bytes_ready", queue.ready_bytes},
        {"message_bytes_unacknowledged", queue.unacked_bytes},
        {"message_bytes_persistent", queue.persistent_messages.bytes},
        {"message_bytes_ram", bytes - queue.paged_out.bytes - queue.parked.bytes},
        {"message_bytes_paged_out", queue.paged_out.bytes},
        {"message_bytes_parked", queue.parked.bytes},
        {"memory", queue.memory_bytes},
        {"deaths", view_deaths(queue.deaths)},
        {"consumers", queue.consumers},
        {"consumer_capacity", consumer_capacity(queue)},
        {"consumer_utilisation", consumer_capacity(queue)},
        {"head_message_timestamp",
         queue.head_timestamp ? json::value(*queue.head_timestamp) : nullptr},
        {"recoverable_slaves", nullptr},
        {"exclusive_consumer_tag", name_or_null(queue.exclusive_consumer_tag)},
        {"single_active_consumer_tag", name_or_null(queue.single_active_consumer_tag)},
    };
    if (queue.kind == engine::QueueKind::quorum) {
        add_quorum_fields(settings, queue, view);
    } else {
        view["storage_version"] = 2;
        view["backing_queue_status"] = {
            {"mode", "default"}, {"version", 2}, {"len", queue.ready + queue.unacked}};
    }
    if (queue.consumers == 0) view["idle_since"] = date_and_time(queue.last_used);
    return view;
}

// The owners of exclusive queues. The connections are listed only if there is such a queue.
class Owners {
  public:
    explicit Owners(const Context& context) : context_(context) {}
    void add(const engine::QueueView& queue, json::object& view) {
        if (!queue.exclusive) return;
        if (!peers_) peers_.emplace(context_);
        if (const auto* const owner = peers_->find(queue.owner)) {
            view["owner_pid_details"] = connection_details(*owner);
        }
    }

  private:
    const Context& context_;
    std::optional<ConnectionNames> peers_;
};

// The fields of a queue if statistics are disabled but totals are requested. management 2.4
void keep_totals_only(json::object& view) {
    json::object kept;
    for (const char* name :
         {"name", "vhost", "type", "node", "state", "arguments", "auto_delete", "durable",
          "exclusive", "messages", "messages_ready", "messages_unacknowledged"}) {
        kept[name] = std::move(view[name]);
    }
    view = std::move(kept);
}

// The queues of some virtual hosts. Stores only names and ids; views are created on request.
class QueueList {
  public:
    QueueList(Context& context, const StatsRequest& wanted, bool totals_only, bool typed)
        : context_(context),
          wanted_(wanted),
          totals_only_(totals_only),
          typed_(typed),
          owners_(context) {}

    void add(const std::string& vhost) {
        const auto found = context_.broker().find_vhost(vhost);
        if (found == nullptr) return;
        for (auto& queue : queue_names_in(context_.broker(), found)) {
            rows_.push_back({found, std::move(queue)});
        }
    }
    void add_with_dead_letters(const std::string& vhost) {
        const auto found = context_.broker().find_vhost(vhost);
        if (found == nullptr) return;
        const std::set<std::string> names = queues_with_dead_letters(context_, vhost);
        for (auto& queue : queue_names_in(context_.broker(), found)) {
            if (names.contains(queue.name)) rows_.push_back({found, std::move(queue)});
        }
    }
    std::size_t count() const { return rows_.size(); }
    const std::string& name(std::size_t index) const { return rows_[index].queue.name; }

    std::vector<std::optional<json::object>> views(std::span<const std::size_t> indexes) {
        std::vector<std::optional<json::object>> views(indexes.size());
        std::map<VhostRef, std::vector<std::size_t>> by_vhost;
        for (std::size_t i = 0; i < indexes.size(); ++i) {
            by_vhost[rows_[indexes[i]].vhost].push_back(i);
        }
        for (const auto& [vhost, places] : by_vhost) {
            std::vector<QueueId> ids;
            for (const std::size_t place : places) ids.push_back(rows_[indexes[place]].queue.id);
            const auto found = context_.broker().ask(
                vhost, [&](engine::Engine& engine) { return engine::find_queues(engine, ids); });
            auto queue = found.begin();
            for (std::size_t i = 0; i < ids.size() && queue != found.end(); ++i) {
                if (queue->id != ids[i]) continue;  // deleted in the meantime
                views[places[i]] = view(vhost->name(), *queue);
                ++queue;
            }
        }
        return views;
    }

  private:
    struct Row {
        VhostRef vhost;
        engine::QueueName queue;
    };

    json::object view(const std::string& vhost, const engine::QueueView& queue) {
        json::object view = view_queue(context_.settings(), vhost, queue);
        if (typed_) view["arguments"] = to_typed_json(queue.arguments);
        if (wanted_.stats()) {
            add_numbers(queue, wanted_, wanted_.trend_of(queue_key(vhost, queue.id)), view);
            owners_.add(queue, view);
        } else if (totals_only_) {
            keep_totals_only(view);
        }
        return view;
    }

    Context& context_;
    const StatsRequest& wanted_;
    const bool totals_only_;
    const bool typed_;
    Owners owners_;
    std::vector<Row> rows_;
};
static_assert(views_at_once_max <= engine::part_items_max);

Response list_queues_of(Context& context, const Call& call,
                        const std::vector<std::string>& vhosts) {
    const auto wanted = StatsRequest::of(context, call);
    if (!wanted) return wanted.error();
    const bool totals_only = context.settings().enable_queue_totals ||
                             call.query_parameter("enable_queue_totals") == "true";
    QueueList queues(context, *wanted, totals_only, wants_typed_arguments(call));
    // Not in RabbitMQ.
    const bool only_dead_letters = call.query_parameter("only") == "dead-letters";
    for (const std::string& vhost : vhosts) {
        only_dead_letters ? queues.add_with_dead_letters(vhost) : queues.add(vhost);
    }
    return list_some_at_a_time(
        call, {queues.count(), [&](std::size_t index) { return queues.name(index); },
               [&](std::span<const std::size_t> indexes) { return queues.views(indexes); }});
}

Response list_all_queues(Context& context, const Call& call) {
    return list_queues_of(context, call, context.visible_vhosts(call));
}

Response list_queues_of_vhost(Context& context, const Call& call) {
    return list_queues_of(context, call, {call.parameter(0)});
}

Response show_queue(Context& context, const Call& call) {
    const std::string& vhost = call.parameter(0);
    const std::string& name = call.parameter(1);
    const auto queue =
        context.ask(vhost, [&](engine::Engine& engine) { return engine::find_queue(engine, name); })
            .value_or(std::nullopt);
    if (!queue) return not_found();
    const auto consumers = context.list(vhost, consumers_in, engine::ConsumerFilter{.queue = name})
                               .value_or(std::vector<engine::ConsumerView>{});
    const auto wanted = StatsRequest::of(context, call);
    if (!wanted) return wanted.error();
    json::object view = view_queue(context.settings(), vhost, *queue);
    Owners(context).add(*queue, view);
    if (wanted->stats()) {
        const Trend trend = wanted->trend_of_one(queue_key(vhost, queue->id));
        add_numbers(*queue, *wanted, trend, view);
    }
    view["consumer_details"] =
        consumers.empty()
            ? json::array{}
            : view_consumers(context.settings(), ConnectionNames(context), vhost, consumers);
    view["incoming"] = json::array{};
    view["deliveries"] = json::array{};
    return show(call, std::move(view));
}

bool queue_exists(Context& context, const std::string& vhost, const std::string& name) {
    return context
        .ask(vhost, [&](engine::Engine& engine) { return find_queue(engine, name).has_value(); })
        .value_or(false);
}

Response put_queue(Context& context, const Call& call) {
    const std::string& vhost_name = call.parameter(0);
    const auto name = amqp_name(call.parameter(1));
    const auto vhost = context.broker().find_vhost(vhost_name);
    if (!name || name->empty()) return bad_request("invalid queue name");
    if (vhost == nullptr) return not_found();
    const auto body = read_body(call.request);
    if (!body) return body.error();
    auto command = queue_from_json(*name, *body);
    if (!command) return std::move(command).error();
    const auto permissions = permissions_of(call, vhost_name);
    if (permissions.refusal(Permission::configure, "queue", *name)) return access_refused();
    command->refusal_if_new = permissions.dead_letter_refusal(*name, command->arguments);
    permissions.add_vhost_settings(*command, context.settings().default_queue_type);
    const bool existed = queue_exists(context, vhost_name, *name);
    const auto done = execute(vhost, call.user->name, std::move(*command));
    if (!done) return response_to(done.error());
    return existed ? no_content() : created();
}

Response delete_queue(Context& context, const Call& call) {
    const std::string& vhost_name = call.parameter(0);
    const std::string& name = call.parameter(1);
    const auto vhost = context.broker().find_vhost(vhost_name);
    if (vhost == nullptr || !queue_exists(context, vhost_name, name)) return not_found();
    if (permissions_of(call, vhost_name).refusal(Permission::configure, "queue", name)) {
        return access_refused();
    }
    engine::DeleteQueue command;
    command.name = name;
    command.if_unused = call.query_parameter("if-unused") == "true";
    command.if_empty = call.query_parameter("if-empty") == "true";
    const auto done = execute(vhost, call.user->name, std::move(command));
    return done ? no_content() : response_to(done.error());
}

// Purges all ready messages, or discards the parked ones.
template <typename Command>
Response clear_queue(Context& context, const Call& call) {
    const std::string& vhost_name = call.parameter(0);
    const std::string& name = call.parameter(1);
    const auto vhost = context.broker().find_vhost(vhost_name);
    if (vhost == nullptr || !queue_exists(context, vhost_name, name)) return not_found();
    if (permissions_of(call, vhost_name).refusal(Permission::read, "queue", name)) {
        return access_refused();
    }
    Command command;
    command.name = name;
    return change_response(execute(vhost, call.user->name, std::move(command)));
}

// Not in RabbitMQ. Messages that cannot be read from disk.
Response list_parked(Context& context, const Call& call) {
    const auto found = context.ask(call.parameter(0), [&](engine::Engine& engine) {
        return engine::list_parked(engine, call.parameter(1));
    });
    if (!found || !*found) return not_found();
    json::array views;
    for (const engine::ParkedView& parked : **found) {
        views.push_back(json::object{{"level", parked.level},
                                     {"sequence", parked.sequence},
                                     {"unit", parked.is_page ? "page" : "message"},
                                     {"messages", parked.messages},
                                     {"message_bytes", parked.bytes},
                                     {"reason", to_json_string(parked.why)}});
    }
    return list(call, std::move(views));
}

Response list_bindings(Context& context, const Call& call) {
    const auto bindings = context.list(call.parameter(0), bindings_in,
                                       engine::BindingFilter{.destination = call.parameter(1)});
    // Every queue is bound to the default exchange, so a queue without bindings does not exist.
    if (!bindings || bindings->empty()) return not_found();
    json::array views;
    for (const auto& binding : *bindings) views.push_back(view_binding(call.parameter(0), binding));
    return list(call, std::move(views));
}

}  // namespace

void add_queue_routes(Router& router, Context& context) {
    router.add("GET", "/queues", Role::management,
               [&](const Call& call) { return list_all_queues(context, call); });
    router.add("GET", "/queues/detailed", Role::management,
               [&](const Call& call) { return list_all_queues(context, call); });
    router.add("GET", "/queues/*", Role::vhost_visible,
               [&](const Call& call) { return list_queues_of_vhost(context, call); });
    router.add("GET", "/queues/*/*", Role::vhost_visible,
               [&](const Call& call) { return show_queue(context, call); });
    router.add("PUT", "/queues/*/*", Role::vhost,
               [&](const Call& call) { return put_queue(context, call); });
    router.add("DELETE", "/queues/*/*", Role::vhost,
               [&](const Call& call) { return delete_queue(context, call); });
    router.add("DELETE", "/queues/*/*/contents", Role::vhost,
               [&](const Call& call) { return clear_queue<engine::PurgeQueue>(context, call); });
    router.add("GET", "/queues/*/*/parked", Role::vhost_visible,
               [&](const Call& call) { return list_parked(context, call); });
    router.add("DELETE", "/queues/*/*/parked", Role::vhost,
               [&](const Call& call) { return clear_queue<engine::DiscardParked>(context, call); });
    // RabbitMQ 4 has no actions any more. management 4.20
    router.add("POST", "/queues/*/*/actions", Role::administrator, [](const Call& call) {
        const auto body = read_body(call.request);
        if (!body) return body.error();
        if (auto missing = check_keys(*body, {"action"})) return std::move(*missing);
        Response response = bad_request("");
        response.body = to_text(json::object{
            {"error", "bad_request"}, {"reason", json::array{"unknown", body->at("action")}}});
        return response;
    });
    router.add("GET", "/queues/*/*/bindings", Role::vhost_visible,
               [&](const Call& call) { return list_bindings(context, call); });
}

}  // namespace revenant::http
