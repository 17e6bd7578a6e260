#include "base/utf8.h"

#include "tests/support/hex.h"

#include <gtest/gtest.h>

#include <string>

namespace revenant {
namespace {

// Encodes any code point, surrogates included.
std::string encoded(std::uint32_t code_point) {
    const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
    if (code_point < 0x80) return {byte(code_point)};
    if (code_point < 0x800) {
        return {byte(0xC0 | code_point >> 6), byte(0x80 | (code_point & 0x3F))};
    }
    if (code_point < 0x10000) {
        return {byte(0xE0 | code_point >> 12), byte(0x80 | (code_point >> 6 & 0x3F)),
                byte(0x80 | (code_point & 0x3F))};
    }
    return {byte(0xF0 | code_point >> 18), byte(0x80 | (code_point >> 12 & 0x3F)),
            byte(0x80 | (code_point >> 6 & 0x3F)), byte(0x80 | (code_point & 0x3F))};
}

TEST(Utf8, AsciiOfEveryLengthIsWellFormed) {
    for (std::size_t size = 0; size < 40; ++size) EXPECT_TRUE(is_utf8(std::string(size, 'a')));
    EXPECT_TRUE(is_utf8(std::string("\0\x7f", 2)));
}

TEST(Utf8, EveryCodePointIsWellFormedExceptSurrogates) {
    for (std::uint32_t code_point = 0; code_point <= 0x10FFFF; ++code_point) {
        const bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
        ASSERT_EQ(is_utf8(encoded(code_point)), !is_surrogate) << code_point;
    }
    EXPECT_FALSE(is_utf8(encoded(0x110000)));
}

TEST(Utf8, EveryProperPrefixOfACharacterIsMalformed) {
    for (const std::uint32_t code_point : {0xE9U, 0x20ACU, 0x1F407U}) {
        const std::string character = encoded(code_point);
        for (std::size_t size = 1; size < character.size(); ++size) {
            EXPECT_FALSE(is_utf8(character.substr(0, size)));
            EXPECT_FALSE(is_utf8(character.substr(0, size) + "a"));
            EXPECT_FALSE(is_utf8(character.substr(size)));
        }
    }
}

TEST(Utf8, OverlongFormsAndForbiddenBytesAreMalformed) {
    for (const char* hex :
         {"80", "bf", "c080", "c1bf", "e08080", "e09fbf", "f0808080", "f08fbfbf", "f5808080",
          "f8888080", "fe", "ff", "c3", "c328", "e28228", "f09f9028", "e2c3a9", "f4908080"}) {
        EXPECT_FALSE(is_utf8(from_hex(hex))) << hex;
    }
}

TEST(Utf8, OneBadByteIsFoundAnywhere) {
    for (std::size_t size = 1; size < 40; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            std::string text(size, 'a');
            text[at] = '\xff';
            EXPECT_FALSE(is_utf8(text)) << size << " " << at;
        }
    }
}

TEST(Utf8, APrefixCutsNoCharacter) {
    const std::string text = "ab" + encoded(0x20AC) + "c";  // the third character takes three bytes
    EXPECT_EQ(utf8_prefix(text, 6), text);
    EXPECT_EQ(utf8_prefix(text, 5), text.substr(0, 5));
    EXPECT_EQ(utf8_prefix(text, 4), "ab");
    EXPECT_EQ(utf8_prefix(text, 3), "ab");
    EXPECT_EQ(utf8_prefix(text, 2), "ab");
    EXPECT_EQ(utf8_prefix(text, 0), "");
}

TEST(Utf8, CharactersMayFollowEachOther) {
    std::string text = "rabbit ";
    for (const std::uint32_t code_point : {0xE9U, 0x20ACU, 0x1F407U, 0x41U, 0xFFFFU}) {
        text += encoded(code_point);
        EXPECT_TRUE(is_utf8(text));
        EXPECT_FALSE(is_utf8(text + '\x80'));
    }
}

}  // namespace
}  // namespace revenant
