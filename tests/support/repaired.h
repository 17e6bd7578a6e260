// Checksums in fuzzed bytes. A fuzzer cannot guess a checksum, so seeds contain a mark instead.
// Each mark is replaced by the checksum of the bytes that follow, so that the decoder is reached.
#pragma once

#include "engine/codec/message_codec.h"

#include <xxhash.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace revenant {

constexpr std::string_view message_mark = "\xc5MSG";
constexpr std::string_view page_mark = "\xc5PAG";
constexpr std::size_t mark_bytes = 4;

// For a message or page that starts with its checksum.
inline void put_checksum(std::string& bytes, std::size_t at, std::size_t size) {
    const auto sum =
        static_cast<std::uint32_t>(XXH3_64bits(bytes.data() + at + mark_bytes, size - mark_bytes));
    for (std::size_t i = 0; i < mark_bytes; ++i) {
        bytes[at + i] = static_cast<char>(sum >> (24 - 8 * i));
    }
}

// The length that precedes a text: a varint of at most two bytes here.
inline std::size_t length_before(std::string_view bytes, std::size_t at) {
    const auto byte = [&](std::size_t back) {
        return at < back ? 0U : static_cast<unsigned>(static_cast<std::uint8_t>(bytes[at - back]));
    };
    if ((byte(2) & 0x80U) != 0) return (byte(2) & 0x7fU) | byte(1) << 7;
    return byte(1);
}

// From the end, so that a page's checksum covers those of its messages.
inline std::string repaired(std::string bytes) {
    for (std::size_t at = bytes.size(); at-- > 0;) {
        const std::string_view rest = std::string_view(bytes).substr(at);
        std::size_t size = 0;
        if (rest.starts_with(message_mark)) size = engine::stored_size(rest);
        if (rest.starts_with(page_mark)) size = length_before(bytes, at);
        if (size > mark_bytes && size <= rest.size()) put_checksum(bytes, at, size);
    }
    return bytes;
}

}  // namespace revenant
