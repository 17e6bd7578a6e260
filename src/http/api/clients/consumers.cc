// /consumers. management 4.23
#include "http/api/listing.h"
#include "http/api/routes.h"
#include "http/api/views.h"

#include <utility>

namespace revenant::http {
namespace {

void append_consumers(Context& context, const Call& call, const ConnectionNames& peers,
                      const std::string& vhost, json::array& all) {
    const auto consumers = context.list(vhost, consumers_in, engine::ConsumerFilter{});
    if (!consumers) return;
    const bool typed = wants_typed_arguments(call);
    auto consumer = consumers->begin();
    for (json::value& view : view_consumers(context.settings(), peers, vhost, *consumers)) {
        if (typed) view.get_object()["arguments"] = to_typed_json(consumer->arguments);
        all.push_back(std::move(view));
        ++consumer;
    }
}

}  // namespace

void add_consumer_routes(Router& router, Context& context) {
    router.add("GET", "/consumers", Role::management, [&](const Call& call) {
        const ConnectionNames peers(context);
        json::array all;
        for (const std::string& vhost : context.visible_vhosts(call)) {
            append_consumers(context, call, peers, vhost, all);
        }
        return list(call, std::move(all));
    });
    router.add("GET", "/consumers/*", Role::vhost_visible, [&](const Call& call) {
        json::array all;
        append_consumers(context, call, ConnectionNames(context), call.parameter(0), all);
        return list(call, std::move(all));
    });
}

}  // namespace revenant::http
