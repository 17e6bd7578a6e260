// The methods and constants of AMQP 0-9-1. Written by tools/gen_amqp091.py: do not edit, change the
// table there and run it.
//
// Strings of a decoded method are views into the frame it came from. A table is the view of its raw
// body, without the four bytes of length, for decode_table or walk_table. Reserved arguments and
// tickets are skipped when read and zero when written.
//
// decode() expects the arguments of a method frame, behind its class and method id, and takes
// exactly these: as in RabbitMQ, bytes behind the last argument are a failure. Short strings must
// be valid UTF-8 (amqp091 1.12), except in methods with content, which RabbitMQ leaves unchecked
// for speed, so that routing keys of arbitrary bytes are in use.
#pragma once

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/result.h"
#include "base/utf8.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace revenant::amqp091 {

// amqp091 1.1
enum class FrameType : std::uint8_t {
    method = 1,
    header = 2,
    body = 3,
    heartbeat = 8,
};
constexpr std::uint8_t frame_end = 206;
// Type, channel, size and frame_end.
constexpr std::uint32_t frame_overhead_bytes = 8;
// No peer may negotiate less.
constexpr std::uint32_t frame_max_min = 4096;

// Why the arguments of a method could not be decoded; the first that applies, in this order.
enum class DecodeFailure : std::uint8_t {
    truncated,       // amqp091 12.4
    trailing_bytes,  // amqp091 12.4
    malformed_utf8,  // amqp091 1.12
};

enum class ReplyCode : std::uint16_t {
    success = 200,
    content_too_large = 311,
    no_route = 312,
    no_consumers = 313,
    connection_forced = 320,
    invalid_path = 402,
    access_refused = 403,
    not_found = 404,
    resource_locked = 405,
    precondition_failed = 406,
    frame_error = 501,
    syntax_error = 502,
    command_invalid = 503,
    channel_error = 504,
    unexpected_frame = 505,
    resource_error = 506,
    not_allowed = 530,
    not_implemented = 540,
    internal_error = 541,
};
// The name in reply texts: NOT_FOUND. Empty for a number that is no reply code.
std::string_view reply_name(ReplyCode code);
// Whether the error closes the connection (amqp091 4.2) or the channel only (amqp091 4.1).
constexpr bool is_hard(ReplyCode code) {
    switch (code) {
        case ReplyCode::success:
        case ReplyCode::content_too_large:
        case ReplyCode::no_route:
        case ReplyCode::no_consumers:
        case ReplyCode::access_refused:
        case ReplyCode::not_found:
        case ReplyCode::resource_locked:
        case ReplyCode::precondition_failed:
            return false;
        default:
            return true;
    }
}

// Class and method id in one number, for switch.
constexpr std::uint32_t method_key(std::uint16_t class_id, std::uint16_t method_id) {
    return std::uint32_t{class_id} << 16 | method_id;
}
// basic.publish; empty for an unknown method.
std::string_view method_name(std::uint16_t class_id, std::uint16_t method_id);

// connection.start
struct ConnectionStart {
    static constexpr std::uint16_t class_id = 10;
    static constexpr std::uint16_t method_id = 10;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::uint8_t version_major = 0;
    std::uint8_t version_minor = 0;
    std::string_view server_properties;
    std::string_view mechanisms;
    std::string_view locales;

    static Result<ConnectionStart, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ConnectionStart method;
        method.version_major = in.u8();
        method.version_minor = in.u8();
        method.server_properties = in.long_string();
        method.mechanisms = in.long_string();
        method.locales = in.long_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u8(version_major);
        out.u8(version_minor);
        out.long_string(server_properties);
        out.long_string(mechanisms);
        out.long_string(locales);
    }
    friend bool operator==(const ConnectionStart&, const ConnectionStart&) = default;
};

// connection.start-ok
struct ConnectionStartOk {
    static constexpr std::uint16_t class_id = 10;
    static constexpr std::uint16_t method_id = 11;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view client_properties;
    std::string_view mechanism;
    std::string_view response;
    std::string_view locale;

    static Result<ConnectionStartOk, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ConnectionStartOk method;
        method.client_properties = in.long_string();
        method.mechanism = in.short_string();
        method.response = in.long_string();
        method.locale = in.short_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.mechanism)) return Unexpected{DecodeFailure::malformed_utf8};
        if (!is_utf8(method.locale)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.long_string(client_properties);
        out.short_string(mechanism);
        out.long_string(response);
        out.short_string(locale);
    }
    friend bool operator==(const ConnectionStartOk&, const ConnectionStartOk&) = default;
};

// connection.secure
struct ConnectionSecure {
    static constexpr std::uint16_t class_id = 10;
    static constexpr std::uint16_t method_id = 20;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view challenge;

    static Result<ConnectionSecure, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ConnectionSecure method;
        method.challenge = in.long_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const { out.long_string(challenge); }
    friend bool operator==(const ConnectionSecure&, const ConnectionSecure&) = default;
};

// connection.secure-ok
struct ConnectionSecureOk {
    static constexpr std::uint16_t class_id = 10;
    static constexpr std::uint16_t method_id = 21;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view response;

    static Result<ConnectionSecureOk, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ConnectionSecureOk method;
        method.response = in.long_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const { out.long_string(response); }
    friend bool operator==(const ConnectionSecureOk&, const ConnectionSecureOk&) = default;
};

// connection.tune
struct ConnectionTune {
    static constexpr std::uint16_t class_id = 10;
    static constexpr std::uint16_t method_id = 30;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::uint16_t channel_max = 0;
    std::uint32_t frame_max = 0;
    std::uint16_t heartbeat = 0;

    static Result<ConnectionTune, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ConnectionTune method;
        method.channel_max = in.u16();
        method.frame_max = in.u32();
        method.heartbeat = in.u16();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u16(channel_max);
        out.u32(frame_max);
        out.u16(heartbeat);
    }
    friend bool operator==(const ConnectionTune&, const ConnectionTune&) = default;
};

// connection.tune-ok
struct ConnectionTuneOk {
    static constexpr std::uint16_t class_id = 10;
    static constexpr std::uint16_t method_id = 31;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::uint16_t channel_max = 0;
    std::uint32_t frame_max = 0;
    std::uint16_t heartbeat = 0;

    static Result<ConnectionTuneOk, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ConnectionTuneOk method;
        method.channel_max = in.u16();
        method.frame_max = in.u32();
        method.heartbeat = in.u16();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u16(channel_max);
        out.u32(frame_max);
        out.u16(heartbeat);
    }
    friend bool operator==(const ConnectionTuneOk&, const ConnectionTuneOk&) = default;
};

// connection.open
struct ConnectionOpen {
    static constexpr std::uint16_t class_id = 10;
    static constexpr std::uint16_t method_id = 40;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view virtual_host;

    static Result<ConnectionOpen, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ConnectionOpen method;
        method.virtual_host = in.short_string();
        in.short_string();
        in.u8();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.virtual_host)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.short_string(virtual_host);
        out.short_string({});
        out.u8(0);
    }
    friend bool operator==(const ConnectionOpen&, const ConnectionOpen&) = default;
};

// connection.open-ok
struct ConnectionOpenOk {
    static constexpr std::uint16_t class_id = 10;
    static constexpr std::uint16_t method_id = 41;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<ConnectionOpenOk, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        in.short_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return ConnectionOpenOk{};
    }
    void encode(ByteWriter& out) const { out.short_string({}); }
    friend bool operator==(const ConnectionOpenOk&, const ConnectionOpenOk&) = default;
};

// connection.close
struct ConnectionClose {
    static constexpr std::uint16_t class_id = 10;
    static constexpr std::uint16_t method_id = 50;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::uint16_t reply_code = 0;
    std::string_view reply_text;
    std::uint16_t failing_class_id = 0;
    std::uint16_t failing_method_id = 0;

    static Result<ConnectionClose, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ConnectionClose method;
        method.reply_code = in.u16();
        method.reply_text = in.short_string();
        method.failing_class_id = in.u16();
        method.failing_method_id = in.u16();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.reply_text)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u16(reply_code);
        out.short_string(reply_text);
        out.u16(failing_class_id);
        out.u16(failing_method_id);
    }
    friend bool operator==(const ConnectionClose&, const ConnectionClose&) = default;
};

// connection.close-ok
struct ConnectionCloseOk {
    static constexpr std::uint16_t class_id = 10;
    static constexpr std::uint16_t method_id = 51;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<ConnectionCloseOk, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return ConnectionCloseOk{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const ConnectionCloseOk&, const ConnectionCloseOk&) = default;
};

// connection.blocked
struct ConnectionBlocked {
    static constexpr std::uint16_t class_id = 10;
    static constexpr std::uint16_t method_id = 60;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view reason;

    static Result<ConnectionBlocked, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ConnectionBlocked method;
        method.reason = in.short_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.reason)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const { out.short_string(reason); }
    friend bool operator==(const ConnectionBlocked&, const ConnectionBlocked&) = default;
};

// connection.unblocked
struct ConnectionUnblocked {
    static constexpr std::uint16_t class_id = 10;
    static constexpr std::uint16_t method_id = 61;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<ConnectionUnblocked, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return ConnectionUnblocked{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const ConnectionUnblocked&, const ConnectionUnblocked&) = default;
};

// connection.update-secret
struct ConnectionUpdateSecret {
    static constexpr std::uint16_t class_id = 10;
    static constexpr std::uint16_t method_id = 70;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view new_secret;
    std::string_view reason;

    static Result<ConnectionUpdateSecret, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ConnectionUpdateSecret method;
        method.new_secret = in.long_string();
        method.reason = in.short_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.reason)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.long_string(new_secret);
        out.short_string(reason);
    }
    friend bool operator==(const ConnectionUpdateSecret&, const ConnectionUpdateSecret&) = default;
};

// connection.update-secret-ok
struct ConnectionUpdateSecretOk {
    static constexpr std::uint16_t class_id = 10;
    static constexpr std::uint16_t method_id = 71;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<ConnectionUpdateSecretOk, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return ConnectionUpdateSecretOk{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const ConnectionUpdateSecretOk&,
                           const ConnectionUpdateSecretOk&) = default;
};

// channel.open
struct ChannelOpen {
    static constexpr std::uint16_t class_id = 20;
    static constexpr std::uint16_t method_id = 10;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<ChannelOpen, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        in.short_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return ChannelOpen{};
    }
    void encode(ByteWriter& out) const { out.short_string({}); }
    friend bool operator==(const ChannelOpen&, const ChannelOpen&) = default;
};

// channel.open-ok
struct ChannelOpenOk {
    static constexpr std::uint16_t class_id = 20;
    static constexpr std::uint16_t method_id = 11;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<ChannelOpenOk, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        in.long_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return ChannelOpenOk{};
    }
    void encode(ByteWriter& out) const { out.long_string({}); }
    friend bool operator==(const ChannelOpenOk&, const ChannelOpenOk&) = default;
};

// channel.flow
struct ChannelFlow {
    static constexpr std::uint16_t class_id = 20;
    static constexpr std::uint16_t method_id = 20;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    bool active = false;

    static Result<ChannelFlow, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ChannelFlow method;
        method.active = (in.u8() & 1) != 0;
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const { out.u8(active ? 1 : 0); }
    friend bool operator==(const ChannelFlow&, const ChannelFlow&) = default;
};

// channel.flow-ok
struct ChannelFlowOk {
    static constexpr std::uint16_t class_id = 20;
    static constexpr std::uint16_t method_id = 21;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    bool active = false;

    static Result<ChannelFlowOk, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ChannelFlowOk method;
        method.active = (in.u8() & 1) != 0;
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const { out.u8(active ? 1 : 0); }
    friend bool operator==(const ChannelFlowOk&, const ChannelFlowOk&) = default;
};

// channel.close
struct ChannelClose {
    static constexpr std::uint16_t class_id = 20;
    static constexpr std::uint16_t method_id = 40;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::uint16_t reply_code = 0;
    std::string_view reply_text;
    std::uint16_t failing_class_id = 0;
    std::uint16_t failing_method_id = 0;

    static Result<ChannelClose, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ChannelClose method;
        method.reply_code = in.u16();
        method.reply_text = in.short_string();
        method.failing_class_id = in.u16();
        method.failing_method_id = in.u16();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.reply_text)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u16(reply_code);
        out.short_string(reply_text);
        out.u16(failing_class_id);
        out.u16(failing_method_id);
    }
    friend bool operator==(const ChannelClose&, const ChannelClose&) = default;
};

// channel.close-ok
struct ChannelCloseOk {
    static constexpr std::uint16_t class_id = 20;
    static constexpr std::uint16_t method_id = 41;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<ChannelCloseOk, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return ChannelCloseOk{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const ChannelCloseOk&, const ChannelCloseOk&) = default;
};

// access.request
struct AccessRequest {
    static constexpr std::uint16_t class_id = 30;
    static constexpr std::uint16_t method_id = 10;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view realm;
    bool exclusive = false;
    bool passive = false;
    bool active = false;
    bool write = false;
    bool read = false;

    static Result<AccessRequest, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        AccessRequest method;
        method.realm = in.short_string();
        const std::uint8_t bits = in.u8();
        method.exclusive = (bits & 1) != 0;
        method.passive = (bits & 2) != 0;
        method.active = (bits & 4) != 0;
        method.write = (bits & 8) != 0;
        method.read = (bits & 16) != 0;
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.realm)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.short_string(realm);
        unsigned bits = 0;
        if (exclusive) bits |= 1;
        if (passive) bits |= 2;
        if (active) bits |= 4;
        if (write) bits |= 8;
        if (read) bits |= 16;
        out.u8(static_cast<std::uint8_t>(bits));
    }
    friend bool operator==(const AccessRequest&, const AccessRequest&) = default;
};

// access.request-ok
struct AccessRequestOk {
    static constexpr std::uint16_t class_id = 30;
    static constexpr std::uint16_t method_id = 11;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::uint16_t ticket = 0;

    static Result<AccessRequestOk, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        AccessRequestOk method;
        method.ticket = in.u16();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const { out.u16(ticket); }
    friend bool operator==(const AccessRequestOk&, const AccessRequestOk&) = default;
};

// exchange.declare
struct ExchangeDeclare {
    static constexpr std::uint16_t class_id = 40;
    static constexpr std::uint16_t method_id = 10;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view exchange;
    std::string_view type;
    bool passive = false;
    bool durable = false;
    bool auto_delete = false;
    bool internal = false;
    bool no_wait = false;
    std::string_view arguments;

    static Result<ExchangeDeclare, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ExchangeDeclare method;
        in.u16();
        method.exchange = in.short_string();
        method.type = in.short_string();
        const std::uint8_t bits = in.u8();
        method.passive = (bits & 1) != 0;
        method.durable = (bits & 2) != 0;
        method.auto_delete = (bits & 4) != 0;
        method.internal = (bits & 8) != 0;
        method.no_wait = (bits & 16) != 0;
        method.arguments = in.long_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.exchange)) return Unexpected{DecodeFailure::malformed_utf8};
        if (!is_utf8(method.type)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u16(0);
        out.short_string(exchange);
        out.short_string(type);
        unsigned bits = 0;
        if (passive) bits |= 1;
        if (durable) bits |= 2;
        if (auto_delete) bits |= 4;
        if (internal) bits |= 8;
        if (no_wait) bits |= 16;
        out.u8(static_cast<std::uint8_t>(bits));
        out.long_string(arguments);
    }
    friend bool operator==(const ExchangeDeclare&, const ExchangeDeclare&) = default;
};

// exchange.declare-ok
struct ExchangeDeclareOk {
    static constexpr std::uint16_t class_id = 40;
    static constexpr std::uint16_t method_id = 11;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<ExchangeDeclareOk, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return ExchangeDeclareOk{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const ExchangeDeclareOk&, const ExchangeDeclareOk&) = default;
};

// exchange.delete
struct ExchangeDelete {
    static constexpr std::uint16_t class_id = 40;
    static constexpr std::uint16_t method_id = 20;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view exchange;
    bool if_unused = false;
    bool no_wait = false;

    static Result<ExchangeDelete, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ExchangeDelete method;
        in.u16();
        method.exchange = in.short_string();
        const std::uint8_t bits = in.u8();
        method.if_unused = (bits & 1) != 0;
        method.no_wait = (bits & 2) != 0;
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.exchange)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u16(0);
        out.short_string(exchange);
        unsigned bits = 0;
        if (if_unused) bits |= 1;
        if (no_wait) bits |= 2;
        out.u8(static_cast<std::uint8_t>(bits));
    }
    friend bool operator==(const ExchangeDelete&, const ExchangeDelete&) = default;
};

// exchange.delete-ok
struct ExchangeDeleteOk {
    static constexpr std::uint16_t class_id = 40;
    static constexpr std::uint16_t method_id = 21;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<ExchangeDeleteOk, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return ExchangeDeleteOk{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const ExchangeDeleteOk&, const ExchangeDeleteOk&) = default;
};

// exchange.bind
struct ExchangeBind {
    static constexpr std::uint16_t class_id = 40;
    static constexpr std::uint16_t method_id = 30;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view destination;
    std::string_view source;
    std::string_view routing_key;
    bool no_wait = false;
    std::string_view arguments;

    static Result<ExchangeBind, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ExchangeBind method;
        in.u16();
        method.destination = in.short_string();
        method.source = in.short_string();
        method.routing_key = in.short_string();
        method.no_wait = (in.u8() & 1) != 0;
        method.arguments = in.long_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.destination)) return Unexpected{DecodeFailure::malformed_utf8};
        if (!is_utf8(method.source)) return Unexpected{DecodeFailure::malformed_utf8};
        if (!is_utf8(method.routing_key)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u16(0);
        out.short_string(destination);
        out.short_string(source);
        out.short_string(routing_key);
        out.u8(no_wait ? 1 : 0);
        out.long_string(arguments);
    }
    friend bool operator==(const ExchangeBind&, const ExchangeBind&) = default;
};

// exchange.bind-ok
struct ExchangeBindOk {
    static constexpr std::uint16_t class_id = 40;
    static constexpr std::uint16_t method_id = 31;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<ExchangeBindOk, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return ExchangeBindOk{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const ExchangeBindOk&, const ExchangeBindOk&) = default;
};

// exchange.unbind
struct ExchangeUnbind {
    static constexpr std::uint16_t class_id = 40;
    static constexpr std::uint16_t method_id = 40;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view destination;
    std::string_view source;
    std::string_view routing_key;
    bool no_wait = false;
    std::string_view arguments;

    static Result<ExchangeUnbind, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ExchangeUnbind method;
        in.u16();
        method.destination = in.short_string();
        method.source = in.short_string();
        method.routing_key = in.short_string();
        method.no_wait = (in.u8() & 1) != 0;
        method.arguments = in.long_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.destination)) return Unexpected{DecodeFailure::malformed_utf8};
        if (!is_utf8(method.source)) return Unexpected{DecodeFailure::malformed_utf8};
        if (!is_utf8(method.routing_key)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u16(0);
        out.short_string(destination);
        out.short_string(source);
        out.short_string(routing_key);
        out.u8(no_wait ? 1 : 0);
        out.long_string(arguments);
    }
    friend bool operator==(const ExchangeUnbind&, const ExchangeUnbind&) = default;
};

// exchange.unbind-ok
struct ExchangeUnbindOk {
    static constexpr std::uint16_t class_id = 40;
    static constexpr std::uint16_t method_id = 51;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<ExchangeUnbindOk, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return ExchangeUnbindOk{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const ExchangeUnbindOk&, const ExchangeUnbindOk&) = default;
};

// queue.declare
struct QueueDeclare {
    static constexpr std::uint16_t class_id = 50;
    static constexpr std::uint16_t method_id = 10;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view queue;
    bool passive = false;
    bool durable = false;
    bool exclusive = false;
    bool auto_delete = false;
    bool no_wait = false;
    std::string_view arguments;

    static Result<QueueDeclare, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        QueueDeclare method;
        in.u16();
        method.queue = in.short_string();
        const std::uint8_t bits = in.u8();
        method.passive = (bits & 1) != 0;
        method.durable = (bits & 2) != 0;
        method.exclusive = (bits & 4) != 0;
        method.auto_delete = (bits & 8) != 0;
        method.no_wait = (bits & 16) != 0;
        method.arguments = in.long_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.queue)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u16(0);
        out.short_string(queue);
        unsigned bits = 0;
        if (passive) bits |= 1;
        if (durable) bits |= 2;
        if (exclusive) bits |= 4;
        if (auto_delete) bits |= 8;
        if (no_wait) bits |= 16;
        out.u8(static_cast<std::uint8_t>(bits));
        out.long_string(arguments);
    }
    friend bool operator==(const QueueDeclare&, const QueueDeclare&) = default;
};

// queue.declare-ok
struct QueueDeclareOk {
    static constexpr std::uint16_t class_id = 50;
    static constexpr std::uint16_t method_id = 11;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view queue;
    std::uint32_t message_count = 0;
    std::uint32_t consumer_count = 0;

    static Result<QueueDeclareOk, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        QueueDeclareOk method;
        method.queue = in.short_string();
        method.message_count = in.u32();
        method.consumer_count = in.u32();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.queue)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.short_string(queue);
        out.u32(message_count);
        out.u32(consumer_count);
    }
    friend bool operator==(const QueueDeclareOk&, const QueueDeclareOk&) = default;
};

// queue.bind
struct QueueBind {
    static constexpr std::uint16_t class_id = 50;
    static constexpr std::uint16_t method_id = 20;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view queue;
    std::string_view exchange;
    std::string_view routing_key;
    bool no_wait = false;
    std::string_view arguments;

    static Result<QueueBind, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        QueueBind method;
        in.u16();
        method.queue = in.short_string();
        method.exchange = in.short_string();
        method.routing_key = in.short_string();
        method.no_wait = (in.u8() & 1) != 0;
        method.arguments = in.long_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.queue)) return Unexpected{DecodeFailure::malformed_utf8};
        if (!is_utf8(method.exchange)) return Unexpected{DecodeFailure::malformed_utf8};
        if (!is_utf8(method.routing_key)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u16(0);
        out.short_string(queue);
        out.short_string(exchange);
        out.short_string(routing_key);
        out.u8(no_wait ? 1 : 0);
        out.long_string(arguments);
    }
    friend bool operator==(const QueueBind&, const QueueBind&) = default;
};

// queue.bind-ok
struct QueueBindOk {
    static constexpr std::uint16_t class_id = 50;
    static constexpr std::uint16_t method_id = 21;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<QueueBindOk, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return QueueBindOk{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const QueueBindOk&, const QueueBindOk&) = default;
};

// queue.purge
struct QueuePurge {
    static constexpr std::uint16_t class_id = 50;
    static constexpr std::uint16_t method_id = 30;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view queue;
    bool no_wait = false;

    static Result<QueuePurge, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        QueuePurge method;
        in.u16();
        method.queue = in.short_string();
        method.no_wait = (in.u8() & 1) != 0;
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.queue)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u16(0);
        out.short_string(queue);
        out.u8(no_wait ? 1 : 0);
    }
    friend bool operator==(const QueuePurge&, const QueuePurge&) = default;
};

// queue.purge-ok
struct QueuePurgeOk {
    static constexpr std::uint16_t class_id = 50;
    static constexpr std::uint16_t method_id = 31;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::uint32_t message_count = 0;

    static Result<QueuePurgeOk, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        QueuePurgeOk method;
        method.message_count = in.u32();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const { out.u32(message_count); }
    friend bool operator==(const QueuePurgeOk&, const QueuePurgeOk&) = default;
};

// queue.delete
struct QueueDelete {
    static constexpr std::uint16_t class_id = 50;
    static constexpr std::uint16_t method_id = 40;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view queue;
    bool if_unused = false;
    bool if_empty = false;
    bool no_wait = false;

    static Result<QueueDelete, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        QueueDelete method;
        in.u16();
        method.queue = in.short_string();
        const std::uint8_t bits = in.u8();
        method.if_unused = (bits & 1) != 0;
        method.if_empty = (bits & 2) != 0;
        method.no_wait = (bits & 4) != 0;
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.queue)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u16(0);
        out.short_string(queue);
        unsigned bits = 0;
        if (if_unused) bits |= 1;
        if (if_empty) bits |= 2;
        if (no_wait) bits |= 4;
        out.u8(static_cast<std::uint8_t>(bits));
    }
    friend bool operator==(const QueueDelete&, const QueueDelete&) = default;
};

// queue.delete-ok
struct QueueDeleteOk {
    static constexpr std::uint16_t class_id = 50;
    static constexpr std::uint16_t method_id = 41;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::uint32_t message_count = 0;

    static Result<QueueDeleteOk, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        QueueDeleteOk method;
        method.message_count = in.u32();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const { out.u32(message_count); }
    friend bool operator==(const QueueDeleteOk&, const QueueDeleteOk&) = default;
};

// queue.unbind
struct QueueUnbind {
    static constexpr std::uint16_t class_id = 50;
    static constexpr std::uint16_t method_id = 50;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view queue;
    std::string_view exchange;
    std::string_view routing_key;
    std::string_view arguments;

    static Result<QueueUnbind, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        QueueUnbind method;
        in.u16();
        method.queue = in.short_string();
        method.exchange = in.short_string();
        method.routing_key = in.short_string();
        method.arguments = in.long_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.queue)) return Unexpected{DecodeFailure::malformed_utf8};
        if (!is_utf8(method.exchange)) return Unexpected{DecodeFailure::malformed_utf8};
        if (!is_utf8(method.routing_key)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u16(0);
        out.short_string(queue);
        out.short_string(exchange);
        out.short_string(routing_key);
        out.long_string(arguments);
    }
    friend bool operator==(const QueueUnbind&, const QueueUnbind&) = default;
};

// queue.unbind-ok
struct QueueUnbindOk {
    static constexpr std::uint16_t class_id = 50;
    static constexpr std::uint16_t method_id = 51;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<QueueUnbindOk, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return QueueUnbindOk{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const QueueUnbindOk&, const QueueUnbindOk&) = default;
};

// basic.qos
struct BasicQos {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 10;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::uint32_t prefetch_size = 0;
    std::uint16_t prefetch_count = 0;
    bool global = false;

    static Result<BasicQos, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        BasicQos method;
        method.prefetch_size = in.u32();
        method.prefetch_count = in.u16();
        method.global = (in.u8() & 1) != 0;
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u32(prefetch_size);
        out.u16(prefetch_count);
        out.u8(global ? 1 : 0);
    }
    friend bool operator==(const BasicQos&, const BasicQos&) = default;
};

// basic.qos-ok
struct BasicQosOk {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 11;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<BasicQosOk, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return BasicQosOk{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const BasicQosOk&, const BasicQosOk&) = default;
};

// basic.consume
struct BasicConsume {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 20;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view queue;
    std::string_view consumer_tag;
    bool no_local = false;
    bool no_ack = false;
    bool exclusive = false;
    bool no_wait = false;
    std::string_view arguments;

    static Result<BasicConsume, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        BasicConsume method;
        in.u16();
        method.queue = in.short_string();
        method.consumer_tag = in.short_string();
        const std::uint8_t bits = in.u8();
        method.no_local = (bits & 1) != 0;
        method.no_ack = (bits & 2) != 0;
        method.exclusive = (bits & 4) != 0;
        method.no_wait = (bits & 8) != 0;
        method.arguments = in.long_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.queue)) return Unexpected{DecodeFailure::malformed_utf8};
        if (!is_utf8(method.consumer_tag)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u16(0);
        out.short_string(queue);
        out.short_string(consumer_tag);
        unsigned bits = 0;
        if (no_local) bits |= 1;
        if (no_ack) bits |= 2;
        if (exclusive) bits |= 4;
        if (no_wait) bits |= 8;
        out.u8(static_cast<std::uint8_t>(bits));
        out.long_string(arguments);
    }
    friend bool operator==(const BasicConsume&, const BasicConsume&) = default;
};

// basic.consume-ok
struct BasicConsumeOk {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 21;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view consumer_tag;

    static Result<BasicConsumeOk, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        BasicConsumeOk method;
        method.consumer_tag = in.short_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.consumer_tag)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const { out.short_string(consumer_tag); }
    friend bool operator==(const BasicConsumeOk&, const BasicConsumeOk&) = default;
};

// basic.cancel
struct BasicCancel {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 30;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view consumer_tag;
    bool no_wait = false;

    static Result<BasicCancel, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        BasicCancel method;
        method.consumer_tag = in.short_string();
        method.no_wait = (in.u8() & 1) != 0;
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.consumer_tag)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.short_string(consumer_tag);
        out.u8(no_wait ? 1 : 0);
    }
    friend bool operator==(const BasicCancel&, const BasicCancel&) = default;
};

// basic.cancel-ok
struct BasicCancelOk {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 31;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view consumer_tag;

    static Result<BasicCancelOk, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        BasicCancelOk method;
        method.consumer_tag = in.short_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.consumer_tag)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const { out.short_string(consumer_tag); }
    friend bool operator==(const BasicCancelOk&, const BasicCancelOk&) = default;
};

// basic.publish
struct BasicPublish {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 40;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view exchange;
    std::string_view routing_key;
    bool mandatory = false;
    bool immediate = false;

    static Result<BasicPublish, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        BasicPublish method;
        in.u16();
        method.exchange = in.short_string();
        method.routing_key = in.short_string();
        const std::uint8_t bits = in.u8();
        method.mandatory = (bits & 1) != 0;
        method.immediate = (bits & 2) != 0;
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u16(0);
        out.short_string(exchange);
        out.short_string(routing_key);
        unsigned bits = 0;
        if (mandatory) bits |= 1;
        if (immediate) bits |= 2;
        out.u8(static_cast<std::uint8_t>(bits));
    }
    friend bool operator==(const BasicPublish&, const BasicPublish&) = default;
};

// basic.return
struct BasicReturn {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 50;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::uint16_t reply_code = 0;
    std::string_view reply_text;
    std::string_view exchange;
    std::string_view routing_key;

    static Result<BasicReturn, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        BasicReturn method;
        method.reply_code = in.u16();
        method.reply_text = in.short_string();
        method.exchange = in.short_string();
        method.routing_key = in.short_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u16(reply_code);
        out.short_string(reply_text);
        out.short_string(exchange);
        out.short_string(routing_key);
    }
    friend bool operator==(const BasicReturn&, const BasicReturn&) = default;
};

// basic.deliver
struct BasicDeliver {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 60;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view consumer_tag;
    std::uint64_t delivery_tag = 0;
    bool redelivered = false;
    std::string_view exchange;
    std::string_view routing_key;

    static Result<BasicDeliver, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        BasicDeliver method;
        method.consumer_tag = in.short_string();
        method.delivery_tag = in.u64();
        method.redelivered = (in.u8() & 1) != 0;
        method.exchange = in.short_string();
        method.routing_key = in.short_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.short_string(consumer_tag);
        out.u64(delivery_tag);
        out.u8(redelivered ? 1 : 0);
        out.short_string(exchange);
        out.short_string(routing_key);
    }
    friend bool operator==(const BasicDeliver&, const BasicDeliver&) = default;
};

// basic.get
struct BasicGet {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 70;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::string_view queue;
    bool no_ack = false;

    static Result<BasicGet, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        BasicGet method;
        in.u16();
        method.queue = in.short_string();
        method.no_ack = (in.u8() & 1) != 0;
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        if (!is_utf8(method.queue)) return Unexpected{DecodeFailure::malformed_utf8};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u16(0);
        out.short_string(queue);
        out.u8(no_ack ? 1 : 0);
    }
    friend bool operator==(const BasicGet&, const BasicGet&) = default;
};

// basic.get-ok
struct BasicGetOk {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 71;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::uint64_t delivery_tag = 0;
    bool redelivered = false;
    std::string_view exchange;
    std::string_view routing_key;
    std::uint32_t message_count = 0;

    static Result<BasicGetOk, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        BasicGetOk method;
        method.delivery_tag = in.u64();
        method.redelivered = (in.u8() & 1) != 0;
        method.exchange = in.short_string();
        method.routing_key = in.short_string();
        method.message_count = in.u32();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u64(delivery_tag);
        out.u8(redelivered ? 1 : 0);
        out.short_string(exchange);
        out.short_string(routing_key);
        out.u32(message_count);
    }
    friend bool operator==(const BasicGetOk&, const BasicGetOk&) = default;
};

// basic.get-empty
struct BasicGetEmpty {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 72;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<BasicGetEmpty, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        in.short_string();
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return BasicGetEmpty{};
    }
    void encode(ByteWriter& out) const { out.short_string({}); }
    friend bool operator==(const BasicGetEmpty&, const BasicGetEmpty&) = default;
};

// basic.ack
struct BasicAck {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 80;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::uint64_t delivery_tag = 0;
    bool multiple = false;

    static Result<BasicAck, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        BasicAck method;
        method.delivery_tag = in.u64();
        method.multiple = (in.u8() & 1) != 0;
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u64(delivery_tag);
        out.u8(multiple ? 1 : 0);
    }
    friend bool operator==(const BasicAck&, const BasicAck&) = default;
};

// basic.reject
struct BasicReject {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 90;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::uint64_t delivery_tag = 0;
    bool requeue = false;

    static Result<BasicReject, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        BasicReject method;
        method.delivery_tag = in.u64();
        method.requeue = (in.u8() & 1) != 0;
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u64(delivery_tag);
        out.u8(requeue ? 1 : 0);
    }
    friend bool operator==(const BasicReject&, const BasicReject&) = default;
};

// basic.recover-async
struct BasicRecoverAsync {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 100;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    bool requeue = false;

    static Result<BasicRecoverAsync, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        BasicRecoverAsync method;
        method.requeue = (in.u8() & 1) != 0;
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const { out.u8(requeue ? 1 : 0); }
    friend bool operator==(const BasicRecoverAsync&, const BasicRecoverAsync&) = default;
};

// basic.recover
struct BasicRecover {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 110;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    bool requeue = false;

    static Result<BasicRecover, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        BasicRecover method;
        method.requeue = (in.u8() & 1) != 0;
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const { out.u8(requeue ? 1 : 0); }
    friend bool operator==(const BasicRecover&, const BasicRecover&) = default;
};

// basic.recover-ok
struct BasicRecoverOk {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 111;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<BasicRecoverOk, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return BasicRecoverOk{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const BasicRecoverOk&, const BasicRecoverOk&) = default;
};

// basic.nack
struct BasicNack {
    static constexpr std::uint16_t class_id = 60;
    static constexpr std::uint16_t method_id = 120;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    std::uint64_t delivery_tag = 0;
    bool multiple = false;
    bool requeue = false;

    static Result<BasicNack, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        BasicNack method;
        method.delivery_tag = in.u64();
        const std::uint8_t bits = in.u8();
        method.multiple = (bits & 1) != 0;
        method.requeue = (bits & 2) != 0;
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const {
        out.u64(delivery_tag);
        unsigned bits = 0;
        if (multiple) bits |= 1;
        if (requeue) bits |= 2;
        out.u8(static_cast<std::uint8_t>(bits));
    }
    friend bool operator==(const BasicNack&, const BasicNack&) = default;
};

// confirm.select
struct ConfirmSelect {
    static constexpr std::uint16_t class_id = 85;
    static constexpr std::uint16_t method_id = 10;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    bool no_wait = false;

    static Result<ConfirmSelect, DecodeFailure> decode(std::string_view arguments) {
        ByteReader in(arguments);
        ConfirmSelect method;
        method.no_wait = (in.u8() & 1) != 0;
        if (in.failed()) return Unexpected{DecodeFailure::truncated};
        if (!in.at_end()) return Unexpected{DecodeFailure::trailing_bytes};
        return method;
    }
    void encode(ByteWriter& out) const { out.u8(no_wait ? 1 : 0); }
    friend bool operator==(const ConfirmSelect&, const ConfirmSelect&) = default;
};

// confirm.select-ok
struct ConfirmSelectOk {
    static constexpr std::uint16_t class_id = 85;
    static constexpr std::uint16_t method_id = 11;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<ConfirmSelectOk, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return ConfirmSelectOk{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const ConfirmSelectOk&, const ConfirmSelectOk&) = default;
};

// tx.select
struct TxSelect {
    static constexpr std::uint16_t class_id = 90;
    static constexpr std::uint16_t method_id = 10;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<TxSelect, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return TxSelect{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const TxSelect&, const TxSelect&) = default;
};

// tx.select-ok
struct TxSelectOk {
    static constexpr std::uint16_t class_id = 90;
    static constexpr std::uint16_t method_id = 11;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<TxSelectOk, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return TxSelectOk{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const TxSelectOk&, const TxSelectOk&) = default;
};

// tx.commit
struct TxCommit {
    static constexpr std::uint16_t class_id = 90;
    static constexpr std::uint16_t method_id = 20;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<TxCommit, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return TxCommit{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const TxCommit&, const TxCommit&) = default;
};

// tx.commit-ok
struct TxCommitOk {
    static constexpr std::uint16_t class_id = 90;
    static constexpr std::uint16_t method_id = 21;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<TxCommitOk, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return TxCommitOk{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const TxCommitOk&, const TxCommitOk&) = default;
};

// tx.rollback
struct TxRollback {
    static constexpr std::uint16_t class_id = 90;
    static constexpr std::uint16_t method_id = 30;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<TxRollback, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return TxRollback{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const TxRollback&, const TxRollback&) = default;
};

// tx.rollback-ok
struct TxRollbackOk {
    static constexpr std::uint16_t class_id = 90;
    static constexpr std::uint16_t method_id = 31;
    static constexpr std::uint32_t key = method_key(class_id, method_id);

    static Result<TxRollbackOk, DecodeFailure> decode(std::string_view arguments) {
        if (!arguments.empty()) return Unexpected{DecodeFailure::trailing_bytes};
        return TxRollbackOk{};
    }
    void encode(ByteWriter&) const {}
    friend bool operator==(const TxRollbackOk&, const TxRollbackOk&) = default;
};

// Whether a content header and body follow the method.
constexpr bool has_content(std::uint16_t class_id, std::uint16_t method_id) {
    switch (method_key(class_id, method_id)) {
        case BasicPublish::key:
        case BasicReturn::key:
        case BasicDeliver::key:
        case BasicGetOk::key:
            return true;
        default:
            return false;
    }
}

// Every method, in the order of its key.
inline constexpr std::array<std::uint32_t, 66> all_method_keys = {
    ConnectionStart::key,
    ConnectionStartOk::key,
    ConnectionSecure::key,
    ConnectionSecureOk::key,
    ConnectionTune::key,
    ConnectionTuneOk::key,
    ConnectionOpen::key,
    ConnectionOpenOk::key,
    ConnectionClose::key,
    ConnectionCloseOk::key,
    ConnectionBlocked::key,
    ConnectionUnblocked::key,
    ConnectionUpdateSecret::key,
    ConnectionUpdateSecretOk::key,
    ChannelOpen::key,
    ChannelOpenOk::key,
    ChannelFlow::key,
    ChannelFlowOk::key,
    ChannelClose::key,
    ChannelCloseOk::key,
    AccessRequest::key,
    AccessRequestOk::key,
    ExchangeDeclare::key,
    ExchangeDeclareOk::key,
    ExchangeDelete::key,
    ExchangeDeleteOk::key,
    ExchangeBind::key,
    ExchangeBindOk::key,
    ExchangeUnbind::key,
    ExchangeUnbindOk::key,
    QueueDeclare::key,
    QueueDeclareOk::key,
    QueueBind::key,
    QueueBindOk::key,
    QueuePurge::key,
    QueuePurgeOk::key,
    QueueDelete::key,
    QueueDeleteOk::key,
    QueueUnbind::key,
    QueueUnbindOk::key,
    BasicQos::key,
    BasicQosOk::key,
    BasicConsume::key,
    BasicConsumeOk::key,
    BasicCancel::key,
    BasicCancelOk::key,
    BasicPublish::key,
    BasicReturn::key,
    BasicDeliver::key,
    BasicGet::key,
    BasicGetOk::key,
    BasicGetEmpty::key,
    BasicAck::key,
    BasicReject::key,
    BasicRecoverAsync::key,
    BasicRecover::key,
    BasicRecoverOk::key,
    BasicNack::key,
    ConfirmSelect::key,
    ConfirmSelectOk::key,
    TxSelect::key,
    TxSelectOk::key,
    TxCommit::key,
    TxCommitOk::key,
    TxRollback::key,
    TxRollbackOk::key,
};

// Calls visitor.template operator()<Method>() with the struct of that key; false if there is none.
template <typename Visitor>
bool with_method_type(std::uint32_t key, Visitor&& visitor) {
    switch (key) {
        case ConnectionStart::key:
            visitor.template operator()<ConnectionStart>();
            return true;
        case ConnectionStartOk::key:
            visitor.template operator()<ConnectionStartOk>();
            return true;
        case ConnectionSecure::key:
            visitor.template operator()<ConnectionSecure>();
            return true;
        case ConnectionSecureOk::key:
            visitor.template operator()<ConnectionSecureOk>();
            return true;
        case ConnectionTune::key:
            visitor.template operator()<ConnectionTune>();
            return true;
        case ConnectionTuneOk::key:
            visitor.template operator()<ConnectionTuneOk>();
            return true;
        case ConnectionOpen::key:
            visitor.template operator()<ConnectionOpen>();
            return true;
        case ConnectionOpenOk::key:
            visitor.template operator()<ConnectionOpenOk>();
            return true;
        case ConnectionClose::key:
            visitor.template operator()<ConnectionClose>();
            return true;
        case ConnectionCloseOk::key:
            visitor.template operator()<ConnectionCloseOk>();
            return true;
        case ConnectionBlocked::key:
            visitor.template operator()<ConnectionBlocked>();
            return true;
        case ConnectionUnblocked::key:
            visitor.template operator()<ConnectionUnblocked>();
            return true;
        case ConnectionUpdateSecret::key:
            visitor.template operator()<ConnectionUpdateSecret>();
            return true;
        case ConnectionUpdateSecretOk::key:
            visitor.template operator()<ConnectionUpdateSecretOk>();
            return true;
        case ChannelOpen::key:
            visitor.template operator()<ChannelOpen>();
            return true;
        case ChannelOpenOk::key:
            visitor.template operator()<ChannelOpenOk>();
            return true;
        case ChannelFlow::key:
            visitor.template operator()<ChannelFlow>();
            return true;
        case ChannelFlowOk::key:
            visitor.template operator()<ChannelFlowOk>();
            return true;
        case ChannelClose::key:
            visitor.template operator()<ChannelClose>();
            return true;
        case ChannelCloseOk::key:
            visitor.template operator()<ChannelCloseOk>();
            return true;
        case AccessRequest::key:
            visitor.template operator()<AccessRequest>();
            return true;
        case AccessRequestOk::key:
            visitor.template operator()<AccessRequestOk>();
            return true;
        case ExchangeDeclare::key:
            visitor.template operator()<ExchangeDeclare>();
            return true;
        case ExchangeDeclareOk::key:
            visitor.template operator()<ExchangeDeclareOk>();
            return true;
        case ExchangeDelete::key:
            visitor.template operator()<ExchangeDelete>();
            return true;
        case ExchangeDeleteOk::key:
            visitor.template operator()<ExchangeDeleteOk>();
            return true;
        case ExchangeBind::key:
            visitor.template operator()<ExchangeBind>();
            return true;
        case ExchangeBindOk::key:
            visitor.template operator()<ExchangeBindOk>();
            return true;
        case ExchangeUnbind::key:
            visitor.template operator()<ExchangeUnbind>();
            return true;
        case ExchangeUnbindOk::key:
            visitor.template operator()<ExchangeUnbindOk>();
            return true;
        case QueueDeclare::key:
            visitor.template operator()<QueueDeclare>();
            return true;
        case QueueDeclareOk::key:
            visitor.template operator()<QueueDeclareOk>();
            return true;
        case QueueBind::key:
            visitor.template operator()<QueueBind>();
            return true;
        case QueueBindOk::key:
            visitor.template operator()<QueueBindOk>();
            return true;
        case QueuePurge::key:
            visitor.template operator()<QueuePurge>();
            return true;
        case QueuePurgeOk::key:
            visitor.template operator()<QueuePurgeOk>();
            return true;
        case QueueDelete::key:
            visitor.template operator()<QueueDelete>();
            return true;
        case QueueDeleteOk::key:
            visitor.template operator()<QueueDeleteOk>();
            return true;
        case QueueUnbind::key:
            visitor.template operator()<QueueUnbind>();
            return true;
        case QueueUnbindOk::key:
            visitor.template operator()<QueueUnbindOk>();
            return true;
        case BasicQos::key:
            visitor.template operator()<BasicQos>();
            return true;
        case BasicQosOk::key:
            visitor.template operator()<BasicQosOk>();
            return true;
        case BasicConsume::key:
            visitor.template operator()<BasicConsume>();
            return true;
        case BasicConsumeOk::key:
            visitor.template operator()<BasicConsumeOk>();
            return true;
        case BasicCancel::key:
            visitor.template operator()<BasicCancel>();
            return true;
        case BasicCancelOk::key:
            visitor.template operator()<BasicCancelOk>();
            return true;
        case BasicPublish::key:
            visitor.template operator()<BasicPublish>();
            return true;
        case BasicReturn::key:
            visitor.template operator()<BasicReturn>();
            return true;
        case BasicDeliver::key:
            visitor.template operator()<BasicDeliver>();
            return true;
        case BasicGet::key:
            visitor.template operator()<BasicGet>();
            return true;
        case BasicGetOk::key:
            visitor.template operator()<BasicGetOk>();
            return true;
        case BasicGetEmpty::key:
            visitor.template operator()<BasicGetEmpty>();
            return true;
        case BasicAck::key:
            visitor.template operator()<BasicAck>();
            return true;
        case BasicReject::key:
            visitor.template operator()<BasicReject>();
            return true;
        case BasicRecoverAsync::key:
            visitor.template operator()<BasicRecoverAsync>();
            return true;
        case BasicRecover::key:
            visitor.template operator()<BasicRecover>();
            return true;
        case BasicRecoverOk::key:
            visitor.template operator()<BasicRecoverOk>();
            return true;
        case BasicNack::key:
            visitor.template operator()<BasicNack>();
            return true;
        case ConfirmSelect::key:
            visitor.template operator()<ConfirmSelect>();
            return true;
        case ConfirmSelectOk::key:
            visitor.template operator()<ConfirmSelectOk>();
            return true;
        case TxSelect::key:
            visitor.template operator()<TxSelect>();
            return true;
        case TxSelectOk::key:
            visitor.template operator()<TxSelectOk>();
            return true;
        case TxCommit::key:
            visitor.template operator()<TxCommit>();
            return true;
        case TxCommitOk::key:
            visitor.template operator()<TxCommitOk>();
            return true;
        case TxRollback::key:
            visitor.template operator()<TxRollback>();
            return true;
        case TxRollbackOk::key:
            visitor.template operator()<TxRollbackOk>();
            return true;
        default:
            return false;
    }
}

}  // namespace revenant::amqp091
