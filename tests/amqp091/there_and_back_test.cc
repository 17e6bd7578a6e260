// Round trips of random messages through the other protocol preserve everything that the tables of
// amqp10 6 map.
#include "tests/support/amqp091_content.h"
#include "tests/support/amqp10_message.h"
#include "tests/support/hex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace revenant {
namespace {

using namespace std::string_literals;
using amqp091::BasicProperties;
using amqp091::Property;
using amqp091::publish_091;
using amqp091::seen_by_091;
using amqp091::set;
using amqp10::Data;
using amqp10::DataMap;
using amqp10::Datum;
using amqp10::Type;

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

// 0-9-1 to 1.0 and, republished unchanged, back to 0-9-1.
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

// An AMQP 1.0 value after conversion to 0-9-1 and back (amqp10 6.7, 6.12).
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

// 1.0 to 0-9-1 and, republished unchanged, back to 1.0.
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
