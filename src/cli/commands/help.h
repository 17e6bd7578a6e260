// Which commands there are under which name of the program, and what is said about them.
#pragma once

#include "cli/console/command.h"
#include "cli/console/options.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::cli {

// Of the program of that name; all but rabbitmq-plugins have all commands but those of plugins.
std::vector<Command> commands_of(std::string_view program);
const Command* find_command(std::string_view program, std::string_view name);
// The command that looks most like it; empty if none does.
std::string nearest_command(std::string_view program, std::string_view name);

std::string usage_of(std::string_view program, const Command& command);
std::string help_on_all(const CommandLine& line);
std::optional<std::string> help_on(const CommandLine& line, std::string_view name);

}  // namespace revenant::cli
