// Connections: arbitrary bytes, before and after a handshake, into a complete broker without
// sockets (fuzzed_connections.h).
//
// A script is a list of steps, so that the fuzzer reaches deep code: well-formed frames and methods
// from a small vocabulary.
#include "amqp091/codec/frame.h"
#include "amqp091/codec/table.h"
#include "amqp091/message/content.h"
#include "auth/password.h"
#include "catalog/catalog.h"
#include "engine/engine.h"
#include "message/value.h"
#include "pattern/pattern.h"
#include "tests/support/frame_reader.h"
#include "tests/support/fuzzed_connections.h"
#include "tests/support/world.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace revenant;
using namespace revenant::amqp091;
using namespace revenant::protocol;

namespace {

using namespace std::string_literals;
using Input = FuzzInput;

constexpr std::array<std::string_view, 6> queue_names = {
    "q", "r", "", "mine", "amq.rabbitmq.reply-to", "missing"};
constexpr std::array<std::string_view, 8> exchange_names = {
    "", "e", "t", "amq.direct", "amq.headers", "amq.fanout", "h", "missing"};
constexpr std::array<std::string_view, 6> keys = {"q", "r", "a.b", "#", "", "3"};
constexpr std::array<std::string_view, 3> tags = {"one", "two", ""};
constexpr std::array<std::string_view, 8> types = {
    "direct",         "fanout",         "topic", "headers", "x-consistent-hash",
    "x-local-random", "x-modulus-hash", "odd"};

Value some_value(Input& input) {
    switch (input.octet() % 6) {
        case 0:
            return Value::int32(input.octet());
        case 1:
            return Value::string(input.one_of(queue_names));
        case 2:
            return Value::boolean(input.flag());
        case 3:
            return Value::array({Value::string(input.one_of(keys)), Value::int64(-1)});
        case 4:
            return Value::table({{"x", Value::nothing()}});
        default:
            return Value::string("reject-publish-dlx");
    }
}

std::string some_table(Input& input, bool headers) {
    constexpr std::array<std::string_view, 12> arguments = {"x-message-ttl",
                                                            "x-expires",
                                                            "x-max-length",
                                                            "x-overflow",
                                                            "x-max-priority",
                                                            "x-priority",
                                                            "x-match",
                                                            "x-dead-letter-exchange",
                                                            "x-dead-letter-routing-key",
                                                            "x-single-active-consumer",
                                                            "alternate-exchange",
                                                            "hash-header"};
    constexpr std::array<std::string_view, 6> names = {"CC", "BCC", "x-death", "a", "b", "x-match"};
    Table table;
    const int fields = input.octet() % 4;
    for (int i = 0; i < fields; ++i) {
        const std::string_view name = headers ? input.one_of(names) : input.one_of(arguments);
        // Mostly values of the correct type.
        if (name == "x-overflow" && input.flag()) {
            table.push_back({std::string(name), Value::string("reject-publish-dlx")});
        } else if (name == "x-match" && input.flag()) {
            table.push_back({std::string(name), Value::string("any-with-x")});
        } else {
            table.push_back({std::string(name), some_value(input)});
        }
    }
    std::string encoded;
    encode_table(table, encoded);
    return encoded;
}

std::string some_properties(Input& input) {
    BasicProperties properties;
    const std::string headers = some_table(input, /*headers=*/true);
    const std::string expiration = std::to_string(input.octet());
    const std::uint8_t chosen = input.octet();
    if ((chosen & 1) != 0) {
        properties.headers = headers;
        properties.mark(Property::headers);
    }
    if ((chosen & 2) != 0) {
        properties.expiration = expiration;
        properties.mark(Property::expiration);
    }
    if ((chosen & 4) != 0) {
        properties.priority = input.octet();
        properties.mark(Property::priority);
    }
    if ((chosen & 8) != 0) {
        properties.reply_to = "amq.rabbitmq.reply-to";
        properties.mark(Property::reply_to);
    }
    if ((chosen & 16) != 0) {
        properties.user_id = "guest";
        properties.mark(Property::user_id);
    }
    std::string encoded;
    encode_properties(properties, encoded);
    return encoded;
}

std::string publish(Input& input, std::uint16_t channel) {
    std::string frames;
    const std::string_view exchange = input.one_of(exchange_names);
    const std::string_view key = input.one_of(keys);
    append_method(
        frames, channel,
        BasicPublish{.exchange = exchange, .routing_key = key, .mandatory = input.flag()});
    const std::string properties = some_properties(input);
    // Occasionally a body that is sent by reference.
    const bool large = input.octet() % 16 == 0 && input.take_large_body();
    const std::size_t size = large ? 10000 : input.octet() % 64;
    const std::string body(size, 'b');
    append_content_header(frames, channel, body.size(), properties);
    append_body_frames(frames, channel, body, 8192);
    return frames;
}

template <typename Method>
std::string framed(std::uint16_t channel, const Method& method) {
    std::string frame;
    append_method(frame, channel, method);
    return frame;
}

std::string topology(Input& input, std::uint16_t channel) {
    const std::string arguments = some_table(input, /*headers=*/false);
    const std::string_view queue = input.one_of(queue_names);
    const std::string_view exchange = input.one_of(exchange_names);
    const std::string_view other = input.one_of(exchange_names);
    const std::string_view key = input.one_of(keys);
    const std::uint8_t bits = input.octet();
    const auto bit = [bits](int which) { return (bits >> which & 1) != 0; };
    switch (input.octet() % 9) {
        case 0:
        case 1:
            return framed(channel, QueueDeclare{queue, bit(0) && bit(1), bit(2), bit(3), bit(4),
                                                bit(5), arguments});
        case 2:
            return framed(channel, ExchangeDeclare{exchange, input.one_of(types), bit(0) && bit(1),
                                                   bit(2), bit(3), bit(4), bit(5), arguments});
        case 3:
            return framed(channel, QueueBind{queue, exchange, key, bit(0), arguments});
        case 4:
            return framed(channel, QueueUnbind{queue, exchange, key, arguments});
        case 5:
            return framed(channel, ExchangeBind{exchange, other, key, bit(0), arguments});
        case 6:
            return framed(channel, ExchangeUnbind{exchange, other, key, bit(0), arguments});
        case 7:
            return framed(channel, QueueDelete{queue, bit(0), bit(1), bit(2)});
        default:
            return bit(0) ? framed(channel, ExchangeDelete{exchange, bit(1), bit(2)})
                          : framed(channel, QueuePurge{queue, bit(1)});
    }
}

std::string consuming(Input& input, std::uint16_t channel) {
    const std::string arguments = some_table(input, /*headers=*/false);
    const std::string_view queue = input.one_of(queue_names);
    const std::string_view tag = input.one_of(tags);
    const std::uint64_t delivery = input.octet() % 16;
    const std::uint8_t bits = input.octet();
    const auto bit = [bits](int which) { return (bits >> which & 1) != 0; };
    switch (input.octet() % 9) {
        case 0:
        case 1:
            return framed(channel, BasicConsume{queue, tag, false, bit(0), bit(1) && bit(2), bit(3),
                                                arguments});
        case 2:
            return framed(channel, BasicGet{queue, bit(0)});
        case 3:
            return framed(channel, BasicAck{delivery, bit(0)});
        case 4:
            return framed(channel, BasicNack{delivery, bit(0), bit(1)});
        case 5:
            return framed(channel, BasicReject{delivery, bit(0)});
        case 6:
            return framed(channel, BasicCancel{tag, bit(0)});
        case 7:
            return framed(channel, BasicRecover{true});
        default:
            return framed(channel, BasicQos{0, static_cast<std::uint16_t>(delivery), bit(0)});
    }
}

std::string modes(Input& input, std::uint16_t channel) {
    switch (input.octet() % 8) {
        case 0:
            return framed(channel, ConfirmSelect{input.flag()});
        case 1:
            return framed(channel, TxSelect{});
        case 2:
            return framed(channel, TxCommit{});
        case 3:
            return framed(channel, TxRollback{});
        case 4:
            return framed(channel, ChannelClose{200, "bye", 0, 0});
        case 5:
            return framed(channel, ChannelCloseOk{});
        case 6:
            return framed(channel, ChannelOpen{});
        default:
            return framed(channel, ChannelFlow{true});
    }
}

// A well-formed frame with random content.
std::string any_frame(Input& input, std::uint16_t channel) {
    constexpr std::array<std::uint8_t, 5> frame_types = {1, 2, 3, 8, 4};
    std::string payload;
    const std::uint8_t type = input.one_of(frame_types);
    if (type == 1 && input.flag()) {
        const std::uint32_t key = all_method_keys[input.octet() % all_method_keys.size()];
        payload = {static_cast<char>(key >> 24), static_cast<char>(key >> 16),
                   static_cast<char>(key >> 8), static_cast<char>(key)};
    }
    payload += input.take(input.octet());
    std::string frame;
    append_frame_header(frame, static_cast<FrameType>(type), channel,
                        static_cast<std::uint32_t>(payload.size()));
    frame += payload;
    frame.push_back(static_cast<char>(frame_end));
    return frame;
}

std::string handshake() {
    std::string bytes("AMQP\x00\x00\x09\x01"s);
    Table capabilities;
    for (const char* name :
         {"authentication_failure_close", "connection.blocked", "consumer_cancel_notify"}) {
        capabilities.push_back({name, Value::boolean(true)});
    }
    std::string properties;
    encode_table({{"capabilities", Value::table(capabilities)}}, properties);
    bytes += framed(0, ConnectionStartOk{properties, "PLAIN", "\0guest\0guest"s, "en_US"});
    bytes += framed(0, ConnectionTuneOk{10, 8192, 20});
    bytes += framed(0, ConnectionOpen{"/"});
    bytes += framed(1, ChannelOpen{});
    bytes += framed(1, QueueDeclare{.queue = "q"});
    bytes += framed(2, ChannelOpen{});
    return bytes;
}

std::vector<Step> script(Input& input, std::size_t steps_max) {
    std::vector<Step> steps;
    while (!input.empty() && steps.size() < steps_max) {
        const std::uint8_t choice = input.octet();
        const std::size_t wire = choice >> 7;
        const auto channel = static_cast<std::uint16_t>(input.octet() % 4);
        switch (choice % 8) {
            case 0:
                steps.emplace_back(Feed{wire, std::string(input.take(input.octet()))});
                break;
            case 1:
                steps.emplace_back(Feed{wire, any_frame(input, channel)});
                break;
            case 2:
                steps.emplace_back(Feed{wire, topology(input, channel)});
                break;
            case 3:
            case 4:
                steps.emplace_back(Feed{wire, publish(input, channel)});
                break;
            case 5:
                steps.emplace_back(Feed{wire, consuming(input, channel)});
                break;
            case 6:
                steps.emplace_back(Feed{wire, modes(input, channel)});
                break;
            default:
                add_world_step(input, steps);
                break;
        }
    }
    return steps;
}

// A blocked connection reads no further than the publish that blocks it, so the split decides what
// is processed before the next step and what after it.
bool cut_matters(const std::vector<Step>& steps) {
    return std::any_of(steps.begin(), steps.end(),
                       [](const Step& step) { return std::holds_alternative<RaiseAlarm>(step); });
}

// Two connections with two channels each.
const FuzzedProtocol amqp091_connections{
    .protocol = Protocol::amqp091,
    .prepare = [](World&) {},
    .handshake = [](std::size_t) { return handshake(); },
    .script = script,
    .cut_matters = cut_matters,
    .transcript = transcript,
    .difference = difference,
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz_connections(amqp091_connections, {reinterpret_cast<const char*>(data), size});
    return 0;
}
