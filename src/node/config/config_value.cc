#include "node/config/config_value.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace revenant::node {
namespace {

constexpr std::uint64_t kilo = 1000;
constexpr std::uint64_t kibi = 1024;
// 8 PiB: more than any machine has, and exact as a floating-point number.
constexpr std::uint64_t bytes_max = std::uint64_t{1} << 53;

Unexpected<Problem> wanted(std::string_view text, std::string what) {
    return Unexpected{"'" + std::string(text) + "' is not " + std::move(what)};
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

std::optional<std::uint64_t> unit_bytes(std::string_view unit) {
    const std::string name = lower(unit);
    if (name.empty()) return 1;
    constexpr std::string_view prefixes = "kmgt";
    const std::size_t power = prefixes.find(name.front());
    const std::string_view rest = std::string_view(name).substr(1);
    const bool decimal = rest == "b";
    if (power == std::string_view::npos || (!decimal && !rest.empty() && rest != "ib")) {
        return std::nullopt;
    }
    std::uint64_t bytes = 1;
    for (std::size_t i = 0; i <= power; ++i) bytes *= decimal ? kilo : kibi;
    return bytes;
}

constexpr std::array<std::pair<std::string_view, LogLevel>, 9> levels = {{
    {"debug", LogLevel::debug},
    {"info", LogLevel::info},
    {"notice", LogLevel::notice},
    {"warning", LogLevel::warning},
    {"error", LogLevel::error},
    {"critical", LogLevel::critical},
    {"none", LogLevel::none},
    {"alert", LogLevel::critical},
    {"emergency", LogLevel::critical},
}};

}  // namespace

Result<std::uint64_t, Problem> parse_number(std::string_view text, std::uint64_t min,
                                            std::uint64_t max) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && number >= min &&
        number <= max) {
        return number;
    }
    return wanted(text, "an integer from " + std::to_string(min) + " to " + std::to_string(max));
}

Result<std::optional<std::uint64_t>, Problem> parse_limit(std::string_view text,
                                                          std::uint64_t max) {
    if (text == "infinity") return std::optional<std::uint64_t>{};
    const auto number = parse_number(text, 0, max);
    if (!number) {
        return wanted(text, "an integer from 0 to " + std::to_string(max) + ", or 'infinity'");
    }
    return std::optional<std::uint64_t>{*number};
}

Result<std::uint64_t, Problem> parse_bytes(std::string_view text) {
    const auto refusal = [&] {
        return wanted(text,
                      "a size: a number of bytes, or a number with a unit such as 50MB or 2GiB, "
                      "at most " +
                          std::to_string(bytes_max) + " bytes");
    };
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return refusal();
    const auto unit = unit_bytes(text.substr(static_cast<std::size_t>(end - text.data())));
    if (!unit || number > bytes_max / *unit) return refusal();
    return number * *unit;
}

Result<std::uint64_t, Problem> parse_duration_ms(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, std::uint64_t>, 6> units = {{
        {"w", 604'800'000},
        {"d", 86'400'000},
        {"h", 3'600'000},
        {"m", 60'000},
        {"s", 1000},
        {"ms", 1},
    }};
    constexpr std::uint64_t number_max = 315'360'000'000;  // ten years in ms
    if (const auto plain = parse_number(text, 0, number_max)) return *plain;
    const auto fault = [&] { return wanted(text, "a duration such as 60000, 90s or 1h30m"); };
    std::uint64_t sum_ms = 0;
    std::string_view rest = text;
    if (rest.empty()) return fault();
    while (!rest.empty()) {
        const std::size_t digits = rest.find_first_not_of("0123456789");
        if (digits == 0 || digits == std::string_view::npos) return fault();
        const auto number = parse_number(rest.substr(0, digits), 0, number_max);
        rest.remove_prefix(digits);
        const std::size_t length = std::min(rest.find_first_of("0123456789"), rest.size());
        const auto* const unit = std::find_if(units.begin(), units.end(), [&](const auto& one) {
            return one.first == rest.substr(0, length);
        });
        if (!number || unit == units.end()) return fault();
        rest.remove_prefix(length);
        if (*number > (number_max - sum_ms) / unit->second) return fault();
        sum_ms += *number * unit->second;
    }
    return sum_ms;
}

Result<std::shared_ptr<const Pattern>, Problem> parse_pattern(std::string_view text) {
    auto made = Pattern::compile(text);
    if (!made) return wanted(text, "a regular expression: " + made.error());
    return std::make_shared<const Pattern>(std::move(made).value());
}

Result<bool, Problem> parse_flag(std::string_view text) {
    if (text == "true") return true;
    if (text == "false") return false;
    return wanted(text, "true or false");
}

Result<double, Problem> parse_share(std::string_view text, double max) {
    double share = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
    if (error == std::errc() && end == text.data() + text.size() && share >= 0 && share <= max) {
        return share;
    }
    return wanted(text, max <= 1 ? "a fraction of memory such as 0.6, at most 1"
                                 : "a multiple of memory such as 1.5");
}

Result<std::uint16_t, Problem> parse_port(std::string_view text) {
    const auto port = parse_number(text, 0, UINT16_MAX);
    if (!port) return wanted(text, "a port: a number from 0 to 65535");
    return static_cast<std::uint16_t>(*port);
}

Result<std::string, Problem> parse_address(std::string_view text) {
    const std::string address(text);
    unsigned char bytes[sizeof(in6_addr)];
    if (inet_pton(AF_INET, address.c_str(), bytes) == 1 ||
        inet_pton(AF_INET6, address.c_str(), bytes) == 1) {
        return address;
    }
    return wanted(text, "an address such as 127.0.0.1, 0.0.0.0 or ::");
}

Result<Endpoint, Problem> parse_endpoint(std::string_view text, Endpoint::BindScope reach) {
    const auto refusal = [&] {
        return wanted(text,
                      "a port or an address and a port, such as 5672, 127.0.0.1:5672 or "
                      "[::1]:5672");
    };
    Endpoint endpoint;
    endpoint.reach = reach;
    const std::size_t colon = text.rfind(':');
    if (colon != std::string_view::npos) {
        std::string_view address = text.substr(0, colon);
        if (address.starts_with('[') && address.ends_with(']')) {
            address = address.substr(1, address.size() - 2);
        }
        auto parsed = parse_address(address);
        if (!parsed) return refusal();
        endpoint.address = std::move(parsed).value();
    }
    const auto port = parse_port(colon == std::string_view::npos ? text : text.substr(colon + 1));
    if (!port) return refusal();
    endpoint.port = *port;
    return endpoint;
}

Result<LogLevel, Problem> parse_log_level(std::string_view text) {
    for (const auto& [name, level] : levels) {
        if (name == text) return level;
    }
    return wanted(text, "a level: debug, info, notice, warning, error, critical or none");
}

std::string_view name_of(LogLevel level) {
    for (const auto& [name, value] : levels) {
        if (value == level) return name;
    }
    return "none";
}

}  // namespace revenant::node
