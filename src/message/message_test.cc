#include "message/message.h"

#include "message/death.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace revenant {
namespace {

using ::testing::ElementsAre;

const MessageFormat format{
    0,
    [](const Message& message) {
        return Table{{"bytes", Value::string(message.properties())}};
    },
    [](const Message&, std::string_view name) { return std::string(name); },
    [](const Message&) { return std::optional<DeathHistory>{}; },
};

MessageHead head() {
    MessageHead made;
    made.format = &format;
    return made;
}

TEST(Message, HoldsItsPartsAsTheyArrived) {
    const std::string body("bo\0dy", 5);
    const MessageRef message =
        make_message("exchange", "key", std::string("\x80\0", 2), body, head());
    EXPECT_EQ(message->exchange(), "exchange");
    EXPECT_EQ(message->routing_key(), "key");
    EXPECT_EQ(message->properties(), std::string("\x80\0", 2));
    EXPECT_EQ(message->body(), body);
    EXPECT_EQ(message->body_size(), 5U);
}

TEST(Message, IsAsLargeAsItsFormatCounts) {
    EXPECT_EQ(make_message("exchange", "key", "123", "12345", head())->published_size(), 5U);
    MessageFormat all = format;
    all.size_includes_properties = true;
    MessageHead of_sections = head();
    of_sections.format = &all;
    EXPECT_EQ(make_message("exchange", "key", "123", "12345", of_sections)->published_size(), 8U);
}

TEST(Message, EveryPartMayBeEmpty) {
    const MessageRef message = make_message("", "", "", "", head());
    EXPECT_EQ(message->exchange(), "");
    EXPECT_EQ(message->routing_key(), "");
    EXPECT_EQ(message->properties(), "");
    EXPECT_EQ(message->body(), "");
}

TEST(Message, NamesOfTheLongestShortStringFit) {
    const std::string exchange(255, 'x');
    const std::string key(255, 'k');
    const MessageRef message = make_message(exchange, key, "p", "b", head());
    EXPECT_EQ(message->exchange(), exchange);
    EXPECT_EQ(message->routing_key(), key);
    EXPECT_EQ(message->properties(), "p");
    EXPECT_EQ(message->body(), "b");
}

TEST(Message, ANameLongerThanThatIsABugOfTheCaller) {
    EXPECT_DEATH((void)make_message(std::string(256, 'x'), "", "", "", head()), "CHECK failed");
}

TEST(Message, AbsentIsNotZero) {
    const MessageRef bare = make_message("", "q", "", "b", head());
    EXPECT_EQ(bare->priority(), std::nullopt);
    EXPECT_EQ(bare->ttl_ms(), std::nullopt);
    EXPECT_FALSE(bare->persistent());
    EXPECT_EQ(bare->extra_keys(), nullptr);

    MessageHead zeros = head();
    zeros.priority = 0;
    zeros.ttl_ms = 0;
    zeros.persistent = true;
    const MessageRef message = make_message("", "q", "", "b", std::move(zeros));
    EXPECT_EQ(message->priority(), 0);
    EXPECT_EQ(message->ttl_ms(), 0);
    EXPECT_TRUE(message->persistent());
}

TEST(Message, KeepsTheLargestPriorityAndTimeToLive) {
    MessageHead large = head();
    large.priority = 255;
    large.ttl_ms = 315'360'000'000;
    const MessageRef message = make_message("", "q", "", "b", std::move(large));
    EXPECT_EQ(message->priority(), 255);
    EXPECT_EQ(message->ttl_ms(), 315'360'000'000);
}

TEST(Message, CarriesCopiesToFurtherKeys) {  // DL-61
    MessageHead copied = head();
    copied.extra_keys = {{"cc1", "cc2"}, {"bcc"}};
    const MessageRef message = make_message("", "q", "", "b", std::move(copied));
    ASSERT_NE(message->extra_keys(), nullptr);
    EXPECT_THAT(message->extra_keys()->cc, ElementsAre("cc1", "cc2"));
    EXPECT_THAT(message->extra_keys()->bcc, ElementsAre("bcc"));
}

TEST(Message, ABlindCopyAloneIsKeptToo) {
    MessageHead copied = head();
    copied.extra_keys.bcc = {"bcc"};
    const MessageRef message = make_message("", "q", "", "b", std::move(copied));
    ASSERT_NE(message->extra_keys(), nullptr);
    EXPECT_TRUE(message->extra_keys()->cc.empty());
}

TEST(Message, AsksItsProtocolForHeaders) {
    const MessageRef message = make_message("", "q", "props", "b", head());
    EXPECT_EQ(message->headers(), (Table{{"bytes", Value::string("props")}}));
    EXPECT_EQ(message->format().property(*message, "message_id"), "message_id");
}

TEST(Message, LivesAsLongAsItsLastReference) {
    MessageRef first = make_message("", "q", "", "body", head());
    MessageRef second = first;
    first = {};
    EXPECT_EQ(second->body(), "body");
}

TEST(MessageBuilder, PutsABodyTogetherFromItsFrames) {  // amqp091 1.6
    MessageBuilder builder;
    EXPECT_FALSE(builder.started());
    builder.start("x", "k", "p", 6, head());
    EXPECT_TRUE(builder.started());
    EXPECT_EQ(builder.body_bytes_left(), 6U);
    builder.append_body("ab");
    EXPECT_EQ(builder.body_bytes_left(), 4U);
    builder.append_body("cdef");
    EXPECT_EQ(builder.body_bytes_left(), 0U);
    const MessageRef message = builder.finish();
    EXPECT_FALSE(builder.started());
    EXPECT_EQ(message->body(), "abcdef");
}

TEST(MessageBuilder, GrowsToABodyOfSeveralMebibytesWithoutLosingAByte) {
    const std::uint32_t size = 3'000'000;
    std::string body(size, '\0');
    for (std::uint32_t i = 0; i < size; ++i) body[i] = static_cast<char>(i * 31 + i / 257);
    MessageHead copied = head();
    copied.extra_keys.cc = {"cc"};  // must survive the reallocation
    MessageBuilder builder;
    builder.start("exchange", "key", "properties", size, std::move(copied));
    for (std::size_t at = 0; at < size; at += 131'064) {
        builder.append_body(std::string_view(body).substr(at, 131'064));
    }
    const MessageRef message = builder.finish();
    EXPECT_TRUE(message->body() == body);
    EXPECT_EQ(message->exchange(), "exchange");
    EXPECT_EQ(message->properties(), "properties");
    EXPECT_THAT(message->extra_keys()->cc, ElementsAre("cc"));
}

TEST(MessageBuilder, MoreThanWasAnnouncedIsABugOfTheCaller) {
    MessageBuilder builder;
    builder.start("", "q", "", 3, head());
    EXPECT_DEATH(builder.append_body("abcd"), "CHECK failed");
    EXPECT_DEATH((void)builder.finish(), "CHECK failed");
}

TEST(MessageBuilder, AnUnfinishedMessageLeavesNothingBehind) {  // checked by the leak sanitizer
    MessageBuilder builder;
    MessageHead copied = head();
    copied.extra_keys.cc = {"cc"};
    builder.start("", "q", "", 3, std::move(copied));
    builder.append_body("a");
    builder.discard();
    EXPECT_FALSE(builder.started());
    builder.start("", "q", "", 1, head());
    builder.append_body("b");
    EXPECT_EQ(builder.finish()->body(), "b");
}

}  // namespace
}  // namespace revenant
