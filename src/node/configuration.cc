#include "node/configuration.h"

#include "node/host_name.h"

#include <iterator>
#include <utility>

namespace revenant::node {
namespace {

constexpr std::string_view no_effect_text = "has no effect in this version";
constexpr std::string_view single_node_text = "has no meaning on a single node";

std::string_view standing_text(Standing standing) {
    switch (standing) {
        case Standing::no_effect_yet:
            return no_effect_text;
        case Standing::of_clusters_only:
            return single_node_text;
        case Standing::works:
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
        into.faults.push_back({setting.origin, unknown_key(setting)});
        return;
    }
    Assignment assignment{into.config, setting, *match_key(key->pattern, setting.key)};
    if (const auto done = key->apply(assignment); !done) {
        const bool hidden = key->trait == Trait::secret;
        into.faults.push_back(
            {setting.origin,
             setting.key + ": " + (hidden ? "the value is not usable" : done.error())});
        return;
    }
    if (key->standing != Standing::works && setting.value != key->fallback) {
        into.warnings.push_back(setting.origin + ": " + setting.key + ": " +
                                std::string(standing_text(key->standing)));
    }
    into.in_force[setting.key] = {setting.value, setting.origin, key};
}

// As in RabbitMQ: who configures TLS and says nothing of plain HTTP gets TLS alone.
void leave_out_plain_http(Configuration& configuration) {
    const auto said = [&](const std::string& prefix) {
        return configuration.in_force.contains(prefix + ".tcp.port") ||
               configuration.in_force.contains(prefix + ".tcp.ip");
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
    if (key.standing != Standing::works) {
        into += ", ";
        into += standing_text(key.standing);
    }
    into += '\n';
}

}  // namespace

Configuration load_configuration(const Sources& sources) {
    Configuration result;
    result.config.node_name = "revenant@" + short_host_name();
    result.config.connection.cluster_name = result.config.node_name;
    Environment environment = read_environment(sources.variable);
    const std::string& file =
        sources.config_file.empty() ? environment.config_file : sources.config_file;
    ConfigLines lines = read_config_files(file, environment.config_directory.empty()
                                                    ? directory_beside(file)
                                                    : environment.config_directory);
    result.faults = std::move(lines.faults);
    std::move(environment.faults.begin(), environment.faults.end(),
              std::back_inserter(result.faults));
    result.warnings = std::move(environment.warnings);
    for (const Setting& setting : lines.settings) apply(setting, result);
    for (const Setting& setting : environment.settings) apply(setting, result);
    for (const Setting& setting : sources.command_line) apply(setting, result);
    leave_out_plain_http(result);
    for (const auto& [name, setting] : result.in_force) {
        result.config.said[name] = shown_value(*setting.key, setting.value);
    }
    result.config.files = std::move(lines.files);
    return result;
}

std::string show_faults(const Configuration& configuration) {
    std::string text;
    for (const Fault& fault : configuration.faults) {
        text += fault.origin + ": " + fault.text + "\n";
    }
    return text;
}

std::string show_configuration(const Configuration& configuration) {
    std::string text;
    for (const ConfigKey& key : config_keys()) {
        bool said = false;
        for (const auto& [name, setting] : configuration.in_force) {
            if (setting.key != &key) continue;
            show_line(name, key, setting.value, setting.origin, text);
            said = true;
        }
        if (said || key.fallback.empty() || key.standing != Standing::works) continue;
        // Defaults of keys with a variable are no lines of a file, and gone once `x = none` is
        // said.
        const std::size_t variable = key.pattern.find(".$");
        if (variable != std::string_view::npos) {
            if (configuration.in_force.contains(key.pattern.substr(0, variable))) continue;
            text += "# ";
        }
        show_line(std::string(key.pattern), key, std::string(key.fallback), "default", text);
    }
    return text;
}

std::vector<std::string> show_changes(const Configuration& before, const Configuration& after) {
    std::vector<std::string> changes;
    const auto compare = [&](const std::string& name, const ConfigKey& key, const InForce* old_one,
                             const InForce* new_one) {
        const std::string from = old_one != nullptr ? old_one->value : std::string(key.fallback);
        const std::string to = new_one != nullptr ? new_one->value : std::string(key.fallback);
        if (from == to) return;
        std::string text =
            name + " changed from " + shown_value(key, from) + " to " + shown_value(key, to);
        if (key.trait != Trait::reloads) text += ": needs a restart";
        changes.push_back(std::move(text));
    };
    const auto find = [](const Configuration& in, const std::string& name) {
        const auto found = in.in_force.find(name);
        return found == in.in_force.end() ? nullptr : &found->second;
    };
    for (const auto& [name, setting] : before.in_force) {
        compare(name, *setting.key, &setting, find(after, name));
    }
    for (const auto& [name, setting] : after.in_force) {
        if (find(before, name) == nullptr) compare(name, *setting.key, nullptr, &setting);
    }
    return changes;
}

std::string show_keys_as_markdown() {
    std::string text = "| key | default | meaning |\n| --- | --- | --- |\n";
    for (const ConfigKey& key : config_keys()) {
        text += "| `" + std::string(key.pattern) + "` | ";
        if (!key.fallback.empty()) text += "`" + std::string(key.fallback) + "` ";
        text += "| " + std::string(key.meaning);
        if (key.standing != Standing::works) {
            if (!key.meaning.empty()) text += "; ";
            text += "**" + std::string(standing_text(key.standing)) + "**";
        }
        if (key.trait == Trait::reloads) text += " (reloads)";
        text += " |\n";
    }
    return text;
}

}  // namespace revenant::node
