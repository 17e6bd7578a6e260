#include "node/config/config_keys.h"

#include "base/edit_distance.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace revenant::node {
namespace {

std::vector<std::string_view> parts_of(std::string_view key) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t dot = key.find('.');
        parts.push_back(key.substr(0, dot));
        if (dot == std::string_view::npos) return parts;
        key.remove_prefix(dot + 1);
    }
}

struct Guess {
    std::string key;
    std::size_t distance = SIZE_MAX;
};

// Parts that match a variable are arbitrary and do not count for the distance.
Guess guess_by(std::string_view pattern, std::string_view key) {
    if (pattern.find_first_of("$*") == std::string_view::npos) {
        return {std::string(pattern), edit_distance(pattern, key)};
    }
    const auto wanted = parts_of(pattern);
    const auto given = parts_of(key);
    const bool open_end = wanted.back() == "*";
    if (open_end ? given.size() < wanted.size() : given.size() != wanted.size()) return {};
    Guess guess{"", 0};
    for (std::size_t i = 0; i < given.size(); ++i) {
        const bool free = i >= wanted.size() || wanted[i] == "*" || wanted[i].starts_with('$');
        if (!free) guess.distance += edit_distance(wanted[i], given[i]);
        if (i > 0) guess.key += '.';
        guess.key += free ? given[i] : wanted[i];
    }
    return guess;
}

// Beyond this distance, a suggestion is more likely wrong than right.
std::size_t guess_distance_max(std::string_view key) {
    return std::clamp<std::size_t>(key.size() / 5, 1, 3);
}

}  // namespace

Assignment::Outcome Assignment::flag(bool& field) {
    REVENANT_TRY(field, parse_flag(setting.value));
    return {};
}

Assignment::Outcome Assignment::limit(std::optional<std::uint64_t>& field, std::uint64_t max) {
    REVENANT_TRY(field, parse_limit(setting.value, max));
    return {};
}

Assignment::Outcome Assignment::text(std::string& field) {
    if (setting.value.empty()) return Unexpected{std::string("must not be empty")};
    field = setting.value;
    return {};
}

Assignment::Outcome Assignment::level(LogLevel& field) {
    REVENANT_TRY(field, parse_log_level(setting.value));
    return {};
}

Assignment::Outcome Assignment::format(LogFormat& field) {
    std::string name;
    REVENANT_TRY_VOID(one_of(name, {"plaintext", "json"}));
    field = name == "json" ? LogFormat::json : LogFormat::plaintext;
    return {};
}

Assignment::Outcome Assignment::one_of(std::string& field,
                                       const std::vector<std::string_view>& choices) {
    if (std::find(choices.begin(), choices.end(), setting.value) != choices.end()) {
        field = setting.value;
        return {};
    }
    std::string all;
    for (const std::string_view& choice : choices) {
        if (!all.empty()) all += &choice == &choices.back() ? " or " : ", ";
        all += choice;
    }
    return Unexpected{"'" + setting.value + "' is not " + all};
}

Assignment::Outcome Assignment::milliseconds(Duration& field) {
    std::uint64_t count = 0;
    REVENANT_TRY_VOID(number(count, 1, 86'400'000));
    field = revenant::milliseconds(static_cast<std::int64_t>(count));
    return {};
}

Assignment::Outcome Assignment::readable_file(std::string& field) {
    if (::access(setting.value.c_str(), R_OK) != 0) {
        return Unexpected{"cannot read file '" + setting.value + "': " + std::strerror(errno)};
    }
    field = setting.value;
    return {};
}

Endpoint::BindScope Assignment::reach() const {
    return setting.source == Source::command_line ? Endpoint::BindScope::loopback
                                                  : Endpoint::BindScope::all_interfaces;
}

Assignment::Outcome Assignment::port(Endpoint& field) {
    REVENANT_TRY(field.port, parse_port(setting.value));
    // A port on the command line does not narrow a configured listener.
    if (setting.source != Source::command_line) field.reach = reach();
    return {};
}

Assignment::Outcome Assignment::address(Endpoint& field) {
    REVENANT_TRY(field.address, parse_address(setting.value));
    return {};
}

Assignment::Outcome Assignment::listener(std::map<std::string, Endpoint, std::less<>>& listeners) {
    REVENANT_TRY(Endpoint endpoint, parse_endpoint(setting.value, reach()));
    if (setting.source != Source::file) {
        if (!listeners.empty() && endpoint.address.empty()) {
            endpoint.address = listeners.begin()->second.address;
            endpoint.reach = std::max(endpoint.reach, listeners.begin()->second.reach);
        }
        listeners.clear();
    }
    listeners[std::string(variable)] = std::move(endpoint);
    return {};
}

const std::vector<ConfigKey>& config_keys() {
    static const std::vector<ConfigKey> keys = [] {
        std::vector<ConfigKey> all;
        for (const auto& group : {network_keys(), access_keys(), limit_keys(), new_vhost_keys(),
                                  operation_keys(), rabbitmq_keys()}) {
            all.insert(all.end(), group.begin(), group.end());
        }
        return all;
    }();
    return keys;
}

std::optional<std::string_view> match_key(std::string_view pattern, std::string_view key) {
    const auto wanted = parts_of(pattern);
    const auto given = parts_of(key);
    std::string_view variable;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (i >= given.size()) return std::nullopt;
        if (wanted[i] == "*") return variable;
        if (wanted[i].starts_with('$')) {
            variable = given[i];
        } else if (wanted[i] != given[i]) {
            return std::nullopt;
        }
    }
    if (wanted.size() != given.size()) return std::nullopt;
    return variable;
}

const ConfigKey* find_config_key(std::string_view key) {
    // Names have precedence over variables: log.file.level does not mean a component "file".
    const ConfigKey* found = nullptr;
    for (const ConfigKey& one : config_keys()) {
        if (one.pattern == key) return &one;
        if (found == nullptr && match_key(one.pattern, key)) found = &one;
    }
    return found;
}

std::string nearest_config_key(std::string_view key) {
    Guess nearest{"", guess_distance_max(key) + 1};
    for (const ConfigKey& one : config_keys()) {
        Guess guess = guess_by(one.pattern, key);
        if (guess.distance == 0 || guess.distance >= nearest.distance) continue;
        nearest = std::move(guess);
    }
    return nearest.key;
}

}  // namespace revenant::node
