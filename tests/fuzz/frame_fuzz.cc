// Frames: for any bytes and any limit, the result is consistent, and a frame written again equals
// the bytes it was read from.
#include "amqp091/codec/frame.h"
#include "base/check.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace {

using revenant::amqp091::FrameResult;
using revenant::amqp091::read_frame;
using Outcome = FrameResult::Outcome;

void check_written_again(const FrameResult& cut, std::string_view bytes) {
    std::string again;
    append_frame_header(again, cut.frame.type, cut.frame.channel, cut.payload_size);
    again += cut.frame.payload;
    again += static_cast<char>(cut.end_octet);
    CHECK(again == bytes.substr(0, cut.size));
}

// A prefix of the frame is incomplete and does not request more bytes than the frame has.
void check_prefixes(const FrameResult& cut, std::string_view bytes, std::uint32_t frame_max) {
    for (std::size_t size = 0; size < cut.size; size += 1 + size / 8) {
        const FrameResult prefix = read_frame(bytes.substr(0, size), frame_max);
        CHECK(prefix.outcome == Outcome::incomplete);
        CHECK(prefix.size > size && prefix.size <= cut.size);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view bytes(reinterpret_cast<const char*>(data), size);
    // The first octet selects a limit, so that small inputs reach both sides of it.
    constexpr std::uint32_t limits[] = {0, 16, 64, 4096, 131072};
    if (bytes.empty()) return 0;
    const std::uint32_t frame_max = limits[data[0] % std::size(limits)];
    bytes.remove_prefix(1);
    for (;;) {
        const FrameResult cut = read_frame(bytes, frame_max);
        switch (cut.outcome) {
            case Outcome::incomplete:
                CHECK(cut.size > bytes.size());
                return 0;
            case Outcome::too_large:
                CHECK(frame_max != 0 && cut.payload_size > frame_max);
                CHECK(cut.frame.payload.empty());
                return 0;
            case Outcome::frame:
            case Outcome::unknown_frame:
            case Outcome::bad_end:
                CHECK(cut.size <= bytes.size());
                CHECK(cut.payload_size == cut.frame.payload.size());
                CHECK(frame_max == 0 || cut.payload_size <= frame_max);
                check_written_again(cut, bytes);
                check_prefixes(cut, bytes, frame_max);
                break;
        }
        if (cut.outcome == Outcome::bad_end) return 0;
        if (cut.outcome == Outcome::frame &&
            cut.frame.type == revenant::amqp091::FrameType::method) {
            CHECK(split_method(cut.frame).arguments.size() + 4 == cut.payload_size);
        }
        bytes.remove_prefix(cut.size);
    }
}
