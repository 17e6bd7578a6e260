// rabbitmq-plugins: a plugin of RabbitMQ is either built into the broker or not available.
#include "cli/commands/command_tables.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <span>
#include <string>
#include <vector>

namespace revenant::cli {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 7> built_in = {
    "rabbitmq_amqp1_0",     "rabbitmq_auth_mechanism_ssl", "rabbitmq_consistent_hash_exchange",
    "rabbitmq_management",  "rabbitmq_management_agent",   "rabbitmq_prometheus",
    "rabbitmq_web_dispatch"};

Unexpected<Failure> not_found(const std::string& names) {
    return Unexpected{
        Failure{ExitCode::software, "The following plugins could not be found:\n" + names}};
}

std::vector<std::string> unknown_names(const Invocation& invocation) {
    std::vector<std::string> unknown;
    for (const std::string& name : invocation.arguments) {
        if (std::find(built_in.begin(), built_in.end(), name) == built_in.end()) {
            unknown.push_back(name);
        }
    }
    return unknown;
}

std::string joined(std::span<const std::string> names, std::string_view separator) {
    std::string text;
    for (const std::string& name : names) text.append(text.empty() ? "" : separator).append(name);
    return text;
}

Outcome check_names(const Invocation& invocation) {
    const std::vector<std::string> unknown = unknown_names(invocation);
    if (unknown.empty()) return {};
    return not_found(joined(unknown, "\n"));
}

// "Plugin a is", "Plugins a, b are".
std::string subject(std::span<const std::string> names) {
    const bool one = names.size() == 1;
    return (one ? "Plugin " : "Plugins ") + joined(names, ", ") + (one ? " is" : " are");
}

Outcome is_enabled(const Invocation& invocation) {
    const std::string& url = invocation.client.settings().url;
    invocation.banner("Asking node " + url + " if " + subject(invocation.arguments) +
                      " enabled...");
    if (!invocation.options.offline) {
        REVENANT_TRY(const Reply reply, invocation.ask("GET", "/whoami"));
    }
    const std::vector<std::string> unknown = unknown_names(invocation);
    if (unknown.empty()) {
        invocation.say(subject(invocation.arguments) + " enabled on node " + url);
        return {};
    }
    const std::vector<std::string> known(built_in.begin(), built_in.end());
    return operation_failed(subject(unknown) + " not enabled on node " + url +
                            ". Enabled plugins and dependencies: " + joined(known, ", "));
}

Outcome enable(const Invocation& invocation) {
    REVENANT_TRY_VOID(check_names(invocation));
    for (const std::string& name : invocation.arguments) {
        invocation.say(name + " is built in and always enabled");
    }
    return {};
}

Outcome disable(const Invocation& invocation) {
    REVENANT_TRY_VOID(check_names(invocation));
    for (const std::string& name : invocation.arguments) {
        invocation.say(name + " is built in and cannot be disabled");
    }
    return {};
}

Outcome list(const Invocation& invocation) {
    const std::string pattern = invocation.arguments.empty() ? "" : invocation.argument(0);
    json::array plugins;
    for (const std::string_view name : built_in) {
        if (name.find(pattern) == std::string_view::npos) continue;
        plugins.push_back(json::object{{"name", name}, {"enabled", true}, {"running", true}});
    }
    if (invocation.options.only_names || invocation.options.formatter == "table") {
        for (const json::value& plugin : plugins) {
            std::cout << (invocation.options.only_names ? "" : "[E*] ")
                      << plain_text(plugin.at("name")) << '\n';
        }
        return {};
    }
    invocation.print(
        make_table(plugins, {{"name", "name"}, {"enabled", "enabled"}, {"running", "running"}}));
    return {};
}

}  // namespace

std::span<const Command> plugin_commands() {
    static constexpr Command commands[] = {
        {"enable", 1, SIZE_MAX, "PLUGIN ...", "Does nothing for built-in plugins.",
         "enable rabbitmq_management", enable},
        {"disable", 1, SIZE_MAX, "PLUGIN ...", "Does nothing for built-in plugins.",
         "disable rabbitmq_management", disable},
        {"is_enabled", 1, SIZE_MAX, "[--offline] PLUGIN ...",
         "Fails unless all the plugins are built in.", "is_enabled rabbitmq_management",
         is_enabled},
        {"list", 0, 1, "[-E] [-m] [PART]", "Lists the built-in plugins.", "list -E -m", list},
    };
    return commands;
}

}  // namespace revenant::cli
