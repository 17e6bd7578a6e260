// Keys of RabbitMQ 4.3 that have no effect in Revenant. Most are accepted with a warning in the
// log. A key that restricts access prevents startup instead, because the broker would be more open
// than its configuration says.
#include "node/config/config_keys.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::node {
namespace {

using enum KeyStatus;
using enum Trait;

using Outcome = Assignment::Outcome;

Outcome any_value(Assignment&) { return {}; }

Unexpected<Problem> restriction() {
    return Unexpected{std::string(
        "restricts access in RabbitMQ and has no effect in Revenant; remove it to start "
        "without the restriction")};
}

Outcome never(Assignment&) { return restriction(); }

Outcome only_false(Assignment& to) {
    if (to.setting.value == "false") return {};
    return restriction();
}

Outcome only_true(Assignment& to) {
    if (to.setting.value == "true") return {};
    return restriction();
}

Outcome only_internal(Assignment& to) {
    if (to.setting.value == "internal" || to.setting.value == "rabbit_auth_backend_internal") {
        return {};
    }
    return restriction();
}

// Values are not shown, because some of these keys contain passwords and private keys.
void add(std::vector<ConfigKey>& to, KeyStatus status, std::string_view meaning,
         std::span<const std::string_view> patterns,
         Assignment::Outcome (*apply)(Assignment&) = any_value) {
    for (const std::string_view pattern : patterns) {
        to.push_back({pattern, "", status, secret, meaning, apply});
    }
}

constexpr std::string_view of_erlang[] = {
    "erlang.*",
    "sysmon_handler.*",
    "num_acceptors.tcp",
    "num_acceptors.ssl",
    "socket_writer.gc_threshold",
    "default_worker_pool_size",
    "delegate_count",
    "hipe_compile",
    "background_gc_enabled",
    "background_gc_target_interval",
    "vm_memory_calculation_strategy",
    "vm_memory_high_watermark_paging_ratio",
    "memory_monitor_interval",
    "ranch_connection_max",
    "management.delegate_count",
    "management.db_cache_multiplier",
};

constexpr std::string_view of_storage[] = {
    "raft.*",
    "metadata_store.*",
    "mnesia_table_loading_retry_timeout",
    "mnesia_table_loading_retry_limit",
    "message_store_shutdown_timeout",
    "queue_index_embed_msgs_below",
    "vhost_restart_strategy",
    "prevent_startup_if_node_was_reset",
    "classic_queue.default_version",
    "quorum_queue.compute_checksums",
    "quorum_queue.commands_soft_limit",
    "quorum_queue.wal_compute_checksums",
    "quorum_queue.segment_compute_checksums",
    "quorum_queue.max_append_entries_rpc_batch_size",
    "quorum_queue.compress_mem_tables",
    "quorum_queue.segment_max_size_bytes",
    "quorum_queue.segment_max_entries",
    "quorum_queue.wal_max_size_bytes",
    "quorum_queue.wal_max_entries",
    "quorum_queue.wal_max_batch_size",
    "quorum_queue.snapshot_chunk_size",
};

constexpr std::string_view of_clusters[] = {
    "cluster_keepalive_interval",
    "net_ticktime",
    "distribution.*",
    "mirroring_sync_batch_size",
    "mirroring_sync_max_throughput",
    "queue_master_locator",
    "consumer_disconnected_timeout",
    "quorum_queue.initial_cluster_size",
    "quorum_queue.continuous_membership_reconciliation.*",
    "management.restrictions.quorum_queue_replica_operations.disabled",
};

constexpr std::string_view of_sockets[] = {
    "reverse_dns_lookups",
    "ssl_handshake_timeout",
    "ssl_allow_poodle_attack",
    "tcp_listen_options",
    "tcp_listen_options.buffer",
    "tcp_listen_options.delay_send",
    "tcp_listen_options.dontroute",
    "tcp_listen_options.exit_on_close",
    "tcp_listen_options.fd",
    "tcp_listen_options.high_msgq_watermark",
    "tcp_listen_options.high_watermark",
    "tcp_listen_options.linger.*",
    "tcp_listen_options.low_msgq_watermark",
    "tcp_listen_options.low_watermark",
    "tcp_listen_options.port",
    "tcp_listen_options.priority",
    "tcp_listen_options.send_timeout",
    "tcp_listen_options.send_timeout_close",
    "tcp_listen_options.tos",
    "ssl_options",
    "ssl_options.cert",
    "ssl_options.key.*",
    "ssl_options.dh",
    "ssl_options.dhfile",
    "ssl_options.psk_identity",
    "ssl_options.reuse_sessions",
    "ssl_options.secure_renegotiate",
    "ssl_options.client_renegotiation",
    "ssl_options.log_alert",
    "ssl_options.log_level",
    "ssl_options.bypass_pem_cache",
    "amqp_client.*",
    "amqp10_client.*",
};

constexpr std::string_view of_http[] = {
    "management.http_log_dir",
    "http_dispatch.access_log_dir",
    "management.http.hide_allow_header",
    "management.csp.policy",
    "management.hsts.policy",
    "management.headers.content_type_options",
    "management.headers.xss_protection",
    "management.headers.frame_options",
    "management.headers.referrer_policy",
    "management.definitions.require_json_extension",
    "management.credential_encryption_secret",
    "management.sample_retention_policies.*",
    "management.require_auth_for_api_reference",
    "management_agent.filter_aggregated_queue_metrics_pattern",
    "prometheus.filter_aggregated_queue_metrics_pattern",
    "management.listener.server.*",
    "management.tcp.max_connections",
    "management.tcp.compress",
    "management.tcp.idle_timeout",
    "management.tcp.inactivity_timeout",
    "management.tcp.request_timeout",
    "management.tcp.shutdown_timeout",
    "management.tcp.max_keepalive",
    "management.ssl.backlog",
    "management.ssl.max_connections",
    "management.ssl.honor_ecc_order",
    "management.ssl.reuse_sessions",
    "management.ssl.secure_renegotiate",
    "management.ssl.client_renegotiation",
    "management.ssl.compress",
    "management.ssl.idle_timeout",
    "management.ssl.inactivity_timeout",
    "management.ssl.request_timeout",
    "management.ssl.shutdown_timeout",
    "management.ssl.max_keepalive",
    "prometheus.tcp.max_connections",
    "prometheus.tcp.compress",
    "prometheus.tcp.idle_timeout",
    "prometheus.tcp.inactivity_timeout",
    "prometheus.tcp.request_timeout",
    "prometheus.tcp.shutdown_timeout",
    "prometheus.tcp.max_keepalive",
    "prometheus.ssl.backlog",
    "prometheus.ssl.max_connections",
    "prometheus.ssl.honor_ecc_order",
    "prometheus.ssl.reuse_sessions",
    "prometheus.ssl.secure_renegotiate",
    "prometheus.ssl.client_renegotiation",
    "prometheus.ssl.compress",
    "prometheus.ssl.idle_timeout",
    "prometheus.ssl.inactivity_timeout",
    "prometheus.ssl.request_timeout",
    "prometheus.ssl.shutdown_timeout",
    "prometheus.ssl.max_keepalive",
};

constexpr std::string_view of_logs[] = {
    "log.summarize_process_state",
    "log.error_logger_format_depth",
    "log.console.stdio",
    "log.console.use_colors",
    "log.console.color_esc_seqs.*",
    "log.console.formatter.*",
    "log.file.formatter.*",
    "log.file.rotation.compress",
    "log.exchange",
    "log.exchange.*",
    "log.journald",
    "log.journald.*",
    "log.syslog",
    "log.syslog.*",
    "log.$component.file",
    "log.$component.rotation.*",
    "motd_file",
};

constexpr std::string_view of_definitions[] = {
    "definitions.hashing.algorithm",       "definitions.tls.*",
    "runtime_parameters.limits.$category", "message_interceptors.*",
    "queue_types.stream.enabled",
};

constexpr std::string_view not_yet[] = {
    "product.name",
    "product.version",
};

constexpr std::string_view of_plugins[] = {
    "stream.*",     "mqtt.*",
    "stomp.*",      "web_mqtt.*",
    "web_stomp.*",  "shovel.*",
    "tracing.*",    "event_exchange.*",
    "federation.*", "exchange_federation.*",
    "aws.*",        "queue_federation.*",
};

constexpr std::string_view of_other_backends[] = {
    "auth_ldap.*",
    "auth_http.*",
    "auth_oauth2.*",
    "auth_cache.*",
    "auth_internal_loopback.*",
    "trust_store.*",
    "ssl_options.crl_sources.*",
    "definitions.https.url",
    "management.listener.ssl_opts",
    "management.listener.ssl_opts.*",
    "management.oauth_provider_url",
    "management.oauth_client_id",
    "management.oauth_client_secret",
    "management.oauth_response_type",
    "management.oauth_metadata_url",
    "management.oauth_authorization_endpoint_params.*",
    "management.oauth_token_endpoint_params.*",
    "management.oauth_scopes",
    "management.oauth_initiated_logon_type",
    "management.oauth_resource_servers.*",
};

constexpr std::string_view off_only[] = {
    "ssl_options.crl_check",         "management.listener.ssl",
    "management.oauth_enabled",      "management.oauth_disable_basic_auth",
    "management.disable_basic_auth", "prometheus.authentication.enabled",
};

constexpr std::string_view on_only[] = {
    "queue_types.classic.enabled",
    "queue_types.quorum.enabled",
    "exchange_types.local_random.enabled",
};

constexpr std::string_view internal_only[] = {
    "auth_backends.$n.authn",
    "auth_backends.$n.authz",
    "http_dispatch.auth_backends.$n",
    "http_dispatch.auth_backends.$n.authn",
    "http_dispatch.auth_backends.$n.authz",
};

}  // namespace

std::vector<ConfigKey> rabbitmq_keys() {
    std::vector<ConfigKey> all;
    add(all, no_meaning, "", of_erlang);
    add(all, no_meaning, "", of_storage);
    add(all, cluster_only, "", of_clusters);
    add(all, no_meaning, "", of_sockets);
    add(all, no_meaning, "", of_http);
    add(all, no_meaning, "", of_logs);
    add(all, no_meaning, "", of_definitions);
    add(all, without_effect, "", not_yet);
    add(all, of_absent_plugin, "", of_plugins);
    add(all, refuses_start, "", of_other_backends, never);
    add(all, refuses_start, "`false` is accepted", off_only, only_false);
    add(all, refuses_start, "`true` is accepted", on_only, only_true);
    add(all, refuses_start, "`internal` is accepted", internal_only, only_internal);
    return all;
}

}  // namespace revenant::node
