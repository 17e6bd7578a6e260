// Commands of rabbitmqctl that are not supported. Each fails with a text that names the
// alternative.
#include "cli/commands/command_tables.h"

namespace revenant::cli {
namespace {

Unexpected<Failure> no(std::string text) {
    return Unexpected{Failure{ExitCode::unavailable, std::move(text)}};
}

Outcome evaluate(const Invocation& /*invocation*/) {
    return no("not supported: there is no Erlang runtime");
}

Outcome stop(const Invocation& /*invocation*/) {
    return no("not supported: use systemctl stop revenant, or SIGTERM");
}

Outcome reset(const Invocation& /*invocation*/) {
    return no("not supported: stop the node and remove its data directory");
}

Outcome join(const Invocation& /*invocation*/) {
    return no("not supported: clustering is not available");
}

Outcome set_log_level(const Invocation& /*invocation*/) {
    return no(
        "not supported: set log.default.level in revenant.conf, then systemctl reload revenant, or "
        "SIGHUP");
}

Outcome set_memory(const Invocation& /*invocation*/) {
    return no(
        "not supported: set vm_memory_high_watermark.relative or .absolute in revenant.conf, then "
        "systemctl reload revenant, or SIGHUP");
}

Outcome set_disk(const Invocation& /*invocation*/) {
    return no(
        "not supported: set disk_free_limit.absolute or .relative in revenant.conf, then systemctl "
        "reload revenant, or SIGHUP");
}

Outcome rotate_logs(const Invocation& /*invocation*/) {
    return no("not supported: systemctl reload revenant, or SIGHUP, reopens the log files");
}

Outcome trace(const Invocation& /*invocation*/) {
    return no(
        "not supported: tracing is not available; bind a queue to the exchange in question, or "
        "follow a dead letter by its x-death header");
}

Outcome encrypt(const Invocation& /*invocation*/) {
    return no(
        "not supported: configuration values cannot be encrypted; keep secrets in files that only "
        "the node can read (REVENANT_DEFAULT_PASS_FILE), or in its environment");
}

constexpr Command refusal(std::string_view name, std::string_view summary,
                          Outcome (*run)(const Invocation&)) {
    return {name, 0, SIZE_MAX, "", summary, name, run};
}

}  // namespace

std::span<const Command> unsupported_commands() {
    static constexpr Command commands[] = {
        refusal("eval", "Not supported: no Erlang runtime.", evaluate),
        refusal("eval_file", "Not supported: no Erlang runtime.", evaluate),
        refusal("exec", "Not supported: no Erlang runtime.", evaluate),
        refusal("remote_shell", "Not supported: no Erlang runtime.", evaluate),
        refusal("stop", "Not supported: stop the service instead.", stop),
        refusal("shutdown", "Not supported: stop the service instead.", stop),
        refusal("stop_app", "Not supported: stop the service instead.", stop),
        refusal("start_app", "Not supported: start the service instead.", stop),
        refusal("reset", "Not supported: remove the data directory instead.", reset),
        refusal("force_reset", "Not supported: remove the data directory instead.", reset),
        refusal("join_cluster", "Not supported: clustering is not available.", join),
        refusal("forget_cluster_node", "Not supported: clustering is not available.", join),
        refusal("rename_cluster_node", "Not supported: clustering is not available.", join),
        refusal("change_cluster_node_type", "Not supported: clustering is not available.", join),
        refusal("set_log_level", "Not supported: set it in revenant.conf.", set_log_level),
        refusal("set_vm_memory_high_watermark", "Not supported: set it in revenant.conf.",
                set_memory),
        refusal("set_disk_free_limit", "Not supported: set it in revenant.conf.", set_disk),
        refusal("rotate_logs", "Not supported: reload the service instead.", rotate_logs),
        refusal("trace_on", "Not supported: tracing is not available.", trace),
        refusal("encrypt_conf_value", "Not supported: configuration values cannot be encrypted.",
                encrypt),
        refusal("decrypt_conf_value", "Not supported: configuration values cannot be encrypted.",
                encrypt),
        refusal("list_hashes", "Not supported: configuration values cannot be encrypted.", encrypt),
        refusal("list_ciphers", "Not supported: configuration values cannot be encrypted.",
                encrypt),
        refusal("force_boot", "Not supported: clustering is not available.", join),
        refusal("add_member", "Not supported: clustering is not available.", join),
        refusal("delete_member", "Not supported: clustering is not available.", join),
        refusal("grow", "Not supported: clustering is not available.", join),
        refusal("shrink", "Not supported: clustering is not available.", join),
        refusal("transfer_leadership", "Not supported: clustering is not available.", join),
        refusal("encode", "Not supported: configuration values cannot be encrypted.", encrypt),
        refusal("decode", "Not supported: configuration values cannot be encrypted.", encrypt),
    };
    return commands;
}

}  // namespace revenant::cli
