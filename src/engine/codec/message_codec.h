// Messages as bytes in the journal and in pages, and back. A message is stored once; its sizes tell
// how many bytes that takes, so that a reference is a position alone.
//
//   checksum u32 (XXH3 of the rest, its lower half), format u8, flags u8, priority u8,
//   exchange_size u8, routing_key_size u8, zero u8, extra_keys_size u16, properties_size u32,
//   body_size u32, ttl_ms u64, then extra keys, exchange, routing key, properties, body
//   flags: 1 persistent, 2 has a priority, 4 has a time-to-live
//   extra keys: cc_count u16, { short string }, bcc: { short string } up to the end
#pragma once

#include "base/ids.h"
#include "message/message.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::engine {

constexpr std::size_t stored_message_header_bytes = 28;

// The protocols whose messages may be found in files, by their numbers.
using MessageFormats = std::vector<const MessageFormat*>;
const MessageFormat* find_format(const MessageFormats& formats, std::uint8_t number);

std::size_t stored_size(const Message& message);
void encode_message(const Message& message, std::string& out);

// Empty references: the bytes are not a stored message, or of a protocol that is not known.
// Where it is kept: nowhere, if it is only passing through.
MessageRef decode_message(std::string_view bytes, const MessageFormats& formats,
                          std::optional<Lsn> stored_at);
// The same without properties and body, which stay where they are.
MessageRef decode_stub(std::string_view bytes, const MessageFormats& formats, Lsn stored_at);
// How long the message is that begins with these bytes, at least a header; 0 if it is none.
std::size_t stored_size(std::string_view header);

}  // namespace revenant::engine
