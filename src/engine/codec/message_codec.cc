#include "engine/codec/message_codec.h"

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/check.h"

#include <xxhash.h>

#include <cstring>
#include <optional>
#include <utility>

namespace revenant::engine {
namespace {

constexpr std::uint8_t persistent_flag = 1;
constexpr std::uint8_t priority_flag = 2;
constexpr std::uint8_t ttl_flag = 4;
constexpr std::size_t checksum_bytes = 4;

std::uint32_t checksum_of(std::string_view stored) {
    const std::string_view covered = stored.substr(checksum_bytes);
    return static_cast<std::uint32_t>(XXH3_64bits(covered.data(), covered.size()));
}

std::size_t extra_keys_size(const ExtraKeys* extra) {
    if (extra == nullptr) return 0;
    std::size_t size = sizeof(std::uint16_t);
    for (const std::string& key : extra->cc) size += 1 + key.size();
    for (const std::string& key : extra->bcc) size += 1 + key.size();
    return size;
}

// Without the checksum.
struct Stored {
    MessageHead head;
    std::string_view exchange;
    std::string_view routing_key;
    std::string_view properties;
    std::string_view body;
};

std::optional<ExtraKeys> decode_extra_keys(std::string_view bytes) {
    ExtraKeys extra;
    ByteReader in(bytes);
    const std::uint16_t cc_count = in.u16();
    while (!in.at_end()) {
        auto& keys = extra.cc.size() < cc_count ? extra.cc : extra.bcc;
        keys.emplace_back(in.short_string());
    }
    if (in.failed()) return std::nullopt;
    return extra;
}

std::optional<Stored> decode_stored(std::string_view bytes, const MessageFormats& formats) {
    if (bytes.size() < stored_message_header_bytes || stored_size(bytes) != bytes.size()) {
        return std::nullopt;
    }
    ByteReader in(bytes);
    if (in.u32() != checksum_of(bytes)) return std::nullopt;
    Stored stored;
    stored.head.format = find_format(formats, in.u8());
    const std::uint8_t flags = in.u8();
    const std::uint8_t priority = in.u8();
    const std::uint8_t exchange_size = in.u8();
    const std::uint8_t routing_key_size = in.u8();
    in.u8();
    const std::uint16_t extra_size = in.u16();
    const std::uint32_t properties_size = in.u32();
    const std::uint32_t body_size = in.u32();
    const std::uint64_t ttl_ms = in.u64();
    if (stored.head.format == nullptr) return std::nullopt;
    stored.head.persistent = (flags & persistent_flag) != 0;
    if ((flags & priority_flag) != 0) stored.head.priority = priority;
    if ((flags & ttl_flag) != 0) stored.head.ttl_ms = static_cast<std::int64_t>(ttl_ms);
    if (extra_size > 0) {
        auto extra = decode_extra_keys(in.bytes(extra_size));
        if (!extra) return std::nullopt;
        stored.head.extra_keys = std::move(*extra);
    }
    stored.exchange = in.bytes(exchange_size);
    stored.routing_key = in.bytes(routing_key_size);
    stored.properties = in.bytes(properties_size);
    stored.body = in.bytes(body_size);
    if (in.failed()) return std::nullopt;
    return stored;
}

}  // namespace

const MessageFormat* find_format(const MessageFormats& formats, std::uint8_t number) {
    for (const MessageFormat* const format : formats) {
        if (format->number == number) return format;
    }
    return nullptr;
}

std::size_t stored_size(const Message& message) {
    return stored_message_header_bytes + extra_keys_size(message.extra_keys()) +
           message.exchange().size() + message.routing_key().size() + message.properties_size() +
           message.body_size();
}

std::size_t stored_size(std::string_view header) {
    if (header.size() < stored_message_header_bytes) return 0;
    ByteReader in(header);
    in.bytes(7);
    const std::size_t names = std::size_t{in.u8()} + in.u8();
    in.u8();
    const std::size_t extra = in.u16();
    const std::size_t properties = in.u32();
    const std::size_t body = in.u32();
    return stored_message_header_bytes + names + extra + properties + body;
}

void encode_message(const Message& message, std::string& out) {
    const std::size_t start = out.size();
    ByteWriter writer(out);
    const ExtraKeys* const extra = message.extra_keys();
    const std::size_t extra_size = extra_keys_size(extra);
    CHECK(extra_size <= UINT16_MAX);
    const std::uint64_t flags = (message.persistent() ? persistent_flag : 0) |
                                (message.priority() ? priority_flag : 0) |
                                (message.ttl_ms() ? ttl_flag : 0);
    writer.u32(0);
    // Small fields are combined: every append costs time, and this runs for every message.
    writer.u64(std::uint64_t{message.format().number} << 56 | flags << 48 |
               std::uint64_t{message.priority().value_or(0)} << 40 |
               std::uint64_t{message.exchange().size()} << 32 |
               std::uint64_t{message.routing_key().size()} << 24 | extra_size);
    writer.u64(std::uint64_t{message.properties_size()} << 32 | message.body_size());
    writer.u64(static_cast<std::uint64_t>(message.ttl_ms().value_or(0)));
    if (extra != nullptr) {
        writer.u16(static_cast<std::uint16_t>(extra->cc.size()));
        for (const std::string& key : extra->cc) writer.short_string(key);
        for (const std::string& key : extra->bcc) writer.short_string(key);
    }
    writer.bytes(message.exchange());
    writer.bytes(message.routing_key());
    writer.bytes(message.properties());
    writer.bytes(message.body());
    writer.patch_u32(start, checksum_of(std::string_view(out).substr(start)));
}

MessageRef decode_message(std::string_view bytes, const MessageFormats& formats,
                          std::optional<Lsn> stored_at) {
    auto stored = decode_stored(bytes, formats);
    if (!stored) return {};
    MessageRef message = make_message(stored->exchange, stored->routing_key, stored->properties,
                                      stored->body, std::move(stored->head));
    if (stored_at) message->set_stored_at(*stored_at);
    return message;
}

MessageRef decode_stub(std::string_view bytes, const MessageFormats& formats, Lsn stored_at) {
    auto stored = decode_stored(bytes, formats);
    if (!stored) return {};
    return make_stub(stored->exchange, stored->routing_key,
                     {static_cast<std::uint32_t>(stored->properties.size()),
                      static_cast<std::uint32_t>(stored->body.size())},
                     std::move(stored->head), stored_at);
}

}  // namespace revenant::engine
