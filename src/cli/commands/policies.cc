// Policies and operator policies.
#include "cli/commands/command_tables.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace revenant::cli {
namespace {

namespace json = boost::json;

struct Kind {
    std::string_view path;
    std::string_view set;  // name in the banner; `clear` and `list` likewise
    std::string_view clear;
    std::string_view list;
};
constexpr Kind of_users = {"policies", "policy", "policy", "policies"};
constexpr Kind of_operators = {"operator-policies", "operator policy override", "operator policy",
                               "operator policy overrides"};

std::string path_of(const Invocation& invocation, const Kind& kind) {
    return "/" + std::string(kind.path) + "/" + escape(invocation.options.vhost);
}

Outcome set(const Invocation& invocation, const Kind& kind) {
    const Options& options = invocation.options;
    const std::string& name = invocation.argument(0);
    const std::string& pattern = invocation.argument(1);
    const std::string& definition = invocation.argument(2);
    invocation.banner("Setting " + std::string(kind.set) + " " + quoted(name) + " for pattern " +
                      quoted(pattern) + " to " + quoted(definition) + " with priority " +
                      quoted(std::to_string(options.priority)) + " for vhost " +
                      quoted(options.vhost) + " ...");
    REVENANT_TRY(const json::value parsed, parse_json(definition));
    REVENANT_TRY(const Reply reply,
                 invocation.ask("PUT", path_of(invocation, kind) + "/" + escape(name),
                                {{"pattern", pattern},
                                 {"definition", parsed},
                                 {"priority", options.priority},
                                 {"apply-to", options.apply_to}}));
    if (reply.status == 404) return no_such_vhost(options.vhost);
    if (reply.status == 400) return operation_failed(reply.reason());
    if (reply.status >= 300) return refused(reply);
    invocation.say("");
    return {};
}

Outcome clear(const Invocation& invocation, const Kind& kind) {
    const std::string& name = invocation.argument(0);
    invocation.banner("Clearing " + std::string(kind.clear) + " " + quoted(name) + " on vhost " +
                      quoted(invocation.options.vhost) + " ...");
    REVENANT_TRY(const Reply reply,
                 invocation.ask("DELETE", path_of(invocation, kind) + "/" + escape(name)));
    if (reply.status == 404) return operation_failed("Parameter does not exist");
    if (reply.status >= 300) return refused(reply);
    invocation.say("");
    return {};
}

// Definitions are printed as JSON text in every format.
json::value with_definitions_as_text(json::value policies) {
    if (!policies.is_array()) return policies;
    for (json::value& policy : policies.get_array()) {
        json::value& definition = policy.at("definition");
        definition = json::serialize(definition);
    }
    return policies;
}

Outcome list(const Invocation& invocation, const Kind& kind) {
    const std::string& vhost = invocation.options.vhost;
    invocation.banner("Listing " + std::string(kind.list) + " for vhost " + quoted(vhost) + " ...");
    REVENANT_TRY(const Reply reply, invocation.ask("GET", path_of(invocation, kind)));
    if (reply.status == 404) return no_such_vhost(vhost);
    if (reply.status != 200) return refused(reply);
    const std::vector<std::string> columns = {"vhost",    "name",       "pattern",
                                              "apply-to", "definition", "priority"};
    std::vector<Column> known;
    for (const std::string& column : columns) known.push_back({column, column});
    return invocation.list(with_definitions_as_text(reply.json()), known, columns);
}

Outcome set_policy(const Invocation& invocation) { return set(invocation, of_users); }
Outcome clear_policy(const Invocation& invocation) { return clear(invocation, of_users); }
Outcome list_policies(const Invocation& invocation) { return list(invocation, of_users); }
Outcome set_operator_policy(const Invocation& invocation) { return set(invocation, of_operators); }
Outcome clear_operator_policy(const Invocation& invocation) {
    return clear(invocation, of_operators);
}
Outcome list_operator_policies(const Invocation& invocation) {
    return list(invocation, of_operators);
}

constexpr std::string_view set_usage =
    "[-p VHOST] [--priority N] [--apply-to WHAT] NAME PATTERN DEFINITION";

}  // namespace

std::span<const Command> policy_commands() {
    static constexpr Command commands[] = {
        {"set_policy", 3, 3, set_usage,
         "Sets or replaces a policy: settings, as JSON, for queues and exchanges with matching "
         "names.",
         "set_policy DLX \".*\" '{\"dead-letter-exchange\":\"my-dlx\"}' --apply-to queues",
         set_policy},
        {"clear_policy", 1, 1, "[-p VHOST] NAME", "Removes a policy.", "clear_policy DLX",
         clear_policy},
        {"list_policies", 0, 0, "[-p VHOST]", "Lists the policies of a virtual host.",
         "list_policies --formatter json", list_policies},
        {"set_operator_policy", 3, 3, set_usage,
         "Sets or replaces an operator policy: limits that users' policies cannot exceed.",
         "set_operator_policy limits \".*\" '{\"max-length\":1000000}' --apply-to queues",
         set_operator_policy},
        {"clear_operator_policy", 1, 1, "[-p VHOST] NAME", "Removes an operator policy.",
         "clear_operator_policy limits", clear_operator_policy},
        {"list_operator_policies", 0, 0, "[-p VHOST]",
         "Lists the operator policies of a virtual host.", "list_operator_policies -p qa",
         list_operator_policies},
    };
    return commands;
}

}  // namespace revenant::cli
