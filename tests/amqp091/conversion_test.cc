// Messages published in one protocol and consumed in the other (amqp10 6.4 to 6.13, DL-98 to
// DL-105).
#include "tests/support/amqp091_content.h"
#include "tests/support/amqp10_message.h"
#include "tests/support/hex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace revenant {
namespace {

using namespace std::string_literals;
using amqp091::BasicProperties;
using amqp091::content_of;
using amqp091::Property;
using amqp091::publish_091;
using amqp091::seen_by_091;
using amqp091::set;
using amqp10::Data;
using amqp10::DataMap;
using amqp10::Datum;

MessageRef with_headers(const Table& headers) { return publish_091({}, headers, "hello"); }

EnvelopeRef dead(void (*change)(Envelope&) = nullptr) {
    auto* const envelope = new Envelope;
    envelope->exchange = "dlx";
    envelope->routing_keys = {"dead"};
    Death death;
    death.queue = "q";
    death.reason = DeathReason::expired;
    death.first_time = {5'999'000};
    death.last_time = {7'000'000};
    death.exchange = "x";
    death.routing_keys = {"k"};
    death.ttl_ms = 50;
    envelope->history = with_death(nullptr, death);
    if (change != nullptr) change(*envelope);
    return EnvelopeRef::adopt(envelope);
}

// ------------------------------------------------------------------------- 0-9-1 to 1.0

TEST(From091, DeliveryModePriorityAndExpirationAreTheHeader) {  // amqp10 6.10
    BasicProperties properties;
    properties.delivery_mode = 2;
    properties.mark(Property::delivery_mode);
    properties.priority = 3;
    properties.mark(Property::priority);
    set(properties, &BasicProperties::expiration, Property::expiration, "007");
    const auto got = amqp10::delivered(*publish_091(properties, {}, "hello"));
    EXPECT_EQ(got->header, (Data{Datum::boolean(true), Datum::ubyte(3), Datum::uint(7),
                                 Datum::boolean(true), Datum::uint(0)}));
    const auto none = amqp10::delivered(*publish_091({}, {}, "hello"));
    EXPECT_EQ(none->header[0], Datum::boolean(false));
    EXPECT_EQ(none->header[1], Datum::null());
    EXPECT_EQ(none->header[2], Datum::null());
    EXPECT_EQ(none->sections.properties, "");
    EXPECT_EQ(none->sections.application_properties, "");
    set(properties, &BasicProperties::expiration, Property::expiration, "315360000000");
    EXPECT_EQ(amqp10::delivered(*publish_091(properties, {}, "hello"))->header[2],
              Datum::uint(UINT32_MAX));
}

TEST(From091, AnExpirationIsShownWithoutSignAndLeadingZeros) {  // DL-124, as RabbitMQ 4.3.6
    for (const auto& [published, shown] :
         std::vector<std::pair<std::string, std::string>>{{"+60000", "60000"},
                                                          {"0060000", "60000"},
                                                          {"60000", "60000"},
                                                          {"0", "0"},
                                                          {"-0", "0"},
                                                          {"+00", "0"}}) {
        BasicProperties properties;
        set(properties, &BasicProperties::expiration, Property::expiration, published);
        set(properties, &BasicProperties::message_id, Property::message_id, "id");
        const MessageRef message = publish_091(properties, {}, "hello");
        const auto got = amqp091::decode_properties(message->properties());
        EXPECT_EQ(got->expiration, shown) << published;
        EXPECT_EQ(got->message_id, "id");
    }
}

TEST(From091, PropertiesHaveTheirNearestKin) {  // amqp10 6.11
    BasicProperties properties;
    set(properties, &BasicProperties::message_id, Property::message_id, "id");
    set(properties, &BasicProperties::correlation_id, Property::correlation_id,
        "urn:uuid:01234567-89ab-cdef-0123-456789abcdef");
    set(properties, &BasicProperties::user_id, Property::user_id, "u");
    set(properties, &BasicProperties::reply_to, Property::reply_to, "a/b");
    set(properties, &BasicProperties::content_type, Property::content_type, "text/plain");
    set(properties, &BasicProperties::content_encoding, Property::content_encoding, "gzip");
    set(properties, &BasicProperties::app_id, Property::app_id, "app");
    set(properties, &BasicProperties::type, Property::type, "order");
    set(properties, &BasicProperties::cluster_id, Property::cluster_id, "c");
    properties.timestamp = 1'700'000'000;
    properties.mark(Property::timestamp);
    const auto got = amqp10::delivered(*publish_091(properties, {}, "hello"));
    const amqp10::Properties& seen = got->properties;
    EXPECT_EQ(seen.message_id, "\xa1\x02id");
    EXPECT_EQ(to_hex(std::string(seen.correlation_id)), "980123456789abcdef0123456789abcdef");
    EXPECT_EQ(seen.user_id, "u");
    EXPECT_EQ(seen.reply_to, "/queues/a%2Fb");
    EXPECT_EQ(seen.content_type, "text/plain");
    EXPECT_EQ(seen.content_encoding, "gzip");
    EXPECT_EQ(seen.creation_time, 1'700'000'000'000);
    EXPECT_EQ(seen.group_id, "app");
    EXPECT_EQ(seen.to, std::nullopt);
    EXPECT_EQ(seen.subject, std::nullopt);
    EXPECT_EQ(*got->annotation("x-basic-type"), Datum::string("order"));
}

TEST(From091, HeadersArePropertiesOrAnnotations) {  // amqp10 6.12, DL-101
    const auto got = amqp10::delivered(*with_headers({
        {"s", Value::string("text")},
        {"latin", Value::string("\xe4")},
        {"nul", Value::string("a\0b"s)},
        {"v", Value::nothing()},
        {"i", Value::int32(-1)},
        {"t", Value::timestamp(5)},
        {"x", {ValueType::binary, "b"s}},
        {"decimal", {ValueType::decimal, Decimal{1, 2}}},
        {"array", Value::array({})},
        {"table", Value::table({})},
        {"CC", Value::array({Value::string("k2")})},
        {"x-array", Value::array({Value::int64(1), Value::string("e")})},
        {"x-table", Value::table({{"k", Value::boolean(true)}})},
        {"s", Value::string("again")},
        {"x-array", Value::string("again")},
    }));
    EXPECT_EQ(got->application_properties, (DataMap{
                                               {Datum::string("s"), Datum::string("text")},
                                               {Datum::string("latin"), Datum::binary("\xe4")},
                                               {Datum::string("nul"), Datum::binary("a\0b"s)},
                                               {Datum::string("v"), Datum::null()},
                                               {Datum::string("i"), Datum::int32(-1)},
                                               {Datum::string("t"), Datum::timestamp(5000)},
                                               {Datum::string("x"), Datum::binary("b")},
                                           }));
    EXPECT_EQ(got->names(), "x-cc x-array x-table x-exchange x-routing-key ");
    EXPECT_EQ(*got->annotation("x-cc"), Datum::list({Datum::string("k2")}));
    EXPECT_EQ(*got->annotation("x-array"), Datum::list({Datum::long_int(1), Datum::string("e")}));
    EXPECT_EQ(*got->annotation("x-table"),
              Datum::map({{Datum::symbol("k"), Datum::boolean(true)}}));
}

TEST(From091, TheBodyIsOneSectionOfData) {  // amqp10 6.13
    EXPECT_EQ(amqp10::delivered(*with_headers({}))->sections.body, amqp10::data("hello"));
    EXPECT_EQ(amqp10::delivered(*publish_091({}, {}, ""))->sections.body, amqp10::data(""));
    const std::string large(70000, 'b');
    EXPECT_EQ(amqp10::delivered(*publish_091({}, {}, large))->sections.body, amqp10::data(large));
}

TEST(From091, EncodedSectionsAreTheBody) {  // amqp10 6.13
    BasicProperties properties;
    set(properties, &BasicProperties::type, Property::type, "amqp-1.0");
    const std::string sections = amqp10::section(amqp10::descriptor::value, Datum::string("v"));
    EXPECT_EQ(amqp10::delivered(*publish_091(properties, {}, sections))->sections.body, sections);
    for (const std::string& other :
         {"no section"s, amqp10::encoded(amqp10::Header{}) + sections, ""s, sections + "x"}) {
        EXPECT_EQ(amqp10::delivered(*publish_091(properties, {}, other))->sections.body,
                  amqp10::data(other));
    }
}

TEST(From091, DeathsAreRenderedFor10) {  // DL-98, DL-99, DL-104, DL-106
    BasicProperties properties;
    set(properties, &BasicProperties::expiration, Property::expiration, "50");
    const MessageRef message =
        publish_091(properties,
                    {{"x-death", Value::array({Value::table({{"queue", Value::string("me")}})})},
                     {"x-first-death-queue", Value::string("me")}},
                    "hello");
    const auto alive = amqp10::delivered(*message);
    EXPECT_EQ(
        *alive->annotation("x-death"),
        Datum::list({Datum::map({{Datum::symbol("queue"), Datum::string("me")}})}));  // DL-105
    EXPECT_EQ(*alive->annotation("x-first-death-queue"), Datum::string("me"));
    const auto got = amqp10::delivered(*message, dead().get());
    EXPECT_EQ(got->annotation("x-death"), nullptr);
    EXPECT_EQ(*got->annotation("x-first-death-queue"), Datum::string("q"));
    const Data& deaths = *got->annotation("x-opt-deaths")->as_elements();
    ASSERT_EQ(deaths.size(), 1U);
    EXPECT_EQ(*find(*deaths[0].as_map(), "ttl"), Datum::uint(50));
    EXPECT_EQ(*find(*deaths[0].as_map(), "first-time"), Datum::timestamp(5999));
    EXPECT_EQ(got->header[2], Datum::null());
    EXPECT_EQ(got->header[3], Datum::boolean(false));
}

TEST(From091, WithTheKeysTheListOfThemIsGone) {  // DL-66
    const MessageRef message = with_headers({{"CC", Value::array({Value::string("k2")})}});
    EXPECT_NE(amqp10::delivered(*message, dead().get())->annotation("x-cc"), nullptr);
    const EnvelopeRef replaced = dead([](Envelope& e) { e.keys_replaced = true; });
    EXPECT_EQ(amqp10::delivered(*message, replaced.get())->annotation("x-cc"), nullptr);
}

// ------------------------------------------------------------------------- 1.0 to 0-9-1

TEST(From10, APlainMessageHasNoHeaders) {
    const auto got = seen_by_091(*amqp10::published(amqp10::data("hello")));
    EXPECT_EQ(got->body, "hello");
    EXPECT_EQ(to_hex(got->bytes), "100001") << "delivery-mode alone";
}

TEST(From10, HeadersAreSorted) {  // DL-73
    const auto got = seen_by_091(*amqp10::published(
        amqp10::annotations({{Datum::symbol("x-b"), Datum::uint(1)},
                             {Datum::symbol("x-cc"), Datum::list({Datum::string("k2")})}}) +
        amqp10::application_properties(
            {{Datum::string("z"), Datum::uint(2)}, {Datum::string("a"), Datum::uint(3)}}) +
        amqp10::data("hello")));
    EXPECT_EQ(got->headers, (Table{{"CC", Value::array({Value::string("k2")})},
                                   {"a", {ValueType::uint32, 3L}},
                                   {"x-b", {ValueType::uint32, 1L}},
                                   {"z", {ValueType::uint32, 2L}}}));
}

TEST(From10, DeathsAreRenderedFor091) {  // DL-98, DL-99
    const MessageRef message = amqp10::published(
        amqp10::encoded(amqp10::Header{.durable = true, .ttl = 50}) + amqp10::data("hello"));
    EXPECT_EQ(seen_by_091(*message)->properties.expiration, "50");
    const auto got = seen_by_091(*message, dead());
    EXPECT_FALSE(got->properties.has(Property::expiration));
    const Table& death = *find(got->headers, "x-death")->as_array()->front().as_table();
    EXPECT_EQ(*find(death, "time"), Value::timestamp(5));
    EXPECT_EQ(*find(death, "original-expiration"), Value::string("50"));
    EXPECT_EQ(*find(death, "count"), Value::int64(1));
    EXPECT_EQ(*find(death, "reason"), Value::string("expired"));
    EXPECT_EQ(*find(got->headers, "x-last-death-queue"), Value::string("q"));
}

TEST(From10, ClaimedDeathsAreXDeath) {  // amqp10 6.8, DL-103, DL-107
    Death death;
    death.queue = "claimed";
    death.count = 4;
    death.first_time = {3'000'000};
    death.last_time = {3'000'000};
    auto* const claim = new Envelope;
    claim->exchange = "x";
    claim->routing_keys = {"k"};
    claim->history = with_death(nullptr, death);
    const EnvelopeRef owner = EnvelopeRef::adopt(claim);
    // A delivered message is republished unchanged.
    const std::string again =
        amqp10::delivered_bytes(*amqp10::published(amqp10::data("hello")), claim);
    const MessageRef message = amqp10::published(again);
    const auto alive = seen_by_091(*message);
    const Table& shown = *find(alive->headers, "x-death")->as_array()->front().as_table();
    EXPECT_EQ(*find(shown, "queue"), Value::string("claimed"));
    EXPECT_EQ(*find(shown, "time"), Value::timestamp(3));
    EXPECT_EQ(*find(alive->headers, "x-first-death-queue"), Value::string("claimed"));
    const auto got = seen_by_091(*message, dead());
    const Array& deaths = *find(got->headers, "x-death")->as_array();
    ASSERT_EQ(deaths.size(), 1U);
    EXPECT_EQ(*find(*deaths.front().as_table(), "queue"), Value::string("q"));
    EXPECT_EQ(*find(got->headers, "x-first-death-queue"), Value::string("q"));
}

TEST(From10, SimpleAnnotationsOfConsumersAreHeaders) {  // DL-100
    const EnvelopeRef envelope = dead([](Envelope& e) {
        e.history = {};
        e.annotations = {{"x-s", from_hex("a10173"), Value::string("s")},
                         {"x-list", from_hex("45"), Value::nothing()},
                         {"x-a", from_hex("41"), Value::boolean(true)}};
        e.error = DeathError{"c", "d"};
    });
    const std::string own = amqp10::annotations(
        {{Datum::symbol("x-a"), Datum::uint(1)}, {Datum::symbol("x-list"), Datum::uint(1)}});
    const Table expected = {{"x-a", Value::boolean(true)},
                            {"x-acquired-count", Value::int64(2)},
                            {"x-death-error-condition", Value::string("c")},
                            {"x-death-error-description", Value::string("d")},
                            {"x-s", Value::string("s")}};
    const auto got =
        seen_by_091(*amqp10::published(own + amqp10::data("hello")), envelope, {.acquired = 2});
    EXPECT_EQ(got->headers, expected);
    const MessageRef native = with_headers({{"x-a", Value::string("mine")}});
    const auto shown = content_of(amqp091::render_properties(*native, envelope, {.acquired = 2}),
                                  std::string(native->body()));
    EXPECT_EQ(shown->headers, expected);
}

TEST(From10, AnAnnotationIsNoDeath) {
    BasicProperties properties;
    set(properties, &BasicProperties::expiration, Property::expiration, "50");
    const MessageRef message = publish_091(properties, {}, "hello");
    const EnvelopeRef annotated = dead([](Envelope& e) {
        e.history = {};
        e.annotations = {{"x-a", from_hex("41"), Value::boolean(true)}};
    });
    const auto got = content_of(amqp091::render_properties(*message, annotated, {}), "");
    EXPECT_EQ(got->properties.expiration, "50");
}

TEST(From091, TooManyKeysAreRefused) {
    std::string table;
    amqp091::encode_table({{"CC", Value::array(Array(300, Value::string(std::string(250, 'k'))))}},
                          table);
    BasicProperties properties;
    set(properties, &BasicProperties::headers, Property::headers, table);
    std::string bytes;
    amqp091::encode_properties(properties, bytes);
    const auto read = amqp091::read_published(bytes, "");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, amqp091::PropertiesError::Kind::refused);
}

}  // namespace
}  // namespace revenant
