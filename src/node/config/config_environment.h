// Settings from environment variables: RABBITMQ_ variables as used for RabbitMQ and its container
// image, and the same names with REVENANT_, which take precedence.
#pragma once

#include "node/config/config_file.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace revenant::node {

using ReadVariable = std::function<std::optional<std::string>(const std::string& name)>;

struct Environment {
    std::string config_file;       // empty: not set
    std::string config_directory;  // empty: not set
    std::vector<Setting> settings;
    std::vector<ConfigError> errors;
    std::vector<std::string> warnings;
};

Environment read_environment(const ReadVariable& variable);
// Reads a variable of this process.
std::optional<std::string> process_variable(const std::string& name);

}  // namespace revenant::node
