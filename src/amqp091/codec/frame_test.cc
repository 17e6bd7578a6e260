#include "amqp091/codec/frame.h"

#include "tests/support/hex.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace revenant::amqp091 {
namespace {

using Outcome = FrameResult::Outcome;

std::string frame_bytes(int type, std::uint16_t channel, std::string_view payload) {
    std::string out;
    append_frame_header(out, static_cast<FrameType>(type), channel,
                        static_cast<std::uint32_t>(payload.size()));
    out += payload;
    out += '\xce';
    return out;
}

TEST(CutFrame, GivesTheFirstFrameAndItsSize) {
    // amqp091 1.1
    const std::string bytes = from_hex("01 0102 00000004 003c0050 ce 08");
    const FrameResult cut = read_frame(bytes, 4096);
    EXPECT_EQ(cut.outcome, Outcome::frame);
    EXPECT_EQ(cut.frame.type, FrameType::method);
    EXPECT_EQ(cut.frame.channel, 0x0102);
    EXPECT_EQ(cut.frame.payload, from_hex("003c0050"));
    EXPECT_EQ(cut.frame.payload.data(), bytes.data() + 7);
    EXPECT_EQ(cut.size, 12U);
    EXPECT_EQ(cut.payload_size, 4U);
}

TEST(CutFrame, AMethodFrameSplitsIntoIdsAndArguments) {
    const std::string bytes = frame_bytes(1, 1, from_hex("003c 0050 0000000000000001 01"));
    const MethodPayload method = split_method(read_frame(bytes, 0).frame);
    EXPECT_EQ(method.class_id, 60);
    EXPECT_EQ(method.method_id, 80);
    EXPECT_EQ(method.key(), BasicAck::key);
    EXPECT_EQ(*BasicAck::decode(method.arguments), (BasicAck{.delivery_tag = 1, .multiple = true}));
}

TEST(CutFrame, EveryProperPrefixIsIncompleteAndSaysHowMuchIsNeeded) {
    const std::string bytes = frame_bytes(3, 7, "0123456789");
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const std::string prefix = bytes.substr(0, size);
        const FrameResult cut = read_frame(prefix, 4096);
        EXPECT_EQ(cut.outcome, Outcome::incomplete) << size;
        EXPECT_EQ(cut.size, size < 7 ? 7U : bytes.size()) << size;
    }
}

TEST(CutFrame, APayloadOfExactlyFrameMaxIsForgiven) {
    // amqp091 1.7
    const std::string fits = frame_bytes(3, 1, std::string(4096, 'x'));
    EXPECT_EQ(read_frame(fits, 4096).outcome, Outcome::frame);
    const std::string over = frame_bytes(3, 1, std::string(4097, 'x'));
    const FrameResult cut = read_frame(over, 4096);
    EXPECT_EQ(cut.outcome, Outcome::too_large);
    EXPECT_EQ(cut.payload_size, 4097U);
    EXPECT_TRUE(cut.frame.payload.empty());
}

TEST(CutFrame, AFrameTooLargeIsFoundBeforeItsPayloadArrives) {
    const FrameResult cut = read_frame(from_hex("03 0005 ffffffff"), 131072);
    EXPECT_EQ(cut.outcome, Outcome::too_large);
    EXPECT_EQ(cut.frame.type, FrameType::body);
    EXPECT_EQ(cut.frame.channel, 5);
    EXPECT_EQ(cut.payload_size, 0xffffffffU);
}

TEST(CutFrame, FrameMaxZeroIsNoLimit) {
    const std::string bytes = frame_bytes(3, 1, std::string(300000, 'x'));
    EXPECT_EQ(read_frame(bytes, 0).outcome, Outcome::frame);
    const FrameResult cut = read_frame(from_hex("03 0001 ffffffff 00"), 0);
    EXPECT_EQ(cut.outcome, Outcome::incomplete);
    EXPECT_EQ(cut.size, 0xffffffffULL + 8);
}

TEST(CutFrame, AWrongEndOctetIsReported) {
    // amqp091 12.1
    std::string bytes = frame_bytes(1, 1, from_hex("003c0050"));
    bytes.back() = '\xcd';
    const FrameResult cut = read_frame(bytes, 4096);
    EXPECT_EQ(cut.outcome, Outcome::bad_end);
    EXPECT_EQ(cut.end_octet, 0xcd);
    EXPECT_EQ(cut.frame.payload, from_hex("003c0050"));
}

TEST(CutFrame, UnknownTypesAreReportedWithTheirOctets) {
    // amqp091 12.1
    for (const int type : {0, 4, 5, 7, 9, 65, 255}) {
        const FrameResult cut = read_frame(frame_bytes(type, 1, "abcdefghijkl"), 4096);
        EXPECT_EQ(cut.outcome, Outcome::unknown_frame) << type;
        EXPECT_EQ(static_cast<int>(cut.frame.type), type);
        EXPECT_EQ(cut.size, 20U);
    }
}

TEST(CutFrame, PayloadsThatCannotBelongToTheirTypeAreUnknown) {
    // amqp091 12.1; RabbitMQ treats a method without ids and a header without sizes in the same
    // way.
    EXPECT_EQ(read_frame(frame_bytes(8, 0, "x"), 4096).outcome, Outcome::unknown_frame);
    EXPECT_EQ(read_frame(frame_bytes(8, 0, ""), 4096).outcome, Outcome::frame);
    EXPECT_EQ(read_frame(frame_bytes(1, 0, "abc"), 4096).outcome, Outcome::unknown_frame);
    EXPECT_EQ(read_frame(frame_bytes(1, 0, "abcd"), 4096).outcome, Outcome::frame);
    EXPECT_EQ(read_frame(frame_bytes(2, 1, "0123456789a"), 4096).outcome, Outcome::unknown_frame);
    EXPECT_EQ(read_frame(frame_bytes(2, 1, "0123456789ab"), 4096).outcome, Outcome::frame);
    EXPECT_EQ(read_frame(frame_bytes(3, 1, ""), 4096).outcome, Outcome::frame);
}

TEST(AppendFrames, WriteTheBytesOfTheSpecification) {
    std::string out;
    append_heartbeat(out);
    EXPECT_EQ(out, from_hex("08 0000 00000000 ce"));
    out.clear();
    append_method(out, 3, ChannelCloseOk{});
    EXPECT_EQ(out, from_hex("01 0003 00000004 0014 0029 ce"));
    out.clear();
    append_method(out, 1, BasicAck{.delivery_tag = 2, .multiple = true});
    EXPECT_EQ(out, from_hex("01 0001 0000000d 003c 0050 0000000000000002 01 ce"));
    out.clear();
    append_content_header(out, 1, 5, from_hex("1000 02"));
    EXPECT_EQ(out, from_hex("02 0001 0000000f 003c 0000 0000000000000005 1000 02 ce"));
}

TEST(AppendFrames, AppendBehindWhatIsThere) {
    std::string out = "before";
    append_method(out, 1, TxSelect{});
    EXPECT_EQ(out, "before" + from_hex("01 0001 00000004 005a 000a ce"));
}

TEST(AppendFrames, ABodyIsSplitAtFrameMaxLessEight) {
    // amqp091 1.6
    const std::string body(4088 * 2 + 1, 'b');
    std::string out;
    append_body_frames(out, 1, body, 4096);
    std::vector<std::size_t> sizes;
    std::string joined;
    std::string_view left = out;
    while (!left.empty()) {
        const FrameResult cut = read_frame(left, 4096);
        ASSERT_EQ(cut.outcome, Outcome::frame);
        EXPECT_EQ(cut.frame.type, FrameType::body);
        EXPECT_LE(cut.size, 4096U);
        sizes.push_back(cut.frame.payload.size());
        joined += cut.frame.payload;
        left.remove_prefix(cut.size);
    }
    EXPECT_EQ(sizes, (std::vector<std::size_t>{4088, 4088, 1}));
    EXPECT_EQ(joined, body);
}

TEST(AppendFrames, ABodyThatFillsItsFramesHasNoEmptyOneBehind) {
    std::string out;
    append_body_frames(out, 1, std::string(4088, 'b'), 4096);
    EXPECT_EQ(out.size(), 4096U);
}

TEST(AppendFrames, AnEmptyBodyHasNoFrame) {
    // amqp091 1.6
    std::string out;
    append_body_frames(out, 1, "", 4096);
    append_body_frames(out, 1, "", 0);
    EXPECT_TRUE(out.empty());
}

TEST(AppendFrames, WithoutFrameMaxTheWholeBodyIsOneFrame) {
    // amqp091 1.6
    std::string out;
    append_body_frames(out, 1, std::string(300000, 'b'), 0);
    EXPECT_EQ(out.size(), 300008U);
    EXPECT_EQ(read_frame(out, 0).frame.payload.size(), 300000U);
}

TEST(Frames, AStreamIsCutTheSameHoweverItArrives) {
    std::mt19937_64 random(60040);
    std::string stream;
    std::vector<std::string> payloads;
    for (int index = 0; index < 200; ++index) {
        std::string payload(4 + random() % 60, '\0');
        for (char& octet : payload) octet = static_cast<char>(random());
        stream += frame_bytes(1, static_cast<std::uint16_t>(random()), payload);
        payloads.push_back(payload);
    }
    for (const std::size_t step : {1, 2, 3, 7, 8, 64, 100000}) {
        std::vector<std::string> cuts;
        std::string buffer;
        for (std::size_t at = 0; at < stream.size(); at += step) {
            buffer += stream.substr(at, step);
            for (;;) {
                const FrameResult cut = read_frame(buffer, 4096);
                if (cut.outcome == Outcome::incomplete) {
                    ASSERT_GT(cut.size, buffer.size());
                    break;
                }
                ASSERT_EQ(cut.outcome, Outcome::frame);
                cuts.emplace_back(cut.frame.payload);
                buffer.erase(0, cut.size);
            }
        }
        EXPECT_TRUE(buffer.empty());
        EXPECT_EQ(cuts, payloads) << step;
    }
}

}  // namespace
}  // namespace revenant::amqp091
