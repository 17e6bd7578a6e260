// Bytes written as hexadecimal digits, for tests of codecs: from_hex("01 0000 ce").
#pragma once

#include "base/check.h"

#include <string>
#include <string_view>

namespace revenant {

inline int hex_digit(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    CHECK(digit >= 'a' && digit <= 'f');
    return digit - 'a' + 10;
}

// Spaces are ignored.
inline std::string from_hex(std::string_view digits) {
    std::string bytes;
    int high = -1;
    for (const char digit : digits) {
        if (digit == ' ') continue;
        if (high < 0) {
            high = hex_digit(digit);
        } else {
            bytes.push_back(static_cast<char>(high * 16 + hex_digit(digit)));
            high = -1;
        }
    }
    CHECK(high < 0);
    return bytes;
}

inline std::string to_hex(std::string_view bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const char c : bytes) {
        const auto octet = static_cast<unsigned char>(c);
        text += digits[octet >> 4];
        text += digits[octet & 0xf];
    }
    return text;
}

}  // namespace revenant
