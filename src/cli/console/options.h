// The command line: options at any position, as in rabbitmqctl, and the other words.
#pragma once

#include "cli/console/command.h"

#include <optional>
#include <string>
#include <vector>

namespace revenant::cli {

struct CommandLine {
    std::string program;
    Options options;
    std::vector<std::string> words;  // the command and its arguments
    bool help = false;
    bool version = false;
    std::string options_help;
};

// Returns the error, if any.
std::optional<std::string> parse_command_line(int argc, char** argv, CommandLine& into);

}  // namespace revenant::cli
