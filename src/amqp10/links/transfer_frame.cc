#include "amqp10/links/transfer_frame.h"

#include "amqp10/codec/frame.h"
#include "amqp10/codec/performatives.gen.h"
#include "amqp10/codec/value_cursor.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace revenant::amqp10 {
namespace {

// The bytes before the payload: the frame header and the transfer, whose list takes at most 5 + 5 +
// 6 + 1 + 1 + 1 bytes. The frame size is filled in later.
class FrameStart {
  public:
    FrameStart(const OutgoingTransfer& outgoing, std::uint16_t channel, bool more) {
        ValueCursor out(bytes_.data() + sizeof(std::uint32_t));
        out.put(2);  // data offset: two words
        out.put(static_cast<unsigned>(FrameType::amqp));
        out.u16(channel);
        out.append({"\x00\x53\x14\xc0", 4});
        static_assert(Transfer::descriptor_code == 0x14);
        char* const list = out.at();
        out.put(0);
        out.put(more ? 6 : 5);
        out.uint(outgoing.handle);
        out.uint(outgoing.delivery_id);
        out.put(0xa0);
        out.put(outgoing.link == nullptr ? 0 : 4);
        if (outgoing.link != nullptr) out.u32(static_cast<std::uint32_t>(outgoing.delivery));
        out.put(0x43);  // message-format 0
        out.boolean(outgoing.settled);
        if (more) out.boolean(true);
        *list = static_cast<char>(out.distance_from(list) - 1);
        size_ = out.distance_from(bytes_.data());
    }

    std::size_t size() const { return size_; }
    std::string_view bytes(std::size_t frame_size) {
        ValueCursor(bytes_.data()).u32(static_cast<std::uint32_t>(frame_size));
        return {bytes_.data(), size_};
    }

  private:
    std::array<char, frame_header_bytes + 32> bytes_;  // deliberately not initialized
    std::size_t size_;
};

// Writes the next `part` bytes of a transfer with a long history.
void append_pieces(protocol::Output& output, const OutgoingTransfer& outgoing, std::size_t part) {
    using protocol::Output;
    std::size_t skip = outgoing.sent;
    const auto next = [&](std::string_view piece) {
        const std::size_t skipped = std::min(skip, piece.size());
        skip -= skipped;
        piece = piece.substr(skipped, part);
        part -= piece.size();
        return piece;
    };
    output.buffer().append(next(outgoing.head.before()));
    if (const auto piece = next(outgoing.head.common); piece.size() >= Output::common_bytes_min) {
        output.append_common(outgoing.head.owner, piece);
    } else {
        output.buffer().append(piece);
    }
    output.buffer().append(next(outgoing.head.behind()));
    const auto body = next(outgoing.body());
    if (body.size() >= Output::shared_bytes_min && outgoing.converted.empty()) {
        output.append_shared(outgoing.message, body);
    } else {
        output.buffer().append(body);
    }
}

}  // namespace

bool append_transfer_frame(protocol::Output& output, std::uint16_t channel,
                           OutgoingTransfer& outgoing, std::uint32_t frame_max) {
    const std::size_t left = outgoing.size() - outgoing.sent;
    FrameStart start(outgoing, channel, /*more=*/false);
    const bool last = left <= frame_max - start.size();
    if (!last) start = FrameStart(outgoing, channel, /*more=*/true);
    const std::size_t part = std::min(left, frame_max - start.size());
    const std::size_t size = start.size() + part;

    if (outgoing.head.owner != nullptr) {
        output.buffer().append(start.bytes(size));
        append_pieces(output, outgoing, part);
        outgoing.sent += part;
        return last;
    }
    const std::string& head = outgoing.head.bytes;
    std::size_t head_part = 0;
    if (outgoing.sent < head.size()) head_part = std::min(part, head.size() - outgoing.sent);
    const std::size_t body_part = part - head_part;
    const bool shared =
        body_part >= protocol::Output::shared_bytes_min && outgoing.converted.empty();
    char* at = output.extend(size - (shared ? body_part : 0));
    const auto append = [&at](std::string_view bytes) {
        std::memcpy(at, bytes.data(), bytes.size());
        at += bytes.size();
    };
    append(start.bytes(size));
    if (head_part > 0) append(std::string_view(head).substr(outgoing.sent, head_part));
    const std::size_t body_at = outgoing.sent + head_part - head.size();
    if (body_part > 0) {
        const std::string_view body = outgoing.body().substr(body_at, body_part);
        if (shared) {
            output.append_shared(outgoing.message, body);
        } else {
            append(body);
        }
    }
    outgoing.sent += part;
    return last;
}

}  // namespace revenant::amqp10
