#include "amqp10/message/incoming_message.h"

#include "tests/support/amqp10_message.h"
#include "tests/support/hex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string condition_of(const std::string& bytes) {
    const auto read = read_published(bytes);
    return read ? "" : std::string(read.error().condition);
}

std::string text_of(const std::string& bytes) {
    const auto read = read_published(bytes);
    return read ? "" : read.error().text;
}

TEST(IncomingMessage, TheBareMessageIsKeptAsItCame) {  // amqp10 5.20
    const std::string kept = annotations({{Datum::symbol("x-a"), Datum::uint(1)}}) +
                             encoded(Properties{.user_id = "me", .to = "/queues/q"}) +
                             application_properties({{Datum::string("p"), Datum::boolean(true)}});
    const std::string footer =
        section(descriptor::footer, Datum::map({{Datum::symbol("x-f"), Datum::null()}}));
    const std::string delivery_annotations = section(
        descriptor::delivery_annotations, Datum::map({{Datum::symbol("x-d"), Datum::uint(2)}}));
    const std::string message = encoded(Header{.durable = true, .priority = 7, .ttl = 5000}) +
                                delivery_annotations + kept + hello_body + data("two") + footer;
    const auto read = read_published(message);
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(read->properties, kept);
    EXPECT_EQ(read->body, hello_body + data("two") + footer);
    EXPECT_TRUE(read->head.persistent);
    EXPECT_EQ(read->head.priority, 7);
    EXPECT_EQ(read->head.ttl_ms, 5000);
    EXPECT_EQ(read->to, "/queues/q");
    EXPECT_EQ(read->user_id, "me");
    EXPECT_EQ(read->head.format, &message_format());
    EXPECT_THAT(read->head.extra_keys.cc, IsEmpty());
}

TEST(IncomingMessage, ABodyIsEnough) {  // amqp10 6.2
    const auto read = read_published(hello_body);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->properties, "");
    EXPECT_EQ(read->body, hello_body);
    EXPECT_FALSE(read->head.persistent) << "without a header a message is transient";
    EXPECT_EQ(read->head.priority, std::nullopt);
    EXPECT_EQ(read->head.ttl_ms, std::nullopt);
    EXPECT_EQ(read->to, std::nullopt);
}

TEST(IncomingMessage, DurabilityIsWhatTheHeaderSays) {
    EXPECT_FALSE(read_published(from_hex("005370c0020142") + hello_body)->head.persistent);
    EXPECT_TRUE(read_published(from_hex("005370c0020141") + hello_body)->head.persistent);
    EXPECT_FALSE(read_published(from_hex("005370c0020140") + hello_body)->head.persistent);
    EXPECT_FALSE(read_published(from_hex("00537045") + hello_body)->head.persistent);
    EXPECT_EQ(read_published(from_hex("005370c00503405004 43") + hello_body)->head.ttl_ms, 0);
}

TEST(IncomingMessage, FurtherKeysAreAListOfStrings) {  // amqp10 5.17, DL-61
    const auto with = [](const Datum& keys) {
        return annotations({{Datum::symbol("x-cc"), keys}}) + hello_body;
    };
    const std::string good = with(Datum::list(
        {Datum::string("a"), Datum::string("b"), Datum::string(std::string(256, 'x'))}));
    EXPECT_THAT(read_published(good)->head.extra_keys.cc, ElementsAre("a", "b"));
    EXPECT_THAT(read_published(with(Datum::list({})))->head.extra_keys.cc, IsEmpty());
    for (const Datum& wrong :
         {Datum::string("a"), Datum::null(), Datum::list({Datum::uint(1)}),
          Datum::list({Datum::string("a"), Datum::symbol("b")}), Datum::array({Datum::string("a")}),
          Datum::list(Data(300, Datum::string(std::string(255, 'k'))))}) {
        EXPECT_EQ(condition_of(with(wrong)), "amqp:invalid-field");
        EXPECT_THAT(text_of(with(wrong)), StartsWith("bad value for 'x-cc' message-annotation: "));
    }
}

TEST(IncomingMessage, AnnotationsHaveKeysOfTheirOwn) {  // amqp10 5.19
    for (const std::uint64_t code :
         {descriptor::delivery_annotations, descriptor::message_annotations, descriptor::footer}) {
        for (const Datum& key : {Datum::symbol("a"), Datum::string("x-a"), Datum::ulong(5)}) {
            const std::string map = section(code, Datum::map({{key, Datum::uint(1)}}));
            const std::string message =
                code == descriptor::footer ? hello_body + map : map + hello_body;
            EXPECT_EQ(condition_of(message), "amqp:decode-error");
            EXPECT_THAT(text_of(message), StartsWith("failed to parse message: "));
            EXPECT_THAT(text_of(message), HasSubstr("reserved_annotation_key"));
        }
    }
    EXPECT_EQ(text_of(annotations({{Datum::symbol("a"), Datum::null()}}) + hello_body),
              "failed to parse message: {reserved_annotation_key,{symbol,<<\"a\">>}}");
    EXPECT_EQ(text_of(annotations({{Datum::ulong(5), Datum::null()}}) + hello_body),
              "failed to parse message: {reserved_annotation_key,{ulong,5}}");
}

TEST(IncomingMessage, WhatIsNoMessageIsRefused) {  // amqp10 5.19
    EXPECT_EQ(text_of(encoded(Header{})), "failed to parse message: missing_amqp_message_body");
    for (const std::string& wrong :
         {""s, "nonsense"s, hello_body + hello_body.substr(0, 4),
          from_hex("005370c0020143") + hello_body,
          from_hex("005370c007064040404040 40") + hello_body, from_hex("005372 45") + hello_body,
          from_hex("005372c1030243a1") + hello_body, from_hex("005373c003024043") + hello_body,
          from_hex("005373c1010040") + hello_body, from_hex("005373c003015602") + hello_body,
          from_hex("005374c10602a10161 5602") + hello_body,
          from_hex("005372c10802a303782d61 5602") + hello_body,
          application_properties({{Datum::symbol("a"), Datum::uint(1)}}) + hello_body,
          section(descriptor::data, Datum::string("x")), section(descriptor::data, Datum::null()),
          section(descriptor::sequence, Datum::map({})),
          section(descriptor::sequence, Datum::list({})) +
              section(descriptor::sequence, Datum::uint(1)),
          hello_body + section(descriptor::footer, Datum::list({}))}) {
        EXPECT_EQ(condition_of(wrong), "amqp:decode-error") << to_hex(wrong);
    }
    EXPECT_TRUE(read_published(section(descriptor::value, Datum::null())));
    EXPECT_TRUE(read_published(section(descriptor::sequence, Datum::list({Datum::uint(1)}))));
}

TEST(IncomingMessage, EveryPrefixOfAMessageIsRefusedOrAMessage) {
    const std::string message =
        encoded(Header{.durable = true}) +
        annotations({{Datum::symbol("x-cc"), Datum::list({Datum::string("k")})}}) +
        encoded(Properties{.to = "/queues/q"}) + hello_body + data("more");
    for (std::size_t size = 0; size < message.size(); ++size) {
        const std::string prefix = message.substr(0, size);
        const auto read = read_published(prefix);
        EXPECT_EQ(read.has_value(), size == message.size() - data("more").size()) << size;
    }
}

}  // namespace
}  // namespace revenant::amqp10
