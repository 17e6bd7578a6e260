// /vhosts: what exists, making and deleting. management 4.6, 4.7
#include "http/api.h"
#include "http/body.h"
#include "http/listing.h"
#include "http/responses.h"
#include "http/views.h"

#include <utility>

namespace revenant::http {
namespace {

json::object view_vhost(Context& context, const Vhost& vhost) {
    const std::string type =
        vhost.default_queue_type.empty() ? "classic" : vhost.default_queue_type;
    json::object view{
        {"name", to_json_string(vhost.name)},
        {"description", to_json_string(vhost.description)},
        {"tags", to_json(vhost.tags)},
        {"default_queue_type", type},
        {"compat", vhost.compat.empty() ? "4.3" : vhost.compat},
        {"metadata",
         {{"description", to_json_string(vhost.description)},
          {"tags", to_json(vhost.tags)},
          {"default_queue_type", type}}},
        {"tracing", vhost.tracing},
        {"cluster_state", {{context.settings().node_name, "running"}}},
        {"protected_from_deletion", vhost.protected_from_deletion},
    };
    const auto totals = context.ask(vhost.name, engine::sum_up);
    if (!totals) return view;
    view["messages"] = totals->messages();
    view["messages_ready"] = totals->ready;
    view["messages_unacknowledged"] = totals->unacked;
    view["message_stats"] = message_stats(totals->traffic);
    return view;
}

Response list_vhosts(Context& context, const Call& call) {
    json::array views;
    for (const std::string& name : context.visible_vhosts(call)) {
        views.push_back(view_vhost(context, *call.access->find_vhost(name)));
    }
    return list(call, std::move(views));
}

Response show_vhost(Context& context, const Call& call) {
    const Vhost* const vhost = call.access->find_vhost(call.parameter(0));
    return vhost == nullptr ? not_found() : show(call, view_vhost(context, *vhost));
}

Response put_vhost(Context& context, const Call& call) {
    auto body = read_body(call.request);
    if (!body) return std::move(body).error();
    PutVhost command;
    command.name = call.parameter(0);
    command.grant_to = call.user->name;
    auto tags = tags_field(*body, "tags");
    if (!tags) return std::move(tags).error();
    command.tags = std::move(*tags);
    for (const auto& [key, field] : {std::pair{"description", &PutVhost::description},
                                     std::pair{"default_queue_type", &PutVhost::default_queue_type},
                                     std::pair{"compat", &PutVhost::compat}}) {
        if (!body->contains(key)) continue;
        auto text = string_field(*body, key, "");
        if (!text) return std::move(text).error();
        command.*field = std::move(*text);
    }
    if (body->contains("tracing")) {
        auto tracing = bool_field(*body, "tracing", false);
        if (!tracing) return std::move(tracing).error();
        command.tracing = *tracing;
    }
    const bool existed = call.access->find_vhost(command.name) != nullptr;
    const auto record = context.broker().change(command);
    if (!record) return bad_request(record.error().text);
    return existed ? no_content() : created();
}

Response delete_vhost(Context& context, const Call& call) {
    const auto record = context.delete_vhost(call.parameter(0));
    if (record) return no_content();
    if (record.error().kind == CatalogRefusal::Kind::no_such_vhost) return not_found();
    if (record.error().kind == CatalogRefusal::Kind::vhost_is_protected) {
        return error_response(412, "precondition_failed", record.error().text);
    }
    return bad_request(record.error().text);
}

Response protect_vhost(Context& context, const Call& call, bool protect) {
    const auto record = context.broker().change(ProtectVhost{call.parameter(0), protect});
    return record ? no_content() : not_found();
}

}  // namespace

void add_vhost_routes(Router& router, Context& context) {
    router.add("GET", "/vhosts", Role::management,
               [&](const Call& call) { return list_vhosts(context, call); });
    router.add("GET", "/vhosts/*", Role::administrator,
               [&](const Call& call) { return show_vhost(context, call); });
    router.add("PUT", "/vhosts/*", Role::administrator,
               [&](const Call& call) { return put_vhost(context, call); });
    router.add("DELETE", "/vhosts/*", Role::administrator,
               [&](const Call& call) { return delete_vhost(context, call); });
    router.add("POST", "/vhosts/*/deletion/protection", Role::administrator,
               [&](const Call& call) { return protect_vhost(context, call, true); });
    router.add("DELETE", "/vhosts/*/deletion/protection", Role::administrator,
               [&](const Call& call) { return protect_vhost(context, call, false); });
    // A vhost that exists runs.
    router.add("POST", "/vhosts/*/start/*", Role::administrator, [&](const Call& call) {
        return call.access->find_vhost(call.parameter(0)) == nullptr ? not_found() : no_content();
    });
}

}  // namespace revenant::http
