// How much there may be of something.
#include "node/config_keys.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace revenant::node {
namespace {

using enum Standing;
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

Outcome ignored_limit(Assignment& to) {
    std::optional<std::uint64_t> ignored;
    return to.limit(ignored);
}

Outcome consumer_timeout(Assignment& to) {
    std::optional<std::uint64_t> timeout_ms;
    REVENANT_TRY_VOID(to.limit(timeout_ms));
    to.config.consumer_timeout_ms =
        static_cast<std::int64_t>(std::min<std::uint64_t>(timeout_ms.value_or(0), INT64_MAX));
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
    REVENANT_TRY_VOID(to.limit(limit));
    if (limit && (*limit == 0 || *limit > UINT32_MAX)) {
        return Unexpected{std::string("must be at least 1, or infinity")};
    }
    to.config.connection.consumer_max_per_channel = static_cast<std::uint32_t>(limit.value_or(0));
    return {};
}

}  // namespace

std::vector<ConfigKey> limit_keys() {
    return {
        {"vm_memory_high_watermark.relative", "0.6", works, reloads,
         "Share of the memory at which publishers are blocked", memory_share},
        {"vm_memory_high_watermark.absolute", "", works, reloads, "The same as a size",
         [](Assignment& to) { return to.bytes(to.config.memory_limit_bytes); }},
        {"total_memory_available_override_value", "", works, reloads,
         "How much memory there is, where the system does not tell",
         [](Assignment& to) { return to.bytes(to.config.memory_total_bytes); }},
        {"disk_free_limit.absolute", "50MB", works, reloads,
         "Free space below which publishers are blocked",
         [](Assignment& to) { return to.bytes(to.config.disk_free_limit_bytes); }},
        {"disk_free_limit.relative", "", works, reloads, "The same as a multiple of the memory",
         disk_share},
        {"max_message_size", "16777216", works, plain, "Largest body, at most 536870912",
         [](Assignment& to) -> Outcome {
             std::uint64_t bytes = 0;
             REVENANT_TRY_VOID(to.bytes(bytes));
             if (bytes > 536'870'912) {
                 return Unexpected{std::string("must be at most 536870912 bytes")};
             }
             to.config.connection.max_message_size = bytes;
             return {};
         }},
        {"consumer_timeout", "1800000", works, plain,
         "Milliseconds a consumer may keep a message of a quorum queue; 0: any time",
         consumer_timeout},
        {"consumer_timeout_response", "notify_consumer", works, plain,
         "What follows for clients that can be told of a cancelled consumer: `notify_consumer`, or "
         "`close_channel` as for the others",
         consumer_timeout_response},
        {"consumer_max_per_channel", "infinity", works, plain, "Consumers of a channel",
         consumers_per_channel},
        {"channel_max_per_node", "infinity", works, plain, "Channels of the node",
         [](Assignment& to) { return to.limit(to.config.channels_max); }},
        {"connection_max", "infinity", works, plain, "Connections of the node",
         [](Assignment& to) { return to.limit(to.config.connections_max); }},
        {"vhost_max", "infinity", works, plain, "Virtual hosts",
         [](Assignment& to) { return to.limit(to.config.vhosts_max); }},
        {"cluster_queue_limit", "infinity", no_effect_yet, plain, "Queues of all virtual hosts",
         ignored_limit},
        {"cluster_exchange_limit", "infinity", no_effect_yet, plain,
         "Exchanges of all virtual hosts", ignored_limit},
        {"default_limits.vhosts.*", "", no_effect_yet, plain,
         "Limits of new virtual hosts whose names match", any_text},
        {"default_queue_type", "classic", works, plain,
         "Of queues that name none, in virtual hosts that name none",
         [](Assignment& to) {
             return to.one_of(to.config.default_queue_type, {"classic", "quorum"});
         }},
        {"quorum_queue.property_equivalence.relaxed_checks_on_redeclaration", "false", works, plain,
         "Lets applications declare a quorum queue again as a classic one",
         [](Assignment& to) { return to.flag(to.config.quorum_relaxed_checks_on_redeclaration); }},
        {"deprecated_features.permit.$name", "", no_effect_yet, plain,
         "`false`: a deprecated feature is refused",
         [](Assignment& to) {
             bool ignored = false;
             return to.flag(ignored);
         }},
    };
}

}  // namespace revenant::node
