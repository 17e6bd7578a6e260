#include "node/config/config_environment.h"

#include <array>
#include <cstdlib>
#include <utility>

namespace revenant::node {
namespace {

constexpr std::size_t secret_bytes_max = 4096;

struct Variable {
    std::string_view name;  // after the prefix
    std::string_view key;
};

constexpr std::array<Variable, 5> variables = {{
    {"NODE_PORT", "listeners.tcp.default"},
    {"NODENAME", "node_name"},
    {"DEFAULT_USER", "default_user"},
    {"DEFAULT_PASS", "default_pass"},
    {"DEFAULT_VHOST", "default_vhost"},
}};
// Variables without a counterpart in RabbitMQ.
constexpr std::array<Variable, 4> own_variables = {{
    {"BIND", "bind"},
    {"DATA_DIR", "data_dir"},
    {"HTTP_PORT", "management.tcp.port"},
    {"PROMETHEUS_PORT", "prometheus.tcp.port"},
}};

struct Found {
    std::string name;
    std::string value;
};

std::optional<Found> find(const ReadVariable& variable, std::string_view name) {
    for (const char* prefix : {"REVENANT_", "RABBITMQ_"}) {
        std::string whole = prefix + std::string(name);
        if (auto value = variable(whole)) return Found{std::move(whole), std::move(*value)};
    }
    return std::nullopt;
}

// A percentage of memory such as "50%", or a size, as in RabbitMQ's container image.
Setting watermark(Found found) {
    std::string& value = found.value;
    if (value.ends_with('%')) {
        value.pop_back();
        value = value.size() < 2 ? "0.0" + value : value == "100" ? "1" : "0." + value;
    }
    const bool share = value.find('.') != std::string::npos || value == "0" || value == "1";
    return {Source::environment, std::move(found.name),
            share ? "vm_memory_high_watermark.relative" : "vm_memory_high_watermark.absolute",
            std::move(value)};
}

// DEFAULT_PASS_FILE and others: secrets in files, as containers get them.
void read_secret(const ReadVariable& variable, std::string_view name, std::string_view key,
                 Environment& into) {
    const auto file = find(variable, name);
    if (!file) return;
    auto text = read_text_file(file->value, secret_bytes_max);
    if (!text) {
        into.errors.push_back({file->name, file->value + " " + text.error()});
        return;
    }
    const std::size_t end = text->find_first_of("\r\n");
    into.settings.push_back(
        {Source::environment, file->name, std::string(key), text->substr(0, end)});
}

}  // namespace

Environment read_environment(const ReadVariable& variable) {
    Environment environment;
    const auto take = [&](std::string_view name, std::string& field) {
        if (auto found = find(variable, name)) field = std::move(found->value);
    };
    take("CONFIG_FILE", environment.config_file);
    take("CONFIG_FILES", environment.config_directory);
    for (const Variable& one : variables) {
        if (auto found = find(variable, one.name)) {
            environment.settings.push_back({Source::environment, std::move(found->name),
                                            std::string(one.key), std::move(found->value)});
        }
    }
    for (const Variable& one : own_variables) {
        std::string name = "REVENANT_" + std::string(one.name);
        if (auto value = variable(name)) {
            environment.settings.push_back(
                {Source::environment, std::move(name), std::string(one.key), std::move(*value)});
        }
    }
    read_secret(variable, "DEFAULT_USER_FILE", "default_user", environment);
    read_secret(variable, "DEFAULT_PASS_FILE", "default_pass", environment);
    if (auto found = find(variable, "VM_MEMORY_HIGH_WATERMARK")) {
        environment.settings.push_back(watermark(std::move(*found)));
    }
    if (variable("RABBITMQ_CONF_ENV_FILE")) {
        environment.warnings.emplace_back(
            "RABBITMQ_CONF_ENV_FILE is ignored; set the variables directly");
    }
    return environment;
}

std::optional<std::string> process_variable(const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
}

}  // namespace revenant::node
