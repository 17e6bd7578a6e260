// AMQP 1.0 frames: size, data offset, type and channel, followed by a performative and a payload
// (amqp10 1.1).
#pragma once

#include "base/byte_reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace revenant::amqp10 {

enum class FrameType : std::uint8_t { amqp = 0, sasl = 1 };
constexpr std::size_t frame_header_bytes = 8;
constexpr std::uint32_t frame_size_min = 512;  // every peer must accept frames of this size

struct Frame {
    FrameType type = FrameType::amqp;
    std::uint16_t channel = 0;
    std::string_view body;  // performative and payload; empty for a heartbeat
};

struct FrameError {
    std::string text;
};
struct FrameIncomplete {};
using FrameOutcome = std::variant<Frame, FrameIncomplete, FrameError>;

// Reads the first frame; `size_max` is the announced maximum. Inline because it is called for every
// message.
inline FrameOutcome read_frame(std::string_view bytes, std::uint32_t size_max, FrameType expected);
// The size of the frame that read_frame found at the start of the bytes.
inline std::size_t frame_size(std::string_view bytes) { return ByteReader(bytes).u32(); }

// Begins a frame at the end of `out` and returns its offset, for end_frame().
std::size_t begin_frame(std::string& out, FrameType type, std::uint16_t channel);
void end_frame(std::string& out, std::size_t begin);

// ------------------------------------------------------------------------- implementation

struct FrameHeader {
    std::uint32_t size = 0;
    std::uint8_t offset_words = 0;  // start of the body, in words of four bytes
    std::uint8_t type = 0;
    std::uint16_t channel = 0;
};

// The error for an invalid header.
FrameError frame_error(const FrameHeader& header, std::uint32_t size_max, FrameType expected);

inline FrameOutcome read_frame(std::string_view bytes, std::uint32_t size_max, FrameType expected) {
    if (bytes.size() < frame_header_bytes) return FrameIncomplete{};
    const std::uint64_t word = ByteReader(bytes).u64();
    const FrameHeader header{
        static_cast<std::uint32_t>(word >> 32), static_cast<std::uint8_t>(word >> 24),
        static_cast<std::uint8_t>(word >> 16), static_cast<std::uint16_t>(word)};
    const std::size_t offset = std::size_t{header.offset_words} * 4;
    if (header.size > size_max || offset < frame_header_bytes || offset > header.size ||
        header.type != static_cast<std::uint8_t>(expected)) {
        return frame_error(header, size_max, expected);
    }
    if (bytes.size() < header.size) return FrameIncomplete{};
    return Frame{expected, header.channel, bytes.substr(offset, header.size - offset)};
}

}  // namespace revenant::amqp10
