// Configuration: the combined sources. Defaults, files, environment, command line; later sources
// take precedence. All errors are reported together.
#pragma once

#include "node/config/config.h"
#include "node/config/config_environment.h"
#include "node/config/config_file.h"
#include "node/config/config_keys.h"

#include <map>
#include <string>
#include <vector>

namespace revenant::node {

// The sources, kept for a reload.
struct Sources {
    std::string config_file;  // from the command line; empty: from the environment
    // RabbitMQ's configuration directory, read after config_file; empty: none.
    std::string rabbitmq_directory;
    std::vector<Setting> command_line;
    ReadVariable variable = process_variable;
};

// An effective setting.
struct EffectiveSetting {
    std::string value;
    std::string origin;  // empty: default
    const ConfigKey* key = nullptr;
};

struct Configuration {
    Config config;
    std::vector<ConfigError> errors;
    std::vector<std::string> warnings;
    std::map<std::string, EffectiveSetting, std::less<>> effective;  // explicit settings, by key
};

Configuration load_configuration(const Sources& sources);

// One line per error.
std::string format_errors(const Configuration& configuration);
// Every key with its value and source, without secrets.
std::string format_configuration(const Configuration& configuration);
// Describes the changes that a reload found, and whether they need a restart.
std::vector<std::string> format_changes(const Configuration& before, const Configuration& after);
// The rows of the table in docs/configuration.md.
std::string format_keys_as_markdown();

}  // namespace revenant::node
