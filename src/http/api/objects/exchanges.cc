// /exchanges: listing, declaring and deleting. management 4.16, 4.17
#include "http/api/body.h"
#include "http/api/engine_call.h"
#include "http/api/listing.h"
#include "http/api/object_stats.h"
#include "http/api/resource_json.h"
#include "http/api/responses.h"
#include "http/api/routes.h"
#include "http/api/views.h"

#include <utility>

namespace revenant::http {
namespace {

json::object view_exchange(std::string_view vhost, const engine::ExchangeView& exchange,
                           const StatsRequest& wanted, const Trend& trend) {
    json::object view{{"name", to_json_string(exchange.name)},
                      {"vhost", to_json_string(vhost)},
                      {"type", exchange.type},
                      {"durable", exchange.durable},
                      {"auto_delete", exchange.auto_delete},
                      {"internal", exchange.internal},
                      {"arguments", to_json(exchange.arguments)},
                      {"policy", name_or_null(exchange.policy.policy)}};
    if (engine::is_predeclared(exchange.name)) view["user_who_performed_action"] = "rmq-internal";
    if (!wanted.stats()) return view;
    StatValues now;
    now[Stat::publish_in] = exchange.published_in;
    now[Stat::publish_out] = exchange.published_out;
    add_message_stats(view, now, trend, exchange_message_stats(), wanted);
    return view;
}

Response list_exchanges_of(Context& context, const Call& call,
                           const std::vector<std::string>& vhosts) {
    const auto wanted = StatsRequest::of(context, call);
    if (!wanted) return wanted.error();
    const bool typed = wants_typed_arguments(call);
    json::array all;
    for (const std::string& vhost : vhosts) {
        const auto exchanges = context.list(vhost, exchanges_in);
        if (!exchanges) continue;
        for (const auto& exchange : *exchanges) {
            const Trend trend = wanted->trend_of(exchange_key(vhost, exchange.name));
            json::object view = view_exchange(vhost, exchange, *wanted, trend);
            if (typed) view["arguments"] = to_typed_json(exchange.arguments);
            all.push_back(std::move(view));
        }
    }
    return list(call, std::move(all));
}

std::optional<engine::ExchangeView> find_named(Context& context, const Call& call) {
    const auto name = exchange_name(call.parameter(1));
    if (!name) return std::nullopt;
    return context
        .ask(call.parameter(0),
             [&](engine::Engine& engine) { return engine::find_exchange(engine, *name); })
        .value_or(std::nullopt);
}

Response show_exchange(Context& context, const Call& call) {
    const auto exchange = find_named(context, call);
    if (!exchange) return not_found();
    const auto wanted = StatsRequest::of(context, call);
    if (!wanted) return wanted.error();
    const Trend trend = wanted->trend_of_one(exchange_key(call.parameter(0), exchange->name));
    json::object view = view_exchange(call.parameter(0), *exchange, *wanted, trend);
    view["incoming"] = json::array{};
    view["outgoing"] = json::array{};
    return show(call, std::move(view));
}

Response put_exchange(Context& context, const Call& call) {
    const auto name = exchange_name(call.parameter(1));
    const auto vhost = context.broker().find_vhost(call.parameter(0));
    if (!name) return bad_request("invalid exchange name");
    if (vhost == nullptr) return not_found();
    const auto body = read_body(call.request);
    if (!body) return body.error();
    auto command = exchange_from_json(*name, *body);
    if (!command) return std::move(command).error();
    const auto permissions = permissions_of(call, call.parameter(0));
    if (permissions.refusal(Permission::configure, "exchange", *name)) return access_refused();
    command->refusal_if_new = permissions.alternate_refusal(*name, command->arguments);
    const bool existed = find_named(context, call).has_value();
    const auto done = execute(vhost, call.user->name, std::move(*command));
    if (!done) return response_to(done.error());
    return existed ? no_content() : created();
}

Response delete_exchange(Context& context, const Call& call) {
    const auto exchange = find_named(context, call);
    const auto vhost = context.broker().find_vhost(call.parameter(0));
    if (vhost == nullptr || !exchange) return not_found();
    const auto permissions = permissions_of(call, call.parameter(0));
    if (permissions.refusal(Permission::configure, "exchange", exchange->name))
        return access_refused();
    engine::DeleteExchange command;
    command.name = exchange->name;
    command.if_unused = call.query_parameter("if-unused") == "true";
    const auto done = execute(vhost, call.user->name, std::move(command));
    return done ? no_content() : response_to(done.error());
}

enum class ExchangeEnd : std::uint8_t { source, destination };

Response bindings_of(Context& context, const Call& call, ExchangeEnd end) {
    const auto name = exchange_name(call.parameter(1));
    if (!name) return not_found();
    engine::BindingFilter filter;
    if (end == ExchangeEnd::source) {
        filter.source = *name;
    } else {
        filter.destination = *name;
        filter.destination_kind = engine::DestinationKind::exchange;
    }
    const auto bindings = context.list(call.parameter(0), bindings_in, filter);
    if (!bindings) return not_found();
    json::array views;
    for (const auto& binding : *bindings) views.push_back(view_binding(call.parameter(0), binding));
    return list(call, std::move(views));
}

}  // namespace

void add_exchange_routes(Router& router, Context& context) {
    router.add("GET", "/exchanges", Role::management, [&](const Call& call) {
        return list_exchanges_of(context, call, context.visible_vhosts(call));
    });
    router.add("GET", "/exchanges/*", Role::vhost_visible, [&](const Call& call) {
        return list_exchanges_of(context, call, {call.parameter(0)});
    });
    router.add("GET", "/exchanges/*/*", Role::vhost_visible,
               [&](const Call& call) { return show_exchange(context, call); });
    router.add("PUT", "/exchanges/*/*", Role::vhost,
               [&](const Call& call) { return put_exchange(context, call); });
    router.add("DELETE", "/exchanges/*/*", Role::vhost,
               [&](const Call& call) { return delete_exchange(context, call); });
    router.add("GET", "/exchanges/*/*/bindings/source", Role::vhost_visible,
               [&](const Call& call) { return bindings_of(context, call, ExchangeEnd::source); });
    router.add(
        "GET", "/exchanges/*/*/bindings/destination", Role::vhost_visible,
        [&](const Call& call) { return bindings_of(context, call, ExchangeEnd::destination); });
}

}  // namespace revenant::http
