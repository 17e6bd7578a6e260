// What the environment says: RABBITMQ_ variables as people set them for RabbitMQ and its container
// image, and the same names with REVENANT_, which win.
#pragma once

#include "node/config/config_file.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace revenant::node {

using ReadVariable = std::function<std::optional<std::string>(const std::string& name)>;

struct Environment {
    std::string config_file;       // empty: none is named
    std::string config_directory;  // likewise
    std::vector<Setting> settings;
    std::vector<ConfigError> errors;
    std::vector<std::string> warnings;
};

Environment read_environment(const ReadVariable& variable);
// Of this process.
std::optional<std::string> process_variable(const std::string& name);

}  // namespace revenant::node
