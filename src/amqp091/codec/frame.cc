#include "amqp091/codec/frame.h"

#include <algorithm>

namespace revenant::amqp091 {

void append_heartbeat(std::string& out) {
    append_frame_header(out, FrameType::heartbeat, 0, 0);
    ByteWriter(out).u8(frame_end);
}

void append_content_header(std::string& out, std::uint16_t channel, std::uint64_t body_size,
                           std::string_view properties) {
    const std::size_t payload_size = header_payload_bytes_min + properties.size();
    append_frame_header(out, FrameType::header, channel, static_cast<std::uint32_t>(payload_size));
    ByteWriter writer(out);
    writer.u16(BasicPublish::class_id);
    writer.u16(0);  // weight
    writer.u64(body_size);
    writer.bytes(properties);
    writer.u8(frame_end);
}

void append_body_frames(std::string& out, std::uint16_t channel, std::string_view body,
                        std::uint32_t frame_max) {
    CHECK(frame_max == 0 || frame_max > frame_overhead_bytes);
    CHECK(body.size() <= UINT32_MAX);
    const std::size_t payload_max = frame_max == 0 ? body.size() : frame_max - frame_overhead_bytes;
    while (!body.empty()) {
        const std::string_view payload = body.substr(0, std::min(body.size(), payload_max));
        append_frame_header(out, FrameType::body, channel,
                            static_cast<std::uint32_t>(payload.size()));
        ByteWriter writer(out);
        writer.bytes(payload);
        writer.u8(frame_end);
        body.remove_prefix(payload.size());
    }
}

}  // namespace revenant::amqp091
