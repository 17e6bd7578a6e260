#include "base/ids.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

namespace revenant {
namespace {

static_assert(!std::is_convertible_v<QueueId, ChannelId>);
static_assert(!std::is_convertible_v<QueueId, std::uint64_t>);

TEST(Ids, CompareByTheirNumber) {
    EXPECT_EQ(QueueId{3}, QueueId{3});
    EXPECT_LT(Lsn{3}, Lsn{4});
    EXPECT_FALSE(static_cast<bool>(QueueId{}));
    EXPECT_TRUE(static_cast<bool>(QueueId{1}));
}

TEST(Ids, DenseNumbersSpreadOverTheLowBitsOfTheirHash) {
    std::unordered_set<std::size_t> buckets;
    for (std::uint64_t value = 0; value < 256; ++value) {
        // With the identity as the hash, all multiples of 256 would share one bucket.
        buckets.insert(std::hash<QueueId>{}(QueueId{value * 256}) % 256);
    }
    EXPECT_GT(buckets.size(), 128U);
}

}  // namespace
}  // namespace revenant
