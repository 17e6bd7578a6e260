#include "cli/console/information_unit.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace revenant::cli {
namespace {

struct Unit {
    std::string_view name;
    std::string_view whole_word;
    double bytes;
};
constexpr std::array<Unit, 5> units = {{{"bytes", "bytes", 1},
                                        {"kb", "kilobytes", 1e3},
                                        {"mb", "megabytes", 1e6},
                                        {"gb", "gigabytes", 1e9},
                                        {"tb", "terabytes", 1e12}}};

}  // namespace

std::optional<double> bytes_of_unit(std::string_view unit) {
    std::string lower(unit);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const Unit& one : units) {
        if (lower == one.name || lower == one.whole_word) return one.bytes;
    }
    return std::nullopt;
}

std::string format_in_unit(double bytes, std::string_view unit) {
    const double divisor = bytes_of_unit(unit).value_or(1);
    const double rounded = std::round(bytes / divisor * 1e4) / 1e4;
    std::string number = decimal(rounded);
    if (divisor == 1) number.resize(number.find('.'));
    return number + " " + std::string(unit);
}

std::string decimal(double number) {
    std::array<char, 64> text{};
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    std::string digits(text.data(), end);
    return digits.find('.') == std::string::npos ? digits + ".0" : digits;
}

}  // namespace revenant::cli
