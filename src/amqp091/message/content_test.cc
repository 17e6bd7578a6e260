#include "amqp091/message/content.h"

#include "tests/support/hex.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

namespace revenant::amqp091 {
namespace {

std::string encoded(const BasicProperties& properties) {
    std::string out;
    encode_properties(properties, out);
    return out;
}

// All fourteen properties, each with a distinct value.
std::string all_properties() {
    return from_hex("fffc") + from_hex("02") + "ct" + from_hex("02") + "ce" +
           from_hex("00000003 01") + "hV" + from_hex("02 09") + from_hex("02") + "ci" +
           from_hex("02") + "rt" + from_hex("04") + "5000" + from_hex("02") + "mi" +
           from_hex("0102030405060708") + from_hex("02") + "ty" + from_hex("02") + "ui" +
           from_hex("02") + "ai" + from_hex("02") + "cl";
}

TEST(ContentHeaders, HaveClassWeightBodySizeAndProperties) {
    // amqp091 1.4
    const std::string payload = from_hex("003c 0001 0102030405060708 1000 02");
    const auto header = ContentHeader::decode(payload);
    ASSERT_TRUE(header.has_value());
    EXPECT_EQ(header->class_id, 60);
    EXPECT_EQ(header->weight, 1);
    EXPECT_EQ(header->body_size, 0x0102030405060708U);
    EXPECT_EQ(header->properties, from_hex("1000 02"));
    EXPECT_EQ(header->properties.data(), payload.data() + 12);
}

TEST(ContentHeaders, ShorterThanTheirFixedPartAreTruncated) {
    const std::string payload = from_hex("003c 0000 0000000000000000");
    for (std::size_t size = 0; size < payload.size(); ++size) {
        const std::string prefix = payload.substr(0, size);
        const auto header = ContentHeader::decode(prefix);
        ASSERT_FALSE(header.has_value()) << size;
        EXPECT_EQ(header.error(), ContentError::truncated);
    }
    EXPECT_TRUE(ContentHeader::decode(payload).has_value());
}

TEST(Properties, StandInTheOrderOfTheirFlags) {
    // amqp091 1.5
    const std::string bytes = all_properties();
    const auto properties = decode_properties(bytes);
    ASSERT_TRUE(properties.has_value());
    EXPECT_EQ(properties->content_type, "ct");
    EXPECT_EQ(properties->content_encoding, "ce");
    EXPECT_EQ(properties->headers, from_hex("01") + "hV");
    EXPECT_EQ(properties->delivery_mode, 2);
    EXPECT_EQ(properties->priority, 9);
    EXPECT_EQ(properties->correlation_id, "ci");
    EXPECT_EQ(properties->reply_to, "rt");
    EXPECT_EQ(properties->expiration, "5000");
    EXPECT_EQ(properties->message_id, "mi");
    EXPECT_EQ(properties->timestamp, 0x0102030405060708U);
    EXPECT_EQ(properties->type, "ty");
    EXPECT_EQ(properties->user_id, "ui");
    EXPECT_EQ(properties->app_id, "ai");
    EXPECT_EQ(properties->cluster_id, "cl");
    EXPECT_EQ(encoded(*properties), bytes);
}

TEST(Properties, EachFlagStandsForItsProperty) {
    // amqp091 1.5
    const auto only = [](std::string_view hex) { return decode_properties(from_hex(hex))->flags; };
    const auto flag = [](Property property) { return static_cast<std::uint16_t>(property); };
    EXPECT_EQ(only("8000 00"), flag(Property::content_type));
    EXPECT_EQ(only("4000 00"), flag(Property::content_encoding));
    EXPECT_EQ(only("2000 00000000"), flag(Property::headers));
    EXPECT_EQ(only("1000 00"), flag(Property::delivery_mode));
    EXPECT_EQ(only("0800 00"), flag(Property::priority));
    EXPECT_EQ(only("0400 00"), flag(Property::correlation_id));
    EXPECT_EQ(only("0200 00"), flag(Property::reply_to));
    EXPECT_EQ(only("0100 00"), flag(Property::expiration));
    EXPECT_EQ(only("0080 00"), flag(Property::message_id));
    EXPECT_EQ(only("0040 0000000000000000"), flag(Property::timestamp));
    EXPECT_EQ(only("0020 00"), flag(Property::type));
    EXPECT_EQ(only("0010 00"), flag(Property::user_id));
    EXPECT_EQ(only("0008 00"), flag(Property::app_id));
    EXPECT_EQ(only("0004 00"), flag(Property::cluster_id));
    EXPECT_EQ(only("0000"), 0);
}

TEST(Properties, AnAbsentOneAndAnEmptyOneDiffer) {
    const std::string bytes = from_hex("0100 00");
    const auto properties = decode_properties(bytes);
    ASSERT_TRUE(properties.has_value());
    EXPECT_TRUE(properties->has(Property::expiration));
    EXPECT_FALSE(properties->has(Property::reply_to));
    EXPECT_EQ(encoded(*properties), bytes);
}

TEST(Properties, MayBeMarkedAndCleared) {
    BasicProperties properties;
    properties.expiration = "60";
    properties.mark(Property::expiration);
    properties.delivery_mode = 2;
    properties.mark(Property::delivery_mode);
    EXPECT_EQ(encoded(properties), from_hex("1100 02 02") + "60");
    properties.clear(Property::expiration);
    EXPECT_EQ(encoded(properties), from_hex("1000 02"));
}

TEST(Properties, StringsMayBeAnyBytes) {
    const std::string bytes = from_hex("8000 02 c328");
    const auto properties = decode_properties(bytes);
    ASSERT_TRUE(properties.has_value());
    EXPECT_EQ(properties->content_type, "\xc3\x28");
}

TEST(Properties, ASecondWordOfFlagsIsRefused) {
    // amqp091 1.4
    const auto properties = decode_properties(from_hex("8001 0000 00"));
    ASSERT_FALSE(properties.has_value());
    EXPECT_EQ(properties.error(), ContentError::more_flags);
}

TEST(Properties, TheFlagWithoutAPropertyIsCarriedAlong) {
    const std::string bytes = from_hex("1002 01");
    const auto properties = decode_properties(bytes);
    ASSERT_TRUE(properties.has_value());
    EXPECT_EQ(properties->delivery_mode, 1);
    EXPECT_EQ(encoded(*properties), bytes);
}

TEST(Properties, EveryProperPrefixIsTruncated) {
    const std::string bytes = all_properties();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const std::string prefix = bytes.substr(0, size);
        const auto properties = decode_properties(prefix);
        ASSERT_FALSE(properties.has_value()) << size;
        EXPECT_EQ(properties.error(), ContentError::truncated) << size;
    }
}

TEST(Properties, BytesBehindTheLastOneAreRefused) {
    const auto properties = decode_properties(all_properties() + "x");
    ASSERT_FALSE(properties.has_value());
    EXPECT_EQ(properties.error(), ContentError::trailing_bytes);
    EXPECT_EQ(describe(properties.error()), "trailing bytes");
}

TEST(Properties, RandomOnesSurviveEncodingAndDecoding) {
    std::mt19937_64 random(1014);
    for (int round = 0; round < 5000; ++round) {
        std::array<std::string, 11> texts;
        for (std::string& text : texts) {
            text.resize(random() % 256);
            for (char& octet : text) octet = static_cast<char>(random());
        }
        BasicProperties properties;
        properties.flags = static_cast<std::uint16_t>(random() & 0xfffe);
        std::size_t next = 0;
        const auto fill = [&](Property property, std::string_view& field) {
            if (properties.has(property)) field = texts.at(next++);
        };
        fill(Property::content_type, properties.content_type);
        fill(Property::content_encoding, properties.content_encoding);
        fill(Property::headers, properties.headers);
        fill(Property::correlation_id, properties.correlation_id);
        fill(Property::reply_to, properties.reply_to);
        fill(Property::expiration, properties.expiration);
        fill(Property::message_id, properties.message_id);
        fill(Property::type, properties.type);
        fill(Property::user_id, properties.user_id);
        fill(Property::app_id, properties.app_id);
        fill(Property::cluster_id, properties.cluster_id);
        const auto octet = [&random] { return static_cast<std::uint8_t>(random() % 256); };
        if (properties.has(Property::delivery_mode)) properties.delivery_mode = octet();
        if (properties.has(Property::priority)) properties.priority = octet();
        if (properties.has(Property::timestamp)) properties.timestamp = random();
        const std::string bytes = encoded(properties);
        const auto decoded = decode_properties(bytes);
        ASSERT_TRUE(decoded.has_value()) << round;
        ASSERT_EQ(*decoded, properties) << round;
        ASSERT_EQ(encoded(*decoded), bytes) << round;
    }
}

}  // namespace
}  // namespace revenant::amqp091
