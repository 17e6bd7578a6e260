// The command line: options anywhere, as rabbitmqctl has them, and the words that are left.
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

// What is wrong with it, if something is.
std::optional<std::string> parse_command_line(int argc, char** argv, CommandLine& into);

}  // namespace revenant::cli
