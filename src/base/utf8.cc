#include "base/utf8.h"

#include <cstddef>

namespace revenant {
namespace {

// The bytes that may follow a lead byte (Unicode standard, table 3-7): their number and the range
// of the first one; the others are 80..BF. The number is 0 for an invalid lead byte.
struct Sequence {
    std::size_t continuation_bytes;
    std::uint8_t second_min;
    std::uint8_t second_max;
};

Sequence sequence_of(std::uint8_t lead) {
    if (lead >= 0xC2 && lead <= 0xDF) return {1, 0x80, 0xBF};
    if (lead == 0xE0) return {2, 0xA0, 0xBF};
    if (lead == 0xED) return {2, 0x80, 0x9F};
    if (lead >= 0xE1 && lead <= 0xEF) return {2, 0x80, 0xBF};
    if (lead == 0xF0) return {3, 0x90, 0xBF};
    if (lead >= 0xF1 && lead <= 0xF3) return {3, 0x80, 0xBF};
    if (lead == 0xF4) return {3, 0x80, 0x8F};
    return {0, 0, 0};
}

}  // namespace

bool is_utf8_beyond_ascii(std::string_view text) {
    const auto byte = [text](std::size_t index) { return static_cast<std::uint8_t>(text[index]); };
    std::size_t at = 0;
    while (at < text.size()) {
        if (byte(at) < 0x80) {
            ++at;
            continue;
        }
        const Sequence sequence = sequence_of(byte(at));
        if (sequence.continuation_bytes == 0) return false;
        if (text.size() - at <= sequence.continuation_bytes) return false;
        if (byte(at + 1) < sequence.second_min || byte(at + 1) > sequence.second_max) return false;
        for (std::size_t next = 2; next <= sequence.continuation_bytes; ++next) {
            if ((byte(at + next) & 0xC0) != 0x80) return false;
        }
        at += 1 + sequence.continuation_bytes;
    }
    return true;
}

}  // namespace revenant
