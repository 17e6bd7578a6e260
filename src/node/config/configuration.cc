#include "node/config/configuration.h"

#include "node/config/host_name.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace revenant::node {
namespace {

constexpr std::string_view no_effect_text = "has no effect in this version";
constexpr std::string_view single_node_text = "applies to clusters only";

std::string_view status_text(KeyStatus status) {
    switch (status) {
        case KeyStatus::without_effect:
            return no_effect_text;
        case KeyStatus::cluster_only:
            return single_node_text;
        case KeyStatus::no_meaning:
            return "has no effect in Revenant";
        case KeyStatus::of_absent_plugin:
            return "belongs to a plugin that is not supported";
        case KeyStatus::refuses_start:
            return "prevents startup";
        case KeyStatus::active:
            break;
    }
    return {};
}

std::string unknown_key(const Setting& setting) {
    std::string text = "unknown key '" + setting.key + "'";
    const std::string near = nearest_config_key(setting.key);
    if (!near.empty()) text += "; did you mean '" + near + "'?";
    return text;
}

void apply(const Setting& setting, Configuration& into) {
    const ConfigKey* const key = find_config_key(setting.key);
    if (key == nullptr) {
        into.errors.push_back({setting.origin, unknown_key(setting)});
        return;
    }
    if (key->trait == Trait::secret && key->status == KeyStatus::active &&
        setting.value.starts_with("encrypted:")) {
        into.errors.push_back(
            {setting.origin, setting.key + ": encrypted values are not supported"});
        return;
    }
    Assignment assignment{into.config, setting, *match_key(key->pattern, setting.key)};
    if (const auto done = key->apply(assignment); !done) {
        const bool hidden = key->trait == Trait::secret && key->status != KeyStatus::refuses_start;
        into.errors.push_back(
            {setting.origin, setting.key + ": " + (hidden ? "invalid value" : done.error())});
        return;
    }
    const bool to_tell =
        key->status != KeyStatus::active && key->status != KeyStatus::refuses_start;
    if (to_tell && setting.value != key->default_value) {
        into.warnings.push_back(setting.origin + ": " + setting.key + ": " +
                                std::string(status_text(key->status)));
    }
    into.effective[setting.key] = {setting.value, setting.origin, key};
}

// As in RabbitMQ, plain HTTP is not served if only TLS is configured.
void leave_out_plain_http(Configuration& configuration) {
    const auto said = [&](const std::string& prefix) {
        return configuration.effective.contains(prefix + ".tcp.port") ||
               configuration.effective.contains(prefix + ".tcp.ip") ||
               configuration.effective.contains(prefix + ".tcp.listener");
    };
    Config& config = configuration.config;
    if (config.tls.http.endpoint && !said("management")) config.http.reset();
    if (config.tls.prometheus.endpoint && !said("prometheus")) config.prometheus.reset();
}

std::string shown_value(const ConfigKey& key, const std::string& value) {
    if (key.trait == Trait::secret) return "(hidden)";
    const bool quotes = value.empty() || value.find('#') != std::string::npos;
    return quotes ? "'" + value + "'" : value;
}

void show_line(const std::string& name, const ConfigKey& key, const std::string& value,
               const std::string& origin, std::string& into) {
    into += name + " = " + shown_value(key, value) + "  # " + origin;
    if (key.status != KeyStatus::active) {
        into += ", ";
        into += status_text(key.status);
    }
    into += '\n';
}

void check_frame_max(Configuration& configuration) {
    const std::uint32_t frame_max = configuration.config.connection.frame_max;
    const std::uint32_t min = configuration.config.compat == "3.12" ? 4096 : 8192;
    const auto said = configuration.effective.find("frame_max");
    if (frame_max == 0 || frame_max >= min || said == configuration.effective.end()) return;
    configuration.errors.push_back(
        {said->second.origin, "frame_max: " + std::string(frame_max_range)});
}

void check_default_users(Configuration& configuration) {
    for (const auto& [name, one] : configuration.config.default_users) {
        if (name.size() <= Catalog::name_bytes_max) continue;
        const auto said = configuration.effective.lower_bound("default_users." + name + ".");
        configuration.errors.push_back(
            {said->second.origin, "default_users: name is longer than 255 bytes"});
    }
}

// A policy is checked when all its keys are known. A policy without a definition is ignored; its
// keys have no effect in Revenant and are named in the log.
void check_default_policies(Configuration& configuration) {
    auto& policies = configuration.config.default_policies;
    std::erase_if(policies, [](const auto& one) { return one.second.policy.definition.empty(); });
    for (const auto& [name, one] : policies) {
        auto problem = engine::check_policy(engine::PolicyScope::operator_only, one.policy);
        if (!problem) continue;
        const std::string prefix = "default_policies.operator." + name;
        const auto said = configuration.effective.lower_bound(prefix + ".");
        configuration.errors.push_back({said->second.origin, prefix + ": " + *problem});
    }
}

ConfigLines read_with_directory(const std::string& file, const std::string& directory) {
    return read_config_files(file, directory.empty() ? conf_d_beside(file) : directory);
}

// Listeners of a file replace all listeners of earlier files, whatever their names.
void put_over(ConfigLines&& above, ConfigLines& below) {
    for (const std::string_view group : {"listeners.tcp", "listeners.ssl"}) {
        const auto of_group = [&](const Setting& setting) {
            return setting.key.starts_with(group);
        };
        if (std::none_of(above.settings.begin(), above.settings.end(), of_group)) continue;
        std::erase_if(below.settings, of_group);
    }
    std::move(above.settings.begin(), above.settings.end(), std::back_inserter(below.settings));
    std::move(above.errors.begin(), above.errors.end(), std::back_inserter(below.errors));
    std::move(above.files.begin(), above.files.end(), std::back_inserter(below.files));
}

ConfigLines read_all_files(const Sources& sources, const Environment& environment) {
    if (sources.rabbitmq_directory.empty()) {
        return read_with_directory(
            sources.config_file.empty() ? environment.config_file : sources.config_file,
            environment.config_directory);
    }
    const std::string& directory = sources.rabbitmq_directory;
    ConfigLines lines = read_with_directory(sources.config_file, "");
    std::string further = environment.config_directory;
    if (further.empty()) further = conf_d_beside(directory + "/rabbitmq.conf");
    put_over(read_with_directory(environment.config_file.empty() ? rabbitmq_file_in(directory)
                                                                 : environment.config_file,
                                 further),
             lines);
    if (const std::string advanced = advanced_file_in(directory); !advanced.empty()) {
        lines.errors.push_back(
            {advanced,
             "not supported and may restrict access: move the settings to rabbitmq.conf"});
    }
    return lines;
}

// The value of $(NAME), as in RabbitMQ: an environment variable, or the value of another key.
std::optional<std::string> look_up(const std::string& name, const ReadVariable& variable,
                                   const std::vector<Setting>& settings) {
    if (auto value = variable(name)) return value;
    for (const Setting& setting : settings) {
        if (setting.key == name) return setting.value;
    }
    return std::nullopt;
}

void fill_in_variables(Setting& setting, const ReadVariable& variable, ConfigLines& lines) {
    std::string filled;
    std::string_view rest = setting.value;
    while (true) {
        const std::size_t begin = rest.find("$(");
        const std::size_t end = begin == std::string_view::npos ? begin : rest.find(')', begin);
        if (end == std::string_view::npos) break;
        const std::string name(rest.substr(begin + 2, end - begin - 2));
        filled += rest.substr(0, begin);
        if (const auto value = look_up(name, variable, lines.settings)) {
            filled += *value;
        } else {
            lines.errors.push_back(
                {setting.origin,
                 setting.key + ": " + name + " is neither an environment variable nor a key"});
        }
        rest.remove_prefix(end + 1);
    }
    filled += rest;
    setting.value = std::move(filled);
}

}  // namespace

Configuration load_configuration(const Sources& sources) {
    Configuration result;
    result.config.node_name = "rabbit@" + short_host_name();
    result.config.connection.cluster_name = result.config.node_name;
    Environment environment = read_environment(sources.variable);
    ConfigLines lines = read_all_files(sources, environment);
    for (Setting& setting : lines.settings) {
        fill_in_variables(setting, sources.variable, lines);
    }
    result.errors = std::move(lines.errors);
    std::move(environment.errors.begin(), environment.errors.end(),
              std::back_inserter(result.errors));
    result.warnings = std::move(environment.warnings);
    for (const Setting& setting : lines.settings) apply(setting, result);
    for (const Setting& setting : environment.settings) apply(setting, result);
    for (const Setting& setting : sources.command_line) apply(setting, result);
    check_frame_max(result);
    check_default_users(result);
    check_default_policies(result);
    // A name without a host gets the local host name, as is usual for RABBITMQ_NODENAME.
    if (std::string& name = result.config.node_name; name.find('@') == std::string::npos) {
        name += "@" + short_host_name();
    }
    leave_out_plain_http(result);
    for (const auto& [name, setting] : result.effective) {
        result.config.explicit_settings[name] = shown_value(*setting.key, setting.value);
    }
    result.config.files = std::move(lines.files);
    return result;
}

std::string format_errors(const Configuration& configuration) {
    std::string text;
    for (const ConfigError& fault : configuration.errors) {
        text += fault.origin + ": " + fault.text + "\n";
    }
    return text;
}

std::string format_configuration(const Configuration& configuration) {
    std::string text;
    for (const ConfigKey& key : config_keys()) {
        bool said = false;
        for (const auto& [name, setting] : configuration.effective) {
            if (setting.key != &key) continue;
            show_line(name, key, setting.value, setting.origin, text);
            said = true;
        }
        if (said || key.default_value.empty() || key.status != KeyStatus::active) continue;
        // The default of a key with a variable is shown as a comment, unless `x = none` is set.
        const std::size_t variable = key.pattern.find(".$");
        if (variable != std::string_view::npos) {
            if (configuration.effective.contains(key.pattern.substr(0, variable))) continue;
            text += "# ";
        }
        show_line(std::string(key.pattern), key, std::string(key.default_value), "default", text);
    }
    return text;
}

std::vector<std::string> format_changes(const Configuration& before, const Configuration& after) {
    std::vector<std::string> changes;
    const auto compare = [&](const std::string& name, const ConfigKey& key,
                             const EffectiveSetting* old_one, const EffectiveSetting* new_one) {
        const std::string from =
            old_one != nullptr ? old_one->value : std::string(key.default_value);
        const std::string to = new_one != nullptr ? new_one->value : std::string(key.default_value);
        if (from == to) return;
        std::string text =
            name + " changed from " + shown_value(key, from) + " to " + shown_value(key, to);
        if (key.trait != Trait::reloadable) text += ": takes effect after a restart";
        changes.push_back(std::move(text));
    };
    const auto find = [](const Configuration& in, const std::string& name) {
        const auto found = in.effective.find(name);
        return found == in.effective.end() ? nullptr : &found->second;
    };
    for (const auto& [name, setting] : before.effective) {
        compare(name, *setting.key, &setting, find(after, name));
    }
    for (const auto& [name, setting] : after.effective) {
        if (find(before, name) == nullptr) compare(name, *setting.key, nullptr, &setting);
    }
    return changes;
}

std::string format_keys_as_markdown() {
    std::string text = "| key | default | meaning |\n| --- | --- | --- |\n";
    for (const ConfigKey& key : config_keys()) {
        text += "| `" + std::string(key.pattern) + "` | ";
        if (!key.default_value.empty()) text += "`" + std::string(key.default_value) + "` ";
        text += "| " + std::string(key.meaning);
        if (key.status != KeyStatus::active) {
            if (!key.meaning.empty()) text += "; ";
            text += "**" + std::string(status_text(key.status)) + "**";
        }
        if (key.trait == Trait::reloadable) text += " (reloads)";
        text += " |\n";
    }
    return text;
}

}  // namespace revenant::node
