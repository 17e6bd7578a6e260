// Frames: read from received bytes, appended to output.
//
//     type octet | channel uint16 | payload size uint32 | payload | 206
//
// A frame that was read refers to the received bytes.
#pragma once

#include "amqp091/codec/spec.gen.h"
#include "base/byte_writer.h"
#include "base/check.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace revenant::amqp091 {

struct Frame {
    FrameType type = FrameType::heartbeat;
    std::uint16_t channel = 0;
    std::string_view payload;
};

// The start of the received bytes.
struct FrameResult {
    enum class Outcome : std::uint8_t {
        frame,          // A frame. A method payload has its ids, a header payload its sizes.
        incomplete,     // No complete frame yet: try again with at least `size` bytes.
        too_large,      // amqp091 1.7. The payload may not have arrived; it is empty in `frame`.
        bad_end,        // amqp091 12.1. `end_octet` is in the position of frame_end.
        unknown_frame,  // amqp091 12.1. Unknown type, or a payload too short or long for the type.
    };

    Outcome outcome = Outcome::incomplete;
    // As received, also for errors, which quote it. `type` may then not be an enumerator of
    // FrameType.
    Frame frame;
    // Bytes to remove from the front. If incomplete, the total number of bytes needed at least.
    std::size_t size = 0;
    // As declared. For a frame that is too large, only this is known.
    std::uint32_t payload_size = 0;
    std::uint8_t end_octet = frame_end;
};

// Type, channel and payload size.
constexpr std::size_t frame_header_bytes = 7;
constexpr std::size_t method_payload_bytes_min = 4;
constexpr std::size_t header_payload_bytes_min = 12;

// Whether a frame of that type can have a payload of that size.
constexpr bool is_known_frame(FrameType type, std::size_t payload_size) {
    switch (type) {
        case FrameType::method:
            return payload_size >= method_payload_bytes_min;
        case FrameType::header:
            return payload_size >= header_payload_bytes_min;
        case FrameType::body:
            return true;
        case FrameType::heartbeat:
            return payload_size == 0;
    }
    return false;
}

// Reads the first frame. A payload may be as large as frame_max: like RabbitMQ, this ignores the
// overhead of eight bytes (amqp091 1.7). With frame_max 0 there is no limit.
inline FrameResult read_frame(std::string_view bytes, std::uint32_t frame_max) {
    FrameResult cut;
    if (bytes.size() < frame_header_bytes) {
        cut.size = frame_header_bytes;
        return cut;
    }
    ByteReader in(bytes);
    cut.frame.type = static_cast<FrameType>(in.u8());
    cut.frame.channel = in.u16();
    cut.payload_size = in.u32();
    cut.size = std::size_t{cut.payload_size} + frame_overhead_bytes;
    if (cut.payload_size > frame_max && frame_max != 0) {
        cut.outcome = FrameResult::Outcome::too_large;
        return cut;
    }
    if (bytes.size() < cut.size) return cut;
    cut.frame.payload = bytes.substr(frame_header_bytes, cut.payload_size);
    cut.end_octet = static_cast<std::uint8_t>(bytes[cut.size - 1]);
    if (cut.end_octet != frame_end) {
        cut.outcome = FrameResult::Outcome::bad_end;
    } else if (!is_known_frame(cut.frame.type, cut.payload_size)) {
        cut.outcome = FrameResult::Outcome::unknown_frame;
    } else {
        cut.outcome = FrameResult::Outcome::frame;
    }
    return cut;
}

// The parts of a method frame; Method::decode takes the arguments.
struct MethodPayload {
    std::uint16_t class_id = 0;
    std::uint16_t method_id = 0;
    std::string_view arguments;

    std::uint32_t key() const { return method_key(class_id, method_id); }
};

// Requires a complete frame of type method from read_frame.
inline MethodPayload split_method(const Frame& frame) {
    CHECK(frame.payload.size() >= method_payload_bytes_min);
    ByteReader in(frame.payload);
    MethodPayload method;
    method.class_id = in.u16();
    method.method_id = in.u16();
    method.arguments = in.rest();
    return method;
}

// Appends the first bytes of a frame. The caller appends the payload and frame_end.
inline void append_frame_header(std::string& out, FrameType type, std::uint16_t channel,
                                std::uint32_t payload_size) {
    // One append instead of three, because this is called for every outgoing frame.
    channel = __builtin_bswap16(channel);
    payload_size = __builtin_bswap32(payload_size);
    char header[frame_header_bytes];
    header[0] = static_cast<char>(type);
    std::memcpy(header + 1, &channel, sizeof channel);
    std::memcpy(header + 3, &payload_size, sizeof payload_size);
    out.append(header, sizeof header);
}

template <typename Method>
void append_method(std::string& out, std::uint16_t channel, const Method& method) {
    const std::size_t start = out.size();
    append_frame_header(out, FrameType::method, channel, 0);
    ByteWriter writer(out);
    writer.u16(Method::class_id);
    writer.u16(Method::method_id);
    method.encode(writer);
    const std::size_t payload_size = out.size() - start - frame_header_bytes;
    writer.patch_u32(start + frame_header_bytes - 4, static_cast<std::uint32_t>(payload_size));
    writer.u8(frame_end);
}

void append_heartbeat(std::string& out);

// The properties are flags and list as on the wire, from ContentHeader or encode_properties.
void append_content_header(std::string& out, std::uint16_t channel, std::uint64_t body_size,
                           std::string_view properties);

// Writes one frame per frame_max - 8 bytes of the body, none for an empty body, and a single one if
// frame_max is 0 (amqp091 1.6).
void append_body_frames(std::string& out, std::uint16_t channel, std::string_view body,
                        std::uint32_t frame_max);

}  // namespace revenant::amqp091
