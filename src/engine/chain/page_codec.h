// Pages: blocks of a queue as bytes, and back. What a death needs is in the page; properties and
// body of a message that the journal has stay there.
//
//   checksum u32 (XXH3 of the rest, its lower half), version u8
//   routes    { format u8, exchange, routing key }, envelopes, then the entries, the oldest first
//   entry     index u8, flags u8, route, envelope + 1 or 0, counts, and what the flags announce
#pragma once

#include "engine/chain/block.h"
#include "engine/codec/message_codec.h"

#include <memory>
#include <string>
#include <string_view>

namespace revenant::engine {

// The entries of the block that are kept that way, with what they sum up to.
struct EncodedPage {
    std::string bytes;  // empty if there are none
    BlockTotals sum;
    std::uint16_t first = 0;  // index of its first entry
    Timestamp earliest = never;
};
EncodedPage encode_page(const Block& block, Durability durability);

// Whether these bytes were once written as a page and are still the same.
bool is_page_intact(std::string_view bytes);
// Puts the entries into the block as ready ones. False: the bytes are no page of a known version.
bool decode_page(std::string_view bytes, Durability durability, const MessageFormats& formats,
                 Block& block);

}  // namespace revenant::engine
