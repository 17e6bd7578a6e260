// What rabbitmqctl can do and this program will not, and what to do instead. Scripts that need one
// of these find out at once and in words.
#include "cli/commands/command_tables.h"

namespace revenant::cli {
namespace {

Unexpected<Failure> no(std::string text) {
    return Unexpected{Failure{ExitCode::unavailable, std::move(text)}};
}

Outcome evaluate(const Invocation& /*invocation*/) {
    return no("there is no Erlang here to evaluate anything in");
}

Outcome stop(const Invocation& /*invocation*/) {
    return no("a node is stopped by whoever started it: systemctl stop revenant, or SIGTERM");
}

Outcome reset(const Invocation& /*invocation*/) {
    return no("a node is not emptied from outside: stop it and remove its data directory");
}

Outcome join(const Invocation& /*invocation*/) { return no("this is a single node"); }

Outcome set_log_level(const Invocation& /*invocation*/) {
    return no("set log.default.level in revenant.conf, then systemctl reload revenant, or SIGHUP");
}

Outcome set_memory(const Invocation& /*invocation*/) {
    return no(
        "set vm_memory_high_watermark.relative or .absolute in revenant.conf, then systemctl "
        "reload revenant, or SIGHUP");
}

Outcome set_disk(const Invocation& /*invocation*/) {
    return no(
        "set disk_free_limit.absolute or .relative in revenant.conf, then systemctl reload "
        "revenant, or SIGHUP");
}

Outcome rotate_logs(const Invocation& /*invocation*/) {
    return no("log files are opened anew by systemctl reload revenant, or SIGHUP");
}

Outcome trace(const Invocation& /*invocation*/) {
    return no(
        "there is no tracing here: bind a queue to the exchange in question, or follow a dead "
        "letter by its x-death header");
}

Outcome encrypt(const Invocation& /*invocation*/) {
    return no(
        "there are no encrypted values in a configuration here: keep secrets in files that only "
        "the node can read (REVENANT_DEFAULT_PASS_FILE), or in its environment");
}

constexpr Command refusal(std::string_view name, std::string_view summary,
                          Outcome (*run)(const Invocation&)) {
    return {name, 0, SIZE_MAX, "", summary, name, run};
}

}  // namespace

std::span<const Command> unsupported_commands() {
    static constexpr Command commands[] = {
        refusal("eval", "Refused: there is no Erlang here.", evaluate),
        refusal("eval_file", "Refused: there is no Erlang here.", evaluate),
        refusal("exec", "Refused: there is no Erlang here.", evaluate),
        refusal("remote_shell", "Refused: there is no Erlang here.", evaluate),
        refusal("stop", "Refused: stop the service.", stop),
        refusal("shutdown", "Refused: stop the service.", stop),
        refusal("stop_app", "Refused: stop the service.", stop),
        refusal("start_app", "Refused: start the service.", stop),
        refusal("reset", "Refused: remove the data directory.", reset),
        refusal("force_reset", "Refused: remove the data directory.", reset),
        refusal("join_cluster", "Refused: this is a single node.", join),
        refusal("forget_cluster_node", "Refused: this is a single node.", join),
        refusal("rename_cluster_node", "Refused: this is a single node.", join),
        refusal("change_cluster_node_type", "Refused: this is a single node.", join),
        refusal("set_log_level", "Refused: set it in revenant.conf.", set_log_level),
        refusal("set_vm_memory_high_watermark", "Refused: set it in revenant.conf.", set_memory),
        refusal("set_disk_free_limit", "Refused: set it in revenant.conf.", set_disk),
        refusal("rotate_logs", "Refused: reload the service.", rotate_logs),
        refusal("trace_on", "Refused: there is no tracing here.", trace),
        refusal("encrypt_conf_value", "Refused: no value of a configuration is encrypted.",
                encrypt),
        refusal("decrypt_conf_value", "Refused: no value of a configuration is encrypted.",
                encrypt),
        refusal("list_hashes", "Refused: no value of a configuration is encrypted.", encrypt),
        refusal("list_ciphers", "Refused: no value of a configuration is encrypted.", encrypt),
        refusal("force_boot", "Refused: this is a single node.", join),
        refusal("add_member", "Refused: this is a single node.", join),
        refusal("delete_member", "Refused: this is a single node.", join),
        refusal("grow", "Refused: this is a single node.", join),
        refusal("shrink", "Refused: this is a single node.", join),
        refusal("transfer_leadership", "Refused: this is a single node.", join),
        refusal("encode", "Refused: no value of a configuration is encrypted.", encrypt),
        refusal("decode", "Refused: no value of a configuration is encrypted.", encrypt),
    };
    return commands;
}

}  // namespace revenant::cli
