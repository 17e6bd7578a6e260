#include "amqp10/codec/descriptors.h"
#include "amqp10/codec/frame.h"
#include "amqp10/codec/performatives.gen.h"
#include "amqp10/codec/sections.h"
#include "amqp10/message/address.h"
#include "tests/support/amqp10_message.h"
#include "tests/support/hex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

template <typename Composite>
std::optional<Composite> decoded(std::string_view bytes) {
    TypeReader in(bytes);
    EXPECT_EQ(in.descriptor(), Composite::descriptor_code);
    const auto items = in.list();
    if (!items || in.failed()) return std::nullopt;
    return Composite::decode(*items);
}

TEST(Performatives, FieldsComeBack) {
    Transfer transfer;
    transfer.handle = 3;
    transfer.delivery_id = 70000;
    transfer.delivery_tag = "tag";
    transfer.settled = false;
    transfer.more = true;
    const std::string bytes = encoded(transfer);
    const auto back = decoded<Transfer>(bytes);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->handle, 3U);
    EXPECT_EQ(back->delivery_id, 70000U);
    EXPECT_EQ(back->delivery_tag, "tag");
    EXPECT_EQ(back->settled, false);
    EXPECT_TRUE(back->more);
    EXPECT_EQ(back->message_format, std::nullopt);
    EXPECT_TRUE(back->state.empty());
}

TEST(Performatives, WhatIsNotSetAtTheEndIsLeftOut) {
    EXPECT_EQ(to_hex(encoded(Accepted{})), "00532445");
    EXPECT_EQ(to_hex(encoded(Detach{.handle = 1, .closed = true})),
              "005316d00000000700000002520141");
    EXPECT_EQ(to_hex(encoded(End{})), "005317d00000000400000000");
}

TEST(Performatives, ADefaultIsInForceUnlessSomethingElseIsSaid) {
    const std::string bytes = "\x00\x53\x12\xc0\x06\x03\xa1\x01n\x43\x41"s;
    const auto attach = decoded<Attach>(bytes);
    ASSERT_TRUE(attach);
    EXPECT_EQ(attach->name, "n");
    EXPECT_TRUE(attach->role);
    EXPECT_EQ(attach->snd_settle_mode, 2);
    EXPECT_EQ(attach->initial_delivery_count, std::nullopt);
}

TEST(Performatives, SymbolicDescriptorsAreKnown) {
    EXPECT_TRUE(
        decoded<Begin>("\x00\xa3\x0f"
                       "amqp:begin:list\xc0\x05\x04\x40\x43\x43\x43"s));
    const std::string unknown = "\x00\xa3\x04what\x45"s;
    TypeReader in(unknown);
    in.descriptor();
    EXPECT_TRUE(in.failed());
}

TEST(Performatives, AMissingOrWrongFieldIsRefused) {
    EXPECT_FALSE(decoded<Begin>("\x00\x53\x11\xc0\x04\x03\x40\x43\x43"s)) << "no outgoing-window";
    EXPECT_FALSE(decoded<Detach>("\x00\x53\x16\xc0\x04\x01\xa1\x01x"s)) << "a handle of text";
    EXPECT_FALSE(decoded<End>("\x00\x53\x17\xc0\x03\x02\x40\x40"s)) << "more fields than defined";
    EXPECT_FALSE(decoded<Detach>("\x00\x53\x16\xc0\x02\x01\x40"s)) << "null for a handle";
}

TEST(Frames, AreReadWhole) {
    std::string bytes;
    const std::size_t begin = begin_frame(bytes, FrameType::amqp, 7);
    bytes += "body";
    end_frame(bytes, begin);
    EXPECT_EQ(to_hex(bytes), "0000000c02000007626f6479");
    const std::string received = bytes + "more";
    const auto outcome = read_frame(received, 512, FrameType::amqp);
    const auto* const frame = std::get_if<Frame>(&outcome);
    ASSERT_NE(frame, nullptr);
    EXPECT_EQ(frame->channel, 7);
    EXPECT_EQ(frame->body, "body");
    EXPECT_EQ(frame_size(bytes), 12U);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_TRUE(std::holds_alternative<FrameIncomplete>(
            read_frame(bytes.substr(0, size), 512, FrameType::amqp)));
    }
}

std::string frame_error(const std::string& bytes) {
    const auto outcome = read_frame(bytes, 512, FrameType::amqp);
    const auto* const error = std::get_if<FrameError>(&outcome);
    return error == nullptr ? "" : error->text;
}

TEST(Frames, ThatAreWrongAreNamed) {  // amqp10 2.11
    EXPECT_EQ(frame_error("\0\0\0\x07\x02\0\0\0"s),
              "frame size (7 bytes) < minimum frame size (8 bytes)");
    EXPECT_EQ(frame_error("\0\0\x02\x01\x02\0\0\0"s),
              "frame size (513 bytes) > maximum frame size (512 bytes)");
    EXPECT_EQ(frame_error("\0\0\0\x08\x01\0\0\0"s), "data offset (1) < minimum data offset (2)");
    EXPECT_THAT(frame_error("\0\0\0\x08\x03\0\0\0"s), HasSubstr("data offset (12 bytes) > frame"));
    EXPECT_EQ(frame_error("\0\0\0\x08\x02\x01\0\0"s),
              "unexpected frame type 1 in amqp mode (expected 0)");
}

TEST(Sections, AreFoundAsTheyStand) {
    const std::string header = encoded(Header{.durable = true, .priority = 3});
    const std::string message_annotations = section(
        descriptor::message_annotations, Datum::map({{Datum::symbol("x-a"), Datum::uint(1)}}));
    const std::string properties = encoded(Properties{.to = "/queues/q"});
    const std::string bodies = section(descriptor::data, Datum::binary("one")) +
                               section(descriptor::data, Datum::binary("two"));
    const std::string footer = section(descriptor::footer, Datum::map({}));
    const std::string message = header + message_annotations + properties + bodies + footer;
    const auto sections = split_message(message);
    ASSERT_TRUE(sections) << sections.error();
    EXPECT_EQ(sections->header, header);
    EXPECT_EQ(sections->message_annotations, message_annotations);
    EXPECT_EQ(sections->properties, properties);
    EXPECT_EQ(sections->application_properties, "");
    EXPECT_EQ(sections->body, bodies);
    EXPECT_EQ(sections->footer, footer);
    EXPECT_EQ(sections->body_sections, 2U);
    EXPECT_EQ(joined_data(sections->body), "onetwo");
    for (std::size_t size = 0; size < header.size() + message_annotations.size(); ++size) {
        EXPECT_FALSE(split_message(message.substr(0, size))) << size;
    }
}

TEST(Sections, InAnotherOrderOrMixedAreRefused) {
    const std::string bodies = section(descriptor::data, Datum::binary("x"));
    const std::string value = section(descriptor::value, Datum::string("x"));
    const std::string header = encoded(Header{});
    for (const std::string& wrong :
         {bodies + header, header + header + bodies, bodies + value, value + value, header,
          section(0x99, Datum::null()) + bodies, ""s, "nonsense"s}) {
        EXPECT_FALSE(split_message(wrong)) << to_hex(wrong);
    }
    EXPECT_EQ(split_message(header).error(), "missing_amqp_message_body");
    EXPECT_TRUE(split_message(value));
}

TEST(Addresses, NameAQueueOrAnExchange) {  // amqp10 4.1, 4.2
    using Kind = Address::Kind;
    EXPECT_EQ(*parse_address("/queues/q"), (Address{Kind::queue, "q", ""}));
    EXPECT_EQ(*parse_address("/queues/a%2Fb+c"), (Address{Kind::queue, "a/b+c", ""}));
    EXPECT_EQ(*parse_address("/exchanges/x"), (Address{Kind::exchange, "x", ""}));
    EXPECT_EQ(*parse_address("/exchanges/x/a.%23"), (Address{Kind::exchange, "x", "a.#"}));
    for (const char* const wrong : {"", "q", "/queue/q", "/queues/", "/exchanges/",
                                    "/exchanges/amq.default/k", "/exchanges//k", "/exchanges/x/a/b",
                                    "/queues/a b", "/queues/%2", "/queues/%zz", "/queues/a/b"}) {
        EXPECT_FALSE(parse_address(wrong)) << wrong;
    }
    EXPECT_FALSE(parse_address("/queues/" + std::string(256, 'q')));
    EXPECT_FALSE(parse_address("/exchanges/x/" + std::string(256, 'k')));
    EXPECT_EQ(parse_address("/queues/%FF%FE").error(), "name is not UTF-8");
    EXPECT_EQ(parse_address("/exchanges/x/%FF").error(), "name is not UTF-8");
    EXPECT_EQ(queue_address("a/b c~"), "/queues/a%2Fb%20c~");
}

}  // namespace
}  // namespace revenant::amqp10
