// Command line options of revenant. Most set a configuration key.
#pragma once

#include "node/config/configuration.h"

#include <optional>

namespace revenant::node {

struct CommandLine {
    Sources sources;
    bool check_config = false;
    bool list_config_keys = false;
};

// Returns the exit status for --help, --version or an error; nothing if the node is to start.
std::optional<int> parse_command_line(int argc, char** argv, CommandLine& into);

}  // namespace revenant::node
