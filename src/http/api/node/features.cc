// /feature-flags and /deprecated-features. All feature flags of RabbitMQ 4.3 are reported as
// enabled. management 4.5
#include "http/api/body.h"
#include "http/api/listing.h"
#include "http/api/responses.h"
#include "http/api/routes.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace revenant::http {
namespace {

struct Feature {
    std::string_view name;
    std::string_view stability;
    std::string_view require_level;
    std::string_view provided_by;
};
// The feature flags of RabbitMQ 4.3 except those of streams. Tools and clients use them to detect
// the features of a broker.
constexpr std::array<Feature, 27> features = {{
    {"classic_mirrored_queue_version", "required", "hard", "rabbit"},
    {"classic_queue_type_delivery_support", "required", "hard", "rabbit"},
    {"detailed_queues_endpoint", "required", "soft", "rabbitmq_management"},
    {"direct_exchange_routing_v2", "required", "hard", "rabbit"},
    {"drop_unroutable_metric", "required", "hard", "rabbitmq_management_agent"},
    {"empty_basic_get_metric", "required", "hard", "rabbitmq_management_agent"},
    {"feature_flags_v2", "required", "hard", "rabbit"},
    {"implicit_default_bindings", "required", "hard", "rabbit"},
    {"khepri_db", "required", "soft", "rabbit"},
    {"listener_records_in_ets", "required", "hard", "rabbit"},
    {"maintenance_mode_status", "required", "hard", "rabbit"},
    {"message_containers", "required", "hard", "rabbit"},
    {"message_containers_deaths_v2", "required", "soft", "rabbit"},
    {"quorum_queue", "required", "hard", "rabbit"},
    {"quorum_queue_non_voters", "required", "soft", "rabbit"},
    {"rabbit_exchange_type_local_random", "required", "soft", "rabbit"},
    {"rabbitmq_4.0.0", "required", "soft", "rabbit"},
    {"rabbitmq_4.1.0", "required", "soft", "rabbit"},
    {"rabbitmq_4.2.0", "required", "soft", "rabbit"},
    {"rabbitmq_4.3.0", "stable", "none", "rabbit"},
    {"tie_binding_to_dest_with_keep_while_cond", "stable", "none", "rabbit"},
    {"topic_binding_projection_v4", "stable", "none", "rabbit"},
    {"topic_binding_projection_v5", "stable", "none", "rabbit"},
    {"track_qq_members_uids", "stable", "none", "rabbit"},
    {"tracking_records_in_ets", "required", "hard", "rabbit"},
    {"user_limits", "required", "hard", "rabbit"},
    {"virtual_host_metadata", "required", "hard", "rabbit"},
}};

Response list_features(const Call& call) {
    json::array views;
    for (const auto& [name, stability, require_level, provided_by] : features) {
        views.push_back(json::object{{"name", name},
                                     {"state", "enabled"},
                                     {"stability", stability},
                                     {"require_level", require_level},
                                     {"experiment_level", "supported"},
                                     {"callbacks", json::array{}},
                                     {"provided_by", provided_by},
                                     {"desc", ""},
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
// Features that RabbitMQ deprecates. They are permitted unless the configuration denies them
// (docs/compatibility.md).
constexpr std::array<Deprecated, 3> deprecated = {{
    {"global_qos", "Per-channel prefetch"},
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

// Whether such a queue or channel exists. As in RabbitMQ, collecting metrics does not count as use.
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
