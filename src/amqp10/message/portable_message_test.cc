#include "amqp10/message/portable_message.h"

#include "amqp10/codec/value_conversion.h"
#include "message/death.h"
#include "tests/support/amqp10_message.h"
#include "tests/support/hex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

PortableMessage portable(const std::string& bytes) { return portable_message(*published(bytes)); }

PortableMessage with_id(const Datum& id) {
    const std::string encoded_id = encoded(id);
    return portable(encoded(Properties{.message_id = encoded_id, .correlation_id = encoded_id}) +
                    hello_body);
}

Value header_of(const Datum& property) {
    const PortableMessage message =
        portable(application_properties({{Datum::string("p"), property}}) + hello_body);
    const Value* const value = find(message.headers, "p");
    return value == nullptr ? Value::string("DROPPED") : *value;
}

TEST(Portable, TheHeaderBecomesProperties) {  // amqp10 6.4
    const PortableMessage all =
        portable(encoded(Header{.durable = true, .priority = 4, .ttl = 70000}) + hello_body);
    EXPECT_EQ(all.delivery_mode, 2);
    EXPECT_EQ(all.priority, 4);
    EXPECT_EQ(all.expiration, "70000");
    const PortableMessage none = portable(from_hex("005370c0020142") + hello_body);
    EXPECT_EQ(none.delivery_mode, 1);
    EXPECT_EQ(none.priority, std::nullopt);
    EXPECT_EQ(none.expiration, std::nullopt);
}

TEST(Portable, IdsBecomeText) {  // amqp10 6.5
    EXPECT_EQ(with_id(Datum::string("id")).message_id, "id");
    EXPECT_EQ(with_id(Datum::string("id")).correlation_id, "id");
    EXPECT_EQ(with_id(Datum::ulong(1234567890123)).message_id, "1234567890123");
    EXPECT_EQ(with_id({Type::uuid, from_hex("0123456789abcdef0123456789abcdef")}).correlation_id,
              "urn:uuid:01234567-89ab-cdef-0123-456789abcdef");
    EXPECT_EQ(with_id(Datum::string(std::string(255, 'a'))).message_id, std::string(255, 'a'));
    EXPECT_EQ(with_id(Datum::uint(7)).message_id, std::nullopt) << "not a valid id type";
}

TEST(Portable, IdsThatAreNoShortTextBecomeHeaders) {  // amqp10 6.5
    const std::string text(256, 'a');
    const PortableMessage longer = with_id(Datum::string(text));
    EXPECT_EQ(longer.message_id, std::nullopt);
    EXPECT_EQ(longer.headers, (Table{{"x-message-id", Value::string(text)},
                                     {"x-correlation-id", Value::string(text)}}));
    const PortableMessage binary = with_id(Datum::binary("id"));
    EXPECT_EQ(binary.correlation_id, std::nullopt);
    EXPECT_EQ(binary.headers, (Table{{"x-message-id", {ValueType::binary, "id"s}},
                                     {"x-correlation-id", {ValueType::binary, "id"s}}}));
}

TEST(Portable, PropertiesHaveTheirNearestKin) {  // amqp10 6.6
    const PortableMessage message = portable(encoded(Properties{.user_id = "u",
                                                                .to = "/queues/t",
                                                                .subject = "s",
                                                                .reply_to = "/queues/a%2Fb",
                                                                .content_type = "text/plain",
                                                                .content_encoding = "gzip",
                                                                .absolute_expiry_time = 5,
                                                                .creation_time = 1999,
                                                                .group_id = "g",
                                                                .group_sequence = 3,
                                                                .reply_to_group_id = "r"}) +
                                             hello_body);
    PortableMessage expected;
    expected.delivery_mode = 1;
    expected.user_id = "u";
    expected.reply_to = "a/b";
    expected.content_type = "text/plain";
    expected.content_encoding = "gzip";
    expected.timestamp = 1;
    expected.app_id = "g";
    expected.body = "hello";
    EXPECT_EQ(message, expected);
}

TEST(Portable, WhatIsNoShortStringIsDropped) {  // amqp10 6.6
    const std::string text(256, 'a');
    const PortableMessage message = portable(encoded(Properties{.user_id = "\xff",
                                                                .reply_to = text,
                                                                .content_type = text,
                                                                .content_encoding = text,
                                                                .creation_time = -1,
                                                                .group_id = text}) +
                                             hello_body);
    PortableMessage expected;
    expected.delivery_mode = 1;
    expected.body = "hello";
    EXPECT_EQ(message, expected);
    EXPECT_EQ(portable(encoded(Properties{.reply_to = "/exchanges/x/k"}) + hello_body).reply_to,
              "/exchanges/x/k");
    EXPECT_EQ(portable(encoded(Properties{.reply_to = "me"}) + hello_body).reply_to, "me");
}

TEST(Portable, ApplicationPropertiesBecomeHeadersByType) {  // amqp10 6.7
    EXPECT_EQ(header_of(Datum::string("s")), Value::string("s"));
    EXPECT_EQ(header_of(Datum::symbol("s")), Value::string("s"));
    EXPECT_EQ(header_of(Datum::binary("\xff\0"s)), Value::string("\xff\0"s));
    EXPECT_EQ(header_of({Type::byte, std::int64_t{-1}}), (Value{ValueType::int8, -1L}));
    EXPECT_EQ(header_of(Datum::ubyte(200)), (Value{ValueType::uint8, 200L}));
    EXPECT_EQ(header_of({Type::short_int, std::int64_t{-2}}), (Value{ValueType::int16, -2L}));
    EXPECT_EQ(header_of({Type::ushort, std::uint64_t{60000}}), (Value{ValueType::uint16, 60000L}));
    EXPECT_EQ(header_of(Datum::int32(-3)), Value::int32(-3));
    EXPECT_EQ(header_of(Datum::uint(3'000'000'000)), (Value{ValueType::uint32, 3'000'000'000L}));
    EXPECT_EQ(header_of(Datum::long_int(-4)), Value::int64(-4));
    EXPECT_EQ(header_of(Datum::ulong(5)), Value::int64(5));
    EXPECT_EQ(header_of({Type::float32, 1.5}), (Value{ValueType::float32, 1.5}));
    EXPECT_EQ(header_of({Type::float64, 2.5}), (Value{ValueType::float64, 2.5}));
    EXPECT_EQ(header_of(Datum::boolean(true)), Value::boolean(true));
    EXPECT_EQ(header_of(Datum::timestamp(5999)), Value::timestamp(5));
    EXPECT_EQ(header_of(Datum::null()), Value::nothing());
    EXPECT_EQ(header_of(Datum::list({Datum::uint(1), Datum::string("x")})),
              Value::array({{ValueType::uint32, 1L}, Value::string("x")}));
    EXPECT_EQ(header_of(Datum::array({Datum::symbol("a")})), Value::array({Value::string("a")}));
    EXPECT_EQ(header_of(Datum::map({{Datum::symbol("k"), Datum::boolean(false)}})),
              Value::table({{"k", Value::boolean(false)}}));
}

TEST(Portable, WhatHasNoKinIsDropped) {  // amqp10 6.7
    const Value dropped = Value::string("DROPPED");
    EXPECT_EQ(header_of({Type::decimal32, "abcd"s}), dropped);
    EXPECT_EQ(header_of({Type::decimal64, "abcdefgh"s}), dropped);
    EXPECT_EQ(header_of({Type::decimal128, "abcdefghijklmnop"s}), dropped);
    EXPECT_EQ(header_of({Type::character, std::uint64_t{65}}), dropped);
    EXPECT_EQ(header_of({Type::described, Data{Datum::ulong(1), Datum::null()}}), dropped);
    EXPECT_EQ(header_of(Datum::list({{Type::character, std::uint64_t{65}}, Datum::null()})),
              Value::array({Value::nothing()}));
    EXPECT_EQ(header_of(Datum::map({{Datum::string(std::string(256, 'k')), Datum::null()}})),
              Value::table({}));
    EXPECT_THAT(
        portable(application_properties({{Datum::string(std::string(256, 'k')), Datum::uint(1)}}) +
                 hello_body)
            .headers,
        IsEmpty());
}

TEST(Portable, AnnotationsBecomeHeaders) {  // amqp10 6.8, DL-105
    const PortableMessage message = portable(
        annotations({{Datum::symbol("x-a"), Datum::string("v")},
                     {Datum::symbol("x-basic-priority"), Datum::ubyte(3)},
                     {Datum::symbol("x-basic-type"), Datum::string("order")},
                     {Datum::symbol("x-routing-key"), Datum::string("k")},
                     {Datum::symbol("x-exchange"), Datum::string("e")},
                     {Datum::symbol("x-death"), Datum::list({})},
                     {Datum::symbol("x-opt-deaths"), Datum::string("nonsense")},
                     {Datum::symbol("x-opt-rabbitmq-received-time"), Datum::timestamp(1234)},
                     {Datum::symbol("x-cc"), Datum::list({Datum::string("k2")})}}) +
        hello_body);
    EXPECT_EQ(message.headers, (Table{{"x-a", Value::string("v")},
                                      {"timestamp_in_ms", Value::int64(1234)},
                                      {"CC", Value::array({Value::string("k2")})}}));
    EXPECT_EQ(message.type, "order");
    EXPECT_THAT(message.claimed_deaths, IsEmpty());
}

TEST(Portable, DataAreJoined) {  // amqp10 6.9
    const PortableMessage message = portable(hello_body + data("") + data(" you"));
    EXPECT_EQ(message.body, "hello you");
    EXPECT_EQ(message.type, std::nullopt);
}

TEST(Portable, OtherBodiesAreLeftEncoded) {  // amqp10 6.9
    const std::string footer = section(descriptor::footer, Datum::map({}));
    for (const std::string& sections :
         {section(descriptor::value, Datum::string("v")),
          section(descriptor::sequence, Datum::list({Datum::uint(1)})) +
              section(descriptor::sequence, Datum::list({}))}) {
        const MessageRef message = published(sections + footer);
        const PortableMessage converted = portable_message(*message);
        EXPECT_EQ(converted.type, "amqp-1.0");
        EXPECT_EQ(converted.body, std::nullopt);
        EXPECT_EQ(message->body(), sections + footer);
    }
}

DataMap claimed_death() {
    return {{Datum::symbol("ttl"), Datum::uint(9)},
            {Datum::symbol("queue"), Datum::string("q")},
            {Datum::symbol("reason"), Datum::symbol("expired")},
            {Datum::symbol("count"), Datum::ulong(3)},
            {Datum::symbol("first-time"), Datum::timestamp(1000)},
            {Datum::symbol("last-time"), Datum::timestamp(2000)},
            {Datum::symbol("exchange"), Datum::string("x")},
            {Datum::symbol("routing-keys"), Datum::array({Datum::string("k")})}};
}

std::string claiming(const Datum& deaths) {
    return annotations({{Datum::symbol("x-opt-deaths"), deaths}}) + hello_body;
}

TEST(Portable, ClaimedDeathsAreReadInTheBrokersForm) {  // DL-103
    Death expected;
    expected.queue = "q";
    expected.reason = DeathReason::expired;
    expected.count = 3;
    expected.first_time = {1'000'000};
    expected.last_time = {2'000'000};
    expected.exchange = "x";
    expected.routing_keys = {"k"};
    expected.ttl_ms = 9;
    const std::string message = claiming(Datum::array({Datum::map(claimed_death())}));
    EXPECT_THAT(portable(message).claimed_deaths, ElementsAre(expected));
    const auto history = message_format().claimed_history(*published(message));
    ASSERT_TRUE(history);
    EXPECT_THAT(history->deaths, ElementsAre(expected));
    EXPECT_EQ(history->first, (DeathSummary{"q", DeathReason::expired, "x"}));
    DataMap without_ttl = claimed_death();
    without_ttl.erase(without_ttl.begin());
    expected.ttl_ms = std::nullopt;
    EXPECT_THAT(portable(claiming(Datum::array({Datum::map(without_ttl)}))).claimed_deaths,
                ElementsAre(expected));
}

TEST(Portable, ClaimedDeathsOfAnotherFormAreDropped) {  // DL-103
    std::vector<DataMap> wrong(6, claimed_death());
    std::swap(wrong[0][1], wrong[0][2]);
    wrong[1].pop_back();
    wrong[2].push_back({Datum::symbol("more"), Datum::null()});
    wrong[3][3].value = Datum::uint(3);
    wrong[4][2].value = Datum::symbol("boredom");
    wrong[5][7].value = Datum::array({Datum::symbol("k")});
    for (const DataMap& map : wrong) {
        EXPECT_THAT(portable(claiming(Datum::array({Datum::map(map)}))).claimed_deaths, IsEmpty());
    }
    for (const Datum& other : {Datum::list({Datum::map(claimed_death())}), Datum::null(),
                               Datum::array({}), Datum::array({Datum::uint(1)})}) {
        EXPECT_THAT(portable(claiming(other)).claimed_deaths, IsEmpty());
        EXPECT_FALSE(message_format().claimed_history(*published(claiming(other))));
    }
}

TEST(Format, HeadersAreWhatAnExchangeCanCompare) {
    const MessageRef message =
        published(annotations({{Datum::symbol("x-a"), Datum::symbol("v")},
                               {Datum::symbol("x-list"), Datum::list({})}}) +
                  application_properties({{Datum::string("n"), Datum::ulong(5)},
                                          {Datum::string("x-a"), Datum::string("covered")},
                                          {Datum::string("null"), Datum::null()},
                                          {Datum::string("map"), Datum::map({})}}) +
                  hello_body);
    const Table headers = message->headers();
    EXPECT_EQ(*find(headers, "x-a"), Value::string("v"));
    EXPECT_EQ(*find(headers, "n"), Value::int64(5));
    EXPECT_EQ(*find(headers, "null"), Value::nothing());
    EXPECT_EQ(find(headers, "x-list"), nullptr);
    EXPECT_EQ(find(headers, "map"), nullptr);
}

TEST(Format, PropertiesToHashAreText) {
    const std::string id = encoded(Datum::ulong(12));
    const MessageRef message = published(
        encoded(Properties{.message_id = id, .correlation_id = id, .creation_time = 5999}) +
        hello_body);
    EXPECT_EQ(message->format().property(*message, "message_id"), "12");
    EXPECT_EQ(message->format().property(*message, "correlation_id"), "12");
    EXPECT_EQ(message->format().property(*message, "timestamp"), "5");
    EXPECT_EQ(message->format().property(*published(hello_body), "message_id"), "");
}

// A small message must not become a large table.
TEST(Format, ValuesOfAllPropertiesTogetherAreBounded) {
    const std::string nulls = from_hex("f0000000050000fff040");
    const MessageRef message = published(from_hex("005374 d1 0000001e 00000004 a10161") + nulls +
                                         from_hex("a10162") + nulls + hello_body);
    EXPECT_EQ(portable_message(*message).headers.size(), 1U);
}

TEST(Urns, AreReadAndWritten) {
    const std::string uuid = from_hex("00112233445566778899aabbccddeeff");
    EXPECT_EQ(uuid_to_urn(uuid), "urn:uuid:00112233-4455-6677-8899-aabbccddeeff");
    EXPECT_EQ(urn_to_uuid("urn:uuid:00112233-4455-6677-8899-AABBCCDDEEFF"), uuid);
    for (const char* const wrong : {"", "urn:uuid:", "00112233-4455-6677-8899-aabbccddeeff",
                                    "urn:uuid:00112233-4455-6677-8899-aabbccddeef",
                                    "urn:uuid:00112233-4455-6677-8899-aabbccddeeff0",
                                    "urn:uuid:001122334455-6677-8899-aabbccddeeff0",
                                    "urn:uuid:0011223g-4455-6677-8899-aabbccddeeff",
                                    "urn:uuid:-0112233-4455-6677-8899-aabbccddeeff"}) {
        EXPECT_EQ(urn_to_uuid(wrong), std::nullopt) << wrong;
    }
}

}  // namespace
}  // namespace revenant::amqp10
