#include "amqp10/codec/frame.h"

#include "base/byte_writer.h"

namespace revenant::amqp10 {
namespace {

FrameError too(std::string_view what, std::uint64_t found, std::string_view relation,
               std::string_view limit_name, std::uint64_t limit, std::string_view unit) {
    const std::string end = unit.empty() ? ")" : " " + std::string(unit) + ")";
    return {std::string(what) + " (" + std::to_string(found) + end + " " + std::string(relation) +
            " " + std::string(limit_name) + " (" + std::to_string(limit) + end};
}

}  // namespace

FrameError frame_error(const FrameHeader& header, std::uint32_t size_max, FrameType expected) {
    const std::uint32_t size = header.size;
    if (size < frame_header_bytes) {
        return too("frame size", size, "<", "minimum frame size", frame_header_bytes, "bytes");
    }
    if (size > size_max) {
        return too("frame size", size, ">", "maximum frame size", size_max, "bytes");
    }
    if (header.offset_words < 2)
        return too("data offset", header.offset_words, "<", "minimum data offset", 2, "");
    const std::size_t offset = std::size_t{header.offset_words} * 4;
    if (offset > size) return too("data offset", offset, ">", "frame size", size, "bytes");
    const char* const mode = expected == FrameType::amqp ? "amqp" : "sasl";
    return FrameError{"unexpected frame type " + std::to_string(header.type) + " in " + mode +
                      " mode (expected " + std::to_string(static_cast<unsigned>(expected)) + ")"};
}

std::size_t begin_frame(std::string& out, FrameType type, std::uint16_t channel) {
    const std::size_t begin = out.size();
    ByteWriter writer(out);
    writer.u32(0);
    writer.u8(2);
    writer.u8(static_cast<std::uint8_t>(type));
    writer.u16(channel);
    return begin;
}

void end_frame(std::string& out, std::size_t begin) {
    ByteWriter(out).patch_u32(begin, static_cast<std::uint32_t>(out.size() - begin));
}

}  // namespace revenant::amqp10
