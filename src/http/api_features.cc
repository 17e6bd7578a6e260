// /feature-flags and /deprecated-features: what RabbitMQ 4.3 switches on one by one is always on
// here, and tools are told so. management 4.5
#include "http/api.h"
#include "http/body.h"
#include "http/listing.h"
#include "http/responses.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace revenant::http {
namespace {

struct Feature {
    std::string_view name;
    std::string_view description;
    std::string_view stability;
};
// Tools and clients look for these names.
constexpr std::array<Feature, 12> features = {{
    {"classic_queue_type_delivery_support", "Deliveries of every queue type", "required"},
    {"direct_exchange_routing_v2", "Direct routing by a table of keys", "required"},
    {"feature_flags_v2", "Feature flags as RabbitMQ 3.11 has them", "required"},
    {"implicit_default_bindings", "Bindings of the default exchange are implied", "required"},
    {"khepri_db", "Metadata is kept in a replicated log", "stable"},
    {"message_containers", "Messages in no protocol's dialect", "required"},
    {"quorum_queue", "Queues of type quorum", "required"},
    {"quorum_queue_non_voters", "Members of a quorum queue that do not vote", "stable"},
    {"rabbitmq_4.0.0", "What RabbitMQ 4.0 added", "stable"},
    {"rabbitmq_4.1.0", "What RabbitMQ 4.1 added", "stable"},
    {"user_limits", "Limits of connections and channels per user", "required"},
    {"virtual_host_metadata", "Description and tags of a virtual host", "required"},
}};

Response list_features(const Call& call) {
    json::array views;
    for (const auto& [name, description, stability] : features) {
        views.push_back(json::object{{"name", name},
                                     {"state", "enabled"},
                                     {"stability", stability},
                                     {"require_level", stability == "required" ? "soft" : "none"},
                                     {"experiment_level", "supported"},
                                     {"callbacks", json::array{}},
                                     {"provided_by", "rabbit"},
                                     {"desc", description},
                                     {"doc_url", ""}});
    }
    return list(call, std::move(views));
}

Response enable_feature(const Call& call) {
    const std::string& name = call.parameter(0);
    const bool known =
        name == "all" || std::any_of(features.begin(), features.end(),
                                     [&](const auto& one) { return one.name == name; });
    return known ? no_content() : bad_request("unsupported");
}

struct Deprecated {
    std::string_view name;
    std::string_view description;
};
// RabbitMQ deprecates them; here they stay, and are permitted unless the configuration forbids it
// (docs/compatibility.md).
constexpr std::array<Deprecated, 3> deprecated = {{
    {"global_qos", "Prefetch for a whole channel"},
    {"transient_nonexcl_queues", "Queues that are neither durable nor exclusive"},
    {"management_metrics_collection", "Metrics in the HTTP API"},
}};

json::object view_deprecated(const Context& context, const Deprecated& feature) {
    const bool denied = context.settings().denied_features.contains(feature.name);
    return {{"name", feature.name},
            {"deprecation_phase", "permitted_by_default"},
            {"state", denied ? "denied" : "permitted"},
            {"desc", feature.description},
            {"provided_by", "rabbit"},
            {"doc_url", ""}};
}

// If there is such a queue or channel. That metrics are collected is nobody's doing, so it is no
// use of anything, as RabbitMQ has it.
bool is_used(Context& context, std::string_view name) {
    if (name == "management_metrics_collection") return false;
    const bool queues = name == "transient_nonexcl_queues";
    const auto vhosts = context.broker().vhosts();
    return std::any_of(vhosts.begin(), vhosts.end(), [&](const auto& vhost) {
        if (queues) {
            const auto all = queues_in(context.broker(), vhost);
            return std::any_of(all.begin(), all.end(), [](const auto& queue) {
                return !queue.durable && !queue.exclusive;
            });
        }
        const auto all = channels_in(context.broker(), vhost);
        return std::any_of(all.begin(), all.end(),
                           [](const auto& channel) { return channel.global_prefetch > 0; });
    });
}

}  // namespace

void add_feature_routes(Router& router, Context& context) {
    router.add("GET", "/feature-flags", Role::management, list_features);
    router.add("PUT", "/feature-flags/*/enable", Role::administrator, enable_feature);
    router.add("GET", "/deprecated-features", Role::management, [&](const Call& call) {
        json::array views;
        for (const Deprecated& feature : deprecated) {
            views.push_back(view_deprecated(context, feature));
        }
        return list(call, std::move(views));
    });
    router.add("GET", "/deprecated-features/used", Role::management, [&](const Call& call) {
        json::array views;
        for (const Deprecated& feature : deprecated) {
            if (is_used(context, feature.name)) views.push_back(view_deprecated(context, feature));
        }
        return list(call, std::move(views));
    });
}

}  // namespace revenant::http
