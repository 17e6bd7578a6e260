// Checks for well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above
// U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace revenant {

// The complete check, for text that is not plain ASCII.
bool is_utf8_beyond_ascii(std::string_view text);

// Names are nearly always short and ASCII. This case is handled inline, eight bytes at a time.
inline bool is_utf8(std::string_view text) {
    constexpr std::uint64_t high_bits = 0x8080808080808080U;
    const char* at = text.data();
    std::size_t left = text.size();
    std::uint64_t seen = 0;
    for (; left >= sizeof seen; left -= sizeof seen, at += sizeof seen) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, at, sizeof eight);
        seen |= eight;
    }
    for (; left > 0; --left, ++at) seen |= static_cast<unsigned char>(*at);
    return (seen & high_bits) == 0 || is_utf8_beyond_ascii(text);
}

// The longest prefix of well-formed text that fits in `bytes_max` without splitting a character.
inline std::string_view utf8_prefix(std::string_view text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return text;
    while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xc0) == 0x80) {
        --bytes_max;
    }
    return text.substr(0, bytes_max);
}

}  // namespace revenant
