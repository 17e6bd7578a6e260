#include "amqp10/transfer_frame.h"

#include "amqp10/frame.h"
#include "amqp10/performatives.gen.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace revenant::amqp10 {
namespace {

// The list of a transfer is always short: at most 5 + 5 + 34 + 1 + 1 + 1 bytes.
class TransferBytes {
  public:
    TransferBytes(const Parcel& parcel, bool more) {
        put(0x00);
        put(0x53);
        put(Transfer::descriptor_code);
        put(0xc0);
        const std::size_t size_at = size_;
        put(0);
        put(more ? 6 : 5);
        uint(parcel.handle);
        uint(parcel.delivery_id);
        put(0xa0);
        put(static_cast<unsigned>(parcel.tag.size()));
        std::memcpy(&bytes_[size_], parcel.tag.data(), parcel.tag.size());
        size_ += parcel.tag.size();
        put(0x43);  // message-format 0
        put(parcel.settled ? 0x41 : 0x42);
        if (more) put(0x41);
        bytes_[size_at] = static_cast<char>(size_ - size_at - 1);
    }
    std::string_view bytes() const { return {bytes_.data(), size_}; }

  private:
    void put(unsigned octet) { bytes_[size_++] = static_cast<char>(octet); }
    void uint(std::uint32_t value) {
        if (value == 0) return put(0x43);
        if (value < 256) {
            put(0x52);
            return put(value);
        }
        put(0x70);
        for (int shift = 24; shift >= 0; shift -= 8) put(value >> shift & 0xff);
    }

    std::array<char, 64> bytes_{};
    std::size_t size_ = 0;
};

}  // namespace

bool append_transfer_frame(protocol::Output& output, std::uint16_t channel, Parcel& parcel,
                           std::uint32_t frame_max) {
    const std::size_t left = parcel.size() - parcel.sent;
    TransferBytes transfer(parcel, /*more=*/false);
    std::size_t room = frame_max - frame_header_bytes - transfer.bytes().size();
    const bool last = left <= room;
    if (!last) {
        transfer = TransferBytes(parcel, /*more=*/true);
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
