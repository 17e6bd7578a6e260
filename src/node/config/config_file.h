// Configuration files as RabbitMQ writes them: key = value, one per line, # comments. A value that
// has a # or blanks at its ends stands in single quotes. What the keys mean is not known here.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::node {

enum class Source : std::uint8_t { file, environment, command_line };  // the later one wins

// One thing somebody said.
struct Setting {
    Source source = Source::file;
    std::string origin;  // "/etc/revenant/revenant.conf:12", "RABBITMQ_NODE_PORT", "--port"
    std::string key;
    std::string value;
};

// Something that keeps the node from starting.
struct ConfigError {
    std::string origin;
    std::string text;
};

struct ConfigLines {
    std::vector<Setting> settings;
    std::vector<ConfigError> errors;
    std::vector<std::string> files;  // that were read
};

constexpr std::size_t config_file_bytes_max = 4U << 20;

ConfigLines parse_config(std::string_view text, std::string_view file_name);

// The file, if one is named, then those of the directory whose names end in .conf, in the order of
// their names. RabbitMQ lets people leave the ending .conf of the file out.
ConfigLines read_config_files(const std::string& file, const std::string& directory);

// The directory conf.d beside the file.
std::string conf_d_beside(const std::string& file);
// rabbitmq.conf of the directory; empty if it does not exist.
std::string rabbitmq_file_in(const std::string& directory);
// advanced.config of the directory, an Erlang term, if it exists and says anything.
std::string advanced_file_in(const std::string& directory);

// At most so many bytes; the error says what cannot be done.
Result<std::string, std::string> read_text_file(const std::string& path, std::size_t bytes_max);

}  // namespace revenant::node
