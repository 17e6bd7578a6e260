// /bindings: from exchanges to queues or other exchanges. management 4.22
#include "http/api/body.h"
#include "http/api/engine_call.h"
#include "http/api/listing.h"
#include "http/api/responses.h"
#include "http/api/routes.h"
#include "http/api/views.h"

#include <utility>

namespace revenant::http {
namespace {

using engine::BindingView;
using engine::DestinationKind;

void append_bindings(Context& context, const Call& call, const std::string& vhost,
                     json::array& all) {
    const auto bindings = context.list(vhost, bindings_in, engine::BindingFilter{});
    if (!bindings) return;
    const bool typed = wants_typed_arguments(call);
    for (const BindingView& binding : *bindings) {
        json::object view = view_binding(vhost, binding);
        if (typed) view["arguments"] = to_typed_json(binding.arguments);
        all.push_back(std::move(view));
    }
}

Response list_all_bindings(Context& context, const Call& call) {
    json::array all;
    for (const std::string& vhost : context.visible_vhosts(call)) {
        append_bindings(context, call, vhost, all);
    }
    return list(call, std::move(all));
}

Response list_bindings_of_vhost(Context& context, const Call& call) {
    json::array all;
    append_bindings(context, call, call.parameter(0), all);
    return list(call, std::move(all));
}

// Source and destination in /bindings/V/e/X/q/Q.
struct BindingEnds {
    std::string vhost;
    std::string source;
    DestinationKind kind = DestinationKind::queue;
    std::string destination;
};

std::optional<BindingEnds> named_ends(const Call& call, DestinationKind kind) {
    const auto source = exchange_name(call.parameter(1));
    const auto destination = kind == DestinationKind::queue ? amqp_name(call.parameter(2))
                                                            : exchange_name(call.parameter(2));
    if (!source || !destination) return std::nullopt;
    return BindingEnds{call.parameter(0), *source, kind, *destination};
}

std::vector<BindingView> bindings_between(Context& context, const BindingEnds& ends) {
    return context
        .list(ends.vhost, bindings_in,
              engine::BindingFilter{ends.source, ends.destination, ends.kind})
        .value_or(std::vector<BindingView>{});
}

// Most clients escape the properties_key from a listing; some assume that it is already escaped.
std::optional<BindingView> find_binding(Context& context, const BindingEnds& ends,
                                        const std::string& wanted) {
    for (BindingView& binding : bindings_between(context, ends)) {
        const std::string key = properties_key(binding);
        if (key == wanted || percent_decode(key, /*plus_is_space=*/true) == wanted) {
            return std::move(binding);
        }
    }
    return std::nullopt;
}

Response list_between(Context& context, const Call& call, DestinationKind kind) {
    const auto ends = named_ends(call, kind);
    if (!ends) return not_found();
    json::array views;
    for (const BindingView& binding : bindings_between(context, *ends)) {
        views.push_back(view_binding(ends->vhost, binding));
    }
    return list(call, std::move(views));
}

Response show_binding(Context& context, const Call& call, DestinationKind kind) {
    const auto ends = named_ends(call, kind);
    if (!ends) return not_found();
    const auto binding = find_binding(context, *ends, call.parameter(3));
    return binding ? show(call, view_binding(ends->vhost, *binding)) : not_found();
}

// Binding and unbinding require write on the destination and read on the source. amqp091 15.2
bool may_bind(const Call& call, const BindingEnds& ends) {
    const auto permissions = permissions_of(call, ends.vhost);
    const auto* const kind = ends.kind == DestinationKind::queue ? "queue" : "exchange";
    return !permissions.refusal(Permission::write, kind, ends.destination) &&
           !permissions.refusal(Permission::read, "exchange", ends.source);
}

template <typename Command>  // Bind or Unbind
Response change_binding(Context& context, const Call& call, const BindingEnds& ends,
                        const BindingView& binding, Response success) {
    const auto vhost = context.broker().find_vhost(ends.vhost);
    if (vhost == nullptr) return not_found();
    if (!may_bind(call, ends)) return access_refused();
    Command command;
    command.source = ends.source;
    command.destination_kind = ends.kind;
    command.destination = ends.destination;
    command.routing_key = binding.routing_key;
    command.arguments = binding.arguments;
    command.refusal_if_topic =
        permissions_of(call, ends.vhost)
            .topic_refusal(Permission::read, ends.source, binding.routing_key);
    const auto done = execute(vhost, call.user->name, std::move(command));
    return done ? success : response_to(done.error());
}

Response post_binding(Context& context, const Call& call, DestinationKind kind) {
    const auto ends = named_ends(call, kind);
    if (!ends) return bad_request("invalid name");
    const auto body = read_body(call.request);
    if (!body) return body.error();
    BindingView binding{ends->source, kind, ends->destination, "", {}};
    auto routing_key = string_field(*body, "routing_key", "");
    if (!routing_key) return std::move(routing_key).error();
    if (routing_key->size() > short_string_bytes_max)
        return bad_request("routing_key is longer than 255 bytes");
    auto arguments = table_field(*body, "arguments");
    if (!arguments) return std::move(arguments).error();
    binding.routing_key = std::move(*routing_key);
    binding.arguments = std::move(*arguments);
    Response success = created();
    success.headers = {{"location", percent_encode(call.parameter(2)) + "/" +
                                        percent_encode(properties_key(binding))}};
    return change_binding<engine::Bind>(context, call, *ends, binding, std::move(success));
}

Response delete_binding(Context& context, const Call& call, DestinationKind kind) {
    const auto ends = named_ends(call, kind);
    if (!ends) return not_found();
    const auto binding = find_binding(context, *ends, call.parameter(3));
    if (!binding) return not_found();
    return change_binding<engine::Unbind>(context, call, *ends, *binding, no_content());
}

void add_pair_routes(Router& router, Context& context, const std::string& pair,
                     DestinationKind kind) {
    router.add("GET", pair, Role::vhost_visible,
               [&context, kind](const Call& call) { return list_between(context, call, kind); });
    router.add("POST", pair, Role::vhost,
               [&context, kind](const Call& call) { return post_binding(context, call, kind); });
    router.add("GET", pair + "/*", Role::vhost_visible,
               [&context, kind](const Call& call) { return show_binding(context, call, kind); });
    router.add("DELETE", pair + "/*", Role::vhost,
               [&context, kind](const Call& call) { return delete_binding(context, call, kind); });
}

}  // namespace

void add_binding_routes(Router& router, Context& context) {
    router.add("GET", "/bindings", Role::management,
               [&](const Call& call) { return list_all_bindings(context, call); });
    router.add("GET", "/bindings/*", Role::vhost_visible,
               [&](const Call& call) { return list_bindings_of_vhost(context, call); });
    add_pair_routes(router, context, "/bindings/*/e/*/q/*", DestinationKind::queue);
    add_pair_routes(router, context, "/bindings/*/e/*/e/*", DestinationKind::exchange);
}

}  // namespace revenant::http
