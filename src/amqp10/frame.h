// Frames of AMQP 1.0: size, data offset, type and channel, then a performative and a payload. 1.1
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace revenant::amqp10 {

enum class FrameType : std::uint8_t { amqp = 0, sasl = 1 };
constexpr std::size_t frame_header_bytes = 8;
constexpr std::uint32_t frame_size_min = 512;  // what everybody must be able to take

struct Frame {
    FrameType type = FrameType::amqp;
    std::uint16_t channel = 0;
    std::string_view body;  // a performative, and what stands behind it; empty for a heartbeat
};

struct FrameError {
    std::string text;
};
struct FrameIncomplete {};
using FrameOutcome = std::variant<Frame, FrameIncomplete, FrameError>;

// The first frame of the bytes; `size_max` is what we have announced.
FrameOutcome read_frame(std::string_view bytes, std::uint32_t size_max, FrameType expected);
// How many bytes the frame takes that read_frame found at their beginning.
std::size_t frame_size(std::string_view bytes);

// Begins a frame at the end of `out`; the answer is where it begins, for end_frame().
std::size_t begin_frame(std::string& out, FrameType type, std::uint16_t channel);
void end_frame(std::string& out, std::size_t begin);

}  // namespace revenant::amqp10
