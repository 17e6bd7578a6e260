// The options of the program revenant. Most are another spelling of a key of the configuration.
#pragma once

#include "node/config/configuration.h"

#include <optional>

namespace revenant::node {

struct CommandLine {
    Sources sources;
    bool check_config = false;
    bool list_config_keys = false;
};

// The status to exit with, if there is nothing to start: --help, --version or a mistake.
std::optional<int> parse_command_line(int argc, char** argv, CommandLine& into);

}  // namespace revenant::node
