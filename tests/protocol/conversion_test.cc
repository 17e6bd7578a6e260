// Messages that come in one protocol and go out in the other (amqp10 6.4 to 6.13, DL-98 to DL-105).
#include "amqp091/content.h"
#include "amqp091/foreign_content.h"
#include "amqp091/properties.h"
#include "amqp091/table.h"
#include "amqp10/message_format.h"
#include "tests/support/amqp10_message.h"
#include "tests/support/hex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>

namespace revenant {
namespace {

using namespace std::string_literals;
using amqp091::BasicProperties;
using amqp091::Property;
using amqp10::Data;
using amqp10::DataMap;
using amqp10::Datum;
using amqp10::Type;

// ------------------------------------------------------------------------- 0-9-1

// Properties and body of a message of 0-9-1, decoded.
struct Content {
    std::string bytes;
    std::string encoded_headers;
    BasicProperties properties;
    Table headers;
    std::string body;
};

void set(BasicProperties& to, std::string_view BasicProperties::*field, Property flag,
         std::string_view value) {
    to.*field = value;
    to.mark(flag);
}

MessageRef publish_091(BasicProperties properties, const Table& headers, std::string_view body) {
    std::string table;
    amqp091::encode_table(headers, table);
    if (!headers.empty()) set(properties, &BasicProperties::headers, Property::headers, table);
    std::string bytes;
    amqp091::encode_properties(properties, bytes);
    auto read = amqp091::read_published(bytes, "");
    EXPECT_TRUE(read) << read.error().text;
    return make_message("x", "k", read->rewritten ? *read->rewritten : bytes, body,
                        std::move(read->head));
}

std::unique_ptr<Content> content_of(std::string properties, std::string body) {
    auto content = std::make_unique<Content>();
    content->bytes = std::move(properties);
    content->properties = amqp091::decode_properties(content->bytes).value();
    if (content->properties.has(Property::headers)) {
        content->headers = amqp091::decode_table(content->properties.headers).value();
    }
    content->body = std::move(body);
    return content;
}

// As a consumer of 0-9-1 gets a message of AMQP 1.0.
std::unique_ptr<Content> seen_by_091(const Message& message, const EnvelopeRef& envelope = {},
                                     engine::ShownCounts counts = {}) {
    EXPECT_TRUE(amqp091::is_foreign(message));
    auto shown = amqp091::render_foreign(message, envelope, counts);
    return content_of(std::move(shown.properties), std::move(shown.body));
}

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

TEST(From091, DeliveryModePriorityAndExpirationAreTheHeader) {  // 6.10
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

TEST(From091, PropertiesHaveTheirNearestKin) {  // 6.11
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

TEST(From091, HeadersArePropertiesOrAnnotations) {  // 6.12, DL-101
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

TEST(From091, TheBodyIsOneSectionOfData) {  // 6.13
    EXPECT_EQ(amqp10::delivered(*with_headers({}))->sections.body, amqp10::data("hello"));
    EXPECT_EQ(amqp10::delivered(*publish_091({}, {}, ""))->sections.body, amqp10::data(""));
    const std::string large(70000, 'b');
    EXPECT_EQ(amqp10::delivered(*publish_091({}, {}, large))->sections.body, amqp10::data(large));
}

TEST(From091, EncodedSectionsAreTheBody) {  // 6.13
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
    EXPECT_EQ(to_hex(got->bytes), "100002") << "delivery-mode alone";
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

TEST(From10, ClaimedDeathsAreXDeath) {  // 6.8, DL-103, DL-107
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
    // What a broker delivered is published again, as it is.
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

// ------------------------------------------------------------------------- there and back

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}
    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    bool chance() { return below(2) == 0; }
    std::string word() {
        std::string word;
        for (std::uint64_t i = 1 + below(8); i > 0; --i) word += static_cast<char>('a' + below(26));
        return word;
    }
    std::string bytes() {
        std::string bytes;
        for (std::uint64_t i = below(6); i > 0; --i) bytes += static_cast<char>(below(256));
        return bytes;
    }
    std::int64_t within(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
    }

  private:
    std::mt19937_64 random_;
};

Value random_value(Dice& dice, int depth) {
    switch (dice.below(depth > 0 ? 16 : 14)) {
        case 0:
            return Value::nothing();
        case 1:
            return Value::boolean(dice.chance());
        case 2:
            return {ValueType::int8, dice.within(-128, 127)};
        case 3:
            return {ValueType::uint8, dice.within(0, 255)};
        case 4:
            return {ValueType::int16, dice.within(-32768, 32767)};
        case 5:
            return {ValueType::uint16, dice.within(0, 65535)};
        case 6:
            return {ValueType::int32, dice.within(INT32_MIN, INT32_MAX)};
        case 7:
            return {ValueType::uint32, dice.within(0, UINT32_MAX)};
        case 8:
            return Value::int64(static_cast<std::int64_t>(dice.below(UINT64_MAX)));
        case 9:
            return {ValueType::float32, static_cast<double>(dice.within(-1000, 1000)) / 8};
        case 10:
            return {ValueType::float64, static_cast<double>(dice.within(-1000, 1000)) / 3};
        case 11:
            return Value::timestamp(dice.below(INT64_MAX / 1000));
        case 12:
            return Value::string(dice.bytes());
        case 13:
            return Value::string(dice.word());
        case 14: {
            Array array;
            for (std::uint64_t i = dice.below(4); i > 0; --i) {
                array.push_back(random_value(dice, depth - 1));
            }
            return Value::array(std::move(array));
        }
        default: {
            Table table;
            for (std::uint64_t i = dice.below(4); i > 0; --i) {
                table.push_back({std::to_string(i), random_value(dice, depth - 1)});
            }
            return Value::table(std::move(table));
        }
    }
}

Table sorted(Table table) {
    std::sort(table.begin(), table.end(),
              [](const Field& a, const Field& b) { return a.name < b.name; });
    return table;
}

// 0-9-1 to 1.0 and, published again as it is, to 0-9-1.
TEST(ThereAndBack, From091) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE(seed);
        Dice dice(seed);
        BasicProperties properties;
        std::vector<std::string> texts(8);
        for (std::string& text : texts) text = dice.word();
        const auto maybe = [&](std::string_view BasicProperties::*field, Property flag,
                               std::string_view text) {
            if (dice.chance()) set(properties, field, flag, text);
        };
        maybe(&BasicProperties::content_type, Property::content_type, texts[0]);
        maybe(&BasicProperties::content_encoding, Property::content_encoding, texts[1]);
        maybe(&BasicProperties::correlation_id, Property::correlation_id, texts[2]);
        maybe(&BasicProperties::message_id, Property::message_id,
              "urn:uuid:01234567-89ab-cdef-0123-456789abcdef");
        const std::string reply_to = texts[3] + "/ä " + texts[4];
        maybe(&BasicProperties::reply_to, Property::reply_to, reply_to);
        maybe(&BasicProperties::type, Property::type, texts[5]);
        maybe(&BasicProperties::user_id, Property::user_id, texts[6]);
        maybe(&BasicProperties::app_id, Property::app_id, texts[7]);
        const std::string expiration = std::to_string(dice.below(UINT32_MAX));
        maybe(&BasicProperties::expiration, Property::expiration, expiration);
        properties.delivery_mode = dice.chance() ? 2 : 1;
        properties.mark(Property::delivery_mode);
        if (dice.chance()) {
            properties.priority = static_cast<std::uint8_t>(dice.below(256));
            properties.mark(Property::priority);
        }
        if (dice.chance()) {
            properties.timestamp = dice.below(INT64_MAX / 1000);
            properties.mark(Property::timestamp);
        }
        Table headers;
        for (std::uint64_t i = dice.below(5); i > 0; --i) {
            headers.push_back({"h" + std::to_string(i), random_value(dice, 2)});
            headers.push_back({"x-h" + std::to_string(i), random_value(dice, 2)});
        }
        if (dice.chance()) headers.push_back({"CC", Value::array({Value::string(dice.word())})});
        const std::string body = dice.bytes();

        const MessageRef original = publish_091(properties, headers, body);
        const MessageRef there = amqp10::published(amqp10::delivered_bytes(*original));
        EXPECT_EQ(there->persistent(), original->persistent());
        EXPECT_EQ(there->extra_keys() == nullptr, original->extra_keys() == nullptr);
        const auto back = seen_by_091(*there);

        Table kept;
        for (const Field& field : headers) {
            const bool complex =
                field.value.as_array() != nullptr || field.value.as_table() != nullptr;
            if (complex && field.name.front() == 'h') continue;
            kept.push_back(field);
        }
        EXPECT_EQ(back->headers, sorted(kept));
        EXPECT_EQ(back->body, body);
        properties.clear(Property::headers);
        BasicProperties seen = back->properties;
        seen.clear(Property::headers);
        seen.headers = {};
        EXPECT_EQ(seen, properties);
    }
}

// What a value of AMQP 1.0 is after it was one of 0-9-1 (6.7, 6.12).
Datum after_091(const Datum& datum) {
    const auto texts = [](const std::string& text) { return Datum::string(text); };
    switch (datum.type) {
        case Type::symbol:
            return texts(*datum.as_symbol());
        case Type::ulong:
            return Datum::long_int(static_cast<std::int64_t>(*datum.as_unsigned()));
        case Type::list:
        case Type::array: {
            Data elements;
            for (const Datum& element : *datum.as_elements())
                elements.push_back(after_091(element));
            return Datum::list(std::move(elements));
        }
        case Type::map: {
            DataMap map;
            for (const auto& [key, value] : *datum.as_map()) map.push_back({key, after_091(value)});
            return Datum::map(std::move(map));
        }
        default:
            return datum;
    }
}

Datum random_datum(Dice& dice, int depth) {
    switch (dice.below(depth > 0 ? 18 : 15)) {
        case 0:
            return Datum::null();
        case 1:
            return Datum::boolean(dice.chance());
        case 2:
            return Datum::ubyte(static_cast<std::uint8_t>(dice.below(256)));
        case 3:
            return {Type::ushort, dice.below(65536)};
        case 4:
            return Datum::uint(static_cast<std::uint32_t>(dice.below(UINT32_MAX)));
        case 5:
            return Datum::ulong(dice.below(UINT64_MAX));
        case 6:
            return {Type::byte, dice.within(-128, 127)};
        case 7:
            return {Type::short_int, dice.within(-32768, 32767)};
        case 8:
            return Datum::int32(static_cast<std::int32_t>(dice.within(INT32_MIN, INT32_MAX)));
        case 9:
            return Datum::long_int(static_cast<std::int64_t>(dice.below(UINT64_MAX)));
        case 10:
            return {Type::float32, static_cast<double>(dice.within(-1000, 1000)) / 8};
        case 11:
            return {Type::float64, static_cast<double>(dice.within(-1000, 1000)) / 3};
        case 12:
            return Datum::timestamp(dice.within(0, 1'000'000'000) * 1000);
        case 13:
            return Datum::string(dice.word());
        case 14:
            return Datum::symbol(dice.word());
        case 15:
            return Datum::array({Datum::symbol(dice.word()), Datum::symbol(dice.word())});
        case 16: {
            Data elements;
            for (std::uint64_t i = dice.below(4); i > 0; --i) {
                elements.push_back(random_datum(dice, depth - 1));
            }
            return Datum::list(std::move(elements));
        }
        default: {
            DataMap map;
            for (std::uint64_t i = dice.below(4); i > 0; --i) {
                map.push_back({Datum::symbol(std::to_string(i)), random_datum(dice, depth - 1)});
            }
            return Datum::map(std::move(map));
        }
    }
}

std::string random_body(Dice& dice) {
    switch (dice.below(3)) {
        case 0:
            return amqp10::data(dice.bytes());
        case 1:
            return amqp10::section(amqp10::descriptor::value, random_datum(dice, 2)) +
                   amqp10::section(amqp10::descriptor::footer, Datum::map({}));
        default:
            return amqp10::section(amqp10::descriptor::sequence,
                                   Datum::list({random_datum(dice, 1)})) +
                   amqp10::section(amqp10::descriptor::sequence, Datum::list({}));
    }
}

// 1.0 to 0-9-1 and, published again as it is, to 1.0.
TEST(ThereAndBack, From10) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE(seed);
        Dice dice(seed);
        amqp10::Properties properties;
        std::vector<std::string> texts(8);
        for (std::string& text : texts) text = dice.word();
        const std::string uuid = "\x98"s + "0123456789abcdef";
        const std::string id = "\xa1"s + static_cast<char>(texts[0].size()) + texts[0];
        const std::string address = "/queues/" + texts[1] + "%2F";
        if (dice.chance()) properties.message_id = uuid;
        if (dice.chance()) properties.correlation_id = id;
        if (dice.chance()) properties.user_id = texts[2];
        if (dice.chance()) properties.reply_to = address;
        if (dice.chance()) properties.content_type = texts[3];
        if (dice.chance()) properties.content_encoding = texts[4];
        if (dice.chance()) properties.creation_time = dice.within(0, 1'000'000'000) * 1000;
        if (dice.chance()) properties.group_id = texts[5];
        DataMap annotations;
        DataMap application;
        for (std::uint64_t i = dice.below(5); i > 0; --i) {
            annotations.push_back({Datum::symbol("x-" + std::to_string(i)), random_datum(dice, 2)});
            application.push_back({Datum::string("p" + std::to_string(i)), random_datum(dice, 0)});
        }
        std::reverse(annotations.begin(), annotations.end());
        std::reverse(application.begin(), application.end());
        const amqp10::Header header{.durable = dice.chance(),
                                    .priority = static_cast<std::uint8_t>(dice.below(256)),
                                    .ttl = static_cast<std::uint32_t>(dice.below(UINT32_MAX))};
        const std::string body = random_body(dice);
        const std::string properties_bytes = amqp10::encoded(properties);
        const MessageRef original =
            amqp10::published(amqp10::section(amqp10::Header::descriptor_code,
                                              Datum::list({Datum::boolean(header.durable),
                                                           Datum::ubyte(*header.priority),
                                                           Datum::uint(*header.ttl)})) +
                              amqp10::annotations(annotations) + properties_bytes +
                              amqp10::application_properties(application) + body);

        const auto shown = amqp091::render_foreign(*original, {}, {});
        auto read = amqp091::read_published(shown.properties, "");
        ASSERT_TRUE(read) << read.error().text;
        const MessageRef there =
            make_message("x", "k", shown.properties, shown.body, std::move(read->head));
        const auto back = amqp10::delivered(*there);

        EXPECT_EQ(back->header[0], Datum::boolean(header.durable));
        EXPECT_EQ(back->header[1], Datum::ubyte(*header.priority));
        EXPECT_EQ(back->header[2], Datum::uint(*header.ttl));
        EXPECT_EQ(to_hex(amqp10::encoded(back->properties)), to_hex(properties_bytes));
        DataMap kept;
        for (const auto& [key, value] : annotations) kept.push_back({key, after_091(value)});
        const bool encoded = !body.starts_with("\0\x53\x75"s);
        if (encoded) {
            kept.insert(kept.begin(), {Datum::symbol("x-basic-type"), Datum::string("amqp-1.0")});
        }
        kept.push_back({Datum::symbol("x-exchange"), Datum::string("x")});
        kept.push_back({Datum::symbol("x-routing-key"), Datum::string("k")});
        EXPECT_EQ(back->annotations, kept);
        kept.clear();
        for (const auto& [key, value] : application) kept.push_back({key, after_091(value)});
        EXPECT_EQ(back->application_properties, kept);
        EXPECT_EQ(to_hex(std::string(back->sections.body) + std::string(back->sections.footer)),
                  to_hex(body));
    }
}

}  // namespace
}  // namespace revenant
