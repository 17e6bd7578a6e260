// Messages: encoding for the journal and for pages, and decoding. A message is stored once. Its
// sizes determine the number of bytes, so that a reference is only a position.
//
//   checksum u32 (lower half of the XXH3 of the rest), format u8, flags u8, priority u8,
//   exchange_size u8, routing_key_size u8, zero u8, extra_keys_size u16, properties_size u32,
//   body_size u32, ttl_ms u64, then extra keys, exchange, routing key, properties, body
//   flags: 1 persistent, 2 has a priority, 4 has a TTL
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

// The protocols whose messages may be in files, by number.
using MessageFormats = std::vector<const MessageFormat*>;
const MessageFormat* find_format(const MessageFormats& formats, std::uint8_t number);

std::size_t stored_size(const Message& message);
void encode_message(const Message& message, std::string& out);

// Empty if the bytes are not a stored message or of an unknown protocol. `stored_at` is absent for
// a message that is not in the journal.
MessageRef decode_message(std::string_view bytes, const MessageFormats& formats,
                          std::optional<Lsn> stored_at);
// Decodes a message without properties and body, which are not copied.
MessageRef decode_stub(std::string_view bytes, const MessageFormats& formats, Lsn stored_at);
// The length of the message that starts with this header; 0 if it is not a message.
std::size_t stored_size(std::string_view header);

}  // namespace revenant::engine
