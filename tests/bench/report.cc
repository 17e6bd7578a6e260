#include "report.h"

#include <array>
#include <cstdio>

namespace bench {

namespace {

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char each : text) {
        if (each == '"' || each == '\\') result.push_back('\\');
        result.push_back(static_cast<unsigned char>(each) < 0x20 ? ' ' : each);
    }
    return result + "\"";
}

}  // namespace

void Report::text(std::string_view key, std::string_view value) { field(key, quoted(value)); }

void Report::number(std::string_view key, double value) {
    std::array<char, 40> digits{};
    std::snprintf(digits.data(), digits.size(), "%.6g", value);
    field(key, digits.data());
}

void Report::count(std::string_view key, uint64_t value) { field(key, std::to_string(value)); }

void Report::boolean(std::string_view key, bool value) { field(key, value ? "true" : "false"); }

void Report::cost(const Cost& cost, uint64_t messages) {
    const auto divisor = static_cast<double>(messages);
    count("messages", messages);
    number("seconds", cost.seconds);
    number("messages_per_second", divisor / cost.seconds);
    number("broker_cpu_seconds", cost.broker_cpu_seconds);
    number("cpu_us_per_message", cost.broker_cpu_seconds * 1e6 / divisor);
    number("generator_cpu_seconds", cost.generator_cpu_seconds);
    number("other_cores", cost.other_cores);
    number("rss_mb", cost.rss_mb);
    number("peak_rss_mb", cost.peak_rss_mb);
}

void Report::field(std::string_view key, std::string_view value) {
    if (!fields_.empty()) fields_ += ", ";
    fields_ += quoted(key) + ": ";
    fields_ += value;
}

}  // namespace bench
