// The table of everything that can be configured: names as RabbitMQ has them, what they mean here,
// and how a value finds its place in the Config. docs/configuration.md shows the same table.
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
    without_effect,    // understood, but nothing here follows it yet
    cluster_only,      // accepted: there is nothing it could mean on a single node
    no_meaning,        // accepted: it sets something of RabbitMQ that does not exist here
    of_absent_plugin,  // accepted: it belongs to a plugin that this broker does not replace
    refuses_start,     // it restricts access in RabbitMQ, and nothing here would do so
};

enum class Trait : std::uint8_t {
    plain,
    secret,      // never shown
    reloadable,  // SIGHUP brings it into force
};

// One value on its way into the Config.
struct Assignment {
    using Outcome = Result<void, Problem>;
    Config& config;
    const Setting& setting;
    std::string_view variable;  // what stands for the $name of the key

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
    // A file that can be read.
    Outcome readable_file(std::string& field);
    // A port keeps the address, an address the port.
    Outcome port(Endpoint& field);
    Outcome address(Endpoint& field);
    // One of several: a source that names some replaces those of the sources before it.
    Outcome listener(std::map<std::string, Endpoint, std::less<>>& listeners);
    Endpoint::BindScope reach() const;
};

struct ConfigKey {
    std::string_view pattern;  // $name stands for one part, a last * for all that follow
    std::string_view default_value;
    KeyStatus status;
    Trait trait;
    std::string_view meaning;
    Assignment::Outcome (*apply)(Assignment& to);
};

constexpr std::string_view frame_max_range = "must be 0, or from 8192 to 4294967295";

// Takes any text and keeps none.
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

// What the $name of the pattern stands for in the key; absent if they do not match.
std::optional<std::string_view> match_key(std::string_view pattern, std::string_view key);
const ConfigKey* find_config_key(std::string_view key);
// The known key that looks most like it; empty if none does.
std::string nearest_config_key(std::string_view key);

}  // namespace revenant::node
