#include "engine/chain/page_codec.h"

#include "base/byte_writer.h"
#include "tests/support/repaired.h"
#include "tests/support/scenario.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace revenant::engine {
namespace {

const MessageFormats formats{&test_message_format()};

// A page with one route, and entries encoded by hand.
class Page {
  public:
    Page() {
        writer_.bytes(page_mark);
        writer_.u8(1);
        writer_.varint(1);
        writer_.u8(test_message_format().number);
        writer_.text("");
        writer_.text("q");
        writer_.varint(0);
    }
    // `moved` is the distance from the position of the previous entry.
    void add(std::uint8_t index, std::int64_t moved, std::uint64_t route = 0) {
        constexpr std::uint8_t persistent = 16;
        writer_.u8(index);
        writer_.u8(persistent);
        for (int i = 0; i < 3; ++i) writer_.varint(0);  // envelope, counts
        writer_.varint(route);
        writer_.signed_varint(moved);
        writer_.varint(3);
        writer_.varint(2);
    }
    void add_expiring(std::uint8_t index, std::int64_t later) {
        constexpr std::uint8_t deadline = 2;
        writer_.u8(index);
        writer_.u8(deadline);
        for (int i = 0; i < 3; ++i) writer_.varint(0);
        writer_.signed_varint(later);
        writer_.varint(0);
        writer_.signed_varint(8);
        writer_.varint(3);
        writer_.varint(2);
    }
    bool reads() {
        put_checksum(bytes_, 0, bytes_.size());
        block = {};
        return decode_page(bytes_, Durability::durable, formats, block);
    }
    std::string& bytes() { return bytes_; }
    Block block;

  private:
    std::string bytes_;
    ByteWriter writer_{bytes_};
};

TEST(PageCodec, EntriesStandWhereTheySay) {
    Page page;
    page.add(0, 100);
    page.add(255, 50);
    ASSERT_TRUE(page.reads());
    EXPECT_EQ(page.block.live, 2U);
    EXPECT_EQ(page.block.entries[255].message->stored_at(), Lsn{150});
    EXPECT_EQ(encode_page(page.block, Durability::durable).bytes, page.bytes());
}

TEST(PageCodec, APlaceIsTakenOnce) {
    Page page;
    page.add(7, 100);
    page.add(7, 100);
    EXPECT_FALSE(page.reads());
}

// The position that means none.
TEST(PageCodec, AMessageThatIsNowhereIsNone) {
    Page page;
    page.add(0, -1);
    EXPECT_FALSE(page.reads());
}

TEST(PageCodec, ARouteThatIsNotThereIsNone) {
    Page page;
    page.add(0, 100, /*route=*/1);
    EXPECT_FALSE(page.reads());
}

TEST(PageCodec, DeadlinesBeyondTheEndOfTimeDoNoHarm) {
    Page page;
    page.add_expiring(0, INT64_MAX - 1);
    page.add_expiring(1, INT64_MAX - 1);
    EXPECT_TRUE(page.reads());
}

TEST(PageCodec, APageIsReadWholeOrNotAtAll) {
    Page page;
    page.add(0, 100);
    const std::string whole = page.bytes();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        page.bytes() = whole.substr(0, std::max(size, mark_bytes));
        const bool empty = page.reads() && page.block.live == 0;
        EXPECT_TRUE(empty || !page.reads()) << size << " bytes";
    }
}

TEST(PageCodec, EveryFlippedBitIsSeen) {
    Page page;
    page.add(0, 100);
    ASSERT_TRUE(page.reads());
    for (std::size_t bit = 0; bit < page.bytes().size() * 8; ++bit) {
        std::string flipped = page.bytes();
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
        Block block;
        EXPECT_FALSE(decode_page(flipped, Durability::durable, formats, block)) << "bit " << bit;
    }
}

}  // namespace
}  // namespace revenant::engine
