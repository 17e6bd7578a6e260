#include "amqp.h"

#include "failure.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace bench {

namespace {

constexpr char frame_end = static_cast<char>(0xCE);
constexpr uint16_t basic_class = 60;
constexpr uint16_t expiration_flag = 1U << 8U;
constexpr uint16_t headers_flag = 1U << 13U;
constexpr uint16_t delivery_mode_flag = 1U << 12U;

uint8_t octet(const char* at) { return static_cast<uint8_t>(*at); }

std::string frame(FrameType type, uint16_t channel, std::string_view payload) {
    Writer writer;
    writer.u8(static_cast<uint8_t>(type)).u16(channel).u32(static_cast<uint32_t>(payload.size()));
    writer.raw(payload).u8(static_cast<uint8_t>(frame_end));
    return writer.bytes();
}

}  // namespace

uint16_t load_u16(const char* at) { return static_cast<uint16_t>(octet(at) << 8U | octet(at + 1)); }

uint32_t load_u32(const char* at) {
    return static_cast<uint32_t>(load_u16(at)) << 16U | load_u16(at + 2);
}

uint64_t load_u64(const char* at) {
    return static_cast<uint64_t>(load_u32(at)) << 32U | load_u32(at + 4);
}

Writer& Writer::u8(uint8_t value) {
    bytes_.push_back(static_cast<char>(value));
    return *this;
}

Writer& Writer::u16(uint16_t value) {
    return u8(static_cast<uint8_t>(value >> 8U)).u8(static_cast<uint8_t>(value & 0xFFU));
}

Writer& Writer::u32(uint32_t value) {
    return u16(static_cast<uint16_t>(value >> 16U)).u16(static_cast<uint16_t>(value & 0xFFFFU));
}

Writer& Writer::u64(uint64_t value) {
    return u32(static_cast<uint32_t>(value >> 32U)).u32(static_cast<uint32_t>(value & 0xFFFFFFFFU));
}

Writer& Writer::short_string(std::string_view text) {
    return u8(static_cast<uint8_t>(text.size())).raw(text);
}

Writer& Writer::long_string(std::string_view text) {
    return u32(static_cast<uint32_t>(text.size())).raw(text);
}

Writer& Writer::raw(std::string_view bytes) {
    bytes_.append(bytes);
    return *this;
}

Table& Table::text(std::string_view key, std::string_view value) {
    fields_.short_string(key).u8('S').long_string(value);
    return *this;
}

Table& Table::number(std::string_view key, int64_t value) {
    fields_.short_string(key).u8('l').u64(static_cast<uint64_t>(value));
    return *this;
}

Table& Table::boolean(std::string_view key, bool value) {
    fields_.short_string(key).u8('t').u8(value ? 1 : 0);
    return *this;
}

Table& Table::table(std::string_view key, const Table& value) {
    fields_.short_string(key).u8('F').raw(value.encoded());
    return *this;
}

std::string Table::encoded() const { return Writer().long_string(fields_.bytes()).bytes(); }

std::string method_frame(uint16_t channel, MethodId id, std::string_view arguments) {
    Writer payload;
    payload.u16(id.class_id).u16(id.method_id).raw(arguments);
    return frame(FrameType::method, channel, payload.bytes());
}

void append_settlement(std::string& output, uint64_t delivery_tag, Outcome outcome, Reach reach) {
    // In both methods the second bit of the last octet is reserved or `requeue`, and stays 0.
    const MethodId id = outcome == Outcome::accepted ? basic_ack : basic_nack;
    std::array<char, 21> bytes{1, 0, 1, 0, 0, 0, 13, 0, 60, 0, static_cast<char>(id.method_id)};
    for (size_t index = 0; index < 8; ++index) {
        bytes.at(11 + index) = static_cast<char>(delivery_tag >> (56 - 8 * index) & 0xFFU);
    }
    bytes[19] = reach == Reach::all_up_to ? 1 : 0;
    bytes[20] = frame_end;
    output.append(bytes.data(), bytes.size());
}

std::optional<Frame> next_frame(std::string_view input) {
    if (input.size() < frame_overhead_bytes) return std::nullopt;
    const size_t payload_bytes = load_u32(input.data() + 3);
    if (input.size() < payload_bytes + frame_overhead_bytes) return std::nullopt;
    if (input[frame_head_bytes + payload_bytes] != frame_end)
        throw Failure("the broker sent a bad frame end");
    const auto type = static_cast<FrameType>(input[0]);
    if (type == FrameType::method && payload_bytes < 4)
        throw Failure("the broker sent a short method frame");
    return Frame{type, load_u16(input.data() + 1), input.substr(frame_head_bytes, payload_bytes)};
}

std::string close_reason(std::string_view arguments) {
    if (arguments.size() < 3) return "no reason given";
    const size_t text_bytes = std::min<size_t>(octet(arguments.data() + 2), arguments.size() - 3);
    return std::to_string(load_u16(arguments.data())) + " " +
           std::string(arguments.substr(3, text_bytes));
}

PreparedMessage prepare_publish(const MessageShape& shape) {
    PreparedMessage message;
    Writer method;
    method.u16(0).short_string(shape.exchange).short_string(shape.routing_key).u8(0);
    message.bytes = method_frame(1, basic_publish, method.bytes());

    const bool expires = !shape.expiration.empty();
    Writer header;
    header.u16(basic_class).u16(0).u64(shape.body_bytes);
    header.u16(static_cast<uint16_t>(delivery_mode_flag | (expires ? expiration_flag : 0U) |
                                     (shape.header_count > 0 ? headers_flag : 0U)));
    if (shape.header_count > 0) {
        Table headers;
        for (uint64_t index = 0; index < shape.header_count; ++index) {
            headers.text("header-" + std::to_string(index), "value of a header");
        }
        header.raw(headers.encoded());
    }
    header.u8(shape.persistent ? 2 : 1);
    if (expires) {
        message.expiration_offset =
            message.bytes.size() + frame_head_bytes + header.bytes().size() + 1;
        header.short_string(shape.expiration);
    }
    message.bytes += frame(FrameType::header, 1, header.bytes());

    message.body_offset = message.bytes.size() + frame_head_bytes;
    const size_t part_bytes_max = shape.frame_bytes_max - frame_overhead_bytes;
    for (size_t done = 0; done < shape.body_bytes;) {
        const size_t part_bytes = std::min(part_bytes_max, shape.body_bytes - done);
        message.bytes += frame(FrameType::body, 1, std::string(part_bytes, 'x'));
        done += part_bytes;
    }
    return message;
}

}  // namespace bench
