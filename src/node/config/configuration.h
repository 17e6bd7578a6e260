// Configuration: the sources put together. Defaults, then files, then the environment, then the
// command line: the later one wins. All faults are found at once, not one per start.
#pragma once

#include "node/config/config.h"
#include "node/config/config_environment.h"
#include "node/config/config_file.h"
#include "node/config/config_keys.h"

#include <map>
#include <string>
#include <vector>

namespace revenant::node {

// Where to look, so that it can be looked at again.
struct Sources {
    std::string config_file;  // of the command line; empty: what the environment says
    // Where RabbitMQ's configuration may be, read after config_file; empty: nowhere.
    std::string rabbitmq_directory;
    std::vector<Setting> command_line;
    ReadVariable variable = process_variable;
};

// A key in force.
struct EffectiveSetting {
    std::string value;
    std::string origin;  // empty: the default
    const ConfigKey* key = nullptr;
};

struct Configuration {
    Config config;
    std::vector<ConfigError> errors;
    std::vector<std::string> warnings;
    std::map<std::string, EffectiveSetting, std::less<>> effective;  // what somebody said, by key
};

Configuration load_configuration(const Sources& sources);

// One line per fault.
std::string format_errors(const Configuration& configuration);
// Every key with its value and who said it; no secrets.
std::string format_configuration(const Configuration& configuration);
// What a reload finds different, in words; whether it comes into force or needs a restart.
std::vector<std::string> format_changes(const Configuration& before, const Configuration& after);
// The rows of the table in docs/configuration.md.
std::string format_keys_as_markdown();

}  // namespace revenant::node
