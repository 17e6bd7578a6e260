// The commands available under each program name, and their help texts.
#pragma once

#include "cli/console/command.h"
#include "cli/console/options.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::cli {

// rabbitmq-plugins has the plugin commands; every other program has all the other commands.
std::vector<Command> commands_of(std::string_view program);
const Command* find_command(std::string_view program, std::string_view name);
// The command with the most similar name; empty if none is similar enough.
std::string nearest_command(std::string_view program, std::string_view name);

std::string usage_of(std::string_view program, const Command& command);
std::string help_on_all(const CommandLine& line);
std::optional<std::string> help_on(const CommandLine& line, std::string_view name);

}  // namespace revenant::cli
