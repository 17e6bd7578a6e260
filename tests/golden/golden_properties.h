// AMQP 0-9-1 property lists for golden messages, in wire format.
#pragma once

#include "amqp091/codec/table.h"
#include "amqp091/message/content.h"
#include "message/value.h"

#include <string>

namespace revenant::golden {

// Only delivery mode 2.
inline std::string persistent() {
    amqp091::BasicProperties properties;
    properties.delivery_mode = 2;
    properties.mark(amqp091::Property::delivery_mode);
    std::string bytes;
    amqp091::encode_properties(properties, bytes);
    return bytes;
}

struct Some {
    Table headers;
    int priority = -1;
    std::string expiration;
};
inline std::string persistent_with(const Some& some) {
    amqp091::BasicProperties properties;
    properties.delivery_mode = 2;
    properties.mark(amqp091::Property::delivery_mode);
    std::string headers;
    if (!some.headers.empty()) {
        amqp091::encode_table(some.headers, headers);
        properties.headers = headers;
        properties.mark(amqp091::Property::headers);
    }
    if (some.priority >= 0) {
        properties.priority = static_cast<std::uint8_t>(some.priority);
        properties.mark(amqp091::Property::priority);
    }
    if (!some.expiration.empty()) {
        properties.expiration = some.expiration;
        properties.mark(amqp091::Property::expiration);
    }
    std::string bytes;
    amqp091::encode_properties(properties, bytes);
    return bytes;
}

// One value of every type.
inline Table every_value() {
    const auto of = [](ValueType type, std::int64_t number) { return Value{type, number}; };
    return {{"void", Value::nothing()},
            {"boolean", Value::boolean(true)},
            {"int8", of(ValueType::int8, -8)},
            {"uint8", of(ValueType::uint8, 200)},
            {"int16", of(ValueType::int16, -1600)},
            {"uint16", of(ValueType::uint16, 61'000)},
            {"int32", Value::int32(-320'000)},
            {"uint32", of(ValueType::uint32, 4'000'000'000)},
            {"int64", Value::int64(-6'400'000'000)},
            {"float32", Value{ValueType::float32, 0.5}},
            {"float64", Value{ValueType::float64, -2.25}},
            {"decimal", Value{ValueType::decimal, Decimal{2, 12345}}},
            {"timestamp", Value::timestamp(1'700'000'000)},
            {"text", Value::string("l\xc3\xa4nger")},
            {"binary", Value{ValueType::binary, std::string("\0\xff", 2)}},
            {"array", Value::array({Value::int32(1), Value::string("two")})},
            {"table", Value::table({{"inner", Value::table({{"x", Value::int32(3)}})}})}};
}

// Every property a message can have.
inline std::string every_property() {
    using amqp091::Property;
    amqp091::BasicProperties properties;
    std::string headers;
    amqp091::encode_table(every_value(), headers);
    properties.headers = headers;
    properties.content_type = "text/plain";
    properties.content_encoding = "gzip";
    properties.delivery_mode = 2;
    properties.priority = 3;
    properties.correlation_id = "correlation";
    properties.reply_to = "replies";
    properties.expiration = "3600000";
    properties.message_id = "id-1";
    properties.timestamp = 1'700'000'001;
    properties.type = "kind";
    properties.user_id = "guest";
    properties.app_id = "golden";
    properties.cluster_id = "cluster";
    for (const Property one :
         {Property::content_type, Property::content_encoding, Property::headers,
          Property::delivery_mode, Property::priority, Property::correlation_id, Property::reply_to,
          Property::expiration, Property::message_id, Property::timestamp, Property::type,
          Property::user_id, Property::app_id, Property::cluster_id}) {
        properties.mark(one);
    }
    std::string bytes;
    amqp091::encode_properties(properties, bytes);
    return bytes;
}

}  // namespace revenant::golden
