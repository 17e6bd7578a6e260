// File names derived from stream positions: sixteen hexadecimal digits and a suffix.
#pragma once

#include "base/ids.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace revenant::journal {

constexpr std::size_t position_digits = 16;

inline std::string position_name(Lsn position, std::string_view suffix) {
    char digits[position_digits + 1];
    std::snprintf(digits, sizeof digits, "%016llx",
                  static_cast<unsigned long long>(position.value));
    return std::string(digits) + std::string(suffix);
}

inline std::optional<Lsn> parse_position_name(std::string_view name, std::string_view suffix) {
    if (name.size() != position_digits + suffix.size() || !name.ends_with(suffix)) {
        return std::nullopt;
    }
    std::uint64_t position = 0;
    const char* const end = name.data() + position_digits;
    const auto [stop, error] = std::from_chars(name.data(), end, position, 16);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return Lsn{position};
}

}  // namespace revenant::journal
