// AMQP 1.0 frames and performatives: any frame body is decoded or refused, and decoded ones survive
// encoding and decoding.
#include "amqp10/codec/frame.h"
#include "amqp10/codec/performatives.gen.h"
#include "base/check.h"

#include <cstdint>
#include <string>
#include <string_view>

using namespace revenant::amqp10;

namespace {

constexpr std::uint32_t frame_size_max = 131'072;

template <typename Composite>
void try_decode(std::uint64_t code, const TypeReader::Items& items) {
    if (code != Composite::descriptor_code) return;
    const auto decoded = Composite::decode(items);
    if (!decoded) return;
    std::string encoded;
    TypeWriter out(encoded);
    decoded->encode(out);
    TypeReader in(encoded);
    CHECK(in.descriptor() == Composite::descriptor_code);
    const auto again = in.list();
    CHECK(again && !in.failed() && in.at_end());
    const auto same = Composite::decode(*again);
    CHECK(same);
    std::string twice;
    TypeWriter second(twice);
    same->encode(second);
    CHECK(twice == encoded);
}

template <typename... Composites>
void try_all(std::uint64_t code, const TypeReader::Items& items) {
    (try_decode<Composites>(code, items), ...);
}

void read_body(std::string_view body) {
    TypeReader in(body);
    const auto code = in.descriptor();
    if (!code || in.failed()) return;
    const auto items = in.list();
    if (!items || in.failed()) return;
    try_all<Open, Begin, Attach, Flow, Transfer, Disposition, Detach, End, Close, Error, Received,
            Accepted, Rejected, Released, Modified, Source, Target, SaslMechanisms, SaslInit,
            SaslChallenge, SaslResponse, SaslOutcome, Header, Properties>(*code, *items);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const FrameType type = size > 5 && data[5] == 1 ? FrameType::sasl : FrameType::amqp;
    while (!bytes.empty()) {
        const auto outcome = read_frame(bytes, frame_size_max, type);
        const auto* const frame = std::get_if<Frame>(&outcome);
        if (frame == nullptr) break;
        const std::size_t taken = frame_size(bytes);
        CHECK(taken >= frame_header_bytes && taken <= bytes.size());
        CHECK(frame->body.size() <= taken - frame_header_bytes);
        read_body(frame->body);
        bytes.remove_prefix(taken);
    }
    read_body({reinterpret_cast<const char*>(data), size});
    return 0;
}
