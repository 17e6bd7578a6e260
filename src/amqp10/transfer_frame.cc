#include "amqp10/transfer_frame.h"

#include "amqp10/frame.h"
#include "amqp10/performatives.gen.h"
#include "amqp10/short_bytes.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace revenant::amqp10 {
namespace {

// The list of a transfer is always short: at most 5 + 5 + 34 + 1 + 1 + 1 bytes.
ShortBytes<64> transfer_of(const Parcel& parcel, bool more) {
    ShortBytes<64> out;
    out.put(0x00);
    out.put(0x53);
    out.put(Transfer::descriptor_code);
    out.put(0xc0);
    const std::size_t size_at = out.size();
    out.put(0);
    out.put(more ? 6 : 5);
    out.uint(parcel.handle);
    out.uint(parcel.delivery_id);
    out.put(0xa0);
    out.put(static_cast<unsigned>(parcel.tag.size()));
    out.append(parcel.tag);
    out.put(0x43);  // message-format 0
    out.boolean(parcel.settled);
    if (more) out.boolean(true);
    out.patch(size_at, out.size() - size_at - 1);
    return out;
}

}  // namespace

bool append_transfer_frame(protocol::Output& output, std::uint16_t channel, Parcel& parcel,
                           std::uint32_t frame_max) {
    const std::size_t left = parcel.size() - parcel.sent;
    auto transfer = transfer_of(parcel, /*more=*/false);
    std::size_t room = frame_max - frame_header_bytes - transfer.bytes().size();
    const bool last = left <= room;
    if (!last) {
        transfer = transfer_of(parcel, /*more=*/true);
        room = frame_max - frame_header_bytes - transfer.bytes().size();
    }
    const std::size_t part = std::min(left, room);
    const std::size_t size = frame_header_bytes + transfer.bytes().size() + part;

    std::size_t head_part = 0;
    if (parcel.sent < parcel.head.size()) {
        head_part = std::min(part, parcel.head.size() - parcel.sent);
    }
    const std::size_t body_part = part - head_part;
    const bool shared = body_part >= protocol::Output::shared_bytes_min && parcel.converted.empty();
    char* at = output.extend(size - (shared ? body_part : 0));
    const std::array<char, frame_header_bytes> header{static_cast<char>(size >> 24),
                                                      static_cast<char>(size >> 16),
                                                      static_cast<char>(size >> 8),
                                                      static_cast<char>(size),
                                                      2,
                                                      static_cast<char>(FrameType::amqp),
                                                      static_cast<char>(channel >> 8),
                                                      static_cast<char>(channel)};
    const auto append = [&at](std::string_view bytes) {
        std::memcpy(at, bytes.data(), bytes.size());
        at += bytes.size();
    };
    append({header.data(), header.size()});
    append(transfer.bytes());
    if (head_part > 0) append(std::string_view(parcel.head).substr(parcel.sent, head_part));
    const std::size_t body_at = parcel.sent + head_part - parcel.head.size();
    if (body_part > 0) {
        const std::string_view body = parcel.body().substr(body_at, body_part);
        if (shared) {
            output.append_shared(parcel.message, body);
        } else {
            append(body);
        }
    }
    parcel.sent += part;
    return last;
}

}  // namespace revenant::amqp10
