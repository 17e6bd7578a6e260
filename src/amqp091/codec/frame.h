// Frames: cut from the bytes that arrive, appended to the bytes that leave.
//
//     type octet | channel uint16 | payload size uint32 | payload | 206
//
// A cut frame borrows from the bytes it was cut from.
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

// What stands at the front of the received bytes.
struct FrameResult {
    enum class Outcome : std::uint8_t {
        frame,          // A frame. The payload of a method has its ids, that of a header its sizes.
        incomplete,     // No whole frame yet: try again when `size` bytes are there.
        too_large,      // amqp091 1.7. The payload may not have arrived and is empty in `frame`.
        bad_end,        // amqp091 12.1. `end_octet` stands where frame_end belongs.
        unknown_frame,  // amqp091 12.1. Unknown type, or a payload too short or long for the type.
    };

    Outcome outcome = Outcome::incomplete;
    // As it came, also in errors, which quote it; then `type` may be no enumerator of FrameType.
    Frame frame;
    // Bytes to take off the front. After an incomplete one: how many are needed at least, in total.
    std::size_t size = 0;
    // As announced; of a frame that is too large it is all there is.
    std::uint32_t payload_size = 0;
    std::uint8_t end_octet = frame_end;
};

// Type, channel and payload size.
constexpr std::size_t frame_header_bytes = 7;
constexpr std::size_t method_payload_bytes_min = 4;
constexpr std::size_t header_payload_bytes_min = 12;

// Whether a payload of that size is possible in a frame of that type.
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

// Cuts the first frame off. A payload may be as large as frame_max: the overhead of eight bytes is
// forgiven, as RabbitMQ forgives it (amqp091 1.7). With frame_max 0 there is no limit.
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

// A method frame cut into its parts; the arguments are for Method::decode.
struct MethodPayload {
    std::uint16_t class_id = 0;
    std::uint16_t method_id = 0;
    std::string_view arguments;

    std::uint32_t key() const { return method_key(class_id, method_id); }
};

// The frame is one that read_frame found whole and of type method.
inline MethodPayload split_method(const Frame& frame) {
    CHECK(frame.payload.size() >= method_payload_bytes_min);
    ByteReader in(frame.payload);
    MethodPayload method;
    method.class_id = in.u16();
    method.method_id = in.u16();
    method.arguments = in.rest();
    return method;
}

// The first bytes of a frame. Its payload and frame_end are appended by the caller.
inline void append_frame_header(std::string& out, FrameType type, std::uint16_t channel,
                                std::uint32_t payload_size) {
    // One append instead of three: this is written for every frame that leaves.
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

// One frame for every frame_max - 8 bytes of the body, and none for an empty body; one frame for
// all of it when frame_max is 0 (amqp091 1.6).
void append_body_frames(std::string& out, std::uint16_t channel, std::string_view body,
                        std::uint32_t frame_max);

}  // namespace revenant::amqp091
