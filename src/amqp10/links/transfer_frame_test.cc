#include "amqp10/links/transfer_frame.h"

#include "base/byte_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>

namespace revenant::amqp10 {
namespace {

std::string random_text(std::mt19937& random, std::size_t size_max) {
    std::string text(random() % (size_max + 1), ' ');
    for (char& each : text) each = static_cast<char>(random());
    return text;
}

std::string bytes_of(const protocol::Output& output) {
    std::array<std::string_view, 1024> parts;
    std::string bytes;
    for (std::size_t i = 0, count = output.gather(parts); i < count; ++i) bytes += parts[i];
    return bytes;
}

// The concatenated payloads of the frames.
std::string payload_of(std::string_view bytes, std::uint32_t frame_max) {
    std::string payload;
    for (ByteReader in(bytes); !in.at_end();) {
        const std::uint32_t size = in.u32();
        EXPECT_LE(size, frame_max);
        const std::string_view frame = in.bytes(size - 4);
        // Data offset, type, channel, descriptor of a transfer, constructor and size of its list.
        const auto list = static_cast<std::uint8_t>(frame[8]);
        EXPECT_EQ(frame[6], 0x14);
        const bool more = frame[9] == 6;
        EXPECT_EQ(more, in.remaining() > 0);
        payload += frame.substr(9 + list);
        if (in.failed()) break;
    }
    return payload;
}

TEST(TransferFrame, FramesHoldTheWholeDeliveryWhateverItsPieces) {
    for (unsigned seed = 1; seed <= 300; ++seed) {
        std::mt19937 random(seed);
        OutgoingTransfer outgoing;
        outgoing.delivery = seed;
        outgoing.head.bytes = random_text(random, 3000);
        if (random() % 3 != 0) {
            auto common = std::make_shared<const std::string>(random_text(random, 6000));
            outgoing.head.insert(common, *common);
            outgoing.head.bytes += random_text(random, 3000);
        }
        outgoing.message = make_message("", "", "", random_text(random, 20'000), {});
        if (random() % 4 == 0) outgoing.converted = "converted " + random_text(random, 9000);
        outgoing.message_body = outgoing.message->body();
        const std::string expected = outgoing.head.text().append(outgoing.body());
        ASSERT_EQ(outgoing.size(), expected.size());
        const auto frame_max =
            static_cast<std::uint32_t>(random() % 2 == 0 ? 512 + random() % 9000 : 1 << 20);
        protocol::Output output;
        int frames = 1;
        while (!append_transfer_frame(output, 1, outgoing, frame_max) && frames < 1000) ++frames;
        ASSERT_EQ(payload_of(bytes_of(output), frame_max), expected) << "seed " << seed;
    }
}

}  // namespace
}  // namespace revenant::amqp10
