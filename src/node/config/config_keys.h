// The table of all configuration keys: RabbitMQ's names, their meaning in Revenant, and the
// function that stores a value in the Config. docs/configuration.md shows the same table.
#pragma once

#include "node/config/config.h"
#include "node/config/config_file.h"
#include "node/config/config_value.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::node {

enum class KeyStatus : std::uint8_t {
    active,
    without_effect,    // known, but not implemented yet
    cluster_only,      // accepted: applies to clusters only
    no_meaning,        // accepted: configures a part of RabbitMQ that does not exist here
    of_absent_plugin,  // accepted: belongs to a plugin that is not supported
    refuses_start,     // restricts access in RabbitMQ and would not do so here
};

enum class Trait : std::uint8_t {
    plain,
    secret,      // never shown
    reloadable,  // applied on SIGHUP
};

// One value to be stored in the Config.
struct Assignment {
    using Outcome = Result<void, Problem>;
    Config& config;
    const Setting& setting;
    std::string_view variable;  // the part of the key that matches $name

    template <typename Number>
    Outcome number(Number& field, std::uint64_t min, std::uint64_t max) {
        REVENANT_TRY(const std::uint64_t value, parse_number(setting.value, min, max));
        field = static_cast<Number>(value);
        return {};
    }
    template <typename Field>
    Outcome bytes(Field& field) {
        REVENANT_TRY(field, parse_bytes(setting.value));
        return {};
    }
    Outcome flag(bool& field);
    Outcome limit(std::optional<std::uint64_t>& field, std::uint64_t max = INT64_MAX);
    Outcome text(std::string& field);
    Outcome level(LogLevel& field);
    Outcome format(LogFormat& field);
    Outcome one_of(std::string& field, const std::vector<std::string_view>& choices);
    Outcome milliseconds(Duration& field);
    // The file must be readable.
    Outcome readable_file(std::string& field);
    // Setting a port keeps the address; setting an address keeps the port.
    Outcome port(Endpoint& field);
    Outcome address(Endpoint& field);
    // One of several listeners. A source that sets any replaces those of earlier sources.
    Outcome listener(std::map<std::string, Endpoint, std::less<>>& listeners);
    Endpoint::BindScope reach() const;
};

struct ConfigKey {
    std::string_view pattern;  // $name matches one part, a final * all remaining parts
    std::string_view default_value;
    KeyStatus status;
    Trait trait;
    std::string_view meaning;
    Assignment::Outcome (*apply)(Assignment& to);
};

constexpr std::string_view frame_max_range = "must be 0, or from 8192 to 4294967295";

// Accepts and ignores any text.
inline Assignment::Outcome any_text(Assignment& to) {
    std::string ignored;
    return to.text(ignored);
}

// All keys, in the order of the documentation.
const std::vector<ConfigKey>& config_keys();
std::vector<ConfigKey> network_keys();
std::vector<ConfigKey> access_keys();
std::vector<ConfigKey> limit_keys();
std::vector<ConfigKey> new_vhost_keys();
std::vector<ConfigKey> operation_keys();
std::vector<ConfigKey> rabbitmq_keys();

// The part of the key that matches $name; nothing if the pattern does not match.
std::optional<std::string_view> match_key(std::string_view pattern, std::string_view key);
const ConfigKey* find_config_key(std::string_view key);
// The most similar known key; empty if none is similar.
std::string nearest_config_key(std::string_view key);

}  // namespace revenant::node
