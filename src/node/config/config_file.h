// Configuration files in RabbitMQ's format: key = value, one per line, # comments. A value with a #
// or with leading or trailing blanks is in single quotes. This parser does not interpret keys.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::node {

enum class Source : std::uint8_t {
    file,
    environment,
    command_line
};  // later sources take precedence

// One setting from a source.
struct Setting {
    Source source = Source::file;
    std::string origin;  // "/etc/revenant/revenant.conf:12", "RABBITMQ_NODE_PORT", "--port"
    std::string key;
    std::string value;
};

// An error that prevents startup.
struct ConfigError {
    std::string origin;
    std::string text;
};

struct ConfigLines {
    std::vector<Setting> settings;
    std::vector<ConfigError> errors;
    std::vector<std::string> files;  // files that were read
};

constexpr std::size_t config_file_bytes_max = 4U << 20;

ConfigLines parse_config(std::string_view text, std::string_view file_name);

// Reads the file, if given, then the .conf files of the directory in the order of their names. The
// suffix .conf of the file may be omitted, as in RabbitMQ.
ConfigLines read_config_files(const std::string& file, const std::string& directory);

// The directory conf.d next to the file.
std::string conf_d_beside(const std::string& file);
// The path of rabbitmq.conf in the directory; empty if it does not exist.
std::string rabbitmq_file_in(const std::string& directory);
// The path of advanced.config in the directory, if it exists and contains any settings.
std::string advanced_file_in(const std::string& directory);

// Reads at most `bytes_max` bytes.
Result<std::string, std::string> read_text_file(const std::string& path, std::size_t bytes_max);

}  // namespace revenant::node
