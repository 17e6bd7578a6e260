// Pages: encoding and decoding of the blocks of a queue. A page contains all data that
// dead-lettering needs; properties and body of a message that is in the journal are not copied.
//
//   checksum u32 (lower half of the XXH3 of the rest), version u8
//   routes    { format u8, exchange, routing key }, envelopes, then the entries, oldest first
//   entry     index u8, flags u8, route, envelope + 1 or 0, counts, and fields by the flags
#pragma once

#include "engine/chain/block.h"
#include "engine/codec/message_codec.h"

#include <memory>
#include <string>
#include <string_view>

namespace revenant::engine {

// The entries of a block with the same durability, and their totals.
struct EncodedPage {
    std::string bytes;  // empty if there are no entries
    BlockTotals sum;
    std::uint16_t first = 0;  // index of the first entry
    Timestamp earliest = never;
};
EncodedPage encode_page(const Block& block, Durability durability);

// Whether the bytes are a page with a valid checksum.
bool is_page_intact(std::string_view bytes);
// Adds the entries to the block as ready. False: the bytes are not a page of a known version.
bool decode_page(std::string_view bytes, Durability durability, const MessageFormats& formats,
                 Block& block);

}  // namespace revenant::engine
