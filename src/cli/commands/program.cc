// Commands about the program itself. They send no request to a node.
#include "cli/commands/command_tables.h"
#include "cli/commands/help.h"

#include <iostream>

namespace revenant::cli {
namespace {

// The RabbitMQ release whose commands are implemented.
constexpr std::string_view compatible_version = "4.3.0";

Outcome version(const Invocation& /*invocation*/) {
    std::cout << compatible_version << '\n';
    return {};
}

// For shell completion.
Outcome autocomplete(const Invocation& invocation) {
    const std::string begin = invocation.arguments.empty() ? "" : invocation.argument(0);
    for (const Command& command : commands_of(invocation.program)) {
        if (command.name.starts_with(begin)) std::cout << command.name << '\n';
    }
    return {};
}

}  // namespace

std::span<const Command> program_commands() {
    static constexpr Command commands[] = {
        {"version", 0, 0, "", "Prints the RabbitMQ release whose commands are implemented.",
         "version", version},
        {"autocomplete", 0, 1, "[PREFIX]", "Lists commands with a prefix, for shell completion.",
         "autocomplete list_", autocomplete},
    };
    return commands;
}

}  // namespace revenant::cli
