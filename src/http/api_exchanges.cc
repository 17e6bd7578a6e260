// /exchanges: what is there, declaring and deleting. management 4.16, 4.17
#include "http/api.h"
#include "http/body.h"
#include "http/errand.h"
#include "http/listing.h"
#include "http/responses.h"
#include "http/views.h"

#include <utility>

namespace revenant::http {
namespace {

json::object view_exchange(std::string_view vhost, const engine::ExchangeView& exchange) {
    return {{"name", to_json_string(exchange.name)},
            {"vhost", to_json_string(vhost)},
            {"type", exchange.type},
            {"durable", exchange.durable},
            {"auto_delete", exchange.auto_delete},
            {"internal", exchange.internal},
            {"arguments", to_json(exchange.arguments)},
            {"policy", name_or_null(exchange.policy.policy)}};
}

void append_exchanges(Context& context, const std::string& vhost, json::array& all) {
    const auto exchanges = context.ask(vhost, engine::list_exchanges);
    if (!exchanges) return;
    for (const auto& exchange : *exchanges) all.push_back(view_exchange(vhost, exchange));
}

Response list_all(Context& context, const Call& call) {
    json::array all;
    for (const std::string& vhost : context.visible_vhosts(call)) {
        append_exchanges(context, vhost, all);
    }
    return list(call, std::move(all));
}

Response list_of_vhost(Context& context, const Call& call) {
    json::array all;
    append_exchanges(context, call.parameter(0), all);
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
    json::object view = view_exchange(call.parameter(0), *exchange);
    view["incoming"] = json::array{};
    view["outgoing"] = json::array{};
    return show(call, std::move(view));
}

Result<engine::DeclareExchange, Response> read_declaration(const Call& call,
                                                           const std::string& name) {
    REVENANT_TRY(const json::object body, read_body(call.request));
    engine::DeclareExchange command;
    command.name = name;
    REVENANT_TRY(command.type, string_field(body, "type", "direct"));
    REVENANT_TRY(command.durable, bool_field(body, "durable", false));
    REVENANT_TRY(command.auto_delete, bool_field(body, "auto_delete", false));
    REVENANT_TRY(command.internal, bool_field(body, "internal", false));
    REVENANT_TRY(command.arguments, table_field(body, "arguments"));
    return command;
}

Response put_exchange(Context& context, const Call& call) {
    const auto name = exchange_name(call.parameter(1));
    const auto vhost = context.broker().find_vhost(call.parameter(0));
    if (!name) return bad_request("invalid exchange name");
    if (vhost == nullptr) return not_found();
    auto command = read_declaration(call, *name);
    if (!command) return std::move(command).error();
    const Rights rights(call, call.parameter(0));
    if (!rights.exchange(Permission::configure, *name)) return access_refused();
    if (const Value* alternate = find(command->arguments, "alternate-exchange");
        alternate != nullptr && alternate->as_string() != nullptr &&
        (!rights.exchange(Permission::read, *name) ||
         !rights.exchange(Permission::write, *alternate->as_string()))) {
        command->refusal_if_new = engine::Refusal{engine::RefusalKind::access_refused,
                                                  "alternate exchange access refused"};
    }
    const bool existed = find_named(context, call).has_value();
    const auto done = carry_out(vhost, call.user->name, std::move(*command));
    if (!done) return response_to(done.error());
    return existed ? no_content() : created();
}

Response delete_exchange(Context& context, const Call& call) {
    const auto exchange = find_named(context, call);
    const auto vhost = context.broker().find_vhost(call.parameter(0));
    if (vhost == nullptr || !exchange) return not_found();
    if (!Rights(call, call.parameter(0)).exchange(Permission::configure, exchange->name)) {
        return access_refused();
    }
    engine::DeleteExchange command;
    command.name = exchange->name;
    command.if_unused = call.asked("if-unused") == "true";
    const auto done = carry_out(vhost, call.user->name, std::move(command));
    return done ? no_content() : response_to(done.error());
}

template <typename Listing>
Response bindings_of(Context& context, const Call& call, Listing listing) {
    const auto name = exchange_name(call.parameter(1));
    if (!name) return not_found();
    const auto bindings = context.ask(
        call.parameter(0), [&](engine::Engine& engine) { return listing(engine, *name); });
    if (!bindings) return not_found();
    json::array views;
    for (const auto& binding : *bindings) views.push_back(view_binding(call.parameter(0), binding));
    return list(call, std::move(views));
}

}  // namespace

void add_exchange_routes(Router& router, Context& context) {
    router.add("GET", "/exchanges", Role::management,
               [&](const Call& call) { return list_all(context, call); });
    router.add("GET", "/exchanges/*", Role::vhost_visible,
               [&](const Call& call) { return list_of_vhost(context, call); });
    router.add("GET", "/exchanges/*/*", Role::vhost_visible,
               [&](const Call& call) { return show_exchange(context, call); });
    router.add("PUT", "/exchanges/*/*", Role::vhost,
               [&](const Call& call) { return put_exchange(context, call); });
    router.add("DELETE", "/exchanges/*/*", Role::vhost,
               [&](const Call& call) { return delete_exchange(context, call); });
    router.add("GET", "/exchanges/*/*/bindings/source", Role::vhost_visible, [&](const Call& call) {
        return bindings_of(context, call, engine::list_bindings_from);
    });
    router.add(
        "GET", "/exchanges/*/*/bindings/destination", Role::vhost_visible,
        [&](const Call& call) { return bindings_of(context, call, engine::list_bindings_to); });
}

}  // namespace revenant::http
