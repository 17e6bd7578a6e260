// rabbitmq-plugins: what RabbitMQ has as plugins is part of the broker here, or is not there.
#include "cli/command.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <array>
#include <iostream>

namespace revenant::cli {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 5> built_in = {
    "rabbitmq_management", "rabbitmq_management_agent", "rabbitmq_prometheus",
    "rabbitmq_web_dispatch", "rabbitmq_amqp1_0"};

Unexpected<Failure> not_found(const std::string& names) {
    return Unexpected{
        Failure{ExitCode::software, "The following plugins could not be found:\n" + names}};
}

Outcome check_names(const Invocation& invocation) {
    std::string unknown;
    for (const std::string& name : invocation.arguments) {
        if (std::find(built_in.begin(), built_in.end(), name) == built_in.end()) {
            unknown += name + "\n";
        }
    }
    if (unknown.empty()) return {};
    unknown.pop_back();
    return not_found(unknown);
}

Outcome enable(const Invocation& invocation) {
    REVENANT_TRY_VOID(check_names(invocation));
    for (const std::string& name : invocation.arguments) {
        invocation.say(name + " is part of the broker and always on");
    }
    return {};
}

Outcome disable(const Invocation& invocation) {
    REVENANT_TRY_VOID(check_names(invocation));
    for (const std::string& name : invocation.arguments) {
        invocation.say(name + " is part of the broker and stays on");
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
        {"enable", 1, SIZE_MAX, "PLUGIN ...", "Succeeds for what is part of the broker.",
         "enable rabbitmq_management", enable},
        {"disable", 1, SIZE_MAX, "PLUGIN ...", "Succeeds for what is part of the broker.",
         "disable rabbitmq_management", disable},
        {"list", 0, 1, "[-E] [-m] [PART]", "Lists what RabbitMQ has as plugins.", "list -E -m",
         list},
    };
    return commands;
}

}  // namespace revenant::cli
