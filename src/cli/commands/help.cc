#include "cli/commands/help.h"

#include "base/edit_distance.h"
#include "cli/commands/command_tables.h"

#include <algorithm>

namespace revenant::cli {
namespace {

struct Group {
    std::string_view title;
    std::span<const Command> commands;
};

std::vector<Group> groups_of(std::string_view program) {
    if (program == "rabbitmq-plugins")
        return {{"Plugins", plugin_commands()}, {"Program", program_commands()}};
    return {{"Node", node_commands()},
            {"Health", diagnostic_commands()},
            {"Further checks", check_commands()},
            {"Reports", report_commands()},
            {"Maintenance", maintenance_commands()},
            {"Cluster", cluster_commands()},
            {"Users", user_commands()},
            {"Virtual hosts", vhost_commands()},
            {"Permissions", permission_commands()},
            {"Policies", policy_commands()},
            {"Parameters", parameter_commands()},
            {"Limits", limit_commands()},
            {"Queues, exchanges, bindings, consumers", object_commands()},
            {"Connections and channels", connection_commands()},
            {"Definitions", definition_commands()},
            {"Program", program_commands()},
            {"Not supported", unsupported_commands()}};
}

}  // namespace

std::vector<Command> commands_of(std::string_view program) {
    std::vector<Command> all;
    for (const Group& group : groups_of(program)) {
        all.insert(all.end(), group.commands.begin(), group.commands.end());
    }
    return all;
}

const Command* find_command(std::string_view program, std::string_view name) {
    for (const Group& group : groups_of(program)) {
        for (const Command& command : group.commands) {
            if (command.name == name) return &command;
        }
    }
    return nullptr;
}

std::string nearest_command(std::string_view program, std::string_view name) {
    std::string_view nearest;
    std::size_t least = std::max<std::size_t>(2, name.size() / 4) + 1;
    for (const Command& command : commands_of(program)) {
        const std::size_t far = edit_distance(command.name, name);
        if (far >= least) continue;
        least = far;
        nearest = command.name;
    }
    return std::string(nearest);
}

std::string usage_of(std::string_view program, const Command& command) {
    std::string text = "\nUsage: " + std::string(program) + " " + std::string(command.name);
    if (!command.usage.empty()) text += " " + std::string(command.usage);
    return text + "\n";
}

std::string help_on_all(const CommandLine& line) {
    std::string text = line.options_help + "\nCommands:\n";
    for (const Group& group : groups_of(line.program)) {
        text += "\n " + std::string(group.title) + ":\n";
        for (const Command& command : group.commands) {
            text += "  " + std::string(command.name);
            if (!command.usage.empty()) text += " " + std::string(command.usage);
            text += "\n      " + std::string(command.summary) + "\n";
        }
    }
    return text + "\n'" + line.program + " help COMMAND' shows an example.\n";
}

std::optional<std::string> help_on(const CommandLine& line, std::string_view name) {
    const Command* const command = find_command(line.program, name);
    if (command == nullptr) return std::nullopt;
    return usage_of(line.program, *command).substr(1) + "\n" + std::string(command->summary) +
           "\n\nExample:\n  " + line.program + " " + std::string(command->example) + "\n";
}

}  // namespace revenant::cli
