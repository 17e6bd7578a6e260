// Limits.
#include "node/config/config_keys.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace revenant::node {
namespace {

using enum KeyStatus;
using enum Trait;

using Outcome = Assignment::Outcome;

Outcome memory_share(Assignment& to) {
    REVENANT_TRY(to.config.memory_limit_share, parse_share(to.setting.value, 1));
    to.config.memory_limit_bytes.reset();
    return {};
}

Outcome disk_share(Assignment& to) {
    REVENANT_TRY(to.config.disk_free_limit_share, parse_share(to.setting.value, 1000));
    to.config.disk_free_limit_bytes.reset();
    return {};
}

Outcome consumer_timeout(Assignment& to) {
    std::optional<std::uint64_t> timeout_ms;
    REVENANT_TRY_VOID(to.limit(timeout_ms, duration_ms_max));
    to.config.consumer_timeout_ms = static_cast<std::int64_t>(timeout_ms.value_or(0));
    return {};
}

Outcome consumer_timeout_response(Assignment& to) {
    std::string response;
    REVENANT_TRY_VOID(to.one_of(response, {"notify_consumer", "close_channel"}));
    to.config.connection.consumer_timeout_closes_channel = response == "close_channel";
    return {};
}

Outcome consumers_per_channel(Assignment& to) {
    std::optional<std::uint64_t> limit;
    REVENANT_TRY_VOID(to.limit(limit, UINT32_MAX));
    if (limit && *limit == 0) return Unexpected{std::string("must be at least 1, or infinity")};
    to.config.connection.consumer_max_per_channel = static_cast<std::uint32_t>(limit.value_or(0));
    return {};
}

NewVhostLimits& new_vhost_limits(Assignment& to) {
    return to.config.new_vhost_limits[std::string(to.variable)];
}

Outcome vhost_pattern(Assignment& to) {
    REVENANT_TRY(new_vhost_limits(to).pattern, parse_pattern(to.setting.value));
    return {};
}

Outcome vhost_limit(Assignment& to, Limit& field) {
    if (to.setting.value == "-1") {
        field = -1;
        return {};
    }
    std::uint64_t limit = 0;
    REVENANT_TRY_VOID(to.number(limit, 0, INT64_MAX));
    field = static_cast<std::int64_t>(limit);
    return {};
}

Outcome permit(Assignment& to, const std::string& feature) {
    bool permitted = true;
    REVENANT_TRY_VOID(to.flag(permitted));
    to.config.denied_features.erase(feature);
    if (!permitted) to.config.denied_features.insert(feature);
    return {};
}

Outcome other_feature(Assignment& to) {
    bool ignored = false;
    REVENANT_TRY_VOID(to.flag(ignored));
    for (const std::string_view known :
         {"amqp_address_v1", "amqp_filter_set_bug", "classic_queue_mirroring",
          "management_metrics_collection", "queue_master_locator", "ram_node_type"}) {
        if (known == to.variable) return {};
    }
    return Unexpected{"there is no deprecated feature '" + std::string(to.variable) + "'"};
}

}  // namespace

std::vector<ConfigKey> limit_keys() {
    return {
        {"vm_memory_high_watermark.relative", "0.6", active, reloadable,
         "Fraction of memory at which publishers are blocked", memory_share},
        {"vm_memory_high_watermark.absolute", "", active, reloadable, "The same limit as a size",
         [](Assignment& to) { return to.bytes(to.config.memory_limit_bytes); }},
        {"total_memory_available_override_value", "", active, reloadable,
         "Total memory, overriding detection",
         [](Assignment& to) { return to.bytes(to.config.memory_total_bytes); }},
        {"disk_free_limit.absolute", "50MB", active, reloadable,
         "Free disk space below which publishers are blocked",
         [](Assignment& to) { return to.bytes(to.config.disk_free_limit_bytes); }},
        {"disk_free_limit.relative", "", active, reloadable,
         "The same limit as a multiple of memory", disk_share},
        {"max_message_size", "16777216", active, plain,
         "Maximum size of a message body, at most 536870912",
         [](Assignment& to) -> Outcome {
             std::uint64_t bytes = 0;
             REVENANT_TRY_VOID(to.bytes(bytes));
             if (bytes > 536'870'912) {
                 return Unexpected{std::string("must be at most 536870912 bytes")};
             }
             to.config.connection.max_message_size = bytes;
             return {};
         }},
        {"consumer_timeout", "1800000", active, plain,
         "Maximum time in ms until a consumer of a quorum queue must settle a message, at most "
         "315360000000; 0: no limit",
         consumer_timeout},
        {"consumer_timeout_response", "notify_consumer", active, plain,
         "Action on a timeout if the client supports consumer cancellation: `notify_consumer`, or "
         "`close_channel` as for other clients",
         consumer_timeout_response},
        {"consumer_max_per_channel", "infinity", active, plain, "Maximum consumers per channel",
         consumers_per_channel},
        {"channel_max_per_node", "infinity", active, plain, "Maximum channels of the node",
         [](Assignment& to) { return to.limit(to.config.channels_max); }},
        {"connection_max", "infinity", active, plain, "Maximum connections of the node",
         [](Assignment& to) { return to.limit(to.config.connections_max); }},
        {"max_connections", "", active, plain, "The same as `connection_max`",
         [](Assignment& to) { return to.limit(to.config.connections_max); }},
        {"vhost_max", "infinity", active, plain, "Maximum virtual hosts",
         [](Assignment& to) { return to.limit(to.config.vhosts_max); }},
        {"cluster_queue_limit", "infinity", active, plain, "Maximum queues in all virtual hosts",
         [](Assignment& to) { return to.limit(to.config.limits.queues_max); }},
        {"cluster_exchange_limit", "infinity", active, plain,
         "Maximum exchanges in all virtual hosts, including the predeclared ones",
         [](Assignment& to) { return to.limit(to.config.limits.exchanges_max); }},
        {"default_limits.vhosts.$name.pattern", "", active, plain,
         "Pattern for the names of new virtual hosts; default: all. The first match in the order "
         "of `$name` applies",
         vhost_pattern},
        {"default_limits.vhosts.$name.max_connections", "", active, plain,
         "Maximum connections of such a virtual host; -1: no limit",
         [](Assignment& to) {
             return vhost_limit(to, new_vhost_limits(to).limits.max_connections);
         }},
        {"default_limits.vhosts.$name.max_queues", "", active, plain,
         "Maximum queues of such a virtual host; -1: no limit",
         [](Assignment& to) { return vhost_limit(to, new_vhost_limits(to).limits.max_queues); }},
        {"default_queue_type", "classic", active, plain,
         "Default queue type, for virtual hosts without their own",
         [](Assignment& to) {
             return to.one_of(to.config.default_queue_type, {"classic", "quorum"});
         }},
        {"quorum_queue.property_equivalence.relaxed_checks_on_redeclaration", "false", active,
         plain, "Accept redeclaring a quorum queue as classic",
         [](Assignment& to) { return to.flag(to.config.quorum_relaxed_checks_on_redeclaration); }},
        {"deprecated_features.permit.transient_nonexcl_queues", "true", active, plain,
         "`false`: queues that are neither durable nor exclusive are refused",
         [](Assignment& to) { return permit(to, "transient_nonexcl_queues"); }},
        {"deprecated_features.permit.global_qos", "true", active, plain,
         "`false`: a channel prefetch limit applies to each consumer",
         [](Assignment& to) { return permit(to, "global_qos"); }},
        {"deprecated_features.permit.$name", "", without_effect, plain,
         "Other deprecated features of RabbitMQ", other_feature},
    };
}

}  // namespace revenant::node
