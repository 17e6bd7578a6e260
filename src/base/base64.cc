#include "base/base64.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace revenant {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 0xff;

constexpr std::array<std::uint8_t, 256> make_digits() {
    std::array<std::uint8_t, 256> digits{};
    for (auto& digit : digits) digit = no_digit;
    for (std::size_t i = 0; i < alphabet.size(); ++i)
        digits[static_cast<std::uint8_t>(alphabet[i])] = static_cast<std::uint8_t>(i);
    return digits;
}
constexpr auto digits = make_digits();

}  // namespace

std::string base64_encode(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t group = 0;
        for (std::size_t j = 0; j < 3; ++j)
            group = group << 8 | (j < count ? static_cast<std::uint8_t>(bytes[i + j]) : 0U);
        text.push_back(alphabet[group >> 18]);
        text.push_back(alphabet[group >> 12 & 63]);
        text.push_back(count > 1 ? alphabet[group >> 6 & 63] : '=');
        text.push_back(count > 2 ? alphabet[group & 63] : '=');
    }
    return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    for (std::size_t i = 0; i < text.size(); i += 4) {
        std::string_view quad = text.substr(i, 4);
        const bool last = i + 4 == text.size();
        if (last && quad.ends_with("==")) {
            quad.remove_suffix(2);
        } else if (last && quad.ends_with('=')) {
            quad.remove_suffix(1);
        }
        std::uint32_t group = 0;
        for (const char letter : quad) {
            const std::uint8_t digit = digits[static_cast<std::uint8_t>(letter)];
            if (digit == no_digit) return std::nullopt;
            group = group << 6 | digit;
        }
        // Two digits contain one byte, three contain two. The remaining bits must be zero.
        const std::size_t spare_bits = quad.size() == 4 ? 0 : quad.size() == 3 ? 2 : 4;
        if ((group & ((1U << spare_bits) - 1)) != 0) return std::nullopt;
        group >>= spare_bits;
        for (std::size_t j = quad.size() - 1; j > 0; --j)
            bytes.push_back(static_cast<char>(group >> (8 * (j - 1)) & 0xff));
    }
    return bytes;
}

}  // namespace revenant
