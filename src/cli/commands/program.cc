// The program itself; no node is asked.
#include "cli/commands/command_tables.h"
#include "cli/commands/help.h"

#include <iostream>

namespace revenant::cli {
namespace {

// The release of RabbitMQ whose commands these are.
constexpr std::string_view compatible_version = "4.3.0";

Outcome version(const Invocation& /*invocation*/) {
    std::cout << compatible_version << '\n';
    return {};
}

// For the completion of a shell.
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
        {"version", 0, 0, "", "Prints the release of RabbitMQ whose commands these are.", "version",
         version},
        {"autocomplete", 0, 1, "[BEGINNING]", "Lists commands that begin so, for shells.",
         "autocomplete list_", autocomplete},
    };
    return commands;
}

}  // namespace revenant::cli
