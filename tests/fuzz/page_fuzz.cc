// Pages: any bytes with a valid checksum are decoded or refused, and a decoded page is written to
// the same bytes by two successive writers.
#include "amqp091/message/properties.h"
#include "base/check.h"
#include "engine/chain/page_codec.h"
#include "tests/support/repaired.h"

#include <cstdint>
#include <string>
#include <string_view>

using namespace revenant;
using namespace revenant::engine;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const MessageFormats formats{&amqp091::message_format()};
    const Durability durability = data[0] % 2 == 0 ? Durability::durable : Durability::transient;
    std::string page =
        std::string(page_mark) + repaired({reinterpret_cast<const char*>(data) + 1, size - 1});
    put_checksum(page, 0, page.size());
    Block block;
    if (!decode_page(page, durability, formats, block)) return 0;
    CHECK(block.live == block.ready);
    if (block.live == 0) return 0;

    const EncodedPage written = encode_page(block, durability);
    CHECK(written.sum.live == block.live);
    Block again;
    CHECK(decode_page(written.bytes, durability, formats, again));
    CHECK(again.live == block.live);
    CHECK(encode_page(again, durability).bytes == written.bytes);
    return 0;
}
